"""Activations as layers. Paddle: python/paddle/nn/layer/activation.py."""

from __future__ import annotations

from typing import Any

from minipaddle.nn import functional
from minipaddle.nn.layer.layers import Layer

__all__ = [
    "ReLU",
    "Softmax",
    "Tanh",
]


class ReLU(Layer):
    """max(x, 0)."""

    def forward(self, x: Any) -> Any:
        return functional.relu(x)


class Tanh(Layer):
    """The hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        return functional.tanh(x)


class Softmax(Layer):
    """Softmax along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self._axis = axis

    def forward(self, x: Any) -> Any:
        return functional.softmax(x, self._axis)

    def extra_repr(self) -> str:
        return f"axis={self._axis}"
