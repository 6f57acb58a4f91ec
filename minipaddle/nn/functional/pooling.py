"""Pooling. Paddle: python/paddle/nn/functional/pooling.py."""

from __future__ import annotations

from typing import Any

from minipaddle.nn.functional.padding import channel_last, padding_of, two_ints
from minipaddle.phi.core.op import OPS

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_max_pool2d",
    "avg_pool2d",
    "max_pool2d",
]


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The maximum of each window: x [N, C, H, W] -> [N, C, OH, OW].

    Args:
        stride: how far apart windows are; default: kernel_size.
        padding: as conv2d's; padding is never the maximum.
        return_mask: also return where the maximum was: its number in the image, row by row.
        ceil_mode: a last window may hang over the edge.

    Raises:
        ValueError: the shapes don't fit, or an argument is wrong.
    """
    who = "max_pool2d"
    kernel = two_ints(who, "kernel_size", kernel_size)
    strides = kernel if stride is None else two_ints(who, "stride", stride)
    last = channel_last(who, data_format)
    pads, algorithm = padding_of(who, padding, last, ceil_mode)
    if not return_mask:
        return _pool2d(x, kernel, strides, pads, ceil_mode, True, data_format, "max", algorithm)
    if last or len(pads) != 2:
        raise ValueError(
            f"{who}: expected data_format 'NCHW' and padding [height, width] with return_mask, but "
            f"got {data_format!r} and {padding!r}. Paddle has the mask for these only."
        )
    return OPS["max_pool2d_with_index"](
        x, kernel_size=kernel, strides=strides, paddings=pads, ceil_mode=ceil_mode
    )


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The mean of each window: x [N, C, H, W] -> [N, C, OH, OW].

    Args:
        stride, padding, ceil_mode: as max_pool2d's.
        exclusive: padding is not counted.
        divisor_override: divide the sum by this number.

    Raises:
        ValueError: the shapes don't fit, or an argument is wrong.
    """
    who = "avg_pool2d"
    kernel = two_ints(who, "kernel_size", kernel_size)
    strides = kernel if stride is None else two_ints(who, "stride", stride)
    last = channel_last(who, data_format)
    if min(kernel) < 1 or min(strides) < 1:
        raise ValueError(
            f"{who}: expected kernel_size and stride of 1 or more, but got {kernel} and {strides}."
        )
    pads, algorithm = padding_of(who, padding, last, ceil_mode)
    out = _pool2d(x, kernel, strides, pads, ceil_mode, exclusive, data_format, "avg", algorithm)
    if divisor_override is None:
        return out
    return out * (kernel[0] * kernel[1]) / divisor_override


def adaptive_avg_pool2d(
    x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """The mean of windows chosen so that the result has `output_size`, an int or (height, width);
    None keeps the size of x.
    """
    last = channel_last("adaptive_avg_pool2d", data_format)
    sizes = _output_sizes("adaptive_avg_pool2d", output_size, x.shape[1:3] if last else x.shape[2:])
    return _pool2d(
        x, sizes, [1, 1], [0, 0], False, True, data_format, "avg", "EXPLICIT", adaptive=True
    )


def adaptive_max_pool2d(
    x: Any, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """The maximum of windows chosen so that the result has `output_size`, an int or (height,
    width); None keeps the size of x. With return_mask also where it was.
    """
    sizes = _output_sizes("adaptive_max_pool2d", output_size, x.shape[2:])
    out, mask = OPS["max_pool2d_with_index"](x, kernel_size=sizes, adaptive=True)
    return (out, mask) if return_mask else out


def _output_sizes(who: str, output_size: Any, sizes: Any) -> list[int]:
    if isinstance(output_size, (list, tuple)) and len(output_size) == len(sizes) == 2:
        output_size = [
            size if wanted is None else wanted
            for wanted, size in zip(output_size, sizes, strict=True)
        ]
    return two_ints(who, "output_size", output_size)


def _pool2d(
    x: Any,
    kernel_size: list[int],
    strides: list[int],
    paddings: list[int],
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
    pooling_type: str,
    padding_algorithm: str,
    adaptive: bool = False,
) -> Any:
    return OPS["pool2d"](
        x,
        kernel_size=kernel_size,
        strides=strides,
        paddings=paddings,
        ceil_mode=ceil_mode,
        exclusive=exclusive,
        data_format=data_format,
        pooling_type=pooling_type,
        global_pooling=False,
        adaptive=adaptive,
        padding_algorithm=padding_algorithm,
    )
