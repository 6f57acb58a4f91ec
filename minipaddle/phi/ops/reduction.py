"""Reductions: one number from many, along some axes or along all. And cumulative sums, which keep
every step on the way.

No axes at all means every axis. A single number (0-D) takes the axes 0 and -1, as in Paddle.

Paddle: paddle/phi/kernels/reduce_*_kernel.h, cum_kernel.h, logsumexp_kernel.h, p_norm_kernel.h.
"""

from __future__ import annotations

import math
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.attribute import Axes, IntArray, ScalarInt
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta import reduction as rules
from minipaddle.phi.infermeta.unary import normalize_axes
from minipaddle.phi.ops.creation import full
from minipaddle.phi.ops.elementary import abs, as_float, exp, sign
from minipaddle.phi.ops.logic import equal
from minipaddle.phi.ops.manipulation import cast, expand_as, reshape, reshape_as, unsqueeze

LOGIC: dict[str, Any] = {"traits": ("Pure", "ForwardOnly")}


def _axes(x, axis):
    """The axes as numpy wants them: None for all of them."""
    if x.ndim == 0:
        normalize_axes("reduce", axis, 0)
        return None
    return tuple(axis) or None


def _with_axes_back(grad, x, axis, keepdim, unsqueeze):
    """Gives a reduction's result or gradient the axes of size 1 that the reduction dropped."""
    if keepdim or grad.ndim == x.ndim:
        return grad
    return unsqueeze(grad, axis=sorted(normalize_axes("reduce", axis, x.ndim)))


# -- sums and means --------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: sum", traits=("Pure",))
def sum(
    xp,
    x,
    *,
    axis: IntArray = (),
    dtype: DataType = dtypes.undefined,
    keepdim: bool = False,
):
    """The sum over the axes of `axis` (none: over all). bool and int32 are summed as int64."""
    wanted = rules.sum_dtype(x.dtype, dtype).numpy_dtype
    return xp.asarray(xp.sum(x, axis=_axes(x, axis), keepdims=keepdim, dtype=wanted))


sum.infer_meta(rules.summed)


@sum.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    grad = cast(_with_axes_back(out_grad, x, axis, keepdim, unsqueeze), dtype=x.dtype)
    return (expand_as(grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: mean", traits=("Pure",))
def mean(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The mean over the axes of `axis` (none: over all). Integers lose what is behind the point."""
    found = xp.mean(x, axis=_axes(x, axis), keepdims=keepdim, dtype=_mean_dtype(x))
    return xp.asarray(found).astype(x.dtype, copy=False)


def _mean_dtype(x):
    """float16 numbers are added up in float32: 2,049 ones would otherwise give 2,048."""
    return None if x.dtype.kind != "f" or x.dtype.itemsize == 2 else x.dtype


mean.infer_meta(rules.reduced("mean"))


@mean.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    share = out_grad * (out_grad.size / x.size) if x.size else out_grad
    return (expand_as(_with_axes_back(share, x, axis, keepdim, unsqueeze), x),)


@mean.decomp
def _(x, *, axis: IntArray, keepdim: bool):
    axes = normalize_axes("mean", axis, x.ndim) if x.ndim else ()
    count = math.prod(x.shape[i] for i in axes)
    total = sum(x, axis=axes, keepdim=keepdim)
    found = total / full(shape=(), value=float(count), dtype=total.dtype)
    return found if x.dtype.is_floating else cast(found, dtype=x.dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: mean_all", traits=("Pure",))
def mean_all(xp, x):
    """The mean of all elements. Dygraph's losses use it."""
    return xp.asarray(xp.mean(x, dtype=_mean_dtype(x))).astype(x.dtype, copy=False)


@mean_all.infer_meta
def _(x):
    return MetaTensor([], x.dtype)


@mean_all.vjp
def _(x: NoNeedBuffer, out_grad):
    return (expand_as(out_grad / x.size if x.size else out_grad, x),)


# -- extremes --------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: max", traits=("Pure",))
def max(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The largest number. The gradient is shared by all that are equally large."""
    return xp.asarray(xp.max(x, axis=_axes(x, axis), keepdims=keepdim))


max.infer_meta(rules.extreme("max"))


@max.vjp
def _(x, out, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    largest = _with_axes_back(out, x, axis, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axis, keepdim, unsqueeze)
    hits = cast(equal(x, largest), dtype=x.dtype)
    return (hits * (grad / sum(hits, axis=axis, keepdim=True)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: min", traits=("Pure",))
def min(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The smallest number. The gradient is shared by all that are equally small."""
    return xp.asarray(xp.min(x, axis=_axes(x, axis), keepdims=keepdim))


min.infer_meta(rules.extreme("min"))


@min.vjp
def _(x, out, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    smallest = _with_axes_back(out, x, axis, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axis, keepdim, unsqueeze)
    hits = cast(equal(x, smallest), dtype=x.dtype)
    return (hits * (grad / sum(hits, axis=axis, keepdim=True)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: amax", traits=("Pure",))
def amax(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """As max, but PIR shows the axes as an attribute."""
    return xp.asarray(xp.max(x, axis=_axes(x, axis), keepdims=keepdim))


amax.infer_meta(rules.extreme("amax"))


@amax.vjp
def _(x, out, out_grad, *, axis: Axes, keepdim: bool, reduce_all: bool = False):
    largest = _with_axes_back(out, x, axis, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axis, keepdim, unsqueeze)
    hits = cast(equal(x, largest), dtype=x.dtype)
    return (hits * (grad / sum(hits, axis=axis, keepdim=True)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: amin", traits=("Pure",))
def amin(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """As min, but PIR shows the axes as an attribute."""
    return xp.asarray(xp.min(x, axis=_axes(x, axis), keepdims=keepdim))


amin.infer_meta(rules.extreme("amin"))


@amin.vjp
def _(x, out, out_grad, *, axis: Axes, keepdim: bool, reduce_all: bool = False):
    smallest = _with_axes_back(out, x, axis, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axis, keepdim, unsqueeze)
    hits = cast(equal(x, smallest), dtype=x.dtype)
    return (hits * (grad / sum(hits, axis=axis, keepdim=True)),)


# -- products, logarithms, norms -------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: prod", traits=("Pure",))
def prod(xp, x, *, axis: IntArray, keepdim: bool, reduce_all: bool):
    """The product."""
    axes = None if reduce_all else _axes(x, axis)
    return xp.asarray(xp.prod(x, axis=axes, keepdims=keepdim, dtype=x.dtype))


prod.infer_meta(rules.reduced("prod"))


@prod.vjp
def _(x, out, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool):
    axes = () if reduce_all else axis
    product = _with_axes_back(out, x, axes, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axes, keepdim, unsqueeze)
    return (grad * product / x,)  # NaN where x is 0, as in Paddle


@op(source="paddle/phi/ops/yaml/ops.yaml: logsumexp", traits=("Pure",))
def logsumexp(xp, x, *, axis: Axes = (), keepdim: bool = False, reduce_all: bool = False):
    """log(sum(exp(x))), computed so that large numbers don't overflow."""
    x, axes = as_float(x), None if reduce_all else _axes(x, axis)
    largest = xp.max(x, axis=axes, keepdims=True, initial=-xp.inf)
    total = xp.log(xp.sum(xp.exp(x - largest), axis=axes, keepdims=True)) + largest
    return total if keepdim else xp.asarray(xp.squeeze(total, axis=axes))


logsumexp.infer_meta(rules.reduced("logsumexp", floating=True))


@logsumexp.vjp
def _(x, out, out_grad, *, axis: Axes, keepdim: bool, reduce_all: bool):
    axes = () if reduce_all else axis
    total = _with_axes_back(out, x, axes, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axes, keepdim, unsqueeze)
    return (grad * exp(x - total),)


@op(source="paddle/phi/ops/yaml/ops.yaml: p_norm", traits=("Pure",))
def p_norm(
    xp,
    x,
    *,
    porder: float = 2.0,
    axis: int = -1,
    epsilon: float = 1.0e-12,
    keepdim: bool = False,
    asvector: bool = False,
):
    """The length of vectors: (sum |x|^porder)^(1 / porder) along one axis, or of everything
    (asvector). 0 counts what is not zero; inf and -inf give the largest and the smallest |x|.
    """
    rules.require_floating("p_norm", x.dtype)
    axes = _axes(x, () if asvector else (axis,))
    if porder == 0:
        found = xp.sum(x != 0, axis=axes, keepdims=keepdim, dtype=x.dtype)
    elif porder == math.inf:
        found = xp.max(xp.abs(x), axis=axes, keepdims=keepdim)
    elif porder == -math.inf:
        found = xp.min(xp.abs(x), axis=axes, keepdims=keepdim)
    elif porder == 2:
        found = xp.sqrt(xp.sum(x * x, axis=axes, keepdims=keepdim))
    else:
        found = xp.sum(xp.abs(x) ** porder, axis=axes, keepdims=keepdim) ** (1.0 / porder)
    return xp.asarray(found)


@p_norm.infer_meta
def _(x, *, porder, axis, epsilon, keepdim, asvector):
    rules.require_floating("p_norm", x.dtype)
    return rules.reduced("p_norm")(x, axis=() if asvector else (axis,), keepdim=keepdim)


@p_norm.vjp
def _(
    x,
    out,
    out_grad,
    *,
    porder: float,
    axis: int,
    epsilon: float,
    keepdim: bool,
    asvector: bool,
):
    axes = () if asvector else (axis,)
    norm = _with_axes_back(out, x, axes, keepdim, unsqueeze)
    grad = _with_axes_back(out_grad, x, axes, keepdim, unsqueeze)
    # `epsilon` keeps the gradient of a zero vector's length at 0
    if porder == 0:
        return (expand_as(grad * 0.0, x),)
    if porder == 1:
        return (grad * sign(x),)
    if porder == 2:
        return (x * (grad / (norm + epsilon)),)
    if math.isinf(porder):
        return (grad * sign(x) * cast(equal(abs(x), norm), dtype=x.dtype),)
    return (sign(x) * abs(x) ** (porder - 1.0) * (grad / (norm ** (porder - 1.0) + epsilon)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: squared_l2_norm", traits=("Pure",))
def squared_l2_norm(xp, x):
    """The sum of all squares, of shape [1]. Clipping by the global norm uses it."""
    rules.require_floating("squared_l2_norm", x.dtype)
    flat = x.reshape(-1)
    return xp.dot(flat, flat).reshape(1)


@squared_l2_norm.infer_meta
def _(x):
    rules.require_floating("squared_l2_norm", x.dtype)
    return MetaTensor([1], x.dtype)


@squared_l2_norm.vjp
def _(x, out_grad):
    return (x * reshape(out_grad, shape=()) * 2.0,)


@squared_l2_norm.decomp
def _(x):
    return reshape(sum(x * x, axis=tuple(range(x.ndim))), shape=(1,))


# -- cumulative sums -------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: cumsum", traits=("Pure",), inplace={"out": "x"})
def cumsum(
    xp,
    x,
    *,
    axis: ScalarInt = -1,
    flatten: bool = False,
    exclusive: bool = False,
    reverse: bool = False,
):
    """Sums of all elements up to each one, along `axis` or (flatten) of all in a row.

    Args:
        exclusive: the element itself does not count.
        reverse: from the end.
    """
    if flatten:
        x, axis = x.reshape(-1), 0
    if x.ndim == 0:
        normalize_axes("cumsum", axis, 0)
        return xp.zeros_like(x) if exclusive else x.copy()
    if reverse:
        x = xp.flip(x, axis)
    total = xp.cumsum(x, axis=axis, dtype=x.dtype)
    if exclusive:
        total = total - x
    return xp.flip(total, axis) if reverse else total


cumsum.infer_meta(rules.cumulated)


@cumsum.vjp
def _(
    x: NoNeedBuffer,
    out_grad,
    *,
    axis: ScalarInt,
    flatten: bool,
    exclusive: bool,
    reverse: bool,
):
    grad = cumsum(out_grad, axis=axis, flatten=flatten, exclusive=exclusive, reverse=not reverse)
    return (reshape_as(grad, x) if flatten else grad,)


# -- logic -----------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: all", **LOGIC)
def all(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """True where all are; a number counts as True where it is not 0."""
    return xp.asarray(xp.all(x, axis=_axes(x, axis), keepdims=keepdim))


all.infer_meta(rules.decided("all"))


@op(source="paddle/phi/ops/yaml/ops.yaml: any", **LOGIC)
def any(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """True where at least one is; a number counts as True where it is not 0."""
    return xp.asarray(xp.any(x, axis=_axes(x, axis), keepdims=keepdim))


any.infer_meta(rules.decided("any"))


@op(source="paddle/phi/ops/yaml/ops.yaml: numel", **LOGIC)
def numel(xp, x: NoNeedBuffer):
    """How many elements x has: an int64."""
    return xp.asarray(x.size, dtype=xp.int64)


@numel.infer_meta
def _(x):
    return MetaTensor([], dtypes.int64)
