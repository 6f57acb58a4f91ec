"""Statistics. Paddle: python/paddle/tensor/stat.py.

Left out: nanmedian, quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.op import OPS
from minipaddle.tensor.logic import is_tensor
from minipaddle.tensor.manipulation import in_dtype

__all__ = [
    "mean",
    "median",
    "numel",
    "std",
    "var",
]

Axis = int | Sequence[int] | None

numel = OPS["numel"]


def mean(
    x: Any,
    axis: Axis = None,
    keepdim: bool = False,
    name: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The mean over `axis` (None: over all axes). Integers lose what is behind the point."""
    return OPS["mean"](in_dtype(x, dtype), axis=axis, keepdim=keepdim)


def var(
    x: Any,
    axis: Axis = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: Any = None,
    *,
    correction: float = 1,
) -> Any:
    """The variance over `axis` (None: over all axes): the mean squared distance from the mean.

    Args:
        unbiased: True divides by n - 1, False by n; None asks `correction`.
        correction: divide by n - correction.
    """
    if unbiased is not None:
        correction = 1 if unbiased else 0
    distance = x - mean(x, axis, True)
    total = OPS["sum"](OPS["pow"](distance, y=2.0), axis=axis, dtype=x.dtype, keepdim=keepdim)
    # counted by ops: in a program the sizes may not be known yet
    all_numbers, results = _count(x), _count(total)
    n = OPS["cast"](all_numbers, dtype=dtypes.float32) / OPS["cast"](results, dtype=dtypes.float32)
    n = in_dtype(n, x.dtype)
    if correction:
        n = n - correction
        n = OPS["maximum"](n, OPS["full_like"](n, value=0.0, dtype=n.dtype))
    return in_dtype(total / n, x.dtype)  # of integers, an integer


def _count(x: Any) -> Any:
    return OPS["cast"](OPS["numel"](x), dtype=dtypes.int64)


def std(
    x: Any,
    axis: Axis = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: Any = None,
) -> Any:
    """The standard deviation over `axis` (None: over all axes): the square root of `var`."""
    return OPS["sqrt"](var(x, axis, unbiased, keepdim))


def median(
    x: Any, axis: int | None = None, keepdim: bool = False, mode: str = "avg", name: Any = None
) -> Any:
    """The number in the middle over `axis` (None: of all numbers).

    Args:
        mode: what comes of two numbers in the middle: "avg" their mean (in float32, but float64
            stays), "min" the smaller one. With "min" and an axis, its place is a second result.

    Raises:
        TypeError: x is no Tensor.
        ValueError: there is no such axis or mode.
    """
    if not is_tensor(x):
        raise TypeError(
            f"median: expected x to be a Tensor, but got {type(x).__name__}. Call to_tensor first."
        )
    if x.ndim == 0 and axis not in (None, 0, -1):
        raise AssertionError(f"median: expected axis 0, -1 or None, but got {axis}. x has no axes.")
    if axis is not None and not (
        isinstance(axis, int) and -max(x.ndim, 1) <= axis < max(x.ndim, 1)
    ):
        raise ValueError(
            f"median: expected axis None or in [{-x.ndim}, {x.ndim}), but got {axis!r}. Give one."
        )
    if mode not in ("avg", "min"):
        raise ValueError(
            f"median: expected mode 'avg' or 'min', but got {mode!r}. Use one of them."
        )
    if mode == "avg" and x.dtype is not dtypes.float64:
        x = in_dtype(x, dtypes.float32)
    axes = [] if axis is None else [axis]
    out, places = OPS["median"](x, axis=axes, keepdim=keepdim, mode=mode)
    places.stop_gradient = True
    return (out, places) if mode == "min" and axis is not None else out
