"""What a Tensor is, as a Tensor. Paddle: python/paddle/tensor/attribute.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS
from minipaddle.tensor.creation import constant

__all__ = ["rank", "shape"]


def shape(input: Any) -> Any:
    """The shape, as an int64 Tensor [ndim]: also the sizes that are known only when a program
    runs.
    """
    return OPS["shape64"](input)


def rank(input: Any) -> Any:
    """The number of dimensions, as a 0-D int32 Tensor."""
    return constant(input.ndim, "int32")
