"""What the tests of nn share: the same layer or function on minipaddle and on real Paddle, from the
same numbers.
"""

import numpy as np

import minipaddle
from minipaddle.compare import real_paddle


def both_paddles():
    """(minipaddle, real Paddle), with names that start from 0."""
    real = real_paddle()
    assert real is not None, "install the extra `course`: parity needs real Paddle"
    return minipaddle, real


def fresh_names(paddle):
    """A guard: names start from 0 inside."""
    if paddle is minipaddle:
        from minipaddle.common import unique_name
    else:
        from paddle.utils import unique_name
    return unique_name.guard()


def tensors(paddle, arrays):
    """The arrays as Tensors; floating-point ones want a gradient."""
    return [
        a if not isinstance(a, np.ndarray)
        else paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f")
        for a in arrays
    ]  # fmt: skip


def gradients(results, wanted):
    """Gradients of the sum of the results, each number times a weight of its own."""
    terms = []
    for result in results if isinstance(results, (tuple, list)) else [results]:
        if result.stop_gradient or "float" not in str(result.dtype):
            continue
        size = int(np.prod(result.shape))
        weights = np.linspace(0.5, 1.5, size, dtype=result.numpy().dtype).reshape(result.shape)
        paddle = both_paddles()[not type(result).__module__.startswith("minipaddle")]
        terms.append((result * paddle.to_tensor(weights)).sum())
    sum(terms[1:], terms[0]).backward()
    return [None if t.grad is None else t.grad.numpy() for t in wanted]


def numbers_of(results):
    return [r.numpy() for r in (results if isinstance(results, (tuple, list)) else [results])]


def assert_alike(mine, theirs, rtol=1e-5, atol=1e-6):
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def op_names(paddle, build):
    """The ops that `build(paddle)` appends to a PIR program."""
    paddle.enable_static()
    try:
        with fresh_names(paddle):
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                build(paddle)
            return [op.name() for op in main.global_block().ops]
    finally:
        paddle.disable_static()
