"""Arithmetic and reductions. Paddle: python/paddle/tensor/math.py, ops.py."""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.op import OPS

__all__ = [
    "add",
    "add_n",
    "divide",
    "exp",
    "multiply",
    "pow",
    "scale",
    "subtract",
    "sum",
    "tanh",
]

add = OPS["add"]
subtract = OPS["subtract"]
multiply = OPS["multiply"]
divide = OPS["divide"]
exp = OPS["exp"]
tanh = OPS["tanh"]
scale = OPS["scale"]
pow = OPS["pow"]


def sum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None
) -> Any:
    """The sum over `axis` (None: over all axes)."""
    dtype = dtypes.undefined if dtype is None else dtype
    return OPS["sum"](x, axis=axis, dtype=dtype, keepdim=keepdim)


def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of several Tensors of one shape; of one Tensor, a copy."""
    return OPS["add_n"](list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])
