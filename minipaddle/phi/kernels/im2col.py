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
import threading
from collections.abc import Iterator, Sequence
from typing import Any

# Columns take kh * kw times the image's memory. A batch is taken in parts, so that they stay in
# the cache: at most so many numbers (1 MiB of float32) at a time, unless one image has more.
_NUMBERS_AT_A_TIME = {"numpy": 1 << 20}
_ON_A_GPU = 1 << 28  # there, few large products beat many small ones


class _Workspace(threading.local):
    """Memory that kernels use again and again, one piece per purpose and thread. To get megabytes
    from the operating system at each call, and to give them back, takes longer than to fill them.
    """

    def __init__(self) -> None:
        self.pieces: dict[str, Any] = {}


_workspace = _Workspace()


def scratch(xp: Any, purpose: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array for results that nobody keeps; its numbers are what memory held. It is valid until
    the next call for the same purpose.
    """
    if xp.__name__ != "numpy":
        return xp.empty(shape, dtype)  # CuPy keeps memory by itself
    size = math.prod(shape) * dtype.itemsize
    piece = _workspace.pieces.get(purpose)
    if piece is None or piece.size < size:
        piece = _workspace.pieces[purpose] = xp.empty(size, xp.uint8)
    return piece[:size].view(dtype).reshape(shape)


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
    out: Any = None,
) -> Any:
    """x [N, C, H, W] -> [N, C * kh * kw, OH * OW]; `counts` is (OH, OW). Written into `out`, if it
    is given.
    """
    x = padded(xp, x, pads)
    n, c = x.shape[:2]
    shape = (n, c * math.prod(kernel), math.prod(counts))
    if 0 in counts or not x.size:
        return xp.zeros(shape, x.dtype)
    if tuple(kernel) == tuple(strides) == (1, 1):
        return x.reshape(shape)  # as it is
    image, channel, row, column = x.strides
    windows = xp.lib.stride_tricks.as_strided(
        x,
        (n, c, *kernel, *counts),
        (image, channel, row * dilations[0], column * dilations[1],
         row * strides[0], column * strides[1]),
    )  # fmt: skip
    if out is None:
        return windows.reshape(shape)  # a view of this kind can't be reshaped: it is copied here
    out.reshape(windows.shape)[...] = windows
    return out


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
    added at the place that it came from. `sizes` is (H, W). The result may be scratch.

    In two steps, first rows, then columns: that is kh + kw additions instead of kh * kw.
    """
    (height, width), (kh, kw), (oh, ow) = sizes, kernel, counts
    (down, along), (top, bottom, left, right) = strides, pads
    n, c = cols.shape[0], cols.shape[1] // (kh * kw)
    cols = cols.reshape(n, c, kh, kw, oh, ow)
    if (kh, kw) == (1, 1) and (down, along) == (1, 1) and not any(pads):
        return cols.reshape(n, c, height, width)
    rows = scratch(xp, "rows", (n, c, kw, height + top + bottom, ow), cols.dtype)
    rows[...] = 0
    for i in range(kh):
        first = i * dilations[0]
        rows[:, :, :, first : first + down * oh : down] += cols[:, :, i]
    image = scratch(xp, "image", (n, c, height, width + left + right), cols.dtype)
    image[...] = 0
    for j in range(kw):
        first = j * dilations[1]
        image[..., first : first + along * ow : along] += rows[:, :, j, top : top + height]
    return image[..., left : left + width]
