"""Arithmetic, reductions, functions written in others. Paddle: python/paddle/tensor/math.py.

Left out: the parameter `out=`, which writes the result into a Tensor that exists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.core.world import in_dynamic_mode, in_pir_mode
from minipaddle.tensor.creation import constant, full, full_like, ones_like, zeros_like
from minipaddle.tensor.logic import is_tensor
from minipaddle.tensor.manipulation import in_dtype

__all__ = [
    "add",
    "add_n",
    "all",
    "amax",
    "amin",
    "any",
    "clip",
    "count_nonzero",
    "cumprod",
    "cumprod_",
    "cumsum",
    "cumsum_",
    "diagonal",
    "divide",
    "floor_divide",
    "floor_mod",
    "fmax",
    "fmin",
    "frac",
    "frac_",
    "gcd",
    "hypot",
    "hypot_",
    "increment",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "lerp",
    "logit",
    "logit_",
    "logsumexp",
    "max",
    "maximum",
    "min",
    "minimum",
    "mod",
    "multiply",
    "nan_to_num",
    "nan_to_num_",
    "neg",
    "neg_",
    "outer",
    "polygamma",
    "polygamma_",
    "pow",
    "prod",
    "remainder",
    "renorm",
    "scale",
    "subtract",
    "sum",
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

isnan = OPS["isnan"]
isinf = OPS["isinf"]
isfinite = OPS["isfinite"]
scale = OPS["scale"]
gcd = OPS["gcd"]
renorm = OPS["renorm"]
kron = OPS["kron"]
trace = OPS["trace"]
diagonal = OPS["diagonal"]


# -- with a number ---------------------------------------------------------------------------------


def neg(x: Any, name: Any = None) -> Any:
    """-x."""
    return OPS["scale"](x, scale=-1.0, bias=0.0, bias_after_scale=True)


def neg_(x: Any, name: Any = None) -> Any:
    """neg, of x itself."""
    return find_op("scale_")(x, scale=-1.0, bias=0.0, bias_after_scale=True)


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


# -- written in other functions; each with its in-place form ---------------------------------------


def logit(x: Any, eps: float | None = None, name: Any = None) -> Any:
    """log(x / (1 - x)), which sigmoid undoes. With an eps, x is clipped to [eps, 1 - eps] first."""
    return OPS["logit"](x, eps=eps or 0.0)


def logit_(x: Any, eps: float | None = None, name: Any = None) -> Any:
    """logit, of x itself."""
    return find_op("logit_")(x, eps=eps or 0.0)


def polygamma(x: Any, n: int, name: Any = None) -> Any:
    """The derivative number n of digamma; n = 0 is digamma itself.

    Raises:
        TypeError: n is no int.
        ValueError: n is negative.
    """
    return OPS["polygamma"](x, n=n) if _derivative("polygamma", n) else OPS["digamma"](x)


def polygamma_(x: Any, n: int, name: Any = None) -> Any:
    """polygamma, of x itself."""
    op = "polygamma_" if _derivative("polygamma_", n) else "digamma_"
    return find_op(op)(x, **({"n": n} if n else {}))


def _derivative(who: str, n: Any) -> bool:
    """Is it one? n = 0 is the function itself."""
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(
            f"{who}: expected n to be an int, but got {type(n).__name__}. It counts derivatives."
        )
    if n < 0:
        raise ValueError(f"{who}: expected n to be 0 or more, but got {n}. It counts derivatives.")
    return n > 0


def frac(x: Any, name: Any = None) -> Any:
    """What stands behind the point of x, with its sign.

    Raises:
        TypeError: x holds bools or small integers.
    """
    return OPS["subtract"](x, _whole_part("frac", x))


def frac_(x: Any, name: Any = None) -> Any:
    """frac, of x itself."""
    return find_op("subtract_")(x, _whole_part("frac_", x))


def _whole_part(who: str, x: Any) -> Any:
    if not (x.dtype.is_floating or x.dtype in (dtypes.int32, dtypes.int64)):
        raise TypeError(
            f"{who}: expected floating-point numbers, int32 or int64, but got {x.dtype.name}. Cast "
            "x with astype."
        )
    return OPS["trunc"](x)


def ldexp(x: Any, y: Any, name: Any = None) -> Any:
    """x times 2 to the power y, as floating-point numbers.

    Raises:
        TypeError: x or y is no Tensor.
    """
    x, y, two = _for_ldexp("ldexp", x, y)
    return OPS["multiply"](x, pow(two, y))


def ldexp_(x: Any, y: Any, name: Any = None) -> Any:
    """ldexp, of x itself."""
    _, y, two = _for_ldexp("ldexp_", x, y)
    return find_op("multiply_")(find_op("cast_")(x, dtype=y.dtype), pow(two, y))


def _for_ldexp(who: str, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """x, y and 2 in one dtype."""
    _require_tensors(who, x, y)
    double = dtypes.float64 in (x.dtype, y.dtype)
    dtype = dtypes.float64 if double else dtypes.get_default_dtype()
    two = OPS["cast"](constant(2), dtype=dtype)
    return in_dtype(x, dtype), in_dtype(y, dtype), two


def _require_tensors(who: str, x: Any, y: Any) -> None:
    for key, value in (("x", x), ("y", y)):
        if not is_tensor(value):
            raise TypeError(
                f"{who}: expected {key} to be a Tensor, but got {type(value).__name__}. Make one "
                "with paddle.to_tensor."
            )


def hypot(x: Any, y: Any, name: Any = None) -> Any:
    """sqrt(x^2 + y^2): the long side of a triangle with a right angle between x and y.

    Raises:
        TypeError: x or y is no Tensor.
    """
    _require_tensors("hypot", x, y)
    return OPS["sqrt"](pow(x, 2) + pow(y, 2))


def hypot_(x: Any, y: Any, name: Any = None) -> Any:
    """hypot, of x itself."""
    _require_tensors("hypot_", x, y)
    squares = find_op("add_")(find_op("pow_")(x, y=2), pow(y, 2))
    return find_op("sqrt_")(squares)


def nan_to_num(
    x: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: Any = None,
) -> Any:
    """x with numbers in place of NaN and of what is infinite: by default, the largest ones.

    Raises:
        TypeError: x is not of float32 or float64.
    """
    for special, number in _replaced("nan_to_num", x, nan, posinf, neginf):
        found = OPS["isnan"](x) if special is None else OPS["equal"](x, special)
        x = OPS["where"](found, number, x)
    return x


def nan_to_num_(
    x: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: Any = None,
) -> Any:
    """nan_to_num, of x itself."""
    for special, number in _replaced("nan_to_num_", x, nan, posinf, neginf):
        fine = OPS["logical_not"](OPS["isnan"](x)) if special is None else x != special
        find_op("where_")(fine, x, number)
    return x


def _replaced(who: str, x: Any, nan: Any, posinf: Any, neginf: Any) -> list[tuple[Any, Any]]:
    """What is replaced (None is NaN), and by which numbers; all are Tensors like x."""
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            f"{who}: expected float32 or float64, but got {x.dtype.name}. Cast x with astype."
        )
    limits = np.finfo(x.dtype.numpy_dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf
    values = [full_like(x, value) for value in (np.inf, -np.inf, nan, posinf, neginf)]
    return [(None, values[2]), (values[0], values[3]), (values[1], values[4])]


def lcm(x: Any, y: Any, name: Any = None) -> Any:
    """The smallest whole number above 0 that both x and y divide; 0 beside a 0."""
    divisor = OPS["gcd"](x, y)
    none = divisor == 0
    divisor = OPS["where"](none, ones_like(divisor), divisor)
    return OPS["where"](none, zeros_like(divisor), OPS["abs"](x * y) // divisor)


def lcm_(x: Any, y: Any, name: Any = None) -> Any:
    """lcm, of x itself."""
    divisor = OPS["gcd"](x, y)
    divisor = OPS["where"](divisor != 0, divisor, ones_like(divisor))
    product = find_op("abs_")(find_op("multiply_")(x, y))
    return find_op("floor_divide_")(product, divisor)


def lerp(x: Any, y: Any, weight: Any, name: Any = None) -> Any:
    """x + weight * (y - x). The weight is a float, or a Tensor of x's dtype."""
    return OPS["lerp"](x, y, _weight_like(x, weight))


def lerp_(x: Any, y: Any, weight: Any, name: Any = None) -> Any:
    """lerp, of x itself."""
    return find_op("lerp_")(x, y, _weight_like(x, weight))


def _weight_like(x: Any, weight: Any) -> Any:
    return full([], weight, x.dtype) if isinstance(weight, float) and is_tensor(x) else weight


def outer(x: Any, y: Any, name: Any = None) -> Any:
    """Each number of x times each one of y: [x.size, y.size]."""
    for other in (x, y):
        if not hasattr(other, "shape"):
            raise AttributeError(  # the kind that Paddle raises
                f"outer: expected two Tensors, but got {other!r}. Make one with paddle.to_tensor."
            )
    rows = OPS["reshape"](x, shape=[-1 if math.prod(x.shape) else 0, 1])
    columns = OPS["reshape"](y, shape=[1, -1 if math.prod(y.shape) else 0])
    product = "multiply" if in_dynamic_mode() or in_pir_mode() else "matmul"
    return OPS[product](rows, columns)


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
    """Sums of all elements up to each one, along `axis`; None: of all elements in one row. The sums
    of integers are int64.

    Raises:
        IndexError: there is no such axis.
    """
    if dtype is None and not x.dtype.is_floating:
        dtype = dtypes.int64
    x = in_dtype(x, dtype)
    return OPS["cumsum"](x, axis=-1 if axis is None else axis, flatten=axis is None)


def cumsum_(x: Any, axis: int | None = None, dtype: Any = None, name: Any = None) -> Any:
    """`cumsum` in place; with `dtype`, x becomes one of that dtype first."""
    if dtype is not None and dtypes.to_dtype(dtype) is not x.dtype:
        OPS["cast"].inplace_op(x, dtype=dtype)
    return OPS["cumsum"].inplace_op(x, axis=-1 if axis is None else axis, flatten=axis is None)


def cumprod(x: Any, dim: int | None = None, *, dtype: Any = None, name: Any = None) -> Any:
    """Products of all elements up to each one, along `dim`; None: of all elements in one row.

    Raises:
        ValueError: there is no such axis.
    """
    if dim is None:
        x, dim = OPS["flatten"](x, start_axis=0, stop_axis=x.ndim - 1), -1
    return OPS["cumprod"](in_dtype(x, dtype), dim=dim, exclusive=False, reverse=False)


def cumprod_(x: Any, dim: int | None = None, dtype: Any = None, name: Any = None) -> Any:
    """cumprod, of x itself."""
    if dim is None:
        x, dim = find_op("flatten_")(x, start_axis=0, stop_axis=x.ndim - 1), -1
    if dtype is not None and dtypes.to_dtype(dtype) is not x.dtype:
        find_op("cast_")(x, dtype=dtype)
    return find_op("cumprod_")(x, dim=dim, exclusive=False, reverse=False)
