"""Classic Programs beside real Paddle's, and beside the same numpy calls written by hand.

    python -m benchmarks.static            prints the table
    python -m benchmarks.static --write    also writes it into benchmarks/README.md

Needs real Paddle (the extra `course`). Takes about two minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.ratio import ratio, write_table  # first: it sets the number of threads

import numpy as np  # isort: skip

SIZES = (64, 128, 128, 10)
BATCH = 32
RATE = 0.01
BUILDS = 5  # how often the work is built anew; the median counts


def program(paddle: Any, build: Callable[[], Any]) -> tuple[Any, Any, Any]:
    """(main program, startup program, what `build` returned), classic ones."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        return main, startup, build()


def one_op(paddle: Any) -> Callable[[], object]:
    """Executor.run of x + x, 2x2."""

    def build() -> Any:
        x = paddle.static.data("x", [2, 2], "float32")
        return x + x

    main, _, out = program(paddle, build)
    executor, feed = paddle.static.Executor(paddle.CPUPlace()), {"x": np.ones((2, 2), "float32")}
    return lambda: executor.run(main, feed=feed, fetch_list=[out])


def batch() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"x": rng.random((BATCH, SIZES[0]), "float32"), "y": rng.integers(0, SIZES[-1], BATCH)}


def mlp_step(paddle: Any) -> Callable[[], object]:
    """Forward, backward and SGD of 64-128-128-10, batch 32, as one Program."""

    def build() -> Any:
        nn = paddle.nn
        x = paddle.static.data("x", [BATCH, SIZES[0]], "float32")
        y = paddle.static.data("y", [BATCH], "int64")
        first, second, third = (nn.Linear(a, b) for a, b in zip(SIZES, SIZES[1:], strict=False))
        hidden = nn.functional.relu(second(nn.functional.relu(first(x))))
        loss = nn.functional.cross_entropy(third(hidden), y)
        paddle.optimizer.SGD(RATE).minimize(loss)
        return loss

    main, startup, loss = program(paddle, build)
    executor, feed = paddle.static.Executor(paddle.CPUPlace()), batch()
    executor.run(startup)
    return lambda: executor.run(main, feed=feed, fetch_list=[loss])


def mlp_step_by_hand() -> Callable[[], object]:
    """The numpy calls of the same step, one after the other. Labels are checked, as an op does."""
    rng, given = np.random.default_rng(0), batch()
    x, y = given["x"], given["y"]
    pairs = list(zip(SIZES, SIZES[1:], strict=False))
    w1, w2, w3 = ((rng.random(pair, "float32") - 0.5) * 0.3 for pair in pairs)
    b1, b2, b3 = (np.zeros(size, "float32") for size in SIZES[1:])
    rate, zero = np.asarray([RATE], "float32"), np.float32(0)

    def check(label: np.ndarray) -> None:
        if label.min() < 0 or label.max() >= SIZES[-1]:
            raise IndexError

    def step() -> object:
        h1 = np.maximum(np.matmul(x, w1) + b1, zero)
        h2 = np.maximum(np.matmul(h1, w2) + b2, zero)
        out = np.matmul(h2, w3) + b3
        label = y.reshape(BATCH, 1)
        shifted = out - out.max(axis=-1, keepdims=True)
        softmax = np.exp(shifted)
        total = np.add.reduce(softmax, axis=-1, keepdims=True)
        softmax /= total
        check(label)
        at_label = shifted[np.arange(BATCH), label.ravel()].reshape(BATCH, 1)
        losses = np.log(total) - at_label
        loss = np.add.reduce(losses, axis=None) / np.float32(BATCH)

        start = np.full((), 1.0, "float32")
        share = np.empty((BATCH, 1), "float32")
        share[...] = start * (1 / BATCH)
        check(label)
        grad = softmax * share
        grad[np.arange(BATCH), label.ravel()] -= share[:, 0]
        b3_grad, w3_grad = np.add.reduce(grad, axis=0), np.matmul(h2.T, grad)
        grad = np.matmul(grad, w3.T) * (h2 > 0)
        b2_grad, w2_grad = np.add.reduce(grad, axis=0), np.matmul(h1.T, grad)
        grad = np.matmul(grad, w2.T) * (h1 > 0)
        b1_grad, w1_grad = np.add.reduce(grad, axis=0), np.matmul(x.T, grad)

        grads = (w1_grad, w2_grad, w3_grad, b1_grad, b2_grad, b3_grad)
        for parameter, gradient in zip((w1, w2, w3, b1, b2, b3), grads, strict=True):
            parameter -= rate.reshape(()) * gradient
        return loss.copy()

    return step


def building(paddle: Any, count: int = 10_000) -> Callable[[], object]:
    """Building `count` ops: a chain of adds, and append_backward."""

    def build() -> None:
        x = paddle.static.data("x", [2, 2], "float32")
        x.stop_gradient = False
        y = x
        for _ in range(count // 2 - 2):
            y = y + x
        paddle.static.append_backward(paddle.mean(y))

    return lambda: program(paddle, build)


def table() -> str:
    """The table, as Markdown."""
    import paddle

    import minipaddle

    rows = ["| work | ratio | at most |", "|---|---|---|"]

    def row(
        name: str, ours: Any, theirs: Any, reach: str, builds: int = BUILDS, **how: Any
    ) -> None:
        """`ours` and `theirs` make the work: arrays that lie elsewhere can change it by 3 %."""
        tries = sorted(ratio(ours(), theirs(), **how) for _ in range(builds))
        found, ours_us, theirs_us = tries[builds // 2]
        print(f"{name}: {found:.3f} ({ours_us:.1f} us, {theirs_us:.1f} us)", file=sys.stderr)
        rows.append(f"| {name} | {found:.2f} | {reach} |")

    small, hand = "`Executor.run` of one add, 2x2", "MLP step (64-128-128-10, batch 32, SGD)"
    built = "building 10,000 ops, with `append_backward`"
    slow = {"builds": 1, "seconds": 20.0, "rounds": 5}
    with minipaddle.pir_utils.OldIrGuard(), paddle.pir_utils.OldIrGuard():
        ours, theirs = partial(one_op, minipaddle), partial(one_op, paddle)
        row(f"{small}, beside Paddle", ours, theirs, "0.1")
        ours, theirs = partial(mlp_step, minipaddle), partial(mlp_step, paddle)
        row(f"{hand}, beside Paddle", ours, theirs, "0.3")
        row(f"{hand}, beside numpy by hand", ours, mlp_step_by_hand, "1.2")
        ours, theirs = partial(building, minipaddle), partial(building, paddle)
        row(f"{built}, beside Paddle", ours, theirs, "2", **slow)
        fewer = partial(building, minipaddle, 1_000)
        row("the same, beside 1,000 ops (linear: 10)", ours, fewer, "12", **slow)
    versions = f"minipaddle {minipaddle.__version__}, Paddle {paddle.__version__}"
    python = ".".join(map(str, sys.version_info[:3]))
    rows += ["", f"{versions}, numpy {np.__version__}, Python {python}; one thread."]
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write it into benchmarks/README.md")
    arguments = parser.parse_args()
    text = table()
    print(text)
    if arguments.write:
        write_table("static", text)


if __name__ == "__main__":
    main()
