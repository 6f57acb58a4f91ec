"""PyLayer: an op written in Python; what goes in, what comes out, what is refused."""

import gc
import weakref

import pytest

import minipaddle as paddle
from minipaddle.autograd import PyLayer


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def layer(forward, backward):
    """A PyLayer of two functions."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Mine", (PyLayer,), body)


def save_and_square(ctx, x):
    ctx.save_for_backward(x)
    return x * x


def double_of_saved(ctx, grad):
    (x,) = ctx.saved_tensor()
    return grad * 2.0 * x


Square = layer(save_and_square, double_of_saved)


def test_one_node_stands_for_the_call():
    x = leaf(1.0, 3.0)
    y = Square.apply(x)
    assert y.grad_fn.name() == "GradNodePyLayer_Mine"
    assert [node.name() for node in y.grad_fn.next_functions] == ["GradNodeAccumulation"]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 6.0]


def test_its_gradient_has_gradients():
    x = leaf(3.0)
    (first,) = paddle.grad(Square.apply(x), x, create_graph=True)
    (second,) = paddle.grad(first, x)
    assert (first.tolist(), second.tolist()) == ([6.0], [2.0])


def test_arguments_that_are_no_tensors_get_no_gradient():
    def forward(ctx, x, power, scale=None, *, bias):
        ctx.power = power
        return x**power + bias

    Power = layer(forward, lambda ctx, grad: (grad * ctx.power, grad))
    x, bias = leaf(2.0), leaf(1.0)
    Power.apply(x, 3, None, bias=bias).backward()
    assert (x.grad.tolist(), bias.grad.tolist()) == ([3.0], [1.0])


def test_a_list_of_tensors_gets_a_list_of_gradients():
    Weighted = layer(
        lambda ctx, tensors, scale: (tensors[0] + tensors[1] * 2.0) * scale,
        lambda ctx, grad: ([grad, grad * 2.0], None),
    )
    a, b = leaf(1.0), leaf(1.0)
    Weighted.apply([a, b], paddle.to_tensor(1.0)).backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1.0], [2.0])


def test_an_unused_result_counts_as_zero_or_as_none():
    seen = []

    def forward(ctx, x, materialize):
        ctx.set_materialize_grads(materialize)
        return x * 2.0, "no Tensor", x * 3.0

    def backward(ctx, first, second):
        seen.append(first if first is None else first.tolist())
        return second * 3.0

    Two = layer(forward, backward)
    for materialize in (True, False):
        x = leaf(1.0)
        _, text, used = Two.apply(x, materialize)
        used.backward()
        assert text == "no Tensor"
        assert x.grad.tolist() == [3.0]
    assert seen == [[0.0], None]


def test_a_result_without_gradient():
    def forward(ctx, x):
        positions = x * 2.0
        ctx.mark_non_differentiable(positions)
        return positions, x * 3.0

    Marked = layer(forward, lambda ctx, first, second: first + second * 3.0)
    x = leaf(1.0)
    first, second = Marked.apply(x)
    assert first.stop_gradient and not second.stop_gradient
    second.backward()
    assert x.grad.tolist() == [3.0]


def test_an_input_that_is_returned_was_changed_in_place():
    Change = layer(lambda ctx, x: x.scale_(2.0), lambda ctx, grad: grad * 2.0)
    x = leaf(1.0)
    y = x * 3.0
    assert Change.apply(y) is y
    assert y.inplace_version > 0
    y.backward()
    assert x.grad.tolist() == [6.0]
    with pytest.raises(ValueError, match="leaf that wants a gradient"):
        layer(lambda ctx, x: x, lambda ctx, grad: grad).apply(x)


def test_an_input_that_is_returned_and_not_changed():
    def forward(ctx, x):
        ctx.mark_not_inplace(x)
        return x

    Flip = layer(forward, lambda ctx, grad: -grad)
    x = leaf(1.0)
    y = Flip.apply(x)
    assert y is not x and x.is_leaf
    y.backward()
    assert x.grad.tolist() == [-1.0]


def test_a_tensor_of_the_outside_that_is_returned_keeps_its_place():
    weight = leaf(5.0)
    Outside = layer(lambda ctx, x: weight, lambda ctx, grad: grad)
    x = leaf(1.0)
    Outside.apply(x).backward()
    assert weight.is_leaf and weight.grad is None
    assert x.grad.tolist() == [1.0]


def test_the_same_result_twice():
    def forward(ctx, x):
        y = x * 2.0
        return y, y

    x = leaf(1.0)
    first, second = layer(forward, lambda ctx, a, b: a + b * 10.0).apply(x)
    (first * 1.0 + second * 2.0).backward()
    assert x.grad.tolist() == [21.0]


def test_gradients_come_in_the_dtype_of_the_result():
    seen = []

    def backward(ctx, grad):
        seen.append(grad.dtype)
        return grad.astype("float32")

    x = leaf(1.0)
    Half = layer(lambda ctx, x: x.astype("float16"), backward)
    y = Half.apply(x)
    y.register_hook(lambda grad: None)
    paddle.autograd.backward([y], [paddle.ones([1], "float64")])
    assert seen == [paddle.float16]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda grad: (grad, grad, grad), "expected backward to return 2 gradients, but got 3"),
        (lambda grad: (grad,), "expected backward to return 2 gradients, but got 1"),
        (lambda grad: [grad, grad], "expected backward to return 2 gradients, but got 1, a list"),
        (lambda grad: (grad, 3), "expected backward to return Tensors or None, but got int"),
    ],
)
def test_gradients_that_do_not_fit(returned, message):
    Product = layer(lambda ctx, x, y: x * y, lambda ctx, grad: returned(grad))
    with pytest.raises(ValueError, match=f"GradNodePyLayer_Mine: {message}"):
        Product.apply(leaf(1.0), leaf(2.0)).backward()


def test_a_gradient_for_an_input_that_wants_none():
    Product = layer(lambda ctx, x, y: x * y, lambda ctx, grad: (grad, grad))
    with pytest.raises(ValueError, match="expected backward to return None for an input"):
        Product.apply(leaf(1.0), paddle.ones([1])).backward()


def test_a_gradient_of_another_shape():
    Wrong = layer(lambda ctx, x: x * 2.0, lambda ctx, grad: paddle.ones([5]))
    with pytest.raises(RuntimeError, match=r"GradNodePyLayer_Mine .* shape \[1\], but got \[5\]"):
        Wrong.apply(leaf(1.0)).backward()


@pytest.mark.parametrize("result", [None, 3, [[paddle.ones([1])], 2]])
def test_results_that_are_no_tensors(result):
    with pytest.raises(ValueError, match="Mine: expected forward to return a Tensor, or a flat"):
        layer(lambda ctx, x: result, lambda ctx, grad: grad).apply(leaf(1.0))


def test_what_is_missing_is_named():
    class Empty(PyLayer):
        pass

    with pytest.raises(NotImplementedError, match="a static method forward"):
        Empty.apply(leaf(1.0))
    Empty.forward = staticmethod(lambda ctx, x: x * 1.0)
    with pytest.raises(OSError, match="a static method backward"):
        Empty.apply(leaf(1.0)).backward()


def test_an_error_of_the_users_comes_through():
    def backward(ctx, grad):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        layer(lambda ctx, x: x * 1.0, backward).apply(leaf(1.0)).backward()
    assert paddle.is_grad_enabled()


def test_backward_twice_is_refused():
    y = Square.apply(leaf(1.0))
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match=r"GradNodePyLayer_Mine .* retain_graph=True"):
        y.backward()


def test_a_saved_tensor_that_was_changed_is_refused():
    x = leaf(1.0) * 1.0
    y = Square.apply(x)
    x.scale_(2.0)
    with pytest.raises(RuntimeError, match="at version 0, but got version 1"):
        y.backward()


def test_it_goes_without_the_garbage_collector():
    """Though it keeps its own result."""

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    Exp = layer(forward, lambda ctx, grad: grad * ctx.saved_tensor()[0])
    gc.disable()
    try:
        x = leaf(0.0)
        y = Exp.apply(x)
        node = weakref.ref(y.grad_fn)
        y.backward(retain_graph=True)
        assert x.grad.tolist() == [1.0]
        del y
        assert node() is None
    finally:
        gc.enable()


def test_nothing_is_recorded_where_nothing_is_wanted():
    with paddle.no_grad():
        assert Square.apply(leaf(1.0)).grad_fn is None
    assert Square.apply(paddle.ones([1])).stop_gradient
