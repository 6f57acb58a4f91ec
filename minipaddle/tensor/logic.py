"""Comparisons, logic and bits. Paddle: python/paddle/tensor/logic.py."""

from __future__ import annotations

from typing import Any

from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "equal_all",
    "greater_equal",
    "greater_than",
    "is_tensor",
    "isclose",
    "less_equal",
    "less_than",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
]

equal = OPS["equal"]
greater_than = OPS["greater_than"]
less_than = OPS["less_than"]
greater_equal = OPS["greater_equal"]
less_equal = OPS["less_equal"]
not_equal = OPS["not_equal"]
equal_all = OPS["equal_all"]
isclose = OPS["isclose"]
allclose = OPS["allclose"]
logical_and = OPS["logical_and"]
logical_or = OPS["logical_or"]
logical_xor = OPS["logical_xor"]
logical_not = OPS["logical_not"]
bitwise_and = OPS["bitwise_and"]
bitwise_or = OPS["bitwise_or"]
bitwise_xor = OPS["bitwise_xor"]
bitwise_not = OPS["bitwise_not"]


def is_tensor(x: Any) -> bool:
    """True for a Tensor, and for what stands for one in a program."""
    return isinstance(x, Tensor) or is_symbolic(x)
