"""Uniform. Paddle: python/paddle/nn/initializer/uniform.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.nn.initializer.initializer import Initializer
from minipaddle.phi.core.op import OPS


class Uniform(Initializer):
    """Random numbers, evenly spread over [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low, self.high = low, high

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        return OPS["uniform"](shape=shape, dtype=dtype, min=self.low, max=self.high, seed=0)
