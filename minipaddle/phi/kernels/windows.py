"""Windows: where a kernel of a convolution or of a pooling lies on its input, along one axis.

The same arithmetic serves InferMeta (how many windows?), the kernels and the gradient rules.

Paddle: paddle/phi/kernels/cpu/conv_util.h (UpdatePaddingAndDilation), funcs/pooling.h
(PoolOutputSize, AdaptStartIndex, AdaptEndIndex).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple


def resolve_padding(
    algorithm: str,
    paddings: Sequence[int],
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) from what a user may say.

    Args:
        algorithm: "EXPLICIT" takes `paddings`; "VALID" means none; "SAME" pads so that there are
            ceil(size / stride) windows.
        paddings: [height, width] or [top, bottom, left, right].
        sizes: height and width of the input; -1 if unknown.
    """
    if algorithm == "VALID":
        return 0, 0, 0, 0
    if algorithm == "SAME":
        pads: list[int] = []
        for size, length, stride in zip(sizes, kernel, strides, strict=True):
            count = -(-size // stride)
            total = max((count - 1) * stride + length - size, 0)
            pads += [total // 2, total - total // 2]
        return pads[0], pads[1], pads[2], pads[3]
    if len(paddings) == 2:
        return paddings[0], paddings[0], paddings[1], paddings[1]
    return paddings[0], paddings[1], paddings[2], paddings[3]


def window_count(
    size: int, length: int, stride: int, before: int, after: int, dilation: int = 1
) -> int:
    """How many windows of `length` fit on an axis; -1 if a size is unknown."""
    if -1 in (size, length):
        return -1
    if dilation < 1:
        raise ValueError  # InferMeta says why
    free = size + before + after - (dilation * (length - 1) + 1)
    return free // stride + 1


def window_counts(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int] = (1, 1),
) -> tuple[int, int]:
    """How many windows fit down and along an image; `pads` is (top, bottom, left, right)."""
    top, bottom, left, right = pads
    return (
        window_count(sizes[0], kernel[0], strides[0], top, bottom, dilations[0]),
        window_count(sizes[1], kernel[1], strides[1], left, right, dilations[1]),
    )


def pool_count(
    size: int, length: int, stride: int, before: int, after: int, ceil_mode: bool
) -> int:
    """How many windows a pooling has on an axis; -1 if a size is unknown. `ceil_mode` counts a last
    window that hangs over the edge. Rounded towards 0, as C++ does: a window that is too long by
    less than a stride is there once, too.
    """
    if -1 in (size, length):
        return -1
    free = size + before + after - length
    return int((free + stride - 1 if ceil_mode else free) / stride) + 1


class Windows(NamedTuple):
    """The windows of a pooling along one axis: window i covers [starts[i], stops[i]).

    Attributes:
        size: the axis's size.
        length, stride, before: window i begins at i * stride - before and has this length, before
            it is cut at the edges. A length of 0 means: not regular, see `starts` and `stops`.
    """

    size: int
    starts: tuple[int, ...]
    stops: tuple[int, ...]
    length: int = 0
    stride: int = 1
    before: int = 0

    @property
    def count(self) -> int:
        return len(self.starts)

    @property
    def whole(self) -> bool:
        """True if there is one window, and it covers the axis."""
        return self.starts == (0,) and self.stops == (self.size,)


@lru_cache(maxsize=1024)  # a network asks for the same ones at each step
def regular_windows(size: int, count: int, length: int, stride: int, before: int) -> Windows:
    """Windows at equal distances; what hangs over an edge is cut off."""
    if count < 0:
        raise ValueError  # InferMeta says why
    begins = [i * stride - before for i in range(count)]
    starts = tuple(min(max(begin, 0), size) for begin in begins)
    stops = tuple(max(min(begin + length, size), 0) for begin in begins)
    return Windows(size, starts, stops, length, stride, before)


@lru_cache(maxsize=1024)
def adaptive_windows(size: int, count: int) -> Windows:
    """`count` windows that cover the axis; neighbours may overlap by one where `size` is no
    multiple of `count`.
    """
    if count and size % count == 0:
        return regular_windows(size, count, size // count, size // count, 0)
    starts = tuple(i * size // count for i in range(count))
    stops = tuple(-(-(i + 1) * size // count) for i in range(count))
    return Windows(size, starts, stops)
