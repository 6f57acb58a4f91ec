"""paddle.grad: its arguments, what it runs, and what it leaves as it was. no_grad and its kin."""

import pytest

import minipaddle as paddle


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def test_no_gradient_flows_through_no_grad_vars():
    x = leaf(3.0)
    y, z = x * 2.0, x * 5.0
    for blocked in ([y], (y,), {y}, y):
        (grad,) = paddle.grad(y * z, x, no_grad_vars=blocked)
        assert grad.tolist() == [30.0]  # 6 * 5: y counts as a constant
    assert paddle.grad(y * 3.0, x, no_grad_vars=y, allow_unused=True) == [None]


def test_what_leads_only_to_no_grad_vars_does_not_run():
    x = leaf(3.0)
    y = x * 2.0
    y.grad_fn.register_hook(lambda results, grads: 1 / 0)
    (grad,) = paddle.grad(y * x, x, no_grad_vars=y)
    assert grad.tolist() == [6.0]


def test_one_of_several_outputs_is_a_constant():
    x = leaf(3.0, 4.0)
    a, b = paddle.split(x, 2)
    (grad,) = paddle.grad(a * b, x, no_grad_vars=a)
    assert grad.tolist() == [0.0, 3.0]


def test_several_outputs_and_inputs():
    x, w = leaf(3.0), leaf(4.0)
    grads = paddle.grad([x * w, x + w], [x, w], grad_outputs=[paddle.to_tensor([2.0]), None])
    assert [grad.tolist() for grad in grads] == [[9.0], [7.0]]


def test_the_graph_can_be_used_again_until_backward_frees_it():
    x = leaf(3.0)
    y = x * x
    for _ in range(2):
        assert paddle.grad(y, x, retain_graph=False)[0].tolist() == [6.0]
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        paddle.grad(y, x)


def test_create_graph_records_under_no_grad_too():
    x = leaf(3.0)
    y = x * x * x
    with paddle.no_grad():
        (first,) = paddle.grad(y, x, create_graph=True)
        assert not paddle.is_grad_enabled()
    assert paddle.grad(first, x)[0].tolist() == [18.0]


@pytest.mark.parametrize("dtype", ["float64", "int64", "float16"])
def test_a_first_gradient_is_cast(dtype):
    x = leaf(3.0)
    (x * x).backward(paddle.ones([1], dtype))
    assert x.grad.dtype is paddle.float32
    assert x.grad.tolist() == [6.0]


def test_what_is_named_twice_or_not_supported():
    x = leaf(3.0)
    y = x * 2.0
    with pytest.raises(RuntimeError, match="expected each Tensor to start from once"):
        paddle.grad([y, y], x)
    with pytest.raises(AssertionError, match="expected each Tensor to start from once"):
        paddle.autograd.backward([y, y])
    with pytest.raises(AssertionError, match="grad: expected only_inputs=True"):
        paddle.grad(y, x, only_inputs=False)
    with pytest.raises(AssertionError, match="grad: expected no_grad_vars to be a Tensor"):
        paddle.grad(y, x, no_grad_vars=3)
    with pytest.raises(TypeError, match="stop_gradient: expected True or False"):
        x.stop_gradient = 3


def test_stop_gradient_set_later():
    """What was recorded stays; new ops see it. The Tensor keeps its node."""
    x = leaf(3.0)
    y = x * 2.0
    before = y * x
    y.stop_gradient = True
    assert y.grad_fn.name() == "ScaleGradNode" and not y.is_leaf
    after = y * x
    after.backward()
    assert x.grad.tolist() == [6.0]
    x.clear_grad()
    before.backward()
    assert x.grad.tolist() == [12.0]


def test_decorators_switch_only_their_function():
    x = leaf(3.0)

    @paddle.set_grad_enabled(False)
    def without(t):
        return t * 2.0

    assert not (x * 2.0).stop_gradient
    assert without(x).stop_gradient
    assert not (x * 2.0).stop_gradient


def test_a_generator_under_no_grad():
    x = leaf(3.0)

    @paddle.no_grad()
    def steps(t):
        for factor in (1.0, 2.0):
            yield t * factor
        return "done"

    def outer():
        return (yield from steps(x))

    results = outer()
    assert next(results).stop_gradient
    assert not (x * 2.0).stop_gradient  # between two values it holds no longer
    assert next(results).stop_gradient
    with pytest.raises(StopIteration, match="done"):
        next(results)


def test_the_third_gradient():
    x = leaf(0.5)
    for function, third in (
        (lambda t: t * t * t * t, 12.0),  # 24 x
        (lambda t: 1.0 / t, -96.0),  # -6 / x^4
        (lambda t: paddle.log(t), 16.0),  # 2 / x^3
        (lambda t: t.reshape([1, 1]) @ t.reshape([1, 1]) * t, 6.0),
    ):
        value = function(x)
        for _ in range(3):
            (value,) = paddle.grad(value, x, create_graph=True)
        assert value.item() == pytest.approx(third)
