"""Poolings: one number for each window of an image, its maximum or its mean.

Paddle: paddle/phi/kernels/pool_kernel.h.
Left out: pooling of volumes (pool3d), of one axis, and powers other than these (lp_pool2d).
"""

from __future__ import annotations

from minipaddle.phi.core.attribute import IntArray, Ints
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.pooling import pool_windows, pooled, pooled_with_index
from minipaddle.phi.kernels.im2col import parts
from minipaddle.phi.kernels.pooling import (
    first_maxima,
    reduce_windows,
    spread_maxima,
    spread_sums,
)
from minipaddle.phi.kernels.windows import resolve_padding
from minipaddle.phi.ops.conv import TO_NCHW, TO_NHWC
from minipaddle.phi.ops.creation import assign_value, full_like
from minipaddle.phi.ops.gather import put_along_axis
from minipaddle.phi.ops.linalg import matmul
from minipaddle.phi.ops.manipulation import reshape, reshape_as, transpose


@op(source="paddle/phi/ops/yaml/ops.yaml: pool2d", traits=("Pure",))
def pool2d(
    xp,
    x,
    *,
    kernel_size: IntArray,
    strides: Ints,
    paddings: Ints,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
    pooling_type: str,
    global_pooling: bool,
    adaptive: bool,
    padding_algorithm: str,
):
    """The maximum or the mean of each window of x [N, C, H, W] -> [N, C, OH, OW]. `exclusive`: the
    mean does not count padding. `adaptive`: kernel_size is the size of the result.
    """
    if data_format == "NHWC":
        x = x.transpose(TO_NCHW)
    down, along = pool_windows(
        x.shape[2:], kernel_size=kernel_size, strides=strides, paddings=paddings,
        ceil_mode=ceil_mode, global_pooling=global_pooling, adaptive=adaptive,
        padding_algorithm=padding_algorithm,
    )  # fmt: skip
    if down.whole and along.whole:
        places = x.reshape(*x.shape[:2], x.shape[2] * x.shape[3])
        out = places.max(axis=2) if pooling_type == "max" else xp.einsum("ncp->nc", places)
        out = out.reshape(*out.shape, 1, 1)
    else:
        out = reduce_windows(xp, x, down, 2, pooling_type)
        out = reduce_windows(xp, out, along, 3, pooling_type)
    if pooling_type == "avg":
        out *= _shares(xp, down, along, exclusive, out.dtype)
    return xp.ascontiguousarray(out.transpose(TO_NHWC)) if data_format == "NHWC" else out


pool2d.infer_meta(pooled("pool2d"))


@pool2d.vjp
def _(
    x,
    out,
    out_grad,
    *,
    kernel_size: IntArray,
    strides: Ints,
    paddings: Ints,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
    pooling_type: str,
    global_pooling: bool,
    adaptive: bool,
    padding_algorithm: str,
):
    last = data_format == "NHWC"
    x = transpose(x, perm=TO_NCHW) if last else x
    grad = transpose(out_grad, perm=TO_NCHW) if last else out_grad
    sizes = tuple(x.shape[2:])
    if pooling_type == "max":
        pads = resolve_padding(padding_algorithm, paddings, sizes, kernel_size, strides)
        _, mask = max_pool2d_with_index(
            x, kernel_size=kernel_size, strides=strides, paddings=pads,
            global_pooling=global_pooling, adaptive=adaptive, ceil_mode=ceil_mode,
        )  # fmt: skip
        flat = reshape(full_like(x, value=0.0, dtype=x.dtype), shape=(0, 0, -1))
        places, grad = reshape(mask, shape=(0, 0, -1)), reshape(grad, shape=(0, 0, -1))
        grad = reshape_as(put_along_axis(flat, places, grad, axis=2, reduce="add"), x)
    elif isinstance(x, MetaTensor):
        # only the shape is asked for, and sizes may be unknown
        grad = full_like(x, value=0.0, dtype=grad.dtype)
    else:
        windows = pool_windows(
            sizes, kernel_size=kernel_size, strides=strides, paddings=paddings,
            ceil_mode=ceil_mode, global_pooling=global_pooling, adaptive=adaptive,
            padding_algorithm=padding_algorithm,
        )  # fmt: skip
        # The mean of windows is down @ x @ along.T, where down [OH, H] has 1 / count at the rows
        # of window oh: so the way back is down.T @ grad @ along.
        down, along = (mean_matrix(item, exclusive) for item in windows)
        down = assign_value(shape=(windows[0].count, sizes[0]), dtype=x.dtype, values=down)
        along = assign_value(shape=(windows[1].count, sizes[1]), dtype=x.dtype, values=along)
        grad = matmul(matmul(down, grad, transpose_x=True), along)
    return (transpose(grad, perm=TO_NHWC) if last else grad,)


@pool2d.grad_kernel
def _(
    xp,
    wanted,
    x,
    out,
    out_grad,
    *,
    kernel_size: IntArray,
    strides: Ints,
    paddings: Ints,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
    pooling_type: str,
    global_pooling: bool,
    adaptive: bool,
    padding_algorithm: str,
):
    """One axis at a time, as the kernel. No positions are kept: a window's maximum is found again
    where x equals it.
    """
    if data_format == "NHWC":
        x, out, out_grad = (item.transpose(TO_NCHW) for item in (x, out, out_grad))
    down, along = pool_windows(
        x.shape[2:], kernel_size=kernel_size, strides=strides, paddings=paddings,
        ceil_mode=ceil_mode, global_pooling=global_pooling, adaptive=adaptive,
        padding_algorithm=padding_algorithm,
    )  # fmt: skip
    if pooling_type == "max":
        # the first maximum in reading order: first its row, then its place in the row; some
        # channels at a time, which fit the cache
        image, best, best_grad = (
            a.reshape(1, a.shape[0] * a.shape[1], *a.shape[2:]) for a in (x, out, out_grad)
        )
        grad = xp.empty(image.shape, x.dtype)
        for part in parts(xp, image.shape[1], 8 * down.size * along.size):
            rows = reduce_windows(xp, image[:, part], along, 3, "max")
            rows_grad = spread_maxima(xp, rows, best[:, part], best_grad[:, part], down, 2)
            grad[:, part] = spread_maxima(xp, image[:, part], rows, rows_grad, along, 3)
        grad = grad.reshape(x.shape)
    else:
        share = out_grad * _shares(xp, down, along, exclusive, out_grad.dtype)
        grad = spread_sums(xp, spread_sums(xp, share, down, 2), along, 3)
    if data_format == "NHWC":
        grad = grad.transpose(TO_NHWC)
    return (xp.ascontiguousarray(grad),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: max_pool2d_with_index",
    outputs=("out", "mask"),
    traits=("Pure",),
    amp="white",
)
def max_pool2d_with_index(
    xp,
    x,
    *,
    kernel_size: Ints,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    global_pooling: bool = False,
    adaptive: bool = False,
    ceil_mode: bool = False,
):
    """The maximum of each window of x [N, C, H, W], and where it is: its number when the image is
    read row by row, in int32.
    """
    down, along = pool_windows(
        x.shape[2:], kernel_size=kernel_size, strides=strides, paddings=paddings,
        ceil_mode=ceil_mode, global_pooling=global_pooling, adaptive=adaptive,
    )  # fmt: skip
    numbers = xp.arange(x.shape[2] * x.shape[3], dtype=xp.int32).reshape(1, 1, *x.shape[2:])
    rows, at = first_maxima(xp, x, along, 3, xp.broadcast_to(numbers, x.shape))
    return first_maxima(xp, rows, down, 2, at)


max_pool2d_with_index.infer_meta(pooled_with_index)


@max_pool2d_with_index.vjp
def _(
    x: NoNeedBuffer,
    mask,
    out_grad,
    *,
    kernel_size: Ints,
    strides: Ints,
    paddings: Ints,
    global_pooling: bool,
    adaptive: bool,
    ceil_mode: bool,
):
    flat = reshape(full_like(x, value=0.0, dtype=x.dtype), shape=(0, 0, -1))
    places, grad = reshape(mask, shape=(0, 0, -1)), reshape(out_grad, shape=(0, 0, -1))
    return (reshape_as(put_along_axis(flat, places, grad, axis=2, reduce="add"), x),)


# -- means -------------------------------------------------------------------------------------


def _divisors(windows, exclusive):
    """By how much a window's sum is divided: by its length, or without what is padding.

    As in Paddle, the length ends where padding as wide as the one before x would end: beyond that,
    where ceil_mode or an uneven padding lets a window reach, nothing is counted.
    """
    if windows.length and not exclusive:
        starts = [i * windows.stride - windows.before for i in range(windows.count)]
        end = windows.size + windows.before
        return [min(start + windows.length, end) - start for start in starts]
    return [stop - start for start, stop in zip(windows.starts, windows.stops, strict=True)]


def _shares(xp, down, along, exclusive, dtype):
    """1 / number of places of each window: [OH, OW], or one number where all are alike."""
    rows, columns = _divisors(down, exclusive), _divisors(along, exclusive)
    if len(set(rows)) == len(set(columns)) == 1:
        return dtype.type(1 / (rows[0] * columns[0]))
    places = xp.asarray(rows, dtype)[:, None] * xp.asarray(columns, dtype)
    return 1 / places


def mean_matrix(windows, exclusive):
    """[count, size] in one list: 1 / divisor where a place belongs to a window."""
    divisors = _divisors(windows, exclusive)
    return [
        1 / divisor if start <= place < stop else 0.0
        for start, stop, divisor in zip(windows.starts, windows.stops, divisors, strict=True)
        for place in range(windows.size)
    ]
