"""Losses as layers. Paddle: python/paddle/nn/layer/loss.py."""

from __future__ import annotations

from typing import Any

from minipaddle.nn import functional
from minipaddle.nn.layer.layers import Layer

__all__ = [
    "CrossEntropyLoss",
]


class CrossEntropyLoss(Layer):
    """-log(softmax(input)) at the label; see functional.cross_entropy."""

    def __init__(self, reduction: str = "mean", soft_label: bool = False) -> None:
        super().__init__()
        self._reduction = reduction
        self._soft_label = soft_label

    def forward(self, input: Any, label: Any) -> Any:
        return functional.cross_entropy(
            input, label, reduction=self._reduction, soft_label=self._soft_label
        )
