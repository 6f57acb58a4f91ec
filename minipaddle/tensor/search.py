"""Finding and sorting. Paddle: python/paddle/tensor/search.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "argmax",
]


def argmax(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: Any = None
) -> Any:
    """The position of the largest element along `axis`, or in all of x."""
    if axis is None:
        x, axis = OPS["reshape"](x, shape=[-1]), 0
    return OPS["argmax"](x, axis=axis, keepdims=keepdim)
