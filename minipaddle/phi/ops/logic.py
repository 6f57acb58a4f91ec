"""Comparisons, logic, bits, and questions about numbers. None of them has a gradient.

Paddle: paddle/phi/kernels/compare_kernel.h, logical_kernel.h, bitwise_kernel.h, isfinite_kernel.h.
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.attribute import ScalarDouble
from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.binary import close, compared, compared_as_one, integers
from minipaddle.phi.infermeta.unary import asked, integer_only

COMPARISON: dict[str, Any] = {
    "traits": ("Pure", "ForwardOnly", "Operator"),
    "promote": ("x", "y"),
    "inplace": {"out": "x"},
}
LOGIC: dict[str, Any] = {**COMPARISON, "traits": ("Pure", "ForwardOnly")}  # of one dtype
QUESTION: dict[str, Any] = {"traits": ("Pure", "ForwardOnly"), "same_dtype": ("x", "y")}
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


# -- are two Tensors the same? ---------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: equal_all", **QUESTION)
def equal_all(xp, x, y):
    """One bool: True if x and y have the same shape and the same numbers. NaN equals nothing."""
    return xp.all(x == y) if x.shape == y.shape else xp.asarray(False)


equal_all.infer_meta(compared_as_one)


@op(source="paddle/phi/ops/yaml/ops.yaml: isclose", **QUESTION)
def isclose(
    xp,
    x,
    y,
    *,
    rtol: ScalarDouble = 1e-5,
    atol: ScalarDouble = 1e-8,
    equal_nan: bool = False,
):
    """True where |x - y| <= atol + rtol * |y|. Shapes must be equal."""
    if x.shape != y.shape:
        raise ValueError  # InferMeta says why
    x, y = x.astype("float64"), y.astype("float64")
    near = (xp.abs(x - y) <= atol + rtol * xp.abs(y)) | (x == y)  # inf - inf is not a number
    return near | (xp.isnan(x) & xp.isnan(y)) if equal_nan else near


isclose.infer_meta(close("isclose"))


@op(source="paddle/phi/ops/yaml/ops.yaml: allclose", **QUESTION)
def allclose(
    xp,
    x,
    y,
    *,
    rtol: ScalarDouble = 1e-5,
    atol: ScalarDouble = 1e-8,
    equal_nan: bool = False,
):
    """One bool: True if all numbers of x and y are close to each other, as in isclose."""
    return xp.all(isclose.run(xp, x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


allclose.infer_meta(close("allclose", to_one=True))


# -- logic: a number counts as True where it is not 0 ----------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_and", **LOGIC)
def logical_and(xp, x, y):
    """True where both are."""
    return xp.logical_and(x, y)


logical_and.infer_meta(compared("logical_and"))


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_or", **LOGIC)
def logical_or(xp, x, y):
    """True where at least one is."""
    return xp.logical_or(x, y)


logical_or.infer_meta(compared("logical_or"))


@op(source="paddle/phi/ops/yaml/ops.yaml: logical_xor", **LOGIC)
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
