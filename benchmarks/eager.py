"""minipaddle beside real Paddle: calls, training steps, import.

    python -m benchmarks.eager            prints the table
    python -m benchmarks.eager --write    also writes it into benchmarks/README.md

Needs real Paddle (the extra `course`). Takes about two minutes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.ratio import ratio, write_table  # first: it sets the number of threads

import numpy as np  # isort: skip


def add(paddle: Any) -> Callable[[], object]:
    """a + b, 2x2, with a gradient wanted."""
    a = paddle.to_tensor(np.ones((2, 2), "float32"), stop_gradient=False)
    b = paddle.to_tensor(np.ones((2, 2), "float32"))
    return lambda: a + b


def product_backward(paddle: Any) -> Callable[[], object]:
    """(a * b).sum(), 2x2, forward and backward."""
    a, b = (paddle.to_tensor(np.ones((2, 2), "float32"), stop_gradient=False) for _ in range(2))
    return lambda: (a * b).sum().backward()


def accumulating(paddle: Any) -> Callable[[], object]:
    """(a * a).sum(), 2x2, forward and backward: both gradients are added to what a.grad has."""
    a = paddle.to_tensor(np.ones((2, 2), "float32"), stop_gradient=False)
    return lambda: (a * a).sum().backward()


def chain(paddle: Any, count: int = 10_000) -> Callable[[], object]:
    """Backward over a chain of `count` adds; the graph is made once and kept."""
    x = paddle.to_tensor(np.ones(1, "float32"), stop_gradient=False)
    y = x
    for _ in range(count):
        y = y + x
    return lambda: y.backward(retain_graph=True)


def training_step(paddle: Any, model: Any, images: Any, labels: Any) -> Callable[[], object]:
    """Forward, backward, one SGD step."""
    optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters())
    x, y = paddle.to_tensor(images), paddle.to_tensor(labels)

    def step() -> None:
        loss = paddle.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def mlp_step(paddle: Any) -> Callable[[], object]:
    """64-128-128-10, batch 32, SGD."""
    nn, rng = paddle.nn, np.random.default_rng(0)
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )
    images = rng.random((32, 64), "float32")
    return training_step(paddle, model, images, rng.integers(0, 10, 32))


def lenet_step(paddle: Any) -> Callable[[], object]:
    """LeNet, batch 32, 28x28, SGD."""
    rng = np.random.default_rng(0)
    images = rng.random((32, 1, 28, 28), "float32")
    labels = rng.integers(0, 10, 32)
    return training_step(paddle, paddle.vision.models.LeNet(), images, labels)


def resnet18_forward(paddle: Any) -> Callable[[], object]:
    """ResNet-18, batch 1, 224x224, eval."""
    model = paddle.vision.models.resnet18()
    model.eval()
    image = paddle.to_tensor(np.random.default_rng(0).random((1, 3, 224, 224), "float32"))

    def forward() -> None:
        with paddle.no_grad():
            model(image)

    return forward


WORK = {  # what is measured -> (how, the ratio to reach)
    "`a + b`, 2x2, gradients recorded": (add, 0.5),
    "`(a * b).sum()`, 2x2, forward and backward": (product_backward, 0.7),
    "`(a * a).sum()`, 2x2, forward and backward": (accumulating, 0.7),
    "backward over a chain of 10,000 adds": (chain, 0.7),
    "MLP step (64-128-128-10, batch 32, SGD)": (mlp_step, 0.5),
    "LeNet step, batch 32, 28x28": (lenet_step, 0.8),
    "ResNet-18 forward, batch 1, 224x224": (resnet18_forward, 0.7),
}

IMPORT = """
import time
start = time.process_time()
import {package}
took = time.process_time() - start
try:
    with open("/proc/self/statm") as file:
        memory = int(file.read().split()[1])
except OSError:  # not on Linux
    memory = float("nan")
print(took, memory)
"""


def import_cost(package: str) -> tuple[float, float]:
    """(processor seconds, memory pages) of importing a package into a fresh Python."""
    command = [sys.executable, "-W", "ignore", "-c", IMPORT.format(package=package)]
    # compiled files are kept, as they are for a user
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)


def imports() -> list[str]:
    """Rows on importing: beside numpy, which is most of it, and beside Paddle."""
    packages = ("minipaddle", "numpy", "paddle")
    rounds = [{name: import_cost(name) for name in packages} for _ in range(6)][1:]

    def median(position: int, top: str, bottom: str) -> float:
        return statistics.median(each[top][position] / each[bottom][position] for each in rounds)

    rows = []
    for other, reach in (("numpy", "1.3 in time"), ("paddle", "")):
        seconds, memory = (median(position, "minipaddle", other) for position in (0, 1))
        rows.append(
            f"| `import minipaddle`, beside `import {other}` | {seconds:.2f} in time, "
            f"{memory:.2f} in memory | {reach} |"
        )
    return rows


def growth() -> str:
    """A row on how backward's time grows with the graph: linear means 10."""
    import minipaddle

    found, _, _ = ratio(chain(minipaddle, 10_000), chain(minipaddle, 1_000))
    return f"| backward over 10,000 adds, beside 1,000 | {found:.1f} times as long | 12 |"


def table() -> str:
    """The table, as Markdown."""
    import paddle

    import minipaddle

    rows = ["| work | minipaddle / Paddle | at most |", "|---|---|---|"]
    for name, (make, reach) in WORK.items():
        found, ours, theirs = ratio(make(minipaddle), make(paddle))
        print(f"{name}: {found:.2f} ({ours:.1f} us, {theirs:.1f} us)", file=sys.stderr)
        rows.append(f"| {name} | {found:.2f} | {reach} |")
    rows.append(growth())
    rows += imports()
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
        write_table("eager", text)


if __name__ == "__main__":
    main()
