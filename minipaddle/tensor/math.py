"""Arithmetic, functions of numbers, reductions. Paddle: python/paddle/tensor/math.py, ops.py.

Left out: the parameter `out=`, which writes the result into a Tensor that exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.tensor.manipulation import in_dtype

__all__ = [
    "abs",
    "add",
    "add_n",
    "all",
    "amax",
    "amin",
    "any",
    "ceil",
    "clip",
    "cos",
    "count_nonzero",
    "cumsum",
    "cumsum_",
    "diagonal",
    "divide",
    "erf",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "floor_mod",
    "fmax",
    "fmin",
    "increment",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "log",
    "log1p",
    "log2",
    "log10",
    "logsumexp",
    "max",
    "maximum",
    "min",
    "minimum",
    "mod",
    "multiply",
    "neg",
    "pow",
    "prod",
    "reciprocal",
    "remainder",
    "round",
    "rsqrt",
    "scale",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "trace",
]

# -- the op itself ---------------------------------------------------------------------------------

add = OPS["add"]
subtract = OPS["subtract"]
multiply = OPS["multiply"]
divide = OPS["divide"]
floor_divide = OPS["floor_divide"]
remainder = mod = floor_mod = OPS["remainder"]
maximum = OPS["maximum"]
minimum = OPS["minimum"]
fmax = OPS["fmax"]
fmin = OPS["fmin"]

abs = OPS["abs"]
sign = OPS["sign"]
square = OPS["square"]
sqrt = OPS["sqrt"]
rsqrt = OPS["rsqrt"]
reciprocal = OPS["reciprocal"]
exp = OPS["exp"]
expm1 = OPS["expm1"]
log = OPS["log"]
log2 = OPS["log2"]
log10 = OPS["log10"]
log1p = OPS["log1p"]
erf = OPS["erf"]
sin = OPS["sin"]
cos = OPS["cos"]
tan = OPS["tan"]
floor = OPS["floor"]
ceil = OPS["ceil"]
round = OPS["round"]
sigmoid = OPS["sigmoid"]
tanh = OPS["tanh"]
isnan = OPS["isnan"]
isinf = OPS["isinf"]
isfinite = OPS["isfinite"]
scale = OPS["scale"]
kron = OPS["kron"]
trace = OPS["trace"]
diagonal = OPS["diagonal"]


# -- with a number ---------------------------------------------------------------------------------


def neg(x: Any, name: Any = None) -> Any:
    """-x."""
    return OPS["scale"](x, scale=-1.0, bias=0.0, bias_after_scale=True)


def pow(x: Any, y: Any, name: Any = None) -> Any:
    """x to the power y: a number (the dtype of x stays) or a Tensor (shapes broadcast).

    Raises:
        TypeError: y is neither.
    """
    if isinstance(y, (int, float)):
        return OPS["pow"](x, y=y)
    if not hasattr(y, "stop_gradient"):
        raise TypeError(
            f"pow: expected y to be a number or a Tensor, but got {type(y).__name__}. Pass one of "
            "them."
        )
    return OPS["elementwise_pow"](x, y)


def clip(x: Any, min: Any = None, max: Any = None, name: Any = None) -> Any:
    """x, but `min` where it is smaller and `max` where it is larger.

    Args:
        min: a number, a Tensor that holds one, or None: no limit. A float beside integers: the
            result is float32.
        max: the same.

    Raises:
        ValueError: min > max.
    """
    low, high = _limits(x.dtype)
    min = low if min is None else min
    max = high if max is None else max
    if x.dtype in (dtypes.int32, dtypes.int64) and (_is_float(min) or _is_float(max)):
        x = OPS["cast"](x, dtype=dtypes.float32)
    return OPS["clip"](x, min=min, max=max)


def _limits(dtype: Any) -> tuple[Any, Any]:
    """What stands for "no limit". The largest integers are a little smaller than they could be,
    as in Paddle: they must also fit into a float32.
    """
    if dtype is dtypes.int32:
        return -(2**31), 2**31 - 1 - 2**7
    if dtype is dtypes.int64:
        return -(2**63), 2**63 - 1 - 2**39
    info = np.finfo(dtype.numpy_dtype if dtype.is_floating else np.float32)
    return float(info.min), float(info.max)


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.is_floating)


def increment(x: Any, value: float = 1.0, name: Any = None) -> Any:
    """Adds `value` to x, which holds one number, in place.

    Raises:
        ValueError: x holds more than one number.
    """
    return find_op("increment_")(x, value=value)


def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of several Tensors of one shape; of one Tensor, a copy."""
    return OPS["add_n"](list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])


# -- reductions ------------------------------------------------------------------------------------

Axis = int | Sequence[int] | None


def sum(
    x: Any, axis: Axis = None, dtype: Any = None, keepdim: bool = False, name: Any = None
) -> Any:
    """The sum over `axis` (None: over all axes). bool and int32 are summed as int64."""
    dtype = dtypes.undefined if dtype is None else dtype
    return OPS["sum"](x, () if axis is None else axis, dtype, keepdim)


def max(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """The largest number over `axis` (None: over all axes).

    Raises:
        ValueError: there is none.
    """
    return OPS["max"](x, axis=axis, keepdim=keepdim)


def min(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """The smallest number over `axis` (None: over all axes).

    Raises:
        ValueError: there is none.
    """
    return OPS["min"](x, axis=axis, keepdim=keepdim)


def amax(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """As max."""
    return OPS["amax"](x, axis=axis, keepdim=keepdim)


def amin(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """As min."""
    return OPS["amin"](x, axis=axis, keepdim=keepdim)


def all(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """True where all are, over `axis` (None: over all axes). A number counts as True if not 0."""
    return OPS["all"](x, axis=axis, keepdim=keepdim)


def any(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """True where at least one is, over `axis` (None: over all axes)."""
    return OPS["any"](x, axis=axis, keepdim=keepdim)


def prod(
    x: Any,
    axis: Axis = None,
    keepdim: bool = False,
    dtype: Any = None,
    *,
    name: Any = None,
) -> Any:
    """The product over `axis` (None: over all axes)."""
    x = in_dtype(x, dtype)
    reduce_all, axis = _reduce_axis(axis, x)
    return OPS["prod"](x, axis=axis, keepdim=keepdim, reduce_all=reduce_all)


def logsumexp(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """log(sum(exp(x))) over `axis` (None: over all axes), safe for large numbers."""
    reduce_all, axis = _reduce_axis(axis, x)
    return OPS["logsumexp"](x, axis=axis, keepdim=keepdim, reduce_all=reduce_all)


def count_nonzero(x: Any, axis: Axis = None, keepdim: bool = False, name: Any = None) -> Any:
    """How many numbers are not 0, over `axis` (None: over all axes)."""
    nonzero = OPS["cast"](OPS["cast"](x, dtype=dtypes.bool_), dtype=dtypes.int64)
    return sum(nonzero, axis=axis, keepdim=keepdim)


def _reduce_axis(axis: Any, x: Any) -> tuple[bool, Any]:
    """(are these all axes, the axes as the op takes them)."""
    if axis is None:
        return True, []
    if is_symbolic(axis) or hasattr(axis, "numpy"):
        return False, axis
    axis = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    return len(axis) in (0, x.ndim), axis


def cumsum(x: Any, axis: int | None = None, dtype: Any = None, name: Any = None) -> Any:
    """Sums of all elements up to each one, along `axis`; None: of all elements in one row.

    Raises:
        IndexError: there is no such axis.
    """
    x = in_dtype(x, dtype)
    return OPS["cumsum"](x, axis=-1 if axis is None else axis, flatten=axis is None)


def cumsum_(x: Any, axis: int | None = None, dtype: Any = None, name: Any = None) -> Any:
    """`cumsum` in place; with `dtype`, x becomes one of that dtype first."""
    if dtype is not None and dtypes.to_dtype(dtype) is not x.dtype:
        OPS["cast"].inplace_op(x, dtype=dtype)
    return OPS["cumsum"].inplace_op(x, axis=-1 if axis is None else axis, flatten=axis is None)
