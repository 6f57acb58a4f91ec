"""Hooks on Tensors, inner and leaves, and on nodes: order, change, removal, what is refused."""

import pytest

import minipaddle as paddle


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


@pytest.mark.parametrize("inner", [False, True])
def test_hooks_run_in_order_and_each_sees_what_the_one_before_made(inner):
    x = leaf(1.0)
    y = x * 1.0 if inner else x
    seen = []
    y.register_hook(lambda grad: seen.append(grad.tolist()) or grad * 2.0)
    y.register_hook(lambda grad: seen.append(grad.tolist()) or grad + 1.0)
    (y * 3.0).backward()
    assert seen == [[3.0], [6.0]]
    assert x.grad.tolist() == [7.0]


def test_a_hook_sees_the_sum_of_all_branches_once():
    x, seen = leaf(1.0), []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    (x * 2.0 + x * 3.0).backward()
    assert seen == [[5.0]]


@pytest.mark.parametrize("inner", [False, True])
def test_removing_a_hook_removes_no_other(inner):
    x = leaf(1.0)
    y = x * 1.0 if inner else x
    first = y.register_hook(lambda grad: grad * 2.0)
    assert first.remove()
    y.register_hook(lambda grad: grad * 5.0)
    assert not first.remove()
    y.sum().backward()
    assert x.grad.tolist() == [5.0]


def test_retain_grads_keeps_what_was_there_when_its_turn_came():
    x = leaf(1.0)
    y = x * 3.0
    y.register_hook(lambda grad: grad * 2.0)
    y.retain_grads()
    y.register_hook(lambda grad: grad * 5.0)
    (y * 1.0).backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([2.0], [30.0])
    assert not y.grad.stop_gradient


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("wrong", [paddle.ones([3]), paddle.ones([1], "float64")])
def test_a_hook_keeps_shape_and_dtype(inner, wrong):
    x = leaf(1.0)
    y = x * 1.0 if inner else x
    y.register_hook(lambda grad: wrong)
    with pytest.raises(RuntimeError, match=r"gradient of shape \[1\] and dtype float32, but got"):
        y.sum().backward()


def test_a_nodes_hook_sees_what_came_and_what_goes():
    x, w = leaf(2.0), paddle.to_tensor([5.0])
    y = x * w
    seen = []

    def hook(results, grads):
        seen.append(([r if r is None else r.tolist() for r in results[:1]], grads[0].tolist()))

    y.grad_fn.register_hook(hook)
    (y * 3.0).backward()
    assert seen == [([[15.0]], [3.0])]
    assert x.grad.tolist() == [15.0]


def test_a_nodes_hooks_change_what_goes_on():
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    double = y.grad_fn.register_hook(lambda results, grads: [results[0] * 2.0, None])
    y.grad_fn.register_hook(lambda results, grads: [results[0] + 1.0, results[1]])
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [11.0]
    assert w.grad is None
    assert double.remove() and not double.remove()
    x.clear_gradient(False)
    y.backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([6.0], [2.0])


def test_a_nodes_hook_that_returns_something_else():
    for wrong in (3, [paddle.ones([1])]):
        y = leaf(1.0) * leaf(2.0)
        y.grad_fn.register_hook(lambda results, grads, wrong=wrong: wrong)
        with pytest.raises(TypeError, match="MultiplyGradNode.register_hook: .* 2 gradients"):
            y.backward()
    y = leaf(1.0) * leaf(2.0)
    y.grad_fn.register_hook(lambda results, grads: [paddle.ones([7]), None])
    with pytest.raises(RuntimeError, match=r"shape \[1\], but got \[7\]"):
        y.backward()


def test_a_leafs_node_takes_no_hook():
    with pytest.raises(ValueError, match="got a GradNodeAccumulation"):
        leaf(1.0).grad_fn.register_hook(lambda results, grads: None)


def test_an_error_in_a_hook_comes_through_and_leaves_everything_as_it_was():
    def fail(grad):
        raise KeyError("mine")

    x = leaf(1.0)
    y = x * 1.0
    y.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        paddle.grad(y * y, x, create_graph=True)
    assert paddle.is_grad_enabled()
