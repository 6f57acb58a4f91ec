"""Convolutions. Paddle: python/paddle/nn/functional/conv.py."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.functional.padding import channel_last, padding_of, two_ints
from minipaddle.phi.core.op import OPS

__all__ = ["conv2d"]


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Slides filters over images: each number of the result is a filter times a window.

    Args:
        x: [N, C, H, W], or [N, H, W, C] with data_format "NHWC".
        weight: [O, C / groups, kh, kw].
        bias: [O].
        stride: how far apart windows are.
        padding: zeros around the image: an int, [height, width], [top, bottom, left, right],
            "VALID" (none) or "SAME" (ceil(size / stride) windows).
        dilation: how far apart a window's places are.
        groups: channels and filters are divided into so many groups that don't mix.

    Returns:
        [N, O, OH, OW] with OH = (H + pads - dilation * (kh - 1) - 1) // stride + 1, or
        [N, OH, OW, O].

    Raises:
        ValueError: the shapes don't fit, or an argument is wrong.
    """
    last = channel_last("conv2d", data_format)
    if x.ndim != 4:
        raise ValueError(
            f"conv2d: expected x with 4 dimensions, but got {list(x.shape)}. "
            "An image is [batch, channels, height, width]."
        )
    channels, filters = x.shape[3 if last else 1], weight.shape[0]
    if groups < 1 or any(size != -1 and size % groups for size in (channels, filters)):
        raise ValueError(
            f"conv2d: expected groups that divide channels and filters, but got {groups} for "
            f"{channels} channels and {filters} filters."
        )
    pads, algorithm = padding_of("conv2d", padding, last)
    return convolve(
        x,
        weight,
        bias,
        strides=two_ints("conv2d", "stride", stride),
        paddings=pads,
        padding_algorithm=algorithm,
        dilations=two_ints("conv2d", "dilation", dilation),
        groups=groups,
        data_format=data_format,
        depthwise=channels == groups != 1 and filters % groups == 0,
    )


def convolve(x: Any, weight: Any, bias: Any, *, depthwise: bool, **attrs: Any) -> Any:
    """The op, and the bias. What Conv2D calls, whose arguments were checked when it was made."""
    out = OPS["depthwise_conv2d" if depthwise else "conv2d"](x, weight, **attrs)
    if bias is None:
        return out
    shape = [1, 1, 1, -1] if attrs["data_format"] == "NHWC" else [1, -1, 1, 1]
    return OPS["add"](out, OPS["reshape"](bias, shape=shape))
