"""Functions of one number, applied to every element: absolute value, roots, exponentials,
logarithms, sines and hyperbolic sines with their inverses, rounding.

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
FLOATS: dict[str, Any] = {**UNARY, "traits": ("Pure", "IntegersStop")}


def as_float(x):
    """Integers as float32, in which Paddle computes functions of them."""
    return x if x.dtype.kind == "f" else x.astype("float32")


def float_unary(**declaration):
    """Declares a function of one number whose results are fractions: the shape stays, integers
    give float32, by a cast that a graph does not see; there is an in-place form.
    """

    def declare(kernel):
        source = f"paddle/phi/ops/yaml/ops.yaml: {kernel.__name__}"
        declared = op(source=source, **{**FLOATS, **declaration})(kernel)
        declared.infer_meta(as_floating)
        return declared

    return declare


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
    if x.dtype.kind == "b":
        raise TypeError("sign: expected numbers, but got bool. Cast x first.")
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


@float_unary()
def sqrt(xp, x):
    """The square root."""
    return xp.sqrt(as_float(x))


@sqrt.vjp
def _(out, out_grad):
    return (out_grad * 0.5 / out,)


@float_unary(amp="black_o1")
def rsqrt(xp, x):
    """1 / sqrt(x)."""
    return 1.0 / xp.sqrt(as_float(x))


@rsqrt.vjp
def _(out, out_grad):
    return (out_grad * out * out * out * -0.5,)


@float_unary(amp="black_o1")
def reciprocal(xp, x):
    """1 / x."""
    return 1.0 / as_float(x)


@reciprocal.vjp
def _(out, out_grad):
    return (-out_grad * out * out,)


# -- exponentials and logarithms -------------------------------------------------------------------


@float_unary(amp="black_o1", scalar="exp({x})", traits=("Pure",))
def exp(xp, x):
    """e to the power x."""
    return xp.exp(as_float(x))


@exp.vjp
def _(out, out_grad):
    return (out_grad * out,)


@float_unary(amp="black_o1", traits=("Pure",))
def expm1(xp, x):
    """exp(x) - 1, exact for small x too."""
    return xp.expm1(as_float(x))


@expm1.vjp
def _(out, out_grad):
    return (out_grad * (out + 1.0),)


@float_unary(amp="black_o1", traits=("Pure",))
def log(xp, x):
    """The natural logarithm."""
    return xp.log(as_float(x))


@log.vjp
def _(x, out_grad):
    return (out_grad / x,)


@float_unary(amp="black_o1", traits=("Pure",))
def log2(xp, x):
    """The logarithm to base 2."""
    return xp.log2(as_float(x))


@log2.vjp
def _(x, out_grad):
    return (out_grad / (x * math.log(2.0)),)


@float_unary(amp="black_o1", traits=("Pure",))
def log10(xp, x):
    """The logarithm to base 10."""
    return xp.log10(as_float(x))


@log10.vjp
def _(x, out_grad):
    return (out_grad / (x * math.log(10.0)),)


@float_unary(traits=("Pure",))
def log1p(xp, x):
    """log(1 + x), exact for small x too."""
    return xp.log1p(as_float(x))


@log1p.vjp
def _(x, out_grad):
    return (out_grad / (x + 1.0),)


@float_unary()
def erf(xp, x):
    """The error function: how much of a bell curve lies within x * sqrt(2) deviations."""
    x = as_float(x)
    return erf_of(xp, x).astype(x.dtype)


@erf.vjp
def _(x, out_grad):
    return (out_grad * exp(-x * x) * (2.0 / math.sqrt(math.pi)),)


# -- sines -----------------------------------------------------------------------------------------


@float_unary()
def sin(xp, x):
    """The sine of x, in radians."""
    return xp.sin(as_float(x))


@sin.vjp
def _(x, out_grad):
    return (out_grad * cos(x),)


@float_unary()
def cos(xp, x):
    """The cosine of x, in radians."""
    return xp.cos(as_float(x))


@cos.vjp
def _(x, out_grad):
    return (-out_grad * sin(x),)


@float_unary(amp="black_o1")
def tan(xp, x):
    """The tangent of x, in radians."""
    return xp.tan(as_float(x))


@tan.vjp
def _(x, out_grad):
    cosine = cos(x)
    return (out_grad / (cosine * cosine),)


@float_unary(amp="black_o1")
def asin(xp, x):
    """The angle whose sine is x, from -pi / 2 to pi / 2."""
    return xp.arcsin(as_float(x))


@asin.vjp
def _(x, out_grad):
    return (out_grad * rsqrt(1.0 - x * x),)


@float_unary(amp="black_o1")
def acos(xp, x):
    """The angle whose cosine is x, from 0 to pi."""
    return xp.arccos(as_float(x))


@acos.vjp
def _(x, out_grad):
    return (-out_grad * rsqrt(1.0 - x * x),)


@float_unary()
def atan(xp, x):
    """The angle whose tangent is x, from -pi / 2 to pi / 2."""
    return xp.arctan(as_float(x))


@atan.vjp
def _(x, out_grad):
    return (out_grad / (x * x + 1.0),)


# -- hyperbolic sines ------------------------------------------------------------------------------


@float_unary(amp="black_o1")
def sinh(xp, x):
    """(exp(x) - exp(-x)) / 2."""
    return xp.sinh(as_float(x))


@sinh.vjp
def _(x, out_grad):
    return (out_grad * cosh(x),)


@float_unary(amp="black_o1")
def cosh(xp, x):
    """(exp(x) + exp(-x)) / 2."""
    return xp.cosh(as_float(x))


@cosh.vjp
def _(x, out_grad):
    return (out_grad * sinh(x),)


@float_unary()
def asinh(xp, x):
    """The number whose sinh is x."""
    return xp.arcsinh(as_float(x))


@asinh.vjp
def _(x, out_grad):
    return (out_grad * rsqrt(x * x + 1.0),)


@float_unary()
def acosh(xp, x):
    """The number from 0 on whose cosh is x."""
    return xp.arccosh(as_float(x))


@acosh.vjp
def _(x, out_grad):
    return (out_grad * rsqrt(x * x - 1.0),)


@float_unary(amp="black_o1")
def atanh(xp, x):
    """The number whose tanh is x."""
    return xp.arctanh(as_float(x))


@atanh.vjp
def _(x, out_grad):
    return (out_grad / (1.0 - x * x),)


# -- rounding --------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: floor", **UNARY)
def floor(xp, x):
    """The largest whole number that is not above x; the dtype stays."""
    return xp.floor(x) if x.dtype.kind == "f" else x.copy()


floor.infer_meta(unchanged)


@floor.vjp
def no_slope(out_grad):
    return (full_like(out_grad, value=0.0, dtype=out_grad.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: ceil", **UNARY)
def ceil(xp, x):
    """The smallest whole number that is not below x; the dtype stays."""
    return xp.ceil(x) if x.dtype.kind == "f" else x.copy()


ceil.infer_meta(unchanged)
ceil.vjp(no_slope)


@op(source="paddle/phi/ops/yaml/ops.yaml: trunc", traits=("Pure",), inplace={"out": "input"})
def trunc(xp, input):
    """Without what is behind the point; the dtype stays."""
    return xp.trunc(input) if input.dtype.kind == "f" else input.copy()


trunc.infer_meta(unchanged)
trunc.vjp(no_slope)


@op(source="paddle/phi/ops/yaml/ops.yaml: round", **UNARY)
def round(xp, x, *, decimals: int = 0):
    """To `decimals` places after the point; a half goes to the even neighbour."""
    return xp.round(x, decimals)


round.infer_meta(unchanged)
round.vjp(no_slope)
