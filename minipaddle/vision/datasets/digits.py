"""Digits: 1,797 handwritten digits, 8x8 pixels each. Nothing is downloaded: the file is part of
the package.

Real Paddle has no such data set; its MNIST needs the network. Source and licence: README.md
beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from minipaddle.common.enforce import require_one_of
from minipaddle.io import Dataset

TEST_EVERY = 7  # digits come in tens in the file, so a step of 7 takes all of them alike


class Digits(Dataset):
    """Images float32 [1, 8, 8] between 0 and 1, labels int64 0..9.

    Args:
        mode: "train" (1,541 images) or "test" (every seventh image, 256).
        transform: applied to each image.

    Raises:
        ValueError: the mode is unknown.
    """

    def __init__(
        self, mode: str = "train", transform: Callable[[np.ndarray], Any] | None = None
    ) -> None:
        require_one_of("Digits", "mode", mode, ("train", "test"))
        with np.load(Path(__file__).with_name("digits.npz")) as file:
            images = file["images"].astype("float32")[:, None] / 16.0
            labels = file["labels"].astype("int64")
        is_test = np.arange(len(labels)) % TEST_EVERY == TEST_EVERY - 1
        part = is_test if mode == "test" else ~is_test
        self.images, self.labels = images[part], labels[part]
        self.transform = transform

    def __getitem__(self, index: int) -> tuple[Any, np.int64]:
        image = self.images[index]
        return (self.transform(image) if self.transform else image), self.labels[index]

    def __len__(self) -> int:
        return len(self.labels)
