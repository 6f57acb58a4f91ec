"""Shapes, dtypes and order. Paddle: python/paddle/tensor/manipulation.py."""

from __future__ import annotations

from minipaddle.phi.core.op import OPS

__all__ = [
    "cast",
    "reshape",
    "squeeze",
    "unsqueeze",
]

reshape = OPS["reshape"]
unsqueeze = OPS["unsqueeze"]
squeeze = OPS["squeeze"]
cast = OPS["cast"]
