"""metric: how good a model is. Paddle: python/paddle/metric/."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Accuracy"]


class Accuracy:
    """The share of samples whose largest output is at the label, over all batches since `reset`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.right = self.count = 0

    def update(self, output: Any, label: Any) -> float:
        """Adds a batch: output [N, C], label [N] or [N, 1]. Returns this batch's accuracy."""
        scores, labels = np.asarray(output), np.asarray(label).reshape(-1)
        if scores.ndim != 2 or len(scores) != len(labels):
            raise ValueError(
                f"Accuracy: expected output [N, C] and label [N], but got {list(scores.shape)} and "
                f"{list(np.shape(label))}. Give one label per row."
            )
        right = int((scores.argmax(axis=1) == labels).sum())
        self.right += right
        self.count += len(labels)
        return right / len(labels)

    def accumulate(self) -> float:
        """The accuracy so far. Raises ValueError before the first batch."""
        if not self.count:
            raise ValueError(
                "Accuracy: expected at least one batch, but got none. Call update first."
            )
        return self.right / self.count
