"""saved_tensors_hooks: what a GradNode keeps goes through two functions of the user."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.autograd import PyLayer, saved_tensors_hooks


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def through_half():
    """Keeps float16 instead of float32: half of the memory."""
    packed = []

    def pack(tensor):
        packed.append(tensor)
        return tensor.numpy().astype("float16")

    return packed, saved_tensors_hooks(pack, lambda a: paddle.to_tensor(a.astype("float32")))


def test_inputs_and_outputs_are_packed_and_what_is_not_kept_is_not():
    x = leaf(1.0, 2.0)
    packed, hooks = through_half()
    with hooks:
        y = x.tanh()
        z = x + y  # keeps shapes only
    x * x  # after it
    assert [t is y for t in packed] == [True]
    z.sum().backward()
    # 1 + (1 - tanh(x)^2), where float16 has 11 bits
    expected = 2.0 - np.tanh([1.0, 2.0]) ** 2
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=2**-10)


def test_what_was_packed_may_change_afterwards():
    x = leaf(3.0)
    y = x * 1.0
    _, hooks = through_half()
    with hooks:
        z = y * y
    y.scale_(5.0)
    z.backward()
    assert x.grad.tolist() == [6.0]


def test_gradients_of_gradients():
    x = leaf(3.0)
    _, hooks = through_half()
    with hooks:
        y = x * x * x
    (first,) = paddle.grad(y, x, create_graph=True)
    (second,) = paddle.grad(first, x)
    assert (first.tolist(), second.tolist()) == ([27.0], [18.0])


def test_a_py_layers_tensors_too():
    class Square(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.0 * ctx.saved_tensor()[0]

    x = leaf(3.0)
    packed, hooks = through_half()
    with hooks:
        y = Square.apply(x)
    assert packed == [x]
    y.backward()
    assert x.grad.tolist() == [6.0]


def test_ops_inside_the_hooks_are_not_recorded():
    x = leaf(3.0)
    with saved_tensors_hooks(lambda t: t * 1.0, lambda t: t * 2.0):
        y = x * x
    y.backward()
    assert x.grad.tolist() == [12.0]


def test_nothing_is_packed_without_a_gradient():
    packed, hooks = through_half()
    with hooks, paddle.no_grad():
        leaf(1.0) * leaf(2.0)
    with hooks:
        paddle.ones([1]) * 2.0
    assert packed == []


def test_hooks_that_are_wrong():
    same = saved_tensors_hooks(lambda t: t, lambda t: t)
    with same, pytest.raises(ValueError, match="expected one pair of hooks at a time"), same:
        pass
    with pytest.raises(TypeError, match="expected unpack_hook to be a function, but got int"):
        saved_tensors_hooks(lambda t: t, 3)
    with saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = leaf(1.0) * leaf(2.0)
    with pytest.raises(ValueError, match="expected unpack_hook to return a Tensor, but got int"):
        y.backward()


def test_an_error_in_a_hook_leaves_everything_as_it_was():
    def fail(tensor):
        raise KeyError("mine")

    with pytest.raises(KeyError), saved_tensors_hooks(fail, lambda t: t):
        leaf(1.0) * leaf(2.0)
    assert paddle.is_grad_enabled()
    (leaf(1.0) * leaf(2.0)).backward()
