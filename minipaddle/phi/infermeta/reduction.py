"""InferMeta rules of reductions.

Paddle: paddle/phi/infermeta/unary.cc (ReduceInferMeta, SumInferMeta, ReduceIntArrayAxisInferMeta).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.phi.core.attribute import UnknownInts, UnknownNumber
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.enforce import normalize_axes


def reduced(who: str, floating: bool = False) -> Any:
    """Makes the rule of a reduction over `axis` (none, or `reduce_all`: every axis).

    Args:
        floating: integers give float32; otherwise the dtype stays.
    """

    def rule(
        x: MetaTensor,
        *,
        axis: Sequence[int],
        keepdim: bool,
        reduce_all: bool = False,
        **attrs: Any,
    ) -> MetaTensor:
        dtype = dtypes.float32 if floating and not x.dtype.is_floating else x.dtype
        if isinstance(axis, UnknownInts) and not reduce_all:
            sizes = [-1] * (x.ndim if keepdim else x.ndim - len(axis))
            return MetaTensor(sizes, dtype)
        axes = normalize_axes(who, axis, x.ndim)
        if reduce_all:
            axes = tuple(range(x.ndim))
        if keepdim:
            shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
        else:
            shape = [size for i, size in enumerate(x.shape) if i not in axes]
        return MetaTensor(shape, dtype)

    return rule


def sum_dtype(given: Any, wanted: DataType) -> DataType:
    """The dtype of a sum: the one that is asked for; else int64 for bool and int32, and otherwise
    that of the numbers.
    """
    if wanted is not dtypes.undefined:
        return wanted
    dtype = to_dtype(given)
    return dtypes.int64 if dtype in (dtypes.bool_, dtypes.int32) else dtype


def summed(
    x: MetaTensor, *, axis: Sequence[int], keepdim: bool, dtype: DataType = dtypes.undefined
) -> MetaTensor:
    """A reduction whose dtype may be chosen."""
    meta = reduced("sum")(x, axis=axis, keepdim=keepdim)
    return MetaTensor(meta.shape, sum_dtype(x.dtype, dtype))


def decided(who: str) -> Any:
    """Makes the rule of a reduction to True or False."""

    def rule(x: MetaTensor, *, axis: Sequence[int], keepdim: bool) -> MetaTensor:
        return MetaTensor(reduced(who)(x, axis=axis, keepdim=keepdim).shape, dtypes.bool_)

    return rule


def extreme(who: str) -> Any:
    """Makes the rule of a reduction that needs at least one element: nothing has no largest."""

    def rule(x: MetaTensor, *, axis: Sequence[int], keepdim: bool) -> MetaTensor:
        meta = reduced(who)(x, axis=axis, keepdim=keepdim)
        if not isinstance(axis, UnknownInts):
            axes = normalize_axes(who, axis, x.ndim)
            if any(x.shape[i] == 0 for i in axes if i < x.ndim):
                raise ValueError(
                    f"{who}: expected at least one element along the axes {list(axes)}, but got "
                    f"shape {list(x.shape)}. Nothing has no {who}; leave empty Tensors out."
                )
        return meta

    return rule


def cumulated(
    x: MetaTensor, *, axis: Any, flatten: bool, exclusive: bool, reverse: bool
) -> MetaTensor:
    """The shape stays; flattened, it is one row."""
    if flatten:
        return MetaTensor([-1 if -1 in x.shape else x.size], x.dtype)
    if not isinstance(axis, UnknownNumber):
        ndim = max(x.ndim, 1)
        if not -ndim <= axis < ndim:
            raise IndexError(
                f"cumsum: expected an axis in [{-ndim}, {ndim}), but got {axis}. x has shape "
                f"{list(x.shape)}."
            )
    return MetaTensor(x.shape, x.dtype)
