"""Decomposition where the size of the batch is known only when the program runs."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.decomposition import decompose

F = paddle.nn.functional
X = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")

LOSSES = {
    "a mean of everything": lambda x: (x * x).mean(),
    "a mean along what is known": lambda x: (x * x).mean(axis=1).sum(),
    "a loss": lambda x: F.cross_entropy(x, paddle.argmax(x, axis=1)),
    "a mean of the batch": lambda x: F.kl_div(x, F.softmax(x * 2.0), reduction="batchmean"),
}


def ops(program):
    return [op.name() for op in program.global_block().ops]


@pytest.mark.parametrize("name", LOSSES)
def test_a_decomposed_program_with_an_unknown_batch_gives_the_same(name):
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [-1, 3])
            x.stop_gradient = False
            loss = LOSSES[name](x)
            fetch = [loss, *paddle.static.gradients(loss, [x])]
        run = paddle.static.Executor().run
        expected = run(main, feed={"x": X}, fetch_list=fetch)
        found = run(main, feed={"x": X}, fetch_list=decompose(main, fetch))
        main.verify()
    finally:
        paddle.disable_static()
    for array, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-6)


def test_only_what_needs_the_unknown_size_stays():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [-1, 3])
            means = [x.mean(), x.mean(axis=1)]
        decompose(main, means)
        assert ops(main).count("pd_op.mean") == 1
        assert ops(main).count("pd_op.sum") == 1
    finally:
        paddle.disable_static()
