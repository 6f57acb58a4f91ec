"""Normal and TruncatedNormal. Paddle: python/paddle/nn/initializer/normal.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.nn.initializer.initializer import Initializer
from minipaddle.phi.core.op import OPS


class Normal(Initializer):
    """Random numbers around `mean`, with standard deviation `std`."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = mean, std

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        return OPS["gaussian"](
            shape=shape, mean=float(self.mean), std=float(self.std), seed=0, dtype=dtype
        )


class TruncatedNormal(Initializer):
    """Normal numbers, of which only those in [a, b] are kept. As in Paddle, a and b are the bounds
    themselves, not counted in standard deviations.
    """

    def __init__(
        self,
        mean: float = 0.0,
        std: float = 1.0,
        a: float = -2.0,
        b: float = 2.0,
        name: str | None = None,
    ) -> None:
        self.mean, self.std, self.a, self.b = mean, std, a, b

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        return OPS["truncated_gaussian_random"](
            shape=shape,
            mean=float(self.mean),
            std=float(self.std),
            seed=0,
            a=float(self.a),
            b=float(self.b),
            dtype=dtype,
        )
