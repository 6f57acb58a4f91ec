"""`assert` in programs: it has no result, it stays alive, it stops a run."""

import contextlib

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both, real_paddle

ONES = np.ones((2, 3), "float32")


@pytest.mark.parametrize("classic", [False, True])
def test_a_false_condition_stops_the_program(classic):
    paddle.enable_static()
    guard = paddle.pir_utils.OldIrGuard() if classic else contextlib.nullcontext()
    try:
        with guard:
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                x = paddle.static.data("x", [2, 3])
                check = paddle.static.nn.control_flow.Assert
                assert check(paddle.mean(x) > 0, [x], summarize=2) is None
                y = x * 2.0
            executor = paddle.static.Executor()
            (found,) = executor.run(main, feed={"x": ONES}, fetch_list=[y])
            assert found.tolist() == (ONES * 2).tolist()
            message = r"assert: expected the condition to be true.*\[2, 3\]: \[-1.0, -1.0\]"
            with pytest.raises(ValueError, match=message):
                executor.run(main, feed={"x": -ONES}, fetch_list=[y])
            with (
                paddle.static.program_guard(main, paddle.static.Program()),
                pytest.raises(TypeError, match="assert: expected a condition of dtype bool"),
            ):
                check(x)
    finally:
        paddle.disable_static()


@pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed (extra: course)")
def test_the_same_program_as_paddle():
    found = both(
        """
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data('x', [2, 3])
            paddle.static.nn.control_flow.Assert(x.sum() > 0, [x, x.mean()], summarize=4)
        print(main)
        """,
    )
    assert found.same, found
