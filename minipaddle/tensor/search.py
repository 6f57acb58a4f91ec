"""Finding, sorting, choosing. Paddle: python/paddle/tensor/search.py.

Left out: `out=`; searchsorted, kthvalue, mode.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.core.type_promotion import promote
from minipaddle.phi.core.world import in_dynamic_mode
from minipaddle.tensor.creation import constant
from minipaddle.tensor.indexing import getitem
from minipaddle.tensor.logic import is_tensor
from minipaddle.tensor.manipulation import flatten, in_dtype
from minipaddle.tensor.math import clip, cumsum

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "index_sample",
    "index_select",
    "masked_scatter",
    "masked_scatter_",
    "masked_select",
    "nonzero",
    "sort",
    "topk",
    "where",
    "where_",
]

index_select = OPS["index_select"]
index_sample = OPS["index_sample"]
masked_select = OPS["masked_select"]


def _arg(op: str, x: Any, axis: int | None, keepdim: bool, dtype: Any) -> Any:
    return OPS[op](
        x, axis=0 if axis is None else axis, keepdims=keepdim, flatten=axis is None, dtype=dtype
    )


def argmax(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: Any = None
) -> Any:
    """The place of the largest element along `axis`, or in all of x."""
    return _arg("argmax", x, axis, keepdim, dtype)


def argmin(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: Any = None
) -> Any:
    """The place of the smallest element along `axis`, or in all of x."""
    return _arg("argmin", x, axis, keepdim, dtype)


def argsort(
    x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: Any = None
) -> Any:
    """From where each element of the sorted x comes."""
    return OPS["argsort"](x, axis=axis, descending=descending, stable=stable)[1]


def sort(
    x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: Any = None
) -> Any:
    """x, sorted along `axis`."""
    return OPS["argsort"](x, axis=axis, descending=descending, stable=stable)[0]


def topk(
    x: Any,
    k: Any,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: Any = None,
) -> Any:
    """The k largest (or smallest) elements along `axis` (default: the last), and their places.

    Raises:
        ValueError: the axis has fewer elements.
    """
    axis = -1 if axis is None else axis
    return OPS["topk"](x, k=k, axis=axis, largest=largest, sorted=sorted)


def masked_scatter(x: Any, mask: Any, value: Any, name: Any = None) -> Any:
    """x, with the first numbers of `value`, one after the other, where the mask is True. The mask
    and x broadcast.

    Raises:
        AssertionError: dtypes differ, the mask is not of bools, or `value` has too few numbers.
    """
    kept, values = _scattered(x, mask, value)
    return where(kept, x, values)


def masked_scatter_(x: Any, mask: Any, value: Any, name: Any = None) -> Any:
    """masked_scatter, of x itself."""
    kept, values = _scattered(x, mask, value)
    return where_(kept, x, values)


def _scattered(x: Any, mask: Any, value: Any) -> tuple[Any, Any]:
    """(where x stays, for each place the number of `value` whose turn it is)."""
    if x.dtype is not value.dtype or mask.dtype is not dtypes.bool_:
        raise AssertionError(
            f"masked_scatter: expected x and value of one dtype and a mask of bool, but got "
            f"{x.dtype.name}, {value.dtype.name} and {mask.dtype.name}. Cast them with astype."
        )
    zeros = OPS["full_like"](x, value=0.0, dtype=dtypes.int64)
    mask = OPS["cast"](mask, dtype=dtypes.int64) + zeros
    turn = clip(cumsum(mask) - 1, min=0)
    if in_dynamic_mode() and turn.size and int(turn[-1]) >= max(value.size, 1):
        raise AssertionError(
            f"masked_scatter: expected at least {int(turn[-1]) + 1} numbers in value, one for each "
            f"True in the mask, but got {value.size}. Give it more."
        )
    values = OPS["reshape"](getitem(flatten(value), turn), shape=list(mask.shape))
    return OPS["logical_not"](OPS["cast"](mask, dtype=dtypes.bool_)), values


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: [how many, ndim]; as a tuple: one Tensor for each
    axis.
    """
    places = OPS["nonzero"](x)
    if not as_tuple:
        return places
    return tuple(getitem(places, (slice(None), axis)) for axis in range(x.ndim))


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """x where the condition is True, y elsewhere; all three broadcast. Without x and y, the places
    where it is True, one Tensor for each axis.

    Raises:
        ValueError: only one of x and y is given, or the condition is not of bools.
    """
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ValueError("where: expected both x and y or none, but got one. Give the other.")
    if not is_tensor(x):
        x = constant(x)
    if not is_tensor(y):
        y = constant(y)
    return OPS["where"](*_broadcast(condition, x, y))


def where_(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """where, written into x."""
    return find_op("where_")(condition, x, y)


def _broadcast(condition: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """All three in one shape. By adding zeros, as Paddle does: that works for sizes which are not
    known yet.
    """
    dtype = promote("where", x, y)
    x, y = in_dtype(x, dtype), in_dtype(y, dtype)
    if list(condition.shape) == list(x.shape) == list(y.shape):
        return condition, x, y

    def zeros(like: Any) -> Any:
        return OPS["full_like"](like, value=0.0, dtype=like.dtype)

    of_x, of_y = zeros(x), zeros(y)
    of_condition = OPS["cast"](zeros(condition), dtype=x.dtype)
    chosen = OPS["cast"](condition, dtype=x.dtype)
    all_zeros = OPS["add"](OPS["add"](of_x, of_y), of_condition)
    x, y = OPS["add"](x, all_zeros), OPS["add"](y, all_zeros)
    return OPS["cast"](OPS["add"](chosen, all_zeros), dtype="bool"), x, y
