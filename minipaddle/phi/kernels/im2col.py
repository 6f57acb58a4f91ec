"""im2col: a convolution as a matrix product.

Each position of the kernel on the image becomes a column of C * kh * kw numbers:

    image [C, H, W] -> columns [C * kh * kw, OH * OW];   filter [O, C * kh * kw] @ columns

Nothing is computed to get there: in an array's memory, the next row of a window is a stride
away, and so is the next window. So a view with six strides shows all windows at once, and one
copy makes the matrix.

Paddle: paddle/phi/kernels/funcs/im2col.h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

# Columns take kh * kw times the image's memory. A batch is taken in parts, so that they stay in
# the cache: at most so many numbers (4 MiB of float32) at a time, unless one image has more.
_NUMBERS_AT_A_TIME = {"numpy": 1 << 20}
_ON_A_GPU = 1 << 28  # there, few large products beat many small ones


def parts(xp: Any, images: int, numbers_per_image: int) -> Iterator[slice]:
    """Slices of the batch whose columns fit the cache."""
    limit = _NUMBERS_AT_A_TIME.get(xp.__name__, _ON_A_GPU)
    step = max(1, limit // max(numbers_per_image, 1))
    for start in range(0, images, step):
        yield slice(start, min(start + step, images))


def padded(xp: Any, x: Any, pads: Sequence[int], fill: float = 0.0) -> Any:
    """x [N, C, H, W] inside a frame (top, bottom, left, right) of `fill`; a negative width cuts
    off.
    """
    top, bottom, left, right = pads
    if top < 0 or left < 0 or bottom < 0 or right < 0:
        height, width = x.shape[2:]
        x = x[:, :, max(-top, 0) : height + min(bottom, 0), max(-left, 0) : width + min(right, 0)]
        top, bottom, left, right = (max(pad, 0) for pad in pads)
    if not (top or bottom or left or right):
        return x
    n, c, height, width = x.shape
    shape = (n, c, height + top + bottom, width + left + right)
    framed = xp.full(shape, fill, x.dtype) if fill else xp.zeros(shape, x.dtype)
    framed[:, :, top : top + height, left : left + width] = x
    return framed


def columns(
    xp: Any,
    x: Any,
    kernel: Sequence[int],
    counts: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
) -> Any:
    """x [N, C, H, W] -> [N, C * kh * kw, OH * OW]; `counts` is (OH, OW)."""
    x = padded(xp, x, pads)
    n, c = x.shape[:2]
    if 0 in counts or not x.size:
        return xp.zeros((n, c * math.prod(kernel), math.prod(counts)), x.dtype)
    image, channel, row, column = x.strides
    windows = xp.lib.stride_tricks.as_strided(
        x,
        (n, c, *kernel, *counts),
        (image, channel, row * dilations[0], column * dilations[1],
         row * strides[0], column * strides[1]),
    )  # fmt: skip
    return windows.reshape(n, c * math.prod(kernel), math.prod(counts))  # here they are copied


def add_columns(
    xp: Any,
    cols: Any,
    sizes: Sequence[int],
    kernel: Sequence[int],
    counts: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
) -> Any:
    """col2im, the way back: cols [N, C * kh * kw, OH * OW] -> [N, C, H, W], where each number is
    added at the place that it came from. `sizes` is (H, W).

    In two steps, first rows, then columns: that is kh + kw additions instead of kh * kw.
    """
    (height, width), (kh, kw), (oh, ow) = sizes, kernel, counts
    (down, along), (top, bottom, left, right) = strides, pads
    n, c = cols.shape[0], cols.shape[1] // (kh * kw)
    cols = cols.reshape(n, c, kh, kw, oh, ow)
    if (kh, kw) == (1, 1) and (down, along) == (1, 1) and not any(pads):
        return cols.reshape(n, c, height, width)
    rows = xp.zeros((n, c, kw, height + top + bottom, ow), cols.dtype)
    for i in range(kh):
        first = i * dilations[0]
        rows[:, :, :, first : first + down * oh : down] += cols[:, :, i]
    image = xp.zeros((n, c, height, width + left + right), cols.dtype)
    for j in range(kw):
        first = j * dilations[1]
        image[..., first : first + along * ow : along] += rows[:, :, j, top : top + height]
    return xp.ascontiguousarray(image[..., left : left + width])
