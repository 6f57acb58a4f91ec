"""Normalisations: shift and stretch numbers to mean 0 and variance 1, then scale and shift them as
learned.

    out = (x - mean) / sqrt(variance + epsilon) * scale + bias

Over what the mean goes: in batch_norm.py, one channel of all images; here, it stays in one image.

The rules compute the mean anew from x, so that gradients of gradients see that it depends on x; the
gradient kernels take what the forward has kept.

Paddle: paddle/phi/kernels/layer_norm_kernel.h, group_norm_kernel.h, instance_norm_kernel.h,
rms_norm_kernel.h.
"""

from __future__ import annotations

import math

from minipaddle.phi.core.attribute import Ints
from minipaddle.phi.core.op import Optional, op
from minipaddle.phi.infermeta import norm as infermeta
from minipaddle.phi.kernels.normalize import as_statistics, fit, normalize_rows, rows_gradient
from minipaddle.phi.ops.elementary import rsqrt
from minipaddle.phi.ops.manipulation import reshape, reshape_as, transpose
from minipaddle.phi.ops.reduction import mean as mean_of
from minipaddle.phi.ops.reduction import sum


@op(
    source="paddle/phi/ops/yaml/ops.yaml: layer_norm",
    outputs=("out", "mean", "variance"),
    traits=("Pure",),
    amp="black_o1",
)
def layer_norm(
    xp, x, scale: Optional, bias: Optional, *, epsilon: float = 1e-5, begin_norm_axis: int = 1
):
    """Normalises the axes from begin_norm_axis on, together. scale and bias: one number for each of
    their places, in one row.
    """
    size = math.prod(x.shape[begin_norm_axis:])
    whole = x.dtype.kind != "f"
    if whole or not 0 < begin_norm_axis < x.ndim or not fit(x, size, scale, bias):
        raise ValueError  # InferMeta says why
    rows = x.reshape(-1, size) if size else x
    out, mean, variance, _ = normalize_rows(xp, rows, epsilon, scale, bias)
    kept = x.shape[:begin_norm_axis]
    return (
        out.astype(x.dtype, copy=False).reshape(x.shape),
        mean.reshape(kept),
        variance.reshape(kept),
    )


layer_norm.infer_meta(infermeta.layer_norm)


@layer_norm.vjp
def _(
    x,
    scale: Optional,
    bias: Optional,
    mean,
    variance,
    out_grad,
    *,
    epsilon: float,
    begin_norm_axis: int,
):
    inside = tuple(range(begin_norm_axis, x.ndim))
    outside = tuple(range(begin_norm_axis))
    centred = x - mean_of(x, axis=inside, keepdim=True)
    inverse = rsqrt(mean_of(centred * centred, axis=inside, keepdim=True) + epsilon)
    normalised = centred * inverse
    grad = out_grad
    if scale is not None:
        grad = out_grad * reshape(scale, shape=x.shape[begin_norm_axis:])
    common = mean_of(grad, axis=inside, keepdim=True)
    along = mean_of(grad * normalised, axis=inside, keepdim=True)
    scale_grad = bias_grad = None
    if scale is not None:
        scale_grad = reshape_as(sum(out_grad * normalised, axis=outside), scale)
    if bias is not None:
        bias_grad = reshape_as(sum(out_grad, axis=outside), bias)
    return (grad - common - normalised * along) * inverse, scale_grad, bias_grad


@layer_norm.grad_kernel
def _(
    xp,
    wanted,
    x,
    scale: Optional,
    bias: Optional,
    mean,
    variance,
    out_grad,
    *,
    epsilon: float,
    begin_norm_axis: int,
):
    size = math.prod(x.shape[begin_norm_axis:])
    rows, grad = (as_statistics(xp, item.reshape(-1, size)) for item in (x, out_grad))
    inverse = 1 / xp.sqrt(variance.reshape(-1) + variance.dtype.type(epsilon))
    normalised = rows - mean.reshape(-1, 1)
    normalised *= inverse[:, None]
    x_grad = scale_grad = bias_grad = None
    if wanted[0]:
        scaled = grad if scale is None else grad * scale
        x_grad = rows_gradient(xp, scaled, normalised, inverse)
        x_grad = x_grad.astype(x.dtype, copy=False).reshape(x.shape)
    if scale is not None and wanted[1]:
        scale_grad = xp.einsum("ij,ij->j", grad, normalised).astype(scale.dtype, copy=False)
    if bias is not None and wanted[2]:
        bias_grad = grad.sum(axis=0).astype(bias.dtype, copy=False)
    return x_grad, scale_grad, bias_grad


@op(
    source="paddle/phi/ops/yaml/ops.yaml: group_norm",
    outputs=("y", "mean", "variance"),
    traits=("Pure",),
    amp="black_o1",
)
def group_norm(
    xp,
    x,
    scale: Optional,
    bias: Optional,
    *,
    epsilon: float = 1e-5,
    groups: int = -1,
    data_format: str = "NCHW",
):
    """Normalises each image's channels in `groups` groups. x [N, C, ...]; scale, bias [C]."""
    perm, back = _channels_second(x.ndim, data_format)
    image = x.transpose(perm)
    y, mean, variance, _ = _normalize_groups(xp, image, scale, bias, groups, epsilon)
    kept = (x.shape[0], groups)
    y = xp.ascontiguousarray(y.transpose(back)).astype(x.dtype, copy=False)
    return y, mean.reshape(kept), variance.reshape(kept)


group_norm.infer_meta(infermeta.group_norm)


@group_norm.vjp
def _(
    x,
    scale: Optional,
    bias: Optional,
    y,
    mean,
    variance,
    y_grad,
    *,
    epsilon: float,
    groups: int,
    data_format: str,
):
    perm, back = _channels_second(x.ndim, data_format)
    last = perm != back or perm != tuple(range(x.ndim))
    image, grad = (transpose(x, perm=perm), transpose(y_grad, perm=perm)) if last else (x, y_grad)
    x_grad, scale_grad, bias_grad = _groups_rule(image, scale, bias, grad, groups, epsilon)
    return (transpose(x_grad, perm=back) if last else x_grad), scale_grad, bias_grad


@op(
    source="paddle/phi/ops/yaml/ops.yaml: instance_norm",
    outputs=("y", "saved_mean", "saved_variance"),
    traits=("Pure",),
)
def instance_norm(xp, x, scale: Optional, bias: Optional, *, epsilon: float = 1e-5):
    """Normalises each channel of each image: group_norm with as many groups as channels.
    saved_variance is 1 / the standard deviation.
    """
    y, mean, _, inverse = _normalize_groups(xp, x, scale, bias, x.shape[1], epsilon)
    return y.astype(x.dtype, copy=False), mean, inverse


instance_norm.infer_meta(infermeta.instance_norm)


@instance_norm.vjp
def _(
    x,
    scale: Optional,
    bias: Optional,
    saved_mean,
    saved_variance,
    y_grad,
    *,
    epsilon: float,
):
    return _groups_rule(x, scale, bias, y_grad, x.shape[1], epsilon)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: rms_norm",
    outputs=("out", "invvar"),
    traits=("Pure",),
)
def rms_norm(xp, x, scale: Optional, *, normalized_shape: Ints = (), epsilon: float = 1e-5):
    """x / sqrt(mean(x * x) + epsilon) * scale over the last axes: layer_norm without the shift.
    invvar is what x was multiplied with. (Paddle 3.3.1 has a kernel for it on a GPU only.)
    """
    kept = x.shape[: x.ndim - len(normalized_shape)]
    rows = as_statistics(xp, x.reshape(math.prod(kept), math.prod(normalized_shape)))
    squares = xp.einsum("ij,ij->i", rows, rows) / rows.dtype.type(max(rows.shape[1], 1))
    inverse = 1 / xp.sqrt(squares + rows.dtype.type(epsilon))
    out = (rows * inverse[:, None]).reshape(x.shape)
    if scale is not None:
        out *= scale
    return out.astype(x.dtype, copy=False), inverse.reshape(kept)


rms_norm.infer_meta(infermeta.rms_norm)


@rms_norm.vjp
def _(x, scale: Optional, invvar, out_grad, *, normalized_shape: Ints, epsilon: float):
    kept = x.ndim - len(normalized_shape)
    inside, outside = tuple(range(kept, x.ndim)), tuple(range(kept))
    inverse = rsqrt(mean_of(x * x, axis=inside, keepdim=True) + epsilon)
    normalised = x * inverse
    grad = out_grad if scale is None else out_grad * scale
    along = mean_of(grad * normalised, axis=inside, keepdim=True)
    scale_grad = None
    if scale is not None:
        scale_grad = reshape_as(sum(out_grad * normalised, axis=outside), scale)
    return (grad - normalised * along) * inverse, scale_grad


# -- groups of channels ------------------------------------------------------------------------


def _channels_second(ndim, data_format):
    """How to order the axes so that channels come second, and the way back."""
    if infermeta.channel_axis(data_format, ndim) == 1:
        return tuple(range(ndim)), tuple(range(ndim))
    return (0, ndim - 1, *range(1, ndim - 1)), (0, *range(2, ndim), 1)


def _normalize_groups(xp, x, scale, bias, groups, epsilon):
    """x [N, C, ...] -> (y, mean [N * groups], variance, 1 / standard deviation)."""
    n, channels = x.shape[:2]
    if groups < 1 or channels % groups or not fit(x, channels, scale, bias):
        raise ValueError  # InferMeta says why
    rows = x.reshape(n * groups, math.prod(x.shape[1:]) // groups)
    y, mean, variance, inverse = normalize_rows(xp, rows, epsilon)
    y = y.reshape(x.shape)
    per_channel = (channels, *(1,) * (x.ndim - 2))
    if scale is not None:
        y *= scale.reshape(per_channel)
    if bias is not None:
        y += bias.reshape(per_channel)
    return y, mean, variance, inverse


def _groups_rule(x, scale, bias, y_grad, groups, epsilon):
    """The rule of group_norm and instance_norm."""
    sizes = x.shape[1:]
    in_groups = (0, groups, -1 if -1 in sizes else math.prod(sizes) // max(groups, 1))
    rows = reshape(x, shape=in_groups)
    centred = rows - mean_of(rows, axis=(2,), keepdim=True)
    inverse = rsqrt(mean_of(centred * centred, axis=(2,), keepdim=True) + epsilon)
    normalised = centred * inverse
    grad = y_grad
    if scale is not None:
        grad = y_grad * reshape(scale, shape=(1, sizes[0], *(1,) * (x.ndim - 2)))
    grad = reshape(grad, shape=in_groups)
    common = mean_of(grad, axis=(2,), keepdim=True)
    along = mean_of(grad * normalised, axis=(2,), keepdim=True)
    x_grad = reshape_as((grad - common - normalised * along) * inverse, x)
    outside = (0, *range(2, x.ndim))
    scale_grad = bias_grad = None
    if scale is not None:
        scale_grad = sum(y_grad * reshape_as(normalised, x), axis=outside)
    if bias is not None:
        bias_grad = sum(y_grad, axis=outside)
    return x_grad, scale_grad, bias_grad
