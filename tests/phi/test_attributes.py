"""Attributes of kind Scalar and IntArray may be given as Tensors, Values and Variables."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both, real_paddle
from minipaddle.pir_utils import OldIrGuard

X = np.arange(12, dtype="float32").reshape(2, 2, 3)


def results(x):
    """Calls in which numbers come from x itself."""
    shape = paddle.shape(x)
    total = paddle.sum(x)
    return [
        paddle.reshape(x, [shape[0], 6]),
        paddle.reshape(x, shape[1:2] * 6),
        paddle.scale(x, scale=total),
        paddle.clip(x, min=total * 0.0 + 1.0, max=5.0),
        paddle.expand(paddle.sum(x, axis=0, keepdim=True), shape),
        paddle.full([shape[1], 2], 7.0),
        paddle.full_like(x, total),
    ]


WANTED = [
    X.reshape(2, 6),
    X.reshape(12),
    X * 66,
    X.clip(1, 5),
    np.broadcast_to(X.sum(0, keepdims=True), X.shape),
    np.full((2, 2), 7.0),
    np.full_like(X, 66),
]


def agree(found):
    for array, wanted in zip(found, WANTED, strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_tensors():
    agree([y.numpy() for y in results(paddle.to_tensor(X))])


@pytest.mark.parametrize("classic", [False, True])
def test_values_and_variables(classic):
    paddle.enable_static()
    guard = OldIrGuard() if classic else paddle.no_grad()
    try:
        with guard:
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                fetches = results(paddle.static.data("x", [-1, 2, 3]))
            agree(paddle.static.Executor().run(main, feed={"x": X}, fetch_list=fetches))
    finally:
        paddle.disable_static()


def test_gradients_of_calls_with_values():
    """The gradient op reads the same values."""
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [-1, 2, 3])
            x.stop_gradient = False
            factor = paddle.static.data("factor", [1])
            y = paddle.reshape(paddle.scale(x, scale=factor), [paddle.shape(x)[0], 6])
            (grad,) = paddle.static.gradients((y * y).sum(), x)
        feed = {"x": X, "factor": np.array([3.0], "float32")}
        (found,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[grad])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, 18 * X)


def test_what_infer_meta_must_know_is_asked_for():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [2, 3])
            axis = paddle.static.data("axis", [], "int64")
            with pytest.raises(ValueError, match="argmax: expected axis to be known before"):
                paddle.argmax(x, axis=axis)
            assert paddle.reshape(x, paddle.static.data("s", [3], "int64")).shape == [-1, -1, -1]
    finally:
        paddle.disable_static()


def test_an_attribute_has_no_gradient():
    factor = paddle.to_tensor(2.0, stop_gradient=False)
    with pytest.raises(TypeError, match="scale: expected scale to be a number"):
        paddle.scale(paddle.ones([2]), scale=factor)


@pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed (extra: course)")
def test_the_same_program_as_paddle():
    both(
        """
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data('x', [-1, 2, 3])
            shape = paddle.shape(x)
            y = paddle.reshape(x, [shape[0], 6])
            z = paddle.reshape(x, shape[0:1])
            w = paddle.scale(x, scale=paddle.sum(x))
            c = paddle.clip(x, min=paddle.sum(x), max=5.)
            f = paddle.full([shape[0], 2], 1.0)
        print(main)
        """,
        same=True,
    )
