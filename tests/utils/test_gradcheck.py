"""grad_check and double_grad_check find what is wrong with a gradient, and say where."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.phi.core.op import OPS, op
from minipaddle.phi.infermeta.unary import unchanged
from minipaddle.utils.gradcheck import double_grad_check, grad_check

X = np.array([[0.5, -1.0], [2.0, 0.25]])


@pytest.fixture
def cubed():
    """y = x^3, whose gradient rule the tests spoil."""

    @op(source="declared in a test")
    def cubed(xp, x):
        """x * x * x"""
        return x * x * x

    cubed.infer_meta(unchanged)

    @cubed.vjp
    def _(x, out_grad):
        return (3.0 * x * x * out_grad,)

    yield cubed
    del OPS["cubed"]


def test_a_right_gradient_passes(cubed):
    grad_check(cubed, [X])
    double_grad_check(cubed, [X])
    grad_check(paddle.matmul, [X, X.T])
    double_grad_check(paddle.matmul, [X, X.T])


def test_a_wrong_gradient_is_named_with_its_element(cubed):
    @cubed.vjp
    def _(x, out_grad):
        return (3.0 * x * x * out_grad + 1.0 * (x > 1.5).astype("float64"),)

    with pytest.raises(
        AssertionError,
        match=r"^grad_check: expected the gradient of input 0 at \[1, 0\] to be .*, but got .*; "
        "1 of its 4 numbers are wrong. Look at",
    ):
        grad_check(cubed, [X])


def test_a_gradient_that_is_not_a_number_is_wrong(cubed):
    @cubed.vjp
    def _(x, out_grad):
        return (3.0 * x * x * out_grad * float("nan"),)

    with pytest.raises(AssertionError, match="but got nan; 4 of its 4"):
        grad_check(cubed, [X])


def test_a_rule_that_can_not_be_differentiated_passes_the_first_check_only(cubed):
    @cubed.vjp
    def _(x, out_grad):
        return (3.0 * x * x.detach() * out_grad,)  # its own gradient misses one of the two x

    cubed.grad_kernel(lambda xp, wanted, x, out_grad: (3.0 * x * x * out_grad,))
    grad_check(cubed, [X])
    with pytest.raises(AssertionError, match="^double_grad_check: expected the gradient"):
        double_grad_check(cubed, [X])


def test_lists_other_dtypes_and_tensors_are_inputs_too():
    indices = np.array([1, 0])
    grad_check(lambda pieces, _: paddle.add_n(pieces) * pieces[0], [[X, 2 * X], indices])
    grad_check(paddle.tanh, [paddle.to_tensor(X.astype("float32"))])


def test_several_outputs_count():
    grad_check(lambda x: (x * x, [paddle.tanh(x), x > 0]), [X])


def test_without_a_floating_input_there_is_nothing_to_check():
    with pytest.raises(ValueError, match="expected at least one floating-point input"):
        grad_check(paddle.tanh, [np.array([1, 2])])


def test_an_input_that_has_no_influence_has_gradient_zero():
    grad_check(lambda x, y: x * 2.0, [X, X])
