"""One model, six ways: a two-layer classifier of handwritten digits, trained by every subsystem
of minipaddle.

All start from the same numbers and see the same batches, so all must give the same losses. The
table compares each way with the same training written by hand in numpy, and with real Paddle
where it is installed.

    python examples/six_ways.py            exits with 1 where a way differs
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import distributed as dist
from minipaddle.nn.initializer import Assign

STEPS, BATCH, HIDDEN, RATE = 100, 64, 32, 0.5
TOLERANCE = 1e-5  # float32, 100 steps
REQUIRED_ACCURACY = 0.90

Batch = tuple[np.ndarray, np.ndarray]


@dataclass
class Run:
    """What one way did."""

    losses: list[float]
    weights: list[np.ndarray]  # w1, b1, w2, b2 after training
    seconds_per_step: float


# -- what all ways share -----------------------------------------------------------------------


def first_weights() -> list[np.ndarray]:
    """w1 [64, HIDDEN], b1, w2 [HIDDEN, 10], b2."""
    rng = np.random.default_rng(0)
    w1 = rng.uniform(-0.25, 0.25, (64, HIDDEN)).astype("float32")
    w2 = rng.uniform(-0.37, 0.37, (HIDDEN, 10)).astype("float32")
    return [w1, np.zeros(HIDDEN, "float32"), w2, np.zeros(10, "float32")]


def digits(mode: str) -> Batch:
    """All images [N, 64] and labels [N] of one part."""
    dataset = paddle.vision.datasets.Digits(mode=mode)
    return dataset.images.reshape(len(dataset), 64), dataset.labels


def batches() -> Iterator[Batch]:
    """STEPS batches, the same every time."""
    images, labels = digits("train")
    rng = np.random.default_rng(1)
    for _ in range(STEPS):
        chosen = rng.choice(len(labels), BATCH, replace=False)
        yield images[chosen], labels[chosen]


def train(step: Callable[[np.ndarray, np.ndarray], Any], weights: Callable[[], list]) -> Run:
    """Calls `step` on every batch, and times it (the first step is not counted: it compiles)."""
    losses, seconds = [], 0.0
    for number, (images, labels) in enumerate(batches()):
        start = time.perf_counter()
        losses.append(float(step(images, labels)))
        seconds += (time.perf_counter() - start) if number else 0.0
    return Run(losses, [np.array(w) for w in weights()], seconds / (STEPS - 1))


def network(names: list[str] | None = None) -> paddle.nn.Layer:
    """The model, in whatever world this is called."""
    w1, b1, w2, b2 = (
        paddle.ParamAttr(name=name, initializer=Assign(value))
        for name, value in zip(names or [None] * 4, first_weights(), strict=True)
    )
    return paddle.nn.Sequential(
        paddle.nn.Linear(64, HIDDEN, weight_attr=w1, bias_attr=b1),
        paddle.nn.ReLU(),
        paddle.nn.Linear(HIDDEN, 10, weight_attr=w2, bias_attr=b2),
    )


def accuracy(weights: list[np.ndarray]) -> float:
    """The share of test images that the trained weights get right."""
    images, labels = digits("test")
    w1, b1, w2, b2 = weights
    scores = np.maximum(images @ w1 + b1, 0) @ w2 + b2
    return float((scores.argmax(1) == labels).mean())


# -- the yardstick -----------------------------------------------------------------------------


def by_hand() -> Run:
    """The training in plain numpy."""
    w1, b1, w2, b2 = weights = first_weights()

    def step(x: np.ndarray, y: np.ndarray) -> float:
        hidden = np.maximum(x @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        scores -= scores.max(1, keepdims=True)
        e = np.exp(scores)
        p = e / e.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y]).mean()
        p[np.arange(len(y)), y] -= 1
        p /= len(y)
        hidden_grad = (p @ w2.T) * (hidden > 0)
        for weight, grad in (
            (w1, x.T @ hidden_grad),
            (b1, hidden_grad.sum(0)),
            (w2, hidden.T @ p),
            (b2, p.sum(0)),
        ):
            weight -= np.float32(RATE) * grad
        return loss

    return train(step, lambda: weights)


# -- the six ways ------------------------------------------------------------------------------


def dygraph(model: Any = None, loss_of: Callable | None = None) -> Run:
    """1. Each op computes at once and leaves a GradNode; backward walks the nodes."""
    model = model or network()
    sgd = paddle.optimizer.SGD(RATE, parameters=model.parameters())
    loss_of = loss_of or (lambda x, y: F.cross_entropy(model(x), y))

    def step(images: np.ndarray, labels: np.ndarray) -> Any:
        loss = loss_of(paddle.to_tensor(images), paddle.to_tensor(labels))
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    return train(step, model.parameters)


def build_static(rewrite: Callable[[Any], None] | None = None) -> tuple[Any, Any, Any, list]:
    """Builds the training program of the current world: (main, startup, loss, parameters)."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 64], "float32")
        y = paddle.static.data("y", [None], "int64")
        model = network()
        scores = model(x)
        F.softmax(scores)  # computed but never read: work for dead-code elimination
        loss = F.cross_entropy(scores, y)
        if rewrite is not None:
            rewrite(main)
        paddle.optimizer.SGD(RATE).minimize(loss)
    return main, startup, loss, [parameter.name for parameter in model.parameters()]


def run_static(main: Any, startup: Any, loss: Any, names: list[str]) -> Run:
    """Runs a training program with the Executor."""
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    executor.run(startup, scope=scope)

    def step(images: np.ndarray, labels: np.ndarray) -> Any:
        feed = {"x": images, "y": labels}
        return executor.run(main, feed=feed, fetch_list=[loss], scope=scope)[0]

    return train(step, lambda: [scope.find_var(name) for name in names])


def program() -> Run:
    """2. A classic Program with append_backward and sgd ops, run by the Executor."""
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            return run_static(*build_static())
    finally:
        paddle.disable_static()


def pir() -> Run:
    """3. A PIR program; it is printed, read back from its text, and the copy is what runs."""
    paddle.enable_static()
    try:
        main, startup, loss, names = build_static()
        text = str(main)
        copy = paddle.pir.parse_program(text)
        if str(copy) != text:
            raise AssertionError("the parsed program prints another text")
        position = main.global_block().ops.index(loss.get_defining_op())
        return run_static(copy, startup, copy.global_block().ops[position].result(0), names)
    finally:
        paddle.disable_static()


def pir_passes() -> Run:
    """4. The same after dead-code elimination and the fusion of matmul + add + relu to fc."""

    def rewrite(main: Any) -> None:
        (loss,) = (op.result(0) for op in main.global_block().ops if op.name() == "pd_op.mean")
        paddle._pir_ops.fetch(loss, "loss", 0)  # says what is wanted; everything else may go
        manager = paddle.pir.PassManager()
        manager.add_pass("dead_code_elimination_pass")
        manager.add_pass("matmul_add_act_fuse_pass")
        manager.run(main)
        names = [op.name() for op in main.global_block().ops]
        if names.count("pd_op.fc") != 2 or "pd_op.softmax" in names:
            raise AssertionError(f"the passes did not do their work: {names}")

    paddle.enable_static()
    try:
        return run_static(*build_static(rewrite))
    finally:
        paddle.disable_static()


def to_static() -> Run:
    """5. The dygraph code, captured from its bytecode."""
    model = network()

    def loss_of(x: Any, y: Any) -> Any:
        scores = model(x)
        return F.cross_entropy(scores, y)

    captured = paddle.jit.to_static(loss_of, full_graph=False)
    run = dygraph(model, captured)
    if captured.translate_count != 1 or captured.cache[0].break_reason:
        raise AssertionError(f"not captured once and whole: {captured.cache[0].break_reason}")
    return run


def data_parallel() -> Run:
    """6. Two ranks, each with half of every batch; gradients are averaged with all-reduce."""

    def rank_main() -> Run:
        model = dist.DataParallel(network())
        half = slice(dist.get_rank() * BATCH // 2, (dist.get_rank() + 1) * BATCH // 2)

        def loss_of(x: Any, y: Any) -> Any:
            return F.cross_entropy(model(x), y)

        sgd = paddle.optimizer.SGD(RATE, parameters=model.parameters())

        def step(images: np.ndarray, labels: np.ndarray) -> Any:
            loss = loss_of(paddle.to_tensor(images[half]), paddle.to_tensor(labels[half]))
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            mean = loss.detach().clone()
            dist.all_reduce(mean, dist.ReduceOp.AVG)
            return mean

        return train(step, model.parameters)

    return dist.spawn(rank_main, nprocs=2)[0]


# -- real Paddle -------------------------------------------------------------------------------


def real_paddle() -> Run | None:
    """The dygraph training on real Paddle; None where it is not installed."""
    try:
        import paddle as real
    except ImportError:
        return None
    w1, b1, w2, b2 = (
        real.ParamAttr(initializer=real.nn.initializer.Assign(value)) for value in first_weights()
    )
    model = real.nn.Sequential(
        real.nn.Linear(64, HIDDEN, weight_attr=w1, bias_attr=b1),
        real.nn.ReLU(),
        real.nn.Linear(HIDDEN, 10, weight_attr=w2, bias_attr=b2),
    )
    sgd = real.optimizer.SGD(RATE, parameters=model.parameters())

    def step(images: np.ndarray, labels: np.ndarray) -> Any:
        loss = real.nn.functional.cross_entropy(
            model(real.to_tensor(images)), real.to_tensor(labels)
        )
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    return train(step, lambda: [parameter.numpy() for parameter in model.parameters()])


WAYS: dict[str, Callable[[], Run]] = {
    "1 dygraph": dygraph,
    "2 Program": program,
    "3 PIR, printed and parsed": pir,
    "4 PIR after passes": pir_passes,
    "5 to_static (bytecode)": to_static,
    "6 data parallel, 2 ranks": data_parallel,
}


def difference(a: Run, b: Run | None) -> float:
    """The largest difference between two runs' losses; nan without a second run."""
    return float(np.abs(np.subtract(a.losses, b.losses)).max()) if b else float("nan")


def main() -> int:
    """Prints the table. Returns 1 where a way differs."""
    hand, real = by_hand(), real_paddle()
    head = f"{'way':27s} {'final loss':>10s} {'from numpy':>11s} {'from Paddle':>11s} "
    head += f"{'accuracy':>9s} {'ms/step':>8s}"
    print(head, "-" * len(head), sep="\n")
    failed = []
    for name, way in WAYS.items():
        run = way()
        off, off_real = difference(run, hand), difference(run, real)
        right = accuracy(run.weights)
        if off > TOLERANCE or off_real > TOLERANCE or right < REQUIRED_ACCURACY:
            failed.append(name)
        shown = f"{off_real:11.1e}" if real else f"{'none':>11s}"
        print(
            f"{name:27s} {run.losses[-1]:10.6f} {off:11.1e} {shown} {right:9.1%} "
            f"{run.seconds_per_step * 1000:8.3f}"
        )
    print(
        f"{'by hand, in numpy':27s} "
        f"{hand.losses[-1]:10.6f}{'':34s}{hand.seconds_per_step * 1000:8.3f}"
    )
    if real:
        print(
            f"{'real Paddle, dygraph':27s} "
            f"{real.losses[-1]:10.6f}{'':34s}{real.seconds_per_step * 1000:8.3f}"
        )
    else:
        print("real Paddle is not installed: nothing was compared with it")
    if failed:
        print(
            f"differs by more than {TOLERANCE}, or is under {REQUIRED_ACCURACY:.0%}: "
            f"{', '.join(failed)}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
