"""Two Tensors of different dtypes: a Tensor without dimensions counts as a number."""

import numpy as np

import minipaddle as paddle
from minipaddle.compare import both


def test_the_dtypes_are_real_paddles():
    both(
        """
        kinds = ("bool", "int32", "int64", "float32", "float64")
        def dtype_of(f, x, y):
            try:
                return str(f(x, y).dtype)
            except TypeError:
                return "TypeError"
        for a in kinds:
            for b in kinds:
                row, one, other = paddle.ones([2], a), paddle.full([], 2, a), paddle.full([], 2, b)
                for f in (paddle.add, lambda x, y: x > y, lambda x, y: x - y, paddle.maximum):
                    pairs = (row, other), (other, row), (one, other)
                    print(a, b, *[dtype_of(f, *pair) for pair in pairs if a != b])
        """,
        same=True,
    )


def test_a_program_casts_as_real_paddles():
    both(
        """
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [2])
            i, d = paddle.static.data("i", [], "int64"), paddle.static.data("d", [], "float64")
            results = (x + i, x * d, i - x, x > i)
        print(main)
        """,
        same=True,
    )


def test_classic_programs_too():
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main):
                x = paddle.static.data("x", [2])
                i = paddle.static.data("i", [], "int64")
                y = x / i
            feed = {"x": np.float32([2, 3]), "i": np.int64(4)}
            (found,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[y])
    finally:
        paddle.disable_static()
    assert (found.dtype, found.tolist()) == (np.float32, [0.5, 0.75])


def test_the_gradient_has_the_dtype_of_its_tensor():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    d = paddle.to_tensor(3.0, dtype="float64", stop_gradient=False)
    (x * d).sum().backward()
    assert (x.grad.dtype, d.grad.dtype) == (paddle.float32, paddle.float64)
    assert (x.grad.tolist(), d.grad.item()) == ([3.0, 3.0], 3.0)
