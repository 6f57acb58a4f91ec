"""Constant. Paddle: python/paddle/nn/initializer/constant.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.nn.initializer.initializer import Initializer
from minipaddle.phi.core.op import OPS


class Constant(Initializer):
    """One number everywhere. Raises ValueError for None."""

    def __init__(self, value: float = 0.0) -> None:
        if value is None:
            raise ValueError("Constant: expected a number, but got None. Leave it out for 0.")
        self.value = value

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        return OPS["full"](shape=shape, value=float(self.value), dtype=dtype)
