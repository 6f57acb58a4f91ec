"""Linear and others. Paddle: python/paddle/nn/functional/common.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.enforce import require_one_of
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world

__all__ = [
    "cosine_similarity",
    "dropout",
    "fold",
    "label_smooth",
    "linear",
    "pad",
    "unfold",
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
    inplace: bool = False,
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
        NotImplementedError: inplace, which is left out here.
    """
    if inplace:
        raise NotImplementedError(
            "dropout: expected inplace=False, but got True. It is left out here; use the result."
        )
    if not isinstance(p, (int, float)):
        raise TypeError(f"dropout: expected p to be a number, but got {type(p).__name__}.")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: expected p in [0, 1], but got {p}. It is a probability.")
    require_one_of("dropout", "mode", mode, DROPOUT_MODES)
    if p == 0:
        return x
    if axis is not None:
        return _axis_dropout(x, float(p), axis, training, mode == "upscale_in_train")
    program = current_world().main_program
    seed = 0 if program is None else program().random_seed
    attrs = {"mode": DROPOUT_MODES[mode], "seed": seed, "fix_seed": bool(seed)}
    return OPS["dropout"](x, None, p=float(p), is_test=not training, **attrs)[0]


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
            first. With fewer ("constant" only): those of the last axes, the last first. With two
            for each axis but batch and channels: left, right, top, bottom, front, back.
        mode: "constant", "reflect", "replicate" or "circular"; see the op pad3d.
        value: what the border holds, in mode "constant".
        data_format: "NCL", "NLC", "NCHW", "NHWC", "NCDHW" or "NDHWC" (default: channels second).

    Raises:
        ValueError: the widths don't fit x.
    """
    inner = 2 * (x.ndim - 2)
    widths = [pad] * inner if isinstance(pad, int) else pad
    known = isinstance(widths, (list, tuple))
    few = known and len(widths) != inner and len(widths) in range(2, 2 * x.ndim, 2)
    if mode == "constant" and known and (few or len(widths) == 2 * x.ndim):
        if few or not pad_from_left_axis:
            pairs = [widths[i : i + 2] for i in range(0, len(widths), 2)]
            widths = [width for pair in reversed(pairs) for width in pair]
            widths = [0] * (2 * x.ndim - len(widths)) + widths
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


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between the vectors along `axis`; x1 and x2 broadcast.

    Args:
        eps: the product of the lengths counts at least as this.

    Raises:
        IndexError: there is no such axis.
    """
    if not all(-x.ndim <= axis < x.ndim for x in (x1, x2)):
        raise IndexError(
            f"cosine_similarity: expected an axis of both, but got {axis} for shapes "
            f"{list(x1.shape)} and {list(x2.shape)}. Vectors of one axis have axis 0."
        )
    together = OPS["multiply"](x1, x2).sum(axis=axis)
    sizes = (x1.shape[axis], x2.shape[axis])
    if 0 in sizes:
        return together

    def square_length(x: Any) -> Any:
        total = OPS["multiply"](x, x).sum(axis=axis)
        broadcast = max(sizes) / x.shape[axis]  # so many times does each number stand there
        return total if broadcast == 1 else total * broadcast

    lengths = (square_length(x1) * square_length(x2)).clip(min=eps * eps)
    return OPS["divide"](together, OPS["sqrt"](lengths))


def unfold(
    x: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: Any = None,
) -> Any:
    """The windows of images, each one as a column: x [N, C, H, W] -> [N, C * kh * kw, windows].

    Args:
        kernel_sizes, strides, dilations: an int, or one for the height and one for the width.
        paddings: an int, [height, width] or [top, left, bottom, right].

    Raises:
        AssertionError: x has not 4 axes.
        TypeError: an argument has another form.
        ValueError: there are 3 paddings, say, or no window fits.
    """
    _require_axes("unfold", x, 4, "An image is [batch, channels, height, width].")
    window = _window("unfold", TypeError, kernel_sizes, strides, paddings, dilations)
    return OPS["unfold"](x, **window)


def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: Any = None,
) -> Any:
    """The way back of unfold: x [N, C * kh * kw, windows] -> [N, C, *output_sizes]. Where windows
    overlap, their numbers add up.

    Raises:
        AssertionError: x has not 3 axes, or an argument has another form.
        ValueError: there are 3 paddings, say, or the sizes don't fit.
    """
    _require_axes("fold", x, 3, "It is what unfold returns.")
    sizes = _two("fold", "output_sizes", output_sizes, AssertionError)
    window = _window("fold", AssertionError, kernel_sizes, strides, paddings, dilations)
    return OPS["fold"](x, output_sizes=sizes, **window)


def _require_axes(who: str, x: Any, ndim: int, advice: str) -> None:
    if x.ndim != ndim:
        raise AssertionError(
            f"{who}: expected x with {ndim} axes, but got shape {list(x.shape)}. {advice}"
        )


def _two(who: str, name: str, value: Any, kind: type[Exception]) -> list[int]:
    if isinstance(value, int):
        return [value, value]
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise kind(f"{who}: expected {name} to be an int or two ints, but got {value!r}. Pass one.")
    return list(value)


def _window(
    who: str, kind: type[Exception], kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any
) -> dict[str, list[int]]:
    """The attributes that unfold and fold share."""
    given = {"kernel_sizes": kernel_sizes, "strides": strides, "dilations": dilations}
    window = {name: _two(who, name, value, kind) for name, value in given.items()}
    listed = isinstance(paddings, (list, tuple))
    if not isinstance(paddings, int) and (not listed or len(paddings) not in (2, 4)):
        raise (ValueError if listed or who == "fold" else kind)(
            f"{who}: expected paddings to be an int, or 2 or 4 ints, but got {paddings!r}. Pass "
            "[top, left, bottom, right]."
        )
    sides = [paddings] * 4 if isinstance(paddings, int) else list(paddings)
    return {**window, "paddings": sides * 2 if len(sides) == 2 else sides}
