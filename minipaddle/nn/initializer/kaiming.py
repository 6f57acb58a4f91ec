"""KaimingUniform and KaimingNormal: as Xavier, for layers that end in a relu, which drops half of
the numbers (He and others 2015).

Paddle: python/paddle/nn/initializer/kaiming.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minipaddle.common.enforce import require_one_of
from minipaddle.nn.initializer.initializer import Initializer, calculate_gain, compute_fans
from minipaddle.nn.initializer.normal import Normal
from minipaddle.nn.initializer.uniform import Uniform


class _Kaiming(Initializer):
    """Args: fan_in: in place of that of the shape. mode: "fan_in" keeps the size of activations,
    "fan_out" that of gradients. negative_slope, nonlinearity: see calculate_gain.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        require_one_of(type(self).__name__, "mode", mode, ("fan_in", "fan_out"))
        if mode == "fan_out" and fan_in is not None:
            raise ValueError(
                f"{type(self).__name__}: expected no fan_in beside mode 'fan_out', but got "
                f"{fan_in}. Leave fan_in out."
            )
        self.fan_in, self.mode = fan_in, mode
        self.negative_slope, self.nonlinearity = negative_slope, nonlinearity

    def _scale(self, shape: Sequence[int], number: float) -> float:
        """gain * sqrt(number / fan)."""
        fan = compute_fans(shape)[self.mode == "fan_out"]
        fan = fan if self.fan_in is None else self.fan_in
        return calculate_gain(self.nonlinearity, self.negative_slope) * math.sqrt(
            number / (fan or 1)
        )


class KaimingUniform(_Kaiming):
    """Uniform in (-a, a) with a = gain * sqrt(3 / fan)."""

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        limit = self._scale(shape, 3.0)
        return Uniform(-limit, limit).forward(shape, dtype)


class KaimingNormal(_Kaiming):
    """Normal with standard deviation gain / sqrt(fan)."""

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        return Normal(0.0, self._scale(shape, 1.0)).forward(shape, dtype)
