"""Adding a border.

Paddle: paddle/phi/kernels/pad_kernel.h, pad3d_kernel.h.
Left out: negative widths, which cut off.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.attribute import IntArray, Ints, Scalar, UnknownInts
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.ops.creation import assign_value, full_like
from minipaddle.phi.ops.gather import index_add
from minipaddle.phi.ops.indexing import slice

TO_THE_END = 2**31 - 1  # an `end` that is behind every axis


def _pairs(paddings):
    """(3, 1, 0, 2) -> ((3, 1), (0, 2)): before and after, for each axis."""
    return tuple(zip(paddings[::2], paddings[1::2], strict=True))


def _padded(x, pairs):
    sizes = zip(x.shape, pairs, strict=True)
    return MetaTensor([-1 if size == -1 else a + size + b for size, (a, b) in sizes], x.dtype)


def _without(pairs):
    """What `slice` needs to cut the border off."""
    return {
        "axes": list(range(len(pairs))),
        "starts": [before for before, _ in pairs],
        "ends": [-after if after else TO_THE_END for _, after in pairs],
        "infer_flags": [1] * len(pairs),
        "decrease_axis": [],
    }


@op(source="paddle/phi/ops/yaml/ops.yaml: pad", traits=("Pure",))
def pad(xp, x, *, paddings: Ints, pad_value: Scalar):
    """A border of `pad_value` around x: (before, after) for each axis, the first axis first."""
    return xp.pad(x, _pairs(paddings), constant_values=pad_value)


@pad.infer_meta
def _(x, *, paddings, pad_value):
    if len(paddings) != 2 * x.ndim or any(width < 0 for width in paddings):
        raise ValueError(
            f"pad: expected {2 * x.ndim} widths of 0 or more, two for each axis of shape "
            f"{list(x.shape)}, but got {list(paddings)}. For each axis, say how many in front and "
            "how many behind."
        )
    return _padded(x, _pairs(paddings))


@pad.vjp
def _(x: NoNeedBuffer, out_grad, *, paddings: Ints, pad_value: Scalar):
    return (slice(out_grad, **_without(_pairs(paddings))),)


NUMPY_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _five(paddings, data_format):
    """(before, after) for each of the five axes."""
    (left, right), (top, bottom), (front, back) = _pairs(paddings)
    inner = ((front, back), (top, bottom), (left, right))
    return ((0, 0), (0, 0), *inner) if data_format == "NCDHW" else ((0, 0), *inner, (0, 0))


@op(source="paddle/phi/ops/yaml/ops.yaml: pad3d", traits=("Pure",))
def pad3d(
    xp,
    x,
    *,
    paddings: IntArray,
    mode: str = "constant",
    pad_value: float = 0.0,
    data_format: str = "NCDHW",
):
    """A border around depth, height and width of x [N, C, D, H, W] or [N, D, H, W, C].

    `paddings` are left, right, top, bottom, front, back. `mode` says what the border holds:
    "constant" `pad_value`; "reflect" the numbers inside, in reverse; "replicate" the last number
    inside; "circular" the numbers at the other end.
    """
    pairs = _five(paddings, data_format)
    if mode == "constant":
        return xp.pad(x, pairs, constant_values=pad_value)
    return xp.pad(x, pairs, mode=NUMPY_MODES[mode])


@pad3d.infer_meta
def _(x, *, paddings, mode, pad_value, data_format):
    if x.ndim != 5 or len(paddings) != 6:
        raise ValueError(
            f"pad3d: expected 5 dimensions and 6 widths, but got shape {list(x.shape)} and "
            f"{list(paddings)}. paddle.nn.functional.pad takes other shapes."
        )
    if mode != "constant" and mode not in NUMPY_MODES:
        raise ValueError(
            f"pad3d: expected mode 'constant', 'reflect', 'replicate' or 'circular', but got "
            f"{mode!r}. Use one of them."
        )
    if isinstance(paddings, UnknownInts):
        return MetaTensor([-1] * 5, x.dtype)
    pairs = _five(paddings, data_format)
    for size, (before, after) in zip(x.shape, pairs, strict=True):
        limit = size - 1 if mode == "reflect" else size
        if mode in ("reflect", "circular") and size != -1 and max(before, after) > limit:
            raise ValueError(
                f"pad3d: expected widths of at most {limit} for a size of {size} in mode {mode!r}, "
                f"but got {max(before, after)}. The border copies numbers that are inside."
            )
    if any(width < 0 for width in paddings):
        raise ValueError(
            f"pad3d: expected widths of 0 or more, but got {list(paddings)}. Slice to cut off."
        )
    return _padded(x, pairs)


@pad3d.vjp
def _(
    x: NoNeedBuffer,
    out_grad,
    *,
    paddings: IntArray,
    mode: str,
    pad_value: float,
    data_format: str,
):
    pairs = _five(paddings, data_format)
    if mode == "constant":
        return (slice(out_grad, **_without(pairs)),)
    grad = out_grad
    for axis, (before, after) in enumerate(pairs):
        if before or after:  # each place of the border gives its gradient to the one it shows
            size = x.shape[axis]
            shown = [_shown(i - before, size, mode) for i in range(before + size + after)]
            index = assign_value(shape=[len(shown)], dtype=dtypes.int64, values=shown)
            cut = slice(
                grad, axes=[axis], starts=[0], ends=[size], infer_flags=[1], decrease_axis=[]
            )
            zeros = full_like(cut, value=0.0, dtype=out_grad.dtype)
            grad = index_add(zeros, index, grad, axis=axis)
    return (grad,)


def _shown(place, size, mode):
    """The place inside x that a place of the border shows."""
    if mode == "replicate":
        return min(max(place, 0), size - 1)
    if mode == "circular":
        return place % size
    place = abs(place)
    return place if place < size else 2 * (size - 1) - place
