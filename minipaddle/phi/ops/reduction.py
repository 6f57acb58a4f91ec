"""Reductions: one number from many, along some axes or along all. And cumulative sums and products,
which keep every step on the way.

No axes at all means every axis. A single number (0-D) takes the axes 0 and -1, as in Paddle.

Paddle: paddle/phi/kernels/reduce_*_kernel.h, cum_kernel.h, logsumexp_kernel.h.
"""

from __future__ import annotations

import math

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.attribute import Axes, IntArray, ScalarInt
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta import reduction as rules
from minipaddle.phi.infermeta.enforce import normalize_axes
from minipaddle.phi.ops.creation import full, full_like
from minipaddle.phi.ops.elementary import as_float, exp
from minipaddle.phi.ops.logic import equal
from minipaddle.phi.ops.manipulation import cast, expand_as, reshape_as, unsqueeze


def numpy_axes(x, axis, reduce_all=False):
    """The axes as numpy wants them: None for all of them."""
    if x.ndim == 0 or reduce_all:
        normalize_axes("reduce", axis, x.ndim)  # numpy would not look at them
        return None
    return tuple(axis) or None


def with_axes_back(grad, x, axis, keepdim):
    """Gives a reduction's result or gradient the axes of size 1 that the reduction dropped."""
    if keepdim or grad.ndim == x.ndim:
        return grad
    return unsqueeze(grad, axis=sorted(normalize_axes("reduce", axis, x.ndim)))


def spread(xp, grad, x, axis, keepdim):
    """An array of x's shape in which each gradient stands at all places that it belongs to."""
    if grad.ndim and grad.ndim != x.ndim:
        axes = normalize_axes("reduce", axis, x.ndim)
        grad = grad.reshape([1 if i in axes else size for i, size in enumerate(x.shape)])
    # in a program x is an array; in dygraph only its shape and dtype were kept
    dtype = x.dtype.numpy_dtype if isinstance(x.dtype, DataType) else x.dtype
    result = xp.empty(x.shape, dtype)
    result[...] = grad
    return result


# -- sums and means --------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: sum", traits=("Pure",), amp="black_o1")
def sum(
    xp,
    x,
    *,
    axis: IntArray = (),
    dtype: DataType = dtypes.undefined,
    keepdim: bool = False,
):
    """The sum over the axes of `axis` (none: over all). bool and int32 are summed as int64."""
    wanted = None  # the dtype of the numbers
    if dtype is not dtypes.undefined or x.dtype.kind != "f":
        wanted = rules.sum_dtype(x.dtype, dtype).numpy_dtype
    return xp.asarray(xp.add.reduce(x, axis=numpy_axes(x, axis), keepdims=keepdim, dtype=wanted))


sum.infer_meta(rules.summed)


@sum.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    grad = cast(with_axes_back(out_grad, x, axis, keepdim), dtype=x.dtype)
    return (expand_as(grad, x),)


@sum.grad_kernel
def _(xp, wanted, x, out_grad, *, axis, keepdim, reduce_all=False):
    return (spread(xp, out_grad, x, axis, keepdim),)


def _mean(xp, x, axis=None, keepdim=False):
    """The mean in x's own dtype."""
    if x.dtype.char in "fd" and x.size:  # float32, float64
        # xp.mean's own sum and division, without what it asks on the way
        total = xp.add.reduce(x, axis=axis, keepdims=keepdim)
        return xp.asarray(total / (x.size // total.size))
    # float16 numbers are added up in float32: 2,049 ones would otherwise give 2,048
    return xp.asarray(xp.mean(x, axis=axis, keepdims=keepdim)).astype(x.dtype, copy=False)


@op(source="paddle/phi/ops/yaml/ops.yaml: mean", traits=("Pure",), amp="black_o1")
def mean(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The mean over the axes of `axis` (none: over all). Integers lose what is behind the point."""
    return _mean(xp, x, numpy_axes(x, axis), keepdim)


mean.infer_meta(rules.reduced("mean"))


@mean.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    share = out_grad * (out_grad.size / x.size) if x.size else out_grad
    return (expand_as(with_axes_back(share, x, axis, keepdim), x),)


@mean.grad_kernel
def _(xp, wanted, x, out_grad, *, axis, keepdim, reduce_all=False):
    share = out_grad * (out_grad.size / x.size) if x.size else out_grad
    return (spread(xp, share, x, axis, keepdim),)


@mean.decomp
def _(x, *, axis: IntArray, keepdim: bool):
    axes = normalize_axes("mean", axis, x.ndim) if x.ndim else ()
    sizes = [x.shape[i] for i in axes]
    if -1 in sizes:
        raise ValueError(
            f"mean: expected known sizes along the axes {list(axes)}, but got shape "
            f"{list(x.shape)}. The decomposition divides by their product."
        )
    count = math.prod(sizes)
    total = sum(x, axis=axes, keepdim=keepdim)
    found = total / full(shape=(), value=float(count), dtype=total.dtype)
    return found if x.dtype.is_floating else cast(found, dtype=x.dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: mean_all", traits=("Pure",), amp="black_o1")
def mean_all(xp, x):
    """The mean of all elements. Dygraph's losses use it."""
    return _mean(xp, x)


@mean_all.infer_meta
def _(x):
    return MetaTensor([], x.dtype)


@mean_all.vjp
def _(x: NoNeedBuffer, out_grad):
    return (expand_as(out_grad / x.size if x.size else out_grad, x),)


@mean_all.grad_kernel
def _(xp, wanted, x, out_grad):
    return (spread(xp, out_grad / x.size if x.size else out_grad, x, (), False),)


# -- extremes --------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: max", traits=("Pure",))
def max(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The largest number. The gradient is shared by all that are equally large."""
    return xp.asarray(xp.max(x, axis=numpy_axes(x, axis), keepdims=keepdim))


max.infer_meta(rules.extreme("max"))


@max.vjp
def extreme_rule(x, out, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    extreme = with_axes_back(out, x, axis, keepdim)
    grad = with_axes_back(out_grad, x, axis, keepdim)
    hits = cast(equal(x, extreme), dtype=x.dtype)
    return (hits * (grad / sum(hits, axis=axis, keepdim=True)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: min", traits=("Pure",))
def min(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The smallest number. The gradient is shared by all that are equally small."""
    return xp.asarray(xp.min(x, axis=numpy_axes(x, axis), keepdims=keepdim))


min.infer_meta(rules.extreme("min"))
min.vjp(extreme_rule)


@op(source="paddle/phi/ops/yaml/ops.yaml: amax", traits=("Pure",))
def amax(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """As max, but PIR shows the axes as an attribute."""
    return xp.asarray(xp.max(x, axis=numpy_axes(x, axis), keepdims=keepdim))


amax.infer_meta(rules.extreme("amax"))


@amax.vjp
def extreme_rule_of_axes(x, out, out_grad, *, axis: Axes, keepdim: bool, reduce_all: bool = False):
    # the lines of extreme_rule: a rule's helper would not see the ops that the rule is bound to
    extreme = with_axes_back(out, x, axis, keepdim)
    grad = with_axes_back(out_grad, x, axis, keepdim)
    hits = cast(equal(x, extreme), dtype=x.dtype)
    return (hits * (grad / sum(hits, axis=axis, keepdim=True)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: amin", traits=("Pure",))
def amin(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """As min, but PIR shows the axes as an attribute."""
    return xp.asarray(xp.min(x, axis=numpy_axes(x, axis), keepdims=keepdim))


amin.infer_meta(rules.extreme("amin"))
amin.vjp(extreme_rule_of_axes)


# -- products and logarithms -------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: prod", traits=("Pure",), amp="black_o1")
def prod(xp, x, *, axis: IntArray, keepdim: bool, reduce_all: bool):
    """The product."""
    axes = numpy_axes(x, axis, reduce_all)
    return xp.asarray(xp.prod(x, axis=axes, keepdims=keepdim, dtype=x.dtype))


prod.infer_meta(rules.reduced("prod"))


@prod.vjp
def _(x, out, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool):
    axes = () if reduce_all else axis
    product = with_axes_back(out, x, axes, keepdim)
    grad = with_axes_back(out_grad, x, axes, keepdim)
    return (grad * product / x,)  # NaN where x is 0, as in Paddle


@op(source="paddle/phi/ops/yaml/ops.yaml: logsumexp", traits=("Pure", "IntegersStop"))
def logsumexp(xp, x, *, axis: Axes = (), keepdim: bool = False, reduce_all: bool = False):
    """log(sum(exp(x))), computed so that large numbers don't overflow."""
    x, axes = as_float(x), numpy_axes(x, axis, reduce_all)
    # of no numbers there is no largest one; what their exponentials add up to is 0
    largest = xp.max(x, axis=axes, keepdims=True) if x.size else x.dtype.type(0)
    total = xp.log(xp.sum(xp.exp(x - largest), axis=axes, keepdims=True)) + largest
    return total if keepdim else xp.asarray(xp.squeeze(total, axis=axes))


logsumexp.infer_meta(rules.reduced("logsumexp", floating=True))


@logsumexp.vjp
def _(x, out, out_grad, *, axis: Axes, keepdim: bool, reduce_all: bool):
    axes = () if reduce_all else axis
    total = with_axes_back(out, x, axes, keepdim)
    grad = with_axes_back(out_grad, x, axes, keepdim)
    return (grad * exp(x - total),)


# -- cumulative sums and products ------------------------------------------------------------------


@op(
    source="paddle/phi/ops/yaml/ops.yaml: cumsum",
    traits=("Pure",),
    inplace={"out": "x"},
    amp="black_o1",
)
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
        return x.copy()  # also `exclusive`, as in Paddle
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


@op(
    source="paddle/phi/ops/yaml/ops.yaml: cumprod",
    traits=("Pure",),
    inplace={"out": "x"},
    amp="black_o1",
)
def cumprod(xp, x, *, dim: int, exclusive: bool = False, reverse: bool = False):
    """Products of all elements up to each one, along `dim`; `exclusive` and `reverse` as in
    cumsum.
    """
    (axis,) = normalize_axes("cumprod", dim, x.ndim)
    if x.ndim == 0:
        return x.copy()
    if reverse:
        x = xp.flip(x, axis)
    out = xp.cumprod(x, axis=axis, dtype=x.dtype)
    if exclusive:  # one place on, and nothing before the first
        out = xp.roll(out, 1, axis=axis)
        xp.moveaxis(out, axis, 0)[:1] = 1
    return xp.flip(out, axis) if reverse else out


@cumprod.infer_meta
def _(x, *, dim, exclusive, reverse):
    normalize_axes("cumprod", dim, x.ndim)
    return MetaTensor(x.shape, x.dtype)


@cumprod.vjp
def _(x, out, out_grad, *, dim: int, exclusive: bool, reverse: bool):
    # x counts in all products behind it: each is out / x. The first 0 is another matter: from it
    # on, the products have to be made without it. Behind it everything stays 0
    zero = cast(equal(x, full_like(x, value=0.0, dtype=x.dtype)), dtype=x.dtype)
    first = zero * cast(cumsum(zero, axis=dim, reverse=reverse) <= 1.0, dtype=x.dtype)
    without = cumprod(x * (1.0 - first) + first, dim=dim, exclusive=exclusive, reverse=reverse)
    behind = {"axis": dim, "exclusive": exclusive, "reverse": not reverse}
    usual = cumsum(out_grad * out, **behind) / (x + zero)
    return (usual * (1.0 - first) + cumsum(out_grad * without, **behind) * first,)


# -- logic -----------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: all", traits=("Pure", "ForwardOnly"))
def all(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """True where all are; a number counts as True where it is not 0."""
    return xp.asarray(xp.all(x, axis=numpy_axes(x, axis), keepdims=keepdim))


all.infer_meta(rules.decided("all"))


@op(source="paddle/phi/ops/yaml/ops.yaml: any", traits=("Pure", "ForwardOnly"))
def any(xp, x, *, axis: Axes = (), keepdim: bool = False):
    """True where at least one is; a number counts as True where it is not 0."""
    return xp.asarray(xp.any(x, axis=numpy_axes(x, axis), keepdims=keepdim))


any.infer_meta(rules.decided("any"))


@op(source="paddle/phi/ops/yaml/ops.yaml: numel", outputs=("size",), traits=("Pure", "ForwardOnly"))
def numel(xp, x: NoNeedBuffer):
    """How many elements x has: an int64."""
    return xp.asarray(x.size, dtype=xp.int64)


@numel.infer_meta
def _(x):
    return MetaTensor([], dtypes.int64)
