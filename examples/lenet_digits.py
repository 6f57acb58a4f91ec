"""LeNet learns handwritten digits: a data set, a DataLoader, Adam, a scheduler, a progress bar.

    python examples/lenet_digits.py                 on minipaddle
    python examples/lenet_digits.py --paddle        the same file on real Paddle

The pictures are 8x8 pixels; LeNet wants 28x28, so they are drawn larger first.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from minipaddle.vision.datasets import Digits

# real Paddle or this one: the rest of the file is the same for both
paddle: Any = importlib.import_module("paddle" if "--paddle" in sys.argv else "minipaddle")

EPOCHS, BATCH, RATE = 8, 32, 2e-3
SIZE = 28


def enlarge(images: np.ndarray) -> np.ndarray:
    """[N, 1, 8, 8] -> [N, 1, 28, 28]: each new pixel lies between old ones, and is their mean."""
    old = images.shape[-1]
    places = np.linspace(0, old - 1, SIZE)
    weights = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(old)))  # [28, 8]
    return (weights @ images @ weights.T).astype("float32")


class BigDigits(paddle.io.Dataset):
    """Pictures float32 [1, 28, 28] and labels int64. mode: "train" or "test"."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        digits = Digits(mode=mode)
        self.images, self.labels = enlarge(digits.images), digits.labels

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.int64]:
        return self.images[index], self.labels[index]

    def __len__(self) -> int:
        return len(self.labels)


def progress(batches: Iterable[Any], count: int, label: str) -> Iterator[Any]:
    """Passes the batches on, and draws a bar of `count` of them where there is a terminal."""
    for number, batch in enumerate(batches, 1):
        yield batch
        if sys.stderr.isatty():
            bar = "#" * (30 * number // count)
            end = "\n" if number == count else ""
            print(f"\r{label} [{bar:<30}] {number}/{count}", end=end, file=sys.stderr, flush=True)


def train(model: Any, epochs: int = EPOCHS) -> list[float]:
    """Trains; returns the mean loss of each epoch."""
    loader = paddle.io.DataLoader(BigDigits("train"), batch_size=BATCH, shuffle=True)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(RATE, T_max=epochs * len(loader))
    adam = paddle.optimizer.Adam(rate, parameters=model.parameters())
    losses = []
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for images, labels in progress(loader, len(loader), f"epoch {epoch + 1}"):
            loss = paddle.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            adam.step()
            adam.clear_grad()
            rate.step()
            total += float(loss)
        losses.append(total / len(loader))
        print(f"epoch {epoch + 1}   loss {losses[-1]:.4f}   learning rate {adam.get_lr():.1e}")
    return losses


def accuracy(model: Any) -> float:
    """The share of the test pictures that are recognised."""
    model.eval()
    right = count = 0
    with paddle.no_grad():
        for images, labels in paddle.io.DataLoader(BigDigits("test"), batch_size=64):
            right += int((model(images).numpy().argmax(axis=1) == labels.numpy()).sum())
            count += len(labels)
    return right / count


def main() -> None:
    paddle.seed(1)
    model = paddle.vision.models.LeNet()
    begin = time.perf_counter()
    train(model)
    print(f"{paddle.__name__}: {EPOCHS} epochs in {time.perf_counter() - begin:.1f} s")
    print(f"recognised: {accuracy(model):.1%}")


if __name__ == "__main__":
    main()
