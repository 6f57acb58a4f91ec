"""Functions of one number, applied to every element: absolute value, roots, exponentials,
logarithms, sines, rounding.

Functions that need fractions (exp, log, sqrt, sin, ...) compute integers in float32, as Paddle
does.

Paddle: paddle/phi/kernels/activation_kernel.h, abs_kernel.h, sign_kernel.h, erf_kernel.h.
Left out: complex numbers.
"""

from __future__ import annotations

import math
from typing import Any

from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.unary import as_floating, unchanged
from minipaddle.phi.kernels.erf import erf as erf_of
from minipaddle.phi.ops.creation import full_like

UNARY: dict[str, Any] = {"traits": ("Pure",), "inplace": {"out": "x"}}


def as_float(x):
    """Integers as float32, in which Paddle computes functions of them."""
    return x if x.dtype.kind == "f" else x.astype("float32")


# -- sign, powers, roots ---------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: abs", **UNARY)
def abs(xp, x):
    """The absolute value."""
    return xp.abs(x)


abs.infer_meta(unchanged)


@abs.vjp
def _(x, out_grad):
    return (out_grad * sign(x),)  # 0 at 0, as in Paddle


@op(source="paddle/phi/ops/yaml/ops.yaml: sign", traits=("Pure",))
def sign(xp, x):
    """-1, 0 or 1."""
    return xp.sign(x)


sign.infer_meta(unchanged)


@sign.vjp(invoke=True)
def _(out_grad):
    return (out_grad * 0.0,)


@op(source="paddle/phi/ops/yaml/ops.yaml: square", amp="black_o1", **UNARY)
def square(xp, x):
    """x * x."""
    return xp.square(x)


square.infer_meta(unchanged)


@square.vjp
def _(x, out_grad):
    return (out_grad * x * 2.0,)


@square.decomp
def _(x):
    return x * x


@op(source="paddle/phi/ops/yaml/ops.yaml: sqrt", **UNARY)
def sqrt(xp, x):
    """The square root."""
    return xp.sqrt(as_float(x))


sqrt.infer_meta(as_floating)


@sqrt.vjp
def _(out, out_grad):
    return (out_grad * 0.5 / out,)


@op(source="paddle/phi/ops/yaml/ops.yaml: rsqrt", amp="black_o1", **UNARY)
def rsqrt(xp, x):
    """1 / sqrt(x)."""
    return 1.0 / xp.sqrt(as_float(x))


rsqrt.infer_meta(as_floating)


@rsqrt.vjp
def _(out, out_grad):
    return (out_grad * out * out * out * -0.5,)


@op(source="paddle/phi/ops/yaml/ops.yaml: reciprocal", amp="black_o1", **UNARY)
def reciprocal(xp, x):
    """1 / x."""
    return 1.0 / as_float(x)


reciprocal.infer_meta(as_floating)


@reciprocal.vjp
def _(out, out_grad):
    return (-out_grad * out * out,)


# -- exponentials and logarithms -------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: exp", amp="black_o1", scalar="exp({x})", **UNARY)
def exp(xp, x):
    """e to the power x."""
    return xp.exp(as_float(x))


exp.infer_meta(as_floating)


@exp.vjp
def _(out, out_grad):
    return (out_grad * out,)


@op(source="paddle/phi/ops/yaml/ops.yaml: expm1", amp="black_o1", **UNARY)
def expm1(xp, x):
    """exp(x) - 1, exact for small x too."""
    return xp.expm1(as_float(x))


expm1.infer_meta(as_floating)


@expm1.vjp
def _(out, out_grad):
    return (out_grad * (out + 1.0),)


@op(source="paddle/phi/ops/yaml/ops.yaml: log", amp="black_o1", **UNARY)
def log(xp, x):
    """The natural logarithm."""
    return xp.log(as_float(x))


log.infer_meta(as_floating)


@log.vjp
def _(x, out_grad):
    return (out_grad / x,)


@op(source="paddle/phi/ops/yaml/ops.yaml: log2", amp="black_o1", **UNARY)
def log2(xp, x):
    """The logarithm to base 2."""
    return xp.log2(as_float(x))


log2.infer_meta(as_floating)


@log2.vjp
def _(x, out_grad):
    return (out_grad / (x * math.log(2.0)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: log10", amp="black_o1", **UNARY)
def log10(xp, x):
    """The logarithm to base 10."""
    return xp.log10(as_float(x))


log10.infer_meta(as_floating)


@log10.vjp
def _(x, out_grad):
    return (out_grad / (x * math.log(10.0)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: log1p", **UNARY)
def log1p(xp, x):
    """log(1 + x), exact for small x too."""
    return xp.log1p(as_float(x))


log1p.infer_meta(as_floating)


@log1p.vjp
def _(x, out_grad):
    return (out_grad / (x + 1.0),)


@op(source="paddle/phi/ops/yaml/ops.yaml: erf", **UNARY)
def erf(xp, x):
    """The error function: how much of a bell curve lies within x * sqrt(2) deviations."""
    x = as_float(x)
    return erf_of(xp, x).astype(x.dtype)


erf.infer_meta(as_floating)


@erf.vjp
def _(x, out_grad):
    return (out_grad * exp(-x * x) * (2.0 / math.sqrt(math.pi)),)


# -- sines -----------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: sin", **UNARY)
def sin(xp, x):
    """The sine of x, in radians."""
    return xp.sin(as_float(x))


sin.infer_meta(as_floating)


@sin.vjp
def _(x, out_grad):
    return (out_grad * cos(x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: cos", **UNARY)
def cos(xp, x):
    """The cosine of x, in radians."""
    return xp.cos(as_float(x))


cos.infer_meta(as_floating)


@cos.vjp
def _(x, out_grad):
    return (-out_grad * sin(x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: tan", amp="black_o1", **UNARY)
def tan(xp, x):
    """The tangent of x, in radians."""
    return xp.tan(as_float(x))


tan.infer_meta(as_floating)


@tan.vjp
def _(x, out_grad):
    cosine = cos(x)
    return (out_grad / (cosine * cosine),)


# -- rounding --------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: floor", **UNARY)
def floor(xp, x):
    """The largest whole number that is not above x; the dtype stays."""
    return xp.floor(x) if x.dtype.kind == "f" else x.copy()


floor.infer_meta(unchanged)


@floor.vjp
def _(out_grad):
    return (full_like(out_grad, value=0.0, dtype=out_grad.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: ceil", **UNARY)
def ceil(xp, x):
    """The smallest whole number that is not below x; the dtype stays."""
    return xp.ceil(x) if x.dtype.kind == "f" else x.copy()


ceil.infer_meta(unchanged)


@ceil.vjp
def _(out_grad):
    return (full_like(out_grad, value=0.0, dtype=out_grad.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: round", **UNARY)
def round(xp, x, *, decimals: int = 0):
    """To `decimals` places after the point; a half goes to the even neighbour."""
    return xp.round(x, decimals)


round.infer_meta(unchanged)


@round.vjp
def _(out_grad):
    return (full_like(out_grad, value=0.0, dtype=out_grad.dtype),)
