"""Functions that are written in others give in programs of both kinds what they give in dygraph."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.pir_utils import OldIrGuard

CALLS = {
    "frac": paddle.frac,
    "polygamma": lambda x: paddle.polygamma(x, 0),
    "logit": lambda x: paddle.logit(x, 0.1),
    "ldexp": lambda x: paddle.ldexp(x, x),
    "hypot": lambda x: paddle.hypot(x, x + 1.0),
    "nan_to_num": lambda x: paddle.nan_to_num(x / 0.0, 1.0, 2.0, 3.0),
    "gcd": lambda x: paddle.gcd(x.astype("int64") * 6, paddle.full([3], 4, "int64")),
    "lcm": lambda x: paddle.lcm(x.astype("int64") * 6, paddle.full([3], 4, "int64")),
    "lerp": lambda x: paddle.lerp(x, x * 2.0, 0.25),
    "outer": lambda x: paddle.outer(x, x),
    "cumprod": lambda x: paddle.cumprod(x, dtype="float64"),
}
X = np.array([[0.25, 1.5, -2.75], [3.0, 0.0, -0.5]], "float32")


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_program_gives_what_dygraph_gives(name, classic):
    expected = CALLS[name](paddle.to_tensor(X))
    paddle.enable_static()
    try:
        guard = OldIrGuard() if classic else paddle.no_grad()
        with guard, paddle.static.program_guard(paddle.static.Program()):
            out = CALLS[name](paddle.static.data("x", [-1, 3]))
            (found,) = paddle.static.Executor().run(feed={"x": X}, fetch_list=[out])
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(found, expected.numpy())
    assert found.dtype == expected.numpy().dtype
