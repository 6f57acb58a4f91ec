"""recompute: the same numbers, with less kept."""

import warnings

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.autograd import saved_tensors_hooks
from minipaddle.distributed.fleet.utils import recompute

nn, F = paddle.nn, paddle.nn.functional
BOTH = pytest.mark.parametrize("use_reentrant", [True, False])


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


@BOTH
def test_values_and_gradients_are_the_same(use_reentrant):
    paddle.seed(0)
    block = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
    x = leaf([1.0, 2.0, 3.0])
    found = []
    for run in (block, lambda x: recompute(block, x, use_reentrant=use_reentrant)):
        y = run(x)
        (y * y).sum().backward()
        found.append([y.numpy(), *(t.grad.numpy() for t in (x, *block.parameters()))])
        x.clear_gradient(False)
        block.clear_gradients()
        for parameter in block.parameters():
            parameter.clear_gradient(False)
    for plain, again in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, again)


@BOTH
def test_it_runs_twice_and_keeps_nothing_in_between(use_reentrant):
    calls = []

    def part(x):
        calls.append(x)
        return x.tanh().exp().tanh()

    x = leaf(1.0)
    y = recompute(part, x, use_reentrant=use_reentrant)
    assert len(calls) == 1
    y.backward()
    assert len(calls) == 2


@BOTH
def test_random_numbers_are_the_same_both_times(use_reentrant):
    paddle.seed(3)
    x = paddle.ones([100])
    x.stop_gradient = False
    y = recompute(F.dropout, x, 0.5, use_reentrant=use_reentrant)
    following = paddle.rand([1])
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    after = paddle.rand([1])
    paddle.seed(3)
    F.dropout(x, 0.5)
    assert [paddle.rand([1]).item() for _ in range(2)] == [following.item(), after.item()]


@BOTH
def test_auto_cast_is_the_same_both_times(use_reentrant):
    seen = []

    def part(x):
        y = paddle.matmul(x, x)
        seen.append(y.dtype.name)
        return y

    x = leaf([1.0])
    with paddle.amp.auto_cast():
        y = recompute(part, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert seen == ["float16", "float16"]
    assert x.grad.dtype is paddle.float32


@BOTH
def test_several_arguments_and_results(use_reentrant):
    def part(x, factor, pair, *, bias):
        return x * factor + pair[0] * pair[1], "text", bias * 2.0

    x, a, b, bias = leaf(1.0), leaf(2.0), paddle.to_tensor([3.0]), leaf(4.0)
    first, text, second = recompute(part, x, 5.0, [a, b], bias=bias, use_reentrant=use_reentrant)
    assert text == "text"
    (first + second).backward()
    found = [None if t.grad is None else t.grad.tolist() for t in (x, a, b, bias)]
    assert found == [[5.0], [3.0], None, [2.0]]


@BOTH
def test_an_argument_that_was_changed_is_refused(use_reentrant):
    x = leaf(1.0) * 1.0
    y = recompute(paddle.tanh, x, use_reentrant=use_reentrant)
    x.scale_(2.0)
    with pytest.raises(RuntimeError, match="in-place op"):
        y.backward()


def test_what_only_the_function_knows_needs_the_other_way():
    w = leaf(3.0)
    with pytest.warns(UserWarning, match="use_reentrant=False"):
        y = recompute(lambda x: x * w, paddle.ones([1]))
    assert y.stop_gradient
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = recompute(lambda x: x * w, paddle.ones([1]), use_reentrant=False)
    y.backward()
    assert w.grad.tolist() == [1.0]


def test_a_function_that_does_something_else_the_second_time():
    ops = [[paddle.tanh], [paddle.exp, paddle.tanh]]

    def part(x):
        for op in ops.pop(0):
            x = op(x)
        return x

    y = recompute(part, leaf(1.0), use_reentrant=False)
    with pytest.raises(RuntimeError, match="second run to keep 1 Tensors .* but got 2"):
        y.backward()


def test_what_is_no_function_or_has_hooks_already():
    with pytest.raises(TypeError, match="recompute: expected a Layer or a function, but got int"):
        recompute(3, leaf(1.0))
    with (
        saved_tensors_hooks(lambda t: t, lambda t: t),
        pytest.raises(ValueError, match="one pair of hooks"),
    ):
        recompute(paddle.tanh, leaf(1.0), use_reentrant=False)


def test_a_gradient_can_be_asked_for_inside_a_walk():
    """The reentrant way starts a backward inside of backward; the outer one goes on after it."""
    x = leaf(1.0, 2.0)
    y = x * 2.0
    z = recompute(lambda t: t * t * t, y)
    (grad,) = paddle.grad(z.sum(), x)
    assert grad.tolist() == [24.0, 96.0]
    assert x.grad is None
