"""Linear and others. Paddle: python/paddle/nn/functional/common.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.enforce import require_one_of
from minipaddle.phi.core.op import OPS

__all__ = [
    "dropout",
    "label_smooth",
    "linear",
    "pad",
]

DROPOUT_MODES = {
    "upscale_in_train": "upscale_in_train",
    "downscale_in_infer": "downgrade_in_infer",  # the op still has the older word
}


def linear(x: Any, weight: Any, bias: Any = None, name: Any = None) -> Any:
    """x [..., in] @ weight [in, out] + bias [out]."""
    out = OPS["matmul"](x, weight)
    return out if bias is None else OPS["add"](out, bias)


def label_smooth(
    label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None
) -> Any:
    """(1 - epsilon) * label + epsilon / C: a label [..., C] that is a little less sure of itself.

    Args:
        prior_dist: [1, C]: the share of each class, in place of 1 / C.

    Raises:
        ValueError: epsilon is not in [0, 1], or the shapes don't fit.
    """
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(
            f"label_smooth: expected epsilon in [0, 1], but got {epsilon}. It is the share that is "
            "spread over all classes."
        )
    return OPS["label_smooth"](label, prior_dist, epsilon=float(epsilon))


def dropout(
    x: Any,
    p: float = 0.5,
    axis: int | Sequence[int] | None = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: Any = None,
) -> Any:
    """Sets elements of x to 0 with probability p, when training.

    Args:
        axis: draw once for each place of these axes only: along the others, all elements share
            their fate.
        mode: how the mean stays the same. "upscale_in_train": what stays is divided by 1 - p;
            "downscale_in_infer": when not training, everything is multiplied by 1 - p.

    Raises:
        TypeError: p is no number.
        ValueError: p is not in [0, 1], or the mode is unknown.
    """
    if not isinstance(p, (int, float)):
        raise TypeError(f"dropout: expected p to be a number, but got {type(p).__name__}.")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: expected p in [0, 1], but got {p}. It is a probability.")
    require_one_of("dropout", "mode", mode, DROPOUT_MODES)
    if p == 0:
        return x
    if axis is not None:
        return _axis_dropout(x, float(p), axis, training, mode == "upscale_in_train")
    return OPS["dropout"](x, None, p=float(p), is_test=not training, mode=DROPOUT_MODES[mode])[0]


def _axis_dropout(x: Any, p: float, axis: Any, training: bool, upscale: bool) -> Any:
    """dropout whose mask has the size 1 along all axes but `axis`, in ops that exist already."""
    if not training:
        return x if upscale else OPS["scale"](x, scale=1.0 - p)
    if p == 1.0:
        return OPS["scale"](x, scale=0.0)
    axes = [axis] if isinstance(axis, int) else list(axis)
    if any(not 0 <= item < x.ndim for item in axes) or len(axes) > x.ndim:
        raise ValueError(
            f"dropout: expected axes in [0, {x.ndim}), but got {axes} for shape {list(x.shape)}."
        )
    if upscale:
        x = OPS["scale"](x, scale=1.0 / (1.0 - p))
    shape = [size if i in axes else 1 for i, size in enumerate(x.shape)]
    drawn = OPS["uniform"](shape=shape, dtype="float32", min=0.0, max=1.0)
    limit = OPS["full"](shape=[1], value=p, dtype="float32")
    mask = OPS["greater_equal"](drawn, limit)
    return OPS["multiply"](x, OPS["cast"](mask, dtype=x.dtype))


LAYOUTS: dict[int, tuple[str, ...]] = {
    3: ("NCL", "NLC"),
    4: ("NCHW", "NHWC"),
    5: ("NCDHW", "NDHWC"),
}
# for each number of dimensions and layout, where pad3d's five axes are missing: they are inserted
MISSING_AXES = {"NCL": [3, 4], "NLC": [2, 3], "NCHW": [2], "NHWC": [1], "NCDHW": [], "NDHWC": []}


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: Any = None,
) -> Any:
    """A border around x.

    Args:
        pad: widths, as one int for all or a list. With two for each axis (mode "constant" only):
            (before, after), the first axis first, or, without `pad_from_left_axis`, the last
            first. With two for each axis but batch and channels: left, right, top, bottom, front,
            back.
        mode: "constant", "reflect", "replicate" or "circular"; see the op pad3d.
        value: what the border holds, in mode "constant".
        data_format: "NCL", "NLC", "NCHW", "NHWC", "NCDHW" or "NDHWC" (default: channels second).

    Raises:
        ValueError: the widths don't fit x.
    """
    inner = 2 * (x.ndim - 2)
    widths = [pad] * inner if isinstance(pad, int) else pad
    known = isinstance(widths, (list, tuple))
    if known and mode == "constant" and len(widths) == 2 * x.ndim:
        if not pad_from_left_axis:
            pairs = [widths[i : i + 2] for i in range(0, len(widths), 2)]
            widths = [width for pair in reversed(pairs) for width in pair]
        return OPS["pad"](x, paddings=widths, pad_value=float(value))
    layouts = LAYOUTS.get(x.ndim, ())
    layout = data_format or (layouts[0] if layouts else "")
    if layout not in layouts or (known and len(widths) != inner):
        raise ValueError(
            f"pad: expected {2 * x.ndim} widths, or for 3 to 5 dimensions {inner}, and a "
            f"data_format that fits; but got {pad} and {data_format!r} for shape {list(x.shape)}."
        )
    missing = MISSING_AXES[layout]
    if known:
        widths = [0, 0, 0, 0, *widths] if x.ndim == 3 else [*widths, *[0] * (6 - inner)]
    whole = OPS["unsqueeze"](x, axis=missing) if missing else x
    out = OPS["pad3d"](
        whole,
        paddings=widths,
        mode=mode,
        pad_value=float(value),
        data_format="NCDHW" if layout == layouts[0] else "NDHWC",
    )
    return OPS["squeeze"](out, axis=missing) if missing else out
