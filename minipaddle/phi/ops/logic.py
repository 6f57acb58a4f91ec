"""Comparisons, logic, bits, and questions about numbers. None of them has a gradient.

Paddle: paddle/phi/kernels/compare_kernel.h, logical_kernel.h, bitwise_kernel.h, isfinite_kernel.h.
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.binary import compared, integers
from minipaddle.phi.infermeta.unary import asked, integer_only

COMPARISON: dict[str, Any] = {
    "traits": ("Pure", "ForwardOnly"),
    "promote": ("x", "y"),
    "inplace": {"out": "x"},
}
BITS: dict[str, Any] = {"traits": ("Pure", "ForwardOnly"), "inplace": {"out": "x"}}


# -- comparisons -----------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: greater_than", **COMPARISON)
def greater_than(xp, x, y):
    """x > y, element by element."""
    return x > y


greater_than.infer_meta(compared("greater_than"))


@op(source="paddle/phi/ops/yaml/ops.yaml: equal", **COMPARISON)
def equal(xp, x, y):
    """x == y, element by element."""
    return x == y


equal.infer_meta(compared("equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: less_than", **COMPARISON)
def less_than(xp, x, y):
    """x < y, element by element."""
    return x < y


less_than.infer_meta(compared("less_than"))


@op(source="paddle/phi/ops/yaml/ops.yaml: greater_equal", **COMPARISON)
def greater_equal(xp, x, y):
    """x >= y, element by element."""
    return x >= y


greater_equal.infer_meta(compared("greater_equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: less_equal", **COMPARISON)
def less_equal(xp, x, y):
    """x <= y, element by element."""
    return x <= y


less_equal.infer_meta(compared("less_equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: not_equal", **COMPARISON)
def not_equal(xp, x, y):
    """x != y, element by element."""
    return x != y


not_equal.infer_meta(compared("not_equal"))


# -- logic: a number counts as True where it is not 0 ----------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_and", **COMPARISON)
def logical_and(xp, x, y):
    """True where both are."""
    return xp.logical_and(x, y)


logical_and.infer_meta(compared("logical_and"))


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_or", **COMPARISON)
def logical_or(xp, x, y):
    """True where at least one is."""
    return xp.logical_or(x, y)


logical_or.infer_meta(compared("logical_or"))


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_xor", **COMPARISON)
def logical_xor(xp, x, y):
    """True where exactly one is."""
    return xp.logical_xor(x, y)


logical_xor.infer_meta(compared("logical_xor"))


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_not", **BITS)
def logical_not(xp, x):
    """True where x is not."""
    return xp.logical_not(x)


logical_not.infer_meta(asked)


# -- bits of integers; bools have one --------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: bitwise_and", same_dtype=("x", "y"), **BITS)
def bitwise_and(xp, x, y):
    """The bits that both have."""
    return xp.bitwise_and(x, y)


bitwise_and.infer_meta(integers("bitwise_and"))


@op(source="paddle/phi/ops/yaml/ops.yaml: bitwise_or", same_dtype=("x", "y"), **BITS)
def bitwise_or(xp, x, y):
    """The bits that at least one has."""
    return xp.bitwise_or(x, y)


bitwise_or.infer_meta(integers("bitwise_or"))


@op(source="paddle/phi/ops/yaml/ops.yaml: bitwise_xor", same_dtype=("x", "y"), **BITS)
def bitwise_xor(xp, x, y):
    """The bits that exactly one has."""
    return xp.bitwise_xor(x, y)


bitwise_xor.infer_meta(integers("bitwise_xor"))


@op(source="paddle/phi/ops/yaml/ops.yaml: bitwise_not", **BITS)
def bitwise_not(xp, x):
    """All bits turned round; of bools, True and False."""
    return xp.bitwise_not(x)


bitwise_not.infer_meta(integer_only("bitwise_not"))


# -- questions about floating-point numbers --------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: isnan", traits=("Pure", "ForwardOnly"))
def isnan(xp, x):
    """True where x is not a number (0 / 0)."""
    return xp.isnan(x)


isnan.infer_meta(asked)


@op(source="paddle/phi/ops/yaml/ops.yaml: isinf", traits=("Pure", "ForwardOnly"))
def isinf(xp, x):
    """True where x is infinite, of either sign."""
    return xp.isinf(x)


isinf.infer_meta(asked)


@op(source="paddle/phi/ops/yaml/ops.yaml: isfinite", traits=("Pure", "ForwardOnly"))
def isfinite(xp, x):
    """True where x is neither infinite nor NaN."""
    return xp.isfinite(x)


isfinite.infer_meta(asked)
