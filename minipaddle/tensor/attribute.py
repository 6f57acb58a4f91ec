"""What a Tensor is, as a Tensor. Paddle: python/paddle/tensor/attribute.py."""

from __future__ import annotations

from typing import Any

from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS
from minipaddle.tensor.creation import constant

__all__ = ["is_tensor", "rank", "shape"]


def shape(input: Any) -> Any:
    """The shape, as an int64 Tensor [ndim]: also the sizes that are known only when a program
    runs.
    """
    return OPS["shape64"](input)


def rank(input: Any) -> Any:
    """The number of dimensions, as a 0-D int32 Tensor."""
    return constant(input.ndim, "int32")


def is_tensor(x: Any) -> bool:
    """True for a Tensor, and for what stands for one in a program."""
    return isinstance(x, Tensor) or is_symbolic(x)
