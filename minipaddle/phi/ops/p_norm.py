"""Norms: how long a vector is, and how to make it shorter.

Paddle: paddle/phi/kernels/p_norm_kernel.h, frobenius_norm_kernel.h, squared_l2_norm_kernel.h,
clip_by_norm_kernel.h,
renorm_kernel.h.
Left out: norms of matrices that need singular values; the kernels for sparse gradients.
"""

from __future__ import annotations

import math

from minipaddle.phi.core.attribute import IntArray
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta import reduction as rules
from minipaddle.phi.infermeta.enforce import normalize_axes, require_floating
from minipaddle.phi.ops.elementary import abs, sign
from minipaddle.phi.ops.logic import equal
from minipaddle.phi.ops.manipulation import cast, expand_as, reshape, reshape_as, unsqueeze
from minipaddle.phi.ops.reduction import numpy_axes, sum, with_axes_back


@op(source="paddle/phi/ops/yaml/ops.yaml: p_norm", traits=("Pure",), amp="black_o1")
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
    require_floating("p_norm", x.dtype)
    axes = numpy_axes(x, () if asvector else (axis,))
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
    require_floating("p_norm", x.dtype)
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
    norm = with_axes_back(out, x, axes, keepdim)
    grad = with_axes_back(out_grad, x, axes, keepdim)
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
    require_floating("squared_l2_norm", x.dtype)
    flat = x.reshape(-1)
    return xp.dot(flat, flat).reshape(1)


@squared_l2_norm.infer_meta
def _(x):
    require_floating("squared_l2_norm", x.dtype)
    return MetaTensor([1], x.dtype)


@squared_l2_norm.vjp
def _(x, out_grad):
    return (x * reshape(out_grad, shape=()) * 2.0,)


@squared_l2_norm.decomp
def _(x):
    return reshape(sum(x * x, axis=tuple(range(x.ndim))), shape=(1,))


@op(source="paddle/phi/ops/yaml/ops.yaml: frobenius_norm", traits=("Pure",), amp="black_o1")
def frobenius_norm(xp, x, *, axis: IntArray, keep_dim: bool, reduce_all: bool):
    """The square root of the sum of all squares over `axis`: the length of a matrix, taken as a
    vector.
    """
    require_floating("frobenius_norm", x.dtype)
    axes = numpy_axes(x, axis, reduce_all)
    return xp.asarray(xp.sqrt(xp.sum(x * x, axis=axes, keepdims=keep_dim)))


@frobenius_norm.infer_meta
def _(x, *, axis, keep_dim, reduce_all):
    require_floating("frobenius_norm", x.dtype)
    rule = rules.reduced("frobenius_norm")
    return rule(x, axis=axis, keepdim=keep_dim, reduce_all=reduce_all)


@frobenius_norm.vjp
def _(x, out, out_grad, *, axis: IntArray, keep_dim: bool, reduce_all: bool):
    axes = () if reduce_all else axis
    norm = with_axes_back(out, x, axes, keep_dim)
    grad = with_axes_back(out_grad, x, axes, keep_dim)
    return (x * (grad / norm),)


@op(source="paddle/phi/ops/yaml/ops.yaml: clip_by_norm", traits=("Pure", "ForwardOnly"))
def clip_by_norm(xp, x, *, max_norm: float):
    """x, scaled down so that its L2 norm is at most max_norm."""
    if x.dtype.kind != "f" or max_norm <= 0:
        raise ValueError  # InferMeta says why
    norm = xp.sqrt(xp.sum(x * x, dtype=x.dtype))
    limit = x.dtype.type(max_norm)
    return x * (limit / xp.maximum(norm, limit))


@clip_by_norm.infer_meta
def _(x, *, max_norm):
    require_floating("clip_by_norm", x.dtype, error=RuntimeError)
    if max_norm <= 0:
        raise ValueError(
            f"clip_by_norm: expected a positive max_norm, but got {max_norm}. It is the largest "
            "norm that is left as it is."
        )
    return MetaTensor(x.shape, x.dtype)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: renorm",
    traits=("Pure",),
    inplace={"out": "x"},
    amp="black_o1",
)
def renorm(xp, x, *, p: float, axis: int, max_norm: float):
    """Each slice x[i] along `axis`, scaled down so that its p-norm is at most max_norm."""
    axis = _axis_of_slices(x, axis)
    others = tuple(i for i in range(x.ndim) if i != axis)
    power = 1.0 / p if p else math.inf
    norm = xp.sum(xp.abs(x) ** p, axis=others, keepdims=True) ** power
    large = norm > max_norm
    return x * xp.where(large, max_norm / xp.where(large, norm, 1.0), 1.0).astype(x.dtype)


def _axis_of_slices(x, axis):
    require_floating("renorm", x.dtype)
    if x.ndim == 0:
        raise ValueError("renorm: expected x with an axis, but got a 0-D Tensor. Use clip instead.")
    return normalize_axes("renorm", axis, x.ndim)[0]


@renorm.infer_meta
def _(x, *, p, axis, max_norm):
    _axis_of_slices(x, axis)
    return MetaTensor(x.shape, x.dtype)


@renorm.vjp
def _(x, out_grad, *, p: float, axis: int, max_norm: float):
    slices = unsqueeze(x, axis=(x.ndim,))  # so that there always is an axis to sum over
    grad = unsqueeze(out_grad, axis=(x.ndim,))
    others = tuple(i for i in range(x.ndim + 1) if i != axis % x.ndim)
    powers = sum(abs(slices) ** p, axis=others, keepdim=True)
    large = cast(powers ** (1.0 / p) > max_norm, dtype=x.dtype)
    norm = (powers * large + (1.0 - large)) ** (1.0 / p)  # 1 for those that stay as they are
    slope = sign(slices) * abs(slices) ** (p - 1.0) * norm ** (1.0 - p)  # of the norm
    along = sum(grad * slices, axis=others, keepdim=True) / norm
    scaled = (grad - slope * along) * max_norm / norm
    return (reshape_as(scaled * large + grad * (1.0 - large), x),)
