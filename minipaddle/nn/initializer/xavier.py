"""XavierUniform and XavierNormal: numbers as large as keeps activations and gradients in size
(Glorot, Bengio 2010).

Paddle: python/paddle/nn/initializer/xavier.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minipaddle.nn.initializer.initializer import Initializer, compute_fans
from minipaddle.nn.initializer.normal import Normal
from minipaddle.nn.initializer.uniform import Uniform


class _Xavier(Initializer):
    """Args: fan_in, fan_out: in place of those of the shape. gain: see calculate_gain."""

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain

    def _scale(self, shape: Sequence[int], number: float) -> float:
        """gain * sqrt(number / (fan_in + fan_out)); 0 where there are no numbers to make."""
        fan_in, fan_out = compute_fans(shape)
        fan_in = fan_in if self.fan_in is None else self.fan_in
        fan_out = fan_out if self.fan_out is None else self.fan_out
        return self.gain * math.sqrt(number / (fan_in + fan_out)) if fan_in and fan_out else 0.0


class XavierUniform(_Xavier):
    """Uniform in (-a, a) with a = gain * sqrt(6 / (fan_in + fan_out)): the standard deviation is
    that of XavierNormal.
    """

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        limit = self._scale(shape, 6.0)
        return Uniform(-limit, limit).forward(shape, dtype)


class XavierNormal(_Xavier):
    """Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out))."""

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        return Normal(0.0, self._scale(shape, 2.0)).forward(shape, dtype)
