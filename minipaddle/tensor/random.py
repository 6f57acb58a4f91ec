"""Random Tensors. Paddle: python/paddle/tensor/random.py."""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.op import OPS

__all__ = [
    "rand",
    "uniform",
]


def uniform(
    shape: Any,
    dtype: Any = None,
    min: float = 0.0,
    max: float = 1.0,
    seed: int = 0,
    name: Any = None,
) -> Any:
    """Random numbers, evenly spread over [min, max)."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return OPS["uniform"](shape=shape, dtype=dtype, min=min, max=max, seed=seed)


def rand(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Random numbers, evenly spread over [0, 1)."""
    return uniform(shape, dtype, 0.0, 1.0)
