"""Functions of one number, each the op itself. Paddle: python/paddle/tensor/ops.py, math.py."""

from __future__ import annotations

from minipaddle.phi.core.op import OPS

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "exp",
    "expm1",
    "floor",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]

abs = OPS["abs"]
acos = OPS["acos"]
acosh = OPS["acosh"]
asin = OPS["asin"]
asinh = OPS["asinh"]
atan = OPS["atan"]
atanh = OPS["atanh"]
ceil = OPS["ceil"]
cos = OPS["cos"]
cosh = OPS["cosh"]
digamma = OPS["digamma"]
erf = OPS["erf"]
exp = OPS["exp"]
expm1 = OPS["expm1"]
floor = OPS["floor"]
gammaln = OPS["gammaln"]
i0 = OPS["i0"]
i0e = OPS["i0e"]
i1 = OPS["i1"]
i1e = OPS["i1e"]
lgamma = OPS["lgamma"]
log = OPS["log"]
log10 = OPS["log10"]
log1p = OPS["log1p"]
log2 = OPS["log2"]
reciprocal = OPS["reciprocal"]
round = OPS["round"]
rsqrt = OPS["rsqrt"]
sigmoid = OPS["sigmoid"]
sign = OPS["sign"]
sin = OPS["sin"]
sinh = OPS["sinh"]
sqrt = OPS["sqrt"]
square = OPS["square"]
tan = OPS["tan"]
tanh = OPS["tanh"]
trunc = OPS["trunc"]
