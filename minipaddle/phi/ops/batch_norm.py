"""batch_norm_: each channel with mean 0 and variance 1 over all images of the batch.

In training, mean and variance are the batch's, and the running ones move a little towards them, in
place: that is what the trailing _ says. In evaluation, the running ones are used, so one image's
result does not depend on its neighbours.

Paddle: paddle/phi/kernels/batch_norm_kernel.h.
Left out: what cuDNN keeps in reserve_space (here it is empty); synchronised batch norm.
"""

from __future__ import annotations

import math

from minipaddle.phi.core.op import NoNeedBuffer, Optional, op
from minipaddle.phi.infermeta import norm as infermeta
from minipaddle.phi.infermeta.norm import channel_axis
from minipaddle.phi.kernels.im2col import parts
from minipaddle.phi.kernels.normalize import as_statistics, fit
from minipaddle.phi.ops.elementary import rsqrt
from minipaddle.phi.ops.manipulation import reshape
from minipaddle.phi.ops.reduction import mean as mean_of
from minipaddle.phi.ops.reduction import sum


@op(
    source="paddle/phi/ops/yaml/ops.yaml: batch_norm_",
    outputs=("out", "mean_out", "variance_out", "saved_mean", "saved_variance", "reserve_space"),
    inplace={"mean_out": "mean", "variance_out": "variance"},
)
def batch_norm_(
    xp,
    x,
    mean,
    variance,
    scale: Optional,
    bias: Optional,
    *,
    is_test: bool,
    momentum: float,
    epsilon: float,
    data_format: str,
    use_global_stats: bool,
    trainable_statistics: bool,
):
    """out = (x - mean) / sqrt(variance + epsilon) * scale + bias, per channel. In training,
    mean = momentum * mean + (1 - momentum) * batch's mean, and so is the variance (divided by n,
    not by n - 1). saved_variance is 1 / sqrt(variance + epsilon), of whichever was used.
    """
    channels_first = _as_image(x, data_format)
    reserve_space = xp.empty(0, xp.uint8)
    of_batch = _uses_batch(is_test, use_global_stats, trainable_statistics)
    image = as_statistics(xp, channels_first)
    n, channels, places = image.shape
    if not fit(x, channels, mean, variance, scale, bias):
        raise ValueError  # InferMeta says why
    if of_batch and n * places == 1:  # no variance: Paddle passes it on
        nothing = xp.zeros(channels, image.dtype)
        return x.copy(), mean, variance, nothing, nothing.copy(), reserve_space
    kind = image.dtype.type
    if of_batch and n * places:
        count, out = kind(n * places), xp.empty(image.shape, image.dtype)
        used_mean, used_variance, inverse = (xp.empty(channels, image.dtype) for _ in range(3))
        for part in parts(xp, channels, 2 * n * places):  # some channels, which fit the cache
            block = image[:, part]
            used_mean[part] = xp.einsum("ncp->nc", block).sum(axis=0) / count
            centred = xp.subtract(block, used_mean[part, None], out=out[:, part])
            # the squares' sum as a product, row @ column: the fastest way to it
            squares = xp.matmul(centred[:, :, None, :], centred[:, :, :, None])
            used_variance[part] = squares.sum(axis=0).reshape(-1) / count
            inverse[part] = (used_variance[part] + kind(epsilon)) ** -0.5
            centred *= (inverse[part] if scale is None else inverse[part] * scale[part])[:, None]
            if bias is not None:
                centred += bias[part, None]
        mean *= mean.dtype.type(momentum)
        mean += mean.dtype.type(1 - momentum) * used_mean
        variance *= variance.dtype.type(momentum)
        variance += variance.dtype.type(1 - momentum) * used_variance
    else:
        # one multiplication and one addition per number
        used_mean = mean.astype(image.dtype)
        inverse = (variance.astype(image.dtype) + kind(epsilon)) ** -0.5
        factor = inverse if scale is None else inverse * scale
        out = image * factor[:, None]
        shift = used_mean * factor
        out += (-shift if bias is None else bias - shift)[:, None]
    out = _like_x(out, x)
    return out, mean, variance, used_mean, inverse, reserve_space


batch_norm_.infer_meta(infermeta.batch_norm)


@batch_norm_.vjp(wrt=("x", "scale", "bias"))
def _(
    x,
    scale: Optional,
    bias: Optional,
    mean_out: NoNeedBuffer,
    variance_out: NoNeedBuffer,
    saved_mean,
    saved_variance,
    reserve_space: NoNeedBuffer,
    out_grad,
    *,
    momentum: float,
    epsilon: float,
    data_format: str,
    is_test: bool,
    use_global_stats: bool,
    trainable_statistics: bool,
):
    axis = channel_axis(data_format, x.ndim)
    others = tuple(i for i in range(x.ndim) if i != axis)
    per_channel = tuple(-1 if i == axis else 1 for i in range(x.ndim))
    if not _uses_batch(is_test, use_global_stats, trainable_statistics):
        inverse = reshape(saved_variance, shape=per_channel)
        normalised = (x - reshape(saved_mean, shape=per_channel)) * inverse
        x_grad = out_grad * inverse
        x_grad = x_grad if scale is None else x_grad * reshape(scale, shape=per_channel)
    elif x.size == x.shape[axis]:  # one number per channel was passed on: nothing else counts
        x_grad = out_grad
        normalised = out_grad = x - x
    else:
        centred = x - mean_of(x, axis=others, keepdim=True)
        inverse = rsqrt(mean_of(centred * centred, axis=others, keepdim=True) + epsilon)
        normalised = centred * inverse
        grad = out_grad if scale is None else out_grad * reshape(scale, shape=per_channel)
        common = mean_of(grad, axis=others, keepdim=True)
        along = mean_of(grad * normalised, axis=others, keepdim=True)
        x_grad = (grad - common - normalised * along) * inverse
    scale_grad = None if scale is None else sum(out_grad * normalised, axis=others)
    bias_grad = None if bias is None else sum(out_grad, axis=others)
    return x_grad, scale_grad, bias_grad


@batch_norm_.grad_kernel
def _(
    xp,
    wanted,
    x,
    scale: Optional,
    bias: Optional,
    mean_out: NoNeedBuffer,
    variance_out: NoNeedBuffer,
    saved_mean,
    saved_variance,
    reserve_space: NoNeedBuffer,
    out_grad,
    *,
    momentum: float,
    epsilon: float,
    data_format: str,
    is_test: bool,
    use_global_stats: bool,
    trainable_statistics: bool,
):
    """With the mean and 1 / standard deviation that the forward has kept, and in place."""
    image, grad = (as_statistics(xp, _as_image(item, data_format)) for item in (x, out_grad))
    of_batch = _uses_batch(is_test, use_global_stats, trainable_statistics)
    n, channels, places = image.shape
    kind, inverse = image.dtype.type, saved_variance
    factor = inverse if scale is None else inverse * scale
    sums = grad.sum(axis=2).sum(axis=0)
    centred = image - saved_mean[:, None]
    along = xp.einsum("ncp,ncp->c", grad, centred) * inverse
    x_grad = None
    if of_batch and n * places == 1:
        x_grad, along, sums = out_grad.copy(), along * 0, sums * 0
    elif wanted[0] and of_batch:
        count = kind(n * places or 1)
        centred *= (-along * inverse / count)[:, None]
        centred += grad
        centred -= (sums / count)[:, None]
        centred *= factor[:, None]
        x_grad = _like_x(centred, x)
    elif wanted[0]:
        x_grad = _like_x(grad * factor[:, None], x)
    return x_grad, None if scale is None else along, None if bias is None else sums


def _uses_batch(is_test, use_global_stats, trainable_statistics):
    """True where mean and variance are the batch's."""
    return not ((is_test and not trainable_statistics) or use_global_stats)


def _as_image(x, data_format):
    """x as [N, C, places]; channels that come last are left where they are: [places, C, 1]."""
    if channel_axis(data_format, x.ndim) == 1:
        return x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1], 1)


def _like_x(image, x):
    """Back to the shape and dtype of x."""
    return image.reshape(x.shape).astype(x.dtype, copy=False)
