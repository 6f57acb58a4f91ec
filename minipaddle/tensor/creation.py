"""Making Tensors. Paddle: python/paddle/tensor/creation.py."""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.op import OPS

__all__ = [
    "assign",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

assign = OPS["assign"]


def full(shape: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor of `shape` filled with one number; the dtype defaults to that of the number."""
    if dtype is None:
        dtype = "bool" if isinstance(fill_value, bool) else dtypes.get_default_dtype()
    return OPS["full"](shape=shape, value=fill_value, dtype=dtype)


def zeros(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Zeros."""
    return full(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Ones."""
    return full(shape, 1.0, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor like x, filled with one number."""
    return OPS["full_like"](x, value=fill_value, dtype=x.dtype if dtype is None else dtype)


def zeros_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """Zeros, in the shape of x."""
    return full_like(x, 0.0, dtype)


def ones_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """Ones, in the shape of x."""
    return full_like(x, 1.0, dtype)
