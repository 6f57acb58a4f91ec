"""Convolutions.

A convolution is a matrix product over windows: `unfold` lays the windows side by side, the
filter is a matrix, and `fold` is the way back. The gradient rule and the decomposition say just
that, in ops. The kernels do the same on arrays, a few images at a time.

Paddle: paddle/phi/kernels/conv_kernel.h, unfold_kernel.h, fold_kernel.h.
Left out: conv3d, and kernels for one machine only (oneDNN, cuDNN, Winograd).
"""

from __future__ import annotations

import math

from minipaddle.phi.core.attribute import Ints
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.conv import convolved, folded, unfolded
from minipaddle.phi.kernels.im2col import add_columns, columns, parts, scratch
from minipaddle.phi.kernels.windows import resolve_padding, window_counts
from minipaddle.phi.ops.linalg import matmul
from minipaddle.phi.ops.manipulation import reshape, reshape_as, transpose
from minipaddle.phi.ops.reduction import sum

TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


@op(source="paddle/phi/ops/yaml/ops.yaml: unfold", traits=("Pure",))
def unfold(xp, x, *, kernel_sizes: Ints, strides: Ints, paddings: Ints, dilations: Ints):
    """All windows of x [N, C, H, W] as columns [N, C * kh * kw, number of windows]. `paddings` is
    [top, left, bottom, right].
    """
    counts, pads = _counts_and_pads(x.shape[2:], kernel_sizes, strides, paddings, dilations)
    return columns(xp, x, kernel_sizes, counts, strides, pads, dilations)


unfold.infer_meta(unfolded)


@unfold.vjp
def _(
    x: NoNeedBuffer,
    out_grad,
    *,
    kernel_sizes: Ints,
    strides: Ints,
    paddings: Ints,
    dilations: Ints,
):
    return (
        fold(
            out_grad,
            output_sizes=x.shape[2:],
            kernel_sizes=kernel_sizes,
            strides=strides,
            paddings=paddings,
            dilations=dilations,
        ),
    )


@op(source="paddle/phi/ops/yaml/ops.yaml: fold", traits=("Pure",))
def fold(
    xp,
    x,
    *,
    output_sizes: Ints,
    kernel_sizes: Ints,
    strides: Ints,
    paddings: Ints,
    dilations: Ints,
):
    """Columns [N, C * kh * kw, number of windows] back to an image [N, C, *output_sizes]; where
    windows overlap, their numbers are added.
    """
    counts, pads = _counts_and_pads(output_sizes, kernel_sizes, strides, paddings, dilations)
    image = add_columns(xp, x, output_sizes, kernel_sizes, counts, strides, pads, dilations)
    return image.copy()


fold.infer_meta(folded)


@fold.vjp
def _(
    x: NoNeedBuffer,
    out_grad,
    *,
    output_sizes: Ints,
    kernel_sizes: Ints,
    strides: Ints,
    paddings: Ints,
    dilations: Ints,
):
    return (
        unfold(
            out_grad,
            kernel_sizes=kernel_sizes,
            strides=strides,
            paddings=paddings,
            dilations=dilations,
        ),
    )


@op(
    source="paddle/phi/ops/yaml/ops.yaml: conv2d",
    traits=("Pure",),
    same_dtype=("input", "filter"),
    amp="white",
    grad_node="Conv2dGradNodeFinal",
)
def conv2d(
    xp,
    input,
    filter,
    *,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    padding_algorithm: str = "EXPLICIT",
    dilations: Ints = (1, 1),
    groups: int = 1,
    data_format: str = "NCHW",
):
    """input [N, C, H, W] * filter [O, C / groups, kh, kw] -> [N, O, OH, OW]. With data_format
    "NHWC", channels of input and result come last.
    """
    x = input.transpose(TO_NCHW) if data_format == "NHWC" else input
    places = _places(x, filter, strides, paddings, padding_algorithm, dilations)
    kernel, (oh, ow) = places[:2]
    n, o = x.shape[0], filter.shape[0]
    matrix = filter.reshape(groups, o // groups, math.prod(filter.shape[1:]))
    x = _in_groups(x, groups)
    out = xp.empty((n, groups, o // groups, oh * ow), x.dtype)
    for block in _blocks(xp, x, math.prod(kernel) * oh * ow):
        cols = _columns_in_groups(xp, x[block], places)
        xp.matmul(matrix[block[1]], cols, out=out[block])
    out = out.reshape(n, o, oh, ow)
    return xp.ascontiguousarray(out.transpose(TO_NHWC)) if data_format == "NHWC" else out


conv2d.infer_meta(convolved("conv2d"))


@conv2d.vjp
def conv2d_rule(
    input,
    filter,
    out_grad,
    *,
    strides: Ints,
    paddings: Ints,
    padding_algorithm: str,
    dilations: Ints,
    groups: int,
    data_format: str,
):
    last = data_format == "NHWC"
    x = transpose(input, perm=TO_NCHW) if last else input
    grad = transpose(out_grad, perm=TO_NCHW) if last else out_grad
    places = _places(x, filter, strides, paddings, padding_algorithm, dilations)
    window = _as_attributes(places)
    numbers, count = math.prod(filter.shape[1:]), _product(places[1])
    cols = reshape(unfold(x, **window), shape=(0, groups, numbers, count))
    matrix = reshape(filter, shape=(groups, filter.shape[0] // groups, numbers))
    grad = reshape(grad, shape=(0, groups, filter.shape[0] // groups, count))
    filter_grad = reshape_as(sum(matmul(grad, cols, transpose_y=True), axis=(0,)), filter)
    cols_grad = reshape(matmul(matrix, grad, transpose_x=True), shape=(0, groups * numbers, count))
    input_grad = fold(cols_grad, output_sizes=x.shape[2:], **window)
    return (transpose(input_grad, perm=TO_NHWC) if last else input_grad), filter_grad


@conv2d.grad_kernel
def conv2d_grad_kernel(
    xp,
    wanted,
    input,
    filter,
    out_grad,
    *,
    strides: Ints,
    paddings: Ints,
    padding_algorithm: str,
    dilations: Ints,
    groups: int,
    data_format: str,
):
    """The rule on a few images at a time, and without the half that nobody wants: the first layer
    of a network needs no gradient of its input.
    """
    last = data_format == "NHWC"
    x = input.transpose(TO_NCHW) if last else input
    grad = out_grad.transpose(TO_NCHW) if last else out_grad
    places = _places(x, filter, strides, paddings, padding_algorithm, dilations)
    kernel, (oh, ow) = places[:2]
    n, o = x.shape[0], filter.shape[0]
    matrix = filter.reshape(groups, o // groups, math.prod(filter.shape[1:]))
    grad = grad.reshape(n, groups, o // groups, oh * ow)
    input_grad = xp.empty(x.shape, x.dtype) if wanted[0] else None
    filter_grad = xp.zeros(matrix.shape, filter.dtype) if wanted[1] else None
    x = _in_groups(x, groups)
    for block in _blocks(xp, x, math.prod(kernel) * oh * ow):
        some = block[1]
        if filter_grad is not None:
            cols = _columns_in_groups(xp, x[block], places)
            pieces = xp.matmul(grad[block], cols.swapaxes(2, 3))
            filter_grad[some] += pieces[0] if n == 1 else pieces.sum(axis=0)
        if input_grad is not None:
            piece = _in_groups(input_grad, groups)[block]
            shape = (*piece.shape[:2], matrix.shape[2], oh * ow)
            cols = scratch(xp, "columns", shape, x.dtype)
            product = xp.multiply if o == groups else xp.matmul  # a column times a row
            product(matrix[some].swapaxes(1, 2), grad[block], out=cols)
            cols = cols.reshape(shape[0], math.prod(shape[1:3]), oh * ow)
            piece[...] = add_columns(xp, cols, x.shape[3:], *places).reshape(piece.shape)
    if last and input_grad is not None:
        input_grad = xp.ascontiguousarray(input_grad.transpose(TO_NHWC))
    return input_grad, None if filter_grad is None else filter_grad.reshape(filter.shape)


@conv2d.decomp
def _(
    input,
    filter,
    *,
    strides: Ints,
    paddings: Ints,
    padding_algorithm: str,
    dilations: Ints,
    groups: int,
    data_format: str,
):
    x = transpose(input, perm=TO_NCHW) if data_format == "NHWC" else input
    places = _places(x, filter, strides, paddings, padding_algorithm, dilations)
    cols = unfold(x, **_as_attributes(places))
    numbers, count = math.prod(filter.shape[1:]), math.prod(places[1])
    cols = reshape(cols, shape=(0, groups, numbers, count))
    matrix = reshape(filter, shape=(groups, filter.shape[0] // groups, numbers))
    out = reshape(matmul(matrix, cols), shape=(0, filter.shape[0], *places[1]))
    return transpose(out, perm=TO_NHWC) if data_format == "NHWC" else out


@op(
    source="paddle/phi/ops/yaml/ops.yaml: depthwise_conv2d",
    traits=("Pure",),
    same_dtype=("input", "filter"),
)
def depthwise_conv2d(
    xp,
    input,
    filter,
    *,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    padding_algorithm: str = "EXPLICIT",
    groups: int = 1,
    dilations: Ints = (1, 1),
    data_format: str = "NCHW",
):
    """conv2d in which each channel has filters of its own: groups == channels. The arithmetic is
    conv2d's; Paddle has a kernel of its own for it.
    """
    return conv2d.run(
        xp,
        input,
        filter,
        strides=strides,
        paddings=paddings,
        padding_algorithm=padding_algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format,
    )


depthwise_conv2d.infer_meta(convolved("depthwise_conv2d"))
depthwise_conv2d.vjp(conv2d_rule)
depthwise_conv2d.grad_kernel(conv2d_grad_kernel)


# -- where the windows are ---------------------------------------------------------------------


def _places(x, filter, strides, paddings, padding_algorithm, dilations):
    """(kernel, counts, strides, pads, dilations): what im2col asks for. x is NCHW."""
    kernel = filter.shape[2:]
    if padding_algorithm == "SAME":
        dilations = (1, 1)  # as in Paddle
    pads = resolve_padding(padding_algorithm, paddings, x.shape[2:], kernel, strides)
    counts = _fitting(window_counts(x.shape[2:], kernel, strides, pads, dilations), x.shape[2:])
    return kernel, counts, strides, pads, dilations


def _as_attributes(places):
    """What `unfold` and `fold` call it: they have the paddings in another order."""
    kernel, _, strides, (top, bottom, left, right), dilations = places
    return {
        "kernel_sizes": kernel,
        "strides": strides,
        "paddings": (top, left, bottom, right),
        "dilations": dilations,
    }


def _counts_and_pads(sizes, kernel, strides, paddings, dilations):
    """(OH, OW) and (top, bottom, left, right) for unfold's [top, left, bottom, right]."""
    top, left, bottom, right = paddings
    pads = (top, bottom, left, right)
    return _fitting(window_counts(sizes, kernel, strides, pads, dilations), sizes), pads


def _fitting(counts, sizes):
    """The counts, if there is a window on each axis that is not empty."""
    if any(count < min(size, 1) for count, size in zip(counts, sizes, strict=True)):
        raise ValueError  # InferMeta says why
    return counts


def _in_groups(x, groups):
    """x [N, C, H, W] -> [N, groups, C / groups, H, W], a view."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _blocks(xp, x, numbers_per_channel):
    """(images, groups) as slices of x [N, groups, C / groups, H, W] whose columns fit the cache."""
    n, groups, channels = x.shape[:3]
    for images in parts(xp, n, groups * channels * numbers_per_channel):
        count = images.stop - images.start
        for some in parts(xp, groups, count * channels * numbers_per_channel):
            yield images, some


def _columns_in_groups(xp, x, places):
    """x [N, groups, C / groups, H, W] -> [N, groups, C / groups * kh * kw, OH * OW], in scratch
    memory.
    """
    kernel, (oh, ow) = places[:2]
    n, groups, channels = x.shape[:3]
    out = scratch(xp, "columns", (n, groups * channels * math.prod(kernel), oh * ow), x.dtype)
    image = x.reshape(n, groups * channels, *x.shape[3:])
    return columns(xp, image, *places, out=out).reshape(
        n, groups, channels * math.prod(kernel), oh * ow
    )


def _product(counts):
    """How many windows there are; -1 if that is not known."""
    return -1 if -1 in counts else math.prod(counts)
