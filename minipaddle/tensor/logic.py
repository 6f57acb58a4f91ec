"""Comparisons and logic. Paddle: python/paddle/tensor/logic.py."""

from __future__ import annotations

from minipaddle.phi.core.op import OPS

__all__ = [
    "equal",
    "greater_equal",
    "greater_than",
    "less_equal",
    "less_than",
    "not_equal",
]

equal = OPS["equal"]
greater_than = OPS["greater_than"]
less_than = OPS["less_than"]
greater_equal = OPS["greater_equal"]
less_equal = OPS["less_equal"]
not_equal = OPS["not_equal"]
