"""Linear algebra. Paddle: python/paddle/tensor/linalg.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "matmul",
    "t",
    "transpose",
]

matmul = OPS["matmul"]
transpose = OPS["transpose"]


def t(input: Any, name: Any = None) -> Any:
    """A matrix with its two axes swapped. Raises ValueError for more than two dimensions."""
    if input.ndim > 2:
        raise ValueError(
            f"t: expected at most 2 dimensions, but got shape {list(input.shape)}. Use transpose "
            "with a perm."
        )
    return input if input.ndim < 2 else OPS["transpose"](input, perm=[1, 0])
