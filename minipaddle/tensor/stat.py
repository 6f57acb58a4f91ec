"""Statistics. Paddle: python/paddle/tensor/stat.py."""

from __future__ import annotations

from minipaddle.phi.core.op import OPS

__all__ = [
    "mean",
]

mean = OPS["mean"]
