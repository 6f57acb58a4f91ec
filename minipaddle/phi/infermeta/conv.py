"""InferMeta rules of convolutions, unfold and fold.

Paddle: paddle/phi/infermeta/binary.cc (ConvInferMeta), unary.cc (UnfoldInferMeta, FoldInferMeta).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.enforce import require_same_dtype
from minipaddle.phi.kernels.windows import resolve_padding, window_counts


def require_positive(who: str, **attrs: Sequence[int]) -> None:
    """Raises ValueError unless each is two numbers of 1 or more."""
    for name, values in attrs.items():
        if len(values) != 2 or min(values) <= 0:
            raise ValueError(
                f"{who}: expected {name} to be two numbers of 1 or more, but got {list(values)}. "
                "The first is for the height, the second for the width."
            )


def require_paddings(who: str, paddings: Sequence[int]) -> None:
    """Raises ValueError unless there are two or four."""
    if len(paddings) not in (2, 4):
        raise ValueError(
            f"{who}: expected paddings [height, width] or [top, bottom, left, right], but got "
            f"{list(paddings)}."
        )


def convolved(who: str) -> Any:
    """Makes the rule of conv2d and depthwise_conv2d."""

    def rule(
        input: MetaTensor,
        filter: MetaTensor,
        *,
        strides: Sequence[int],
        paddings: Sequence[int],
        padding_algorithm: str,
        dilations: Sequence[int],
        groups: int,
        data_format: str,
    ) -> MetaTensor:
        if input.ndim != 4 or filter.ndim != 4:
            raise ValueError(
                f"{who}: expected input and filter with 4 dimensions, but got input "
                f"{list(input.shape)} and filter {list(filter.shape)}. "
                "An image is [batch, channels, height, width]."
            )
        require_same_dtype(who, input=input, filter=filter)
        require_positive(who, strides=strides, dilations=dilations)
        require_paddings(who, paddings)
        last = data_format == "NHWC"
        n, c, height, width = (
            (input.shape[0], input.shape[3], *input.shape[1:3]) if last else input.shape
        )
        out_channels, in_channels, *kernel = filter.shape
        if groups < 1 or (-1 not in (c, in_channels) and c != in_channels * groups):
            raise ValueError(
                f"{who}: expected input channels == filter.shape[1] * groups, but got {c} channels "
                f"in input {list(input.shape)}, filter {list(filter.shape)} and groups={groups}. "
                "Each filter sees the channels of one group."
            )
        if out_channels != -1 and out_channels % groups:
            raise ValueError(
                f"{who}: expected filter.shape[0] to be a multiple of groups, but got "
                f"{out_channels} and groups={groups}. All groups are of one size."
            )
        if padding_algorithm == "SAME":
            dilations = (1, 1)  # as in Paddle
        pads = resolve_padding(padding_algorithm, paddings, (height, width), kernel, strides)
        oh, ow = window_counts((height, width), kernel, strides, pads, dilations)
        axes = ((oh, height, kernel[0]), (ow, width, kernel[1]))
        if any(count < min(size, 1) and length != -1 for count, size, length in axes):
            raise ValueError(
                f"{who}: expected a filter that fits on the image, but got input "
                f"{list(input.shape)}, filter {list(filter.shape)}, paddings {list(pads)} and "
                f"dilations {list(dilations)}. Use a smaller filter, or more padding."
            )
        shape = [n, oh, ow, out_channels] if last else [n, out_channels, oh, ow]
        return MetaTensor(shape, input.dtype)

    return rule


def unfolded(
    x: MetaTensor,
    *,
    kernel_sizes: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> MetaTensor:
    """[N, C, H, W] -> [N, C * kh * kw, number of windows]."""
    if x.ndim != 4:
        raise ValueError(
            f"unfold: expected x with 4 dimensions, but got {list(x.shape)}. "
            "An image is [batch, channels, height, width]."
        )
    counts = _counts("unfold", x.shape[2:], kernel_sizes, strides, paddings, dilations)
    n, c = x.shape[:2]
    rows = -1 if c == -1 else c * kernel_sizes[0] * kernel_sizes[1]
    return MetaTensor([n, rows, -1 if -1 in counts else counts[0] * counts[1]], x.dtype)


def folded(
    x: MetaTensor,
    *,
    output_sizes: Sequence[int],
    kernel_sizes: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> MetaTensor:
    """[N, C * kh * kw, number of windows] -> [N, C, *output_sizes]."""
    if x.ndim != 3:
        raise ValueError(
            f"fold: expected x with 3 dimensions, but got {list(x.shape)}. "
            "It is what unfold returns: [batch, channels * kh * kw, number of windows]."
        )
    counts = _counts("fold", output_sizes, kernel_sizes, strides, paddings, dilations)
    n, rows, places = x.shape
    if -1 not in (places, *counts) and places != counts[0] * counts[1]:
        raise ValueError(
            f"fold: expected x.shape[2] == {counts[0]} * {counts[1]} windows, but got x "
            f"{list(x.shape)} and output_sizes {list(output_sizes)}. "
            "Give the sizes of the image that was unfolded."
        )
    numbers = kernel_sizes[0] * kernel_sizes[1]
    if rows != -1 and rows % numbers:
        raise ValueError(
            f"fold: expected x.shape[1] to be a multiple of {numbers}, the size of a window, but "
            f"got x {list(x.shape)} and kernel_sizes {list(kernel_sizes)}."
        )
    return MetaTensor([n, rows if rows == -1 else rows // numbers, *output_sizes], x.dtype)


def _counts(
    who: str,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, int]:
    """Windows down and along. `paddings` is [top, left, bottom, right], as unfold has them."""
    require_positive(who, kernel_sizes=kernel, strides=strides, dilations=dilations)
    top, left, bottom, right = paddings
    pads = (top, bottom, left, right)
    down, along = window_counts(sizes, kernel, strides, pads, dilations)
    if (down < 1 and sizes[0] != -1) or (along < 1 and sizes[1] != -1):
        raise ValueError(
            f"{who}: expected windows that fit on the image, but got sizes {list(sizes)}, "
            f"kernel_sizes {list(kernel)}, paddings {list(paddings)} and dilations "
            f"{list(dilations)}. Use smaller windows, or more padding."
        )
    return down, along
