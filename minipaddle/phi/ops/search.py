"""Sorting and finding, and choosing by a condition.

Paddle: paddle/phi/kernels/argsort_kernel.h, top_k_kernel.h, arg_min_max_kernel.h,
median_kernel.h, where_kernel.h, nonzero_kernel.h, masked_select_kernel.h, unique_kernel.h.
Left out: unique along an axis.
"""

from __future__ import annotations

import math

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.attribute import Axes, ScalarInt, ScalarInt64
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.binary import broadcast_shape, elementwise
from minipaddle.phi.infermeta.enforce import normalize_axes
from minipaddle.phi.infermeta.unary import unchanged
from minipaddle.phi.ops.creation import full_like
from minipaddle.phi.ops.gather import index_put, put_along_axis, take_along_axis
from minipaddle.phi.ops.logic import equal, isnan, logical_or
from minipaddle.phi.ops.manipulation import (
    cast,
    expand_as,
    reduce_as,
    reshape,
    reshape_as,
    squeeze,
    transpose,
    unsqueeze,
)
from minipaddle.phi.ops.reduction import mean, sum


def _arg_extreme(who):
    """Makes the rule of argmax and argmin."""

    def rule(x, *, axis, keepdims, flatten, dtype):
        places = tuple(range(x.ndim)) if flatten else normalize_axes(who, int(axis), x.ndim)
        places = places if x.ndim else ()  # axis 0 of a single number is no axis
        if any(x.shape[place] == 0 for place in places):
            raise ValueError(
                f"{who}: expected at least one element to choose from, but got shape "
                f"{list(x.shape)}. Ask for x.size first."
            )
        kept = [1 if i in places else size for i, size in enumerate(x.shape)]
        left = [size for i, size in enumerate(x.shape) if i not in places]
        return MetaTensor(kept if keepdims else left, dtype)

    return rule


@op(source="paddle/phi/ops/yaml/ops.yaml: argmax", traits=("Pure", "ForwardOnly"))
def argmax(
    xp,
    x,
    *,
    axis: ScalarInt64,
    keepdims: bool = False,
    flatten: bool = False,
    dtype: DataType = dtypes.int64,
):
    """The place of the largest element along `axis`; with `flatten`, in all of x."""
    found = xp.argmax(
        _number_or(xp, x, -math.inf),
        axis=None if flatten or not x.ndim else int(axis),
        keepdims=keepdims,
    )
    return xp.asarray(found).astype(dtype.numpy_dtype)


argmax.infer_meta(_arg_extreme("argmax"))


@op(source="paddle/phi/ops/yaml/ops.yaml: argmin", traits=("Pure", "ForwardOnly"))
def argmin(
    xp,
    x,
    *,
    axis: ScalarInt64,
    keepdims: bool = False,
    flatten: bool = False,
    dtype: DataType = dtypes.int64,
):
    """The place of the smallest element along `axis`; with `flatten`, in all of x."""
    found = xp.argmin(
        _number_or(xp, x, math.inf),
        axis=None if flatten or not x.ndim else int(axis),
        keepdims=keepdims,
    )
    return xp.asarray(found).astype(dtype.numpy_dtype)


argmin.infer_meta(_arg_extreme("argmin"))


def _number_or(xp, x, other):
    """x with `other` where it is nan, which is never found; numpy would find nothing else."""
    return xp.where(xp.isnan(x), x.dtype.type(other), x) if x.dtype.kind == "f" else x


def _order(xp, x, axis, descending):
    """The places in sorted order; equal elements stay in their order."""
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    last = x.shape[axis] - 1
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return xp.flip(last - backwards, axis)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: argsort",
    outputs=("out", "indices"),
    traits=("Pure",),
)
def argsort(xp, x, *, axis: int = -1, descending: bool = False, stable: bool = False):
    """x, sorted along `axis`, and from where each element came."""
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    order = _order(xp, x, axis, descending)
    return xp.take_along_axis(x, order, axis), order.astype(xp.int64)


@argsort.infer_meta
def _(x, *, axis, descending, stable):
    normalize_axes("argsort", axis, x.ndim)
    return unchanged(x), MetaTensor(x.shape, dtypes.int64)


@argsort.vjp(wrt=("x",))
def _(indices, x: NoNeedBuffer, out_grad, *, axis: int, descending: bool, stable: bool):
    return (_sent_back(x, indices, out_grad, axis),)


def _sent_back(x, indices, out_grad, axis):
    """Each element's gradient, at the place that it came from."""
    if not indices.ndim:
        return out_grad
    zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
    return put_along_axis(zeros, indices, out_grad, axis=axis, reduce="add")


@op(source="paddle/phi/ops/yaml/ops.yaml: topk", outputs=("out", "indices"), traits=("Pure",))
def topk(xp, x, *, k: ScalarInt = 1, axis: int = -1, largest: bool = True, sorted: bool = True):
    """The k largest (or smallest) elements along `axis`, the most extreme first, and their
    places.
    """
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    if not 1 <= k <= x.shape[axis]:
        raise ValueError  # InferMeta says why
    order = _order(xp, x, axis, largest)
    first = xp.take(order, xp.arange(int(k)), axis)
    return xp.take_along_axis(x, first, axis), first.astype(xp.int64)


@topk.infer_meta
def _(x, *, k, axis, largest, sorted):
    (place,) = normalize_axes("topk", axis, x.ndim)
    shape = list(x.shape)
    if shape:
        if k < 1 or (shape[place] != -1 and k > shape[place]):
            raise ValueError(
                f"topk: expected k in [1, {shape[place]}], but got {k}. Axis {place} of shape "
                f"{list(x.shape)} has no more elements."
            )
        shape[place] = int(k)
    return MetaTensor(shape, x.dtype), MetaTensor(shape, dtypes.int64)


@topk.vjp(wrt=("x",))
def _(x: NoNeedBuffer, indices, out_grad, *, k: ScalarInt, axis: int, largest: bool, sorted: bool):
    return (_sent_back(x, indices, out_grad, axis),)


@op(source="paddle/phi/ops/yaml/ops.yaml: median", outputs=("out", "medians"), traits=("Pure",))
def median(xp, x, *, axis: Axes = (), keepdim: bool = True, mode: str = "avg"):
    """The number in the middle of those along the axes, and its place among them. If two are in the
    middle: with mode "avg" their mean, and both places; with "min" the smaller one. One nan makes
    all nan.
    """
    if mode not in ("avg", "min"):
        raise ValueError  # InferMeta says why
    axes = _median_axes(x, axis)
    kept = [size for i, size in enumerate(x.shape) if i not in axes]
    rows = xp.moveaxis(x, axes, tuple(range(-len(axes), 0))).reshape(*kept, _count(x, axes))
    size = rows.shape[-1]
    middle = [(size - 1) // 2, size // 2] if mode == "avg" else [(size - 1) // 2]
    if size:
        places = xp.argsort(rows, axis=-1, kind="stable")[..., middle]
        wrong = xp.isnan(rows)
        first = xp.argmax(wrong, axis=-1)[..., None]
        places = xp.where(wrong.any(axis=-1)[..., None], first, places)
        out = xp.take_along_axis(rows, places, -1).mean(axis=-1)
    else:
        places = xp.zeros((*kept, len(middle)), xp.int64)
        out = xp.full(kept, math.nan)
    if keepdim:
        kept = [1 if i in axes else size for i, size in enumerate(x.shape)]
    places = places.reshape([*kept, 2] if mode == "avg" else kept)
    return xp.asarray(out).astype(x.dtype).reshape(kept), places.astype(xp.int64)


def _median_axes(x, axis):
    """The axes as numbers from 0, the smallest first."""
    return tuple(sorted(normalize_axes("median", axis, x.ndim))) if x.ndim else ()


def _count(x, axes):
    """How many numbers there are along the axes."""
    return math.prod(x.shape[i] for i in axes)


@median.infer_meta
def _(x, *, axis, keepdim, mode):
    if mode not in ("avg", "min"):
        raise ValueError(
            f"median: expected mode 'avg' or 'min', but got {mode!r}. Use one of them."
        )
    axes = _median_axes(x, axis)
    shape = [1 if i in axes else size for i, size in enumerate(x.shape) if keepdim or i not in axes]
    return MetaTensor(shape, x.dtype), MetaTensor(
        [*shape, 2] if mode == "avg" else shape, dtypes.int64
    )


@median.vjp
def _(x, out: NoNeedBuffer, medians, out_grad, *, axis: Axes, keepdim: bool, mode: str):
    if not x.size:
        return (full_like(x, value=0.0, dtype=x.dtype),)
    axes = _median_axes(x, axis)
    perm = [i for i in range(x.ndim) if i not in axes] + list(axes)
    kept = x.ndim - len(axes)
    if keepdim and axes:
        medians, out_grad = squeeze(medians, axis=axes), squeeze(out_grad, axis=axes)
    if mode == "min":
        medians = unsqueeze(medians, axis=(-1,))
    turned = transpose(x, perm=perm)
    rows = reshape(turned, shape=(*(0,) * kept, -1))
    back = [perm.index(i) for i in range(x.ndim)]
    if mode == "min":
        one = _sent_back(rows, medians, unsqueeze(out_grad, axis=(-1,)), kept)
        return (transpose(reshape_as(one, turned), perm=back),)
    found = unsqueeze(take_along_axis(rows, medians, axis=kept), axis=(-1,))
    rows = unsqueeze(rows, axis=(-2,))
    # the numbers that are equal to one in the middle share its gradient; nan counts as equal to nan
    hits = cast(logical_or(equal(rows, found), isnan(rows)), dtype=x.dtype)
    shares = mean(hits / sum(hits, axis=(-1,), keepdim=True), axis=(-2,))
    grad = reshape_as(shares * unsqueeze(out_grad, axis=(-1,)), turned)
    return (transpose(grad, perm=back),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: where",
    traits=("Pure",),
    inplace={"out": "x"},
    promote=("x", "y"),
)
def where(xp, condition, x, y):
    """x where the condition is True, y elsewhere."""
    if condition.dtype != bool:
        raise ValueError  # InferMeta says what is wrong
    return xp.where(condition, x, y)


@where.infer_meta
def _(condition, x, y):
    if condition.dtype is not dtypes.bool_:
        raise ValueError(
            f"where: expected a condition of bool, but got {condition.dtype.name}. Compare it with "
            "something."
        )
    values = elementwise("where")(x, y)
    return MetaTensor(broadcast_shape("where", condition, values), values.dtype)


@where.vjp(wrt=("x", "y"))
def _(condition, x: NoNeedBuffer, y: NoNeedBuffer, out_grad):
    zeros = full_like(out_grad, value=0.0, dtype=out_grad.dtype)
    x_grad = where(condition, out_grad, zeros)
    y_grad = where(condition, zeros, out_grad)
    return reduce_as(x_grad, x), reduce_as(y_grad, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: nonzero", traits=("Pure", "ForwardOnly"))
def nonzero(xp, condition):
    """The places of the elements that are not 0: [how many, ndim]."""
    if condition.ndim == 0:
        return xp.zeros((int(condition != 0), 0), xp.int64)
    return xp.stack(xp.nonzero(condition), axis=1).astype(xp.int64)


@nonzero.infer_meta
def _(condition):
    return MetaTensor([-1, condition.ndim], dtypes.int64)


@op(source="paddle/phi/ops/yaml/ops.yaml: masked_select", traits=("Pure",))
def masked_select(xp, x, mask):
    """The elements of x where the mask is True, in a row. The mask broadcasts to x."""
    return x[xp.broadcast_to(mask, x.shape)]


@masked_select.infer_meta
def _(x, mask):
    whole = broadcast_shape("masked_select", x, mask)
    if mask.ndim > x.ndim or any(a != b and -1 not in (a, b) for a, b in zip(x.shape, whole)):
        raise ValueError(
            f"masked_select: expected a mask that broadcasts to shape {list(x.shape)}, but got "
            f"{list(mask.shape)}. Expand x first."
        )
    if mask.dtype is not dtypes.bool_:
        raise ValueError(
            f"masked_select: expected a mask of bool, but got {mask.dtype.name}. Compare it with "
            "something."
        )
    return MetaTensor([-1], x.dtype)


@masked_select.vjp(wrt=("x",))
def _(x: NoNeedBuffer, mask, out_grad):
    zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
    return (index_put(zeros, [expand_as(mask, x)], out_grad),)


@op(source="paddle/phi/ops/yaml/ops.yaml: masked_fill", traits=("Pure",), inplace={"out": "x"})
def masked_fill(xp, x, mask, value):
    """x, with the one number of `value` where the mask is True."""
    return xp.where(mask, value.astype(x.dtype), x)


@masked_fill.infer_meta
def _(x, mask, value):
    return MetaTensor(broadcast_shape("masked_fill", x, mask), x.dtype)


@masked_fill.vjp(wrt=("x", "value"))
def _(x: NoNeedBuffer, mask, value: NoNeedBuffer, out_grad):
    zeros = full_like(out_grad, value=0.0, dtype=out_grad.dtype)
    x_grad, value_grad = where(mask, zeros, out_grad), where(mask, out_grad, zeros)
    return reduce_as(x_grad, x), reduce_as(value_grad, value)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: unique",
    outputs=("out", "indices", "inverse", "counts"),
    traits=("Pure", "ForwardOnly"),
)
def unique(
    xp,
    x,
    *,
    return_index: bool,
    return_inverse: bool,
    return_counts: bool,
    axis: Axes,
    dtype: DataType = dtypes.int64,
):
    """The different elements of x, sorted; where each comes up first; for each element of x which
    one it is; how often each comes up.
    """
    found = xp.unique(x.reshape(-1), return_index=True, return_inverse=True, return_counts=True)
    out, *others = found
    wanted = (return_index, return_inverse, return_counts)
    return out, *[
        item.reshape(-1).astype(dtype.numpy_dtype) if want else None
        for item, want in zip(others, wanted, strict=True)
    ]


@unique.infer_meta
def _(x, *, return_index, return_inverse, return_counts, axis, dtype):
    if axis:
        raise NotImplementedError(
            f"unique: expected no axis, but got {list(axis)}. Only whole Tensors are done here."
        )
    size = -1 if -1 in x.shape else x.size
    return (
        MetaTensor([-1], x.dtype),
        MetaTensor([-1], dtype) if return_index else None,
        MetaTensor([size], dtype) if return_inverse else None,
        MetaTensor([-1], dtype) if return_counts else None,
    )
