"""Special functions of one number: logit, the gamma function's relatives, Bessel's functions.

Paddle: paddle/phi/kernels/logit_kernel.h, lgamma_kernel.h, digamma_kernel.h, polygamma_kernel.h,
gammaln_kernel.h, bessel_kernel.h.
"""

from __future__ import annotations

from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.unary import floating_only
from minipaddle.phi.kernels import bessel, gamma
from minipaddle.phi.ops.creation import full_like
from minipaddle.phi.ops.elementary import UNARY, as_float, float_unary, rsqrt, sign
from minipaddle.phi.ops.logic import equal, logical_or
from minipaddle.phi.ops.manipulation import cast
from minipaddle.phi.ops.search import where


@float_unary()
def logit(xp, x, *, eps: float = 1e-6):
    """log(x / (1 - x)), which sigmoid undoes. With an eps, x is clipped to [eps, 1 - eps] first."""
    x = as_float(x)
    if eps:
        x = xp.maximum(xp.minimum(x, x.dtype.type(1.0 - eps)), x.dtype.type(eps))
    return xp.log(x / (1.0 - x))


@logit.vjp
def _(x, out_grad, *, eps: float):
    if not eps:
        root = rsqrt(x * (1.0 - x))  # NaN beyond 0 and 1
        return (out_grad * root * root,)
    outside = logical_or(x < eps, x > 1.0 - eps)
    inner = where(outside, full_like(x, value=0.5, dtype=x.dtype), x)
    zeros = full_like(out_grad, value=0.0, dtype=out_grad.dtype)
    return (where(outside, zeros, out_grad / (inner * (1.0 - inner))),)


# -- the gamma function's relatives ----------------------------------------------------------------


@float_unary()
def lgamma(xp, x):
    """log(|gamma(x)|); gamma(x + 1) is x! for whole numbers."""
    return gamma.lgamma(xp, as_float(x))


@lgamma.vjp
def _(x, out_grad):
    return (out_grad * digamma(x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: gammaln", **UNARY)
def gammaln(xp, x):
    """As lgamma, but of floating-point numbers only."""
    if x.dtype.kind != "f":
        raise TypeError  # InferMeta says why
    return gamma.lgamma(xp, x)


gammaln.infer_meta(floating_only("gammaln"))


@gammaln.vjp
def _(x, out_grad):
    return (out_grad * digamma(x),)


@float_unary()
def digamma(xp, x):
    """The slope of lgamma."""
    return gamma.polygamma(xp, 0, as_float(x))


@digamma.vjp
def _(x, out_grad):
    return (out_grad * polygamma(x, n=1),)


@float_unary()
def polygamma(xp, x, *, n: int):
    """The derivative number n of digamma."""
    return gamma.polygamma(xp, n, as_float(x))


@polygamma.vjp
def _(x, out_grad, *, n: int):
    return (out_grad * polygamma(x, n=n + 1),)


# -- modified Bessel functions ---------------------------------------------------------------------


@float_unary()
def i0(xp, x):
    """The modified Bessel function of order 0."""
    x = as_float(x)
    return bessel.bessel(xp, 0, x).astype(x.dtype)


@i0.vjp
def _(x, out_grad):
    return (out_grad * i1(x),)


@float_unary(inplace={})
def i0e(xp, x):
    """exp(-|x|) i0(x)."""
    x = as_float(x)
    return bessel.scaled_bessel(xp, 0, x).astype(x.dtype)


@i0e.vjp
def _(x, out, out_grad):
    side = cast(x >= 0.0, dtype=x.dtype) * 2.0 - 1.0  # the sign of x, 1 for 0
    return (out_grad * (i1e(x) - side * out),)


@float_unary(inplace={})
def i1(xp, x):
    """The modified Bessel function of order 1, the slope of i0."""
    x = as_float(x)
    return bessel.bessel(xp, 1, x).astype(x.dtype)


@i1.vjp
def _(x, out, out_grad):
    return (out_grad * (i0(x) - _over_x(x, out)),)


def _over_x(x, out):
    """i1(x) / x, which is 1 / 2 at 0."""
    at_0 = cast(equal(x, x * 0.0), dtype=x.dtype)
    return out / (x + at_0) * (1.0 - at_0) + at_0 * 0.5


@float_unary(inplace={})
def i1e(xp, x):
    """exp(-|x|) i1(x)."""
    x = as_float(x)
    return bessel.scaled_bessel(xp, 1, x).astype(x.dtype)


@i1e.vjp
def _(x, out, out_grad):
    return (out_grad * (i0e(x) - out * sign(x) - _over_x(x, out)),)
