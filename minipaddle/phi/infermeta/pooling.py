"""InferMeta rules of poolings, and the windows that their attributes describe.

Paddle: paddle/phi/infermeta/unary.cc (Pool2DInferMeta, MaxPoolWithIndexInferMeta).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.attribute import UnknownInts
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.conv import require_paddings, require_positive
from minipaddle.phi.kernels.windows import (
    Windows,
    adaptive_windows,
    pool_count,
    regular_windows,
    resolve_padding,
)


def pool_windows(
    sizes: Sequence[int],
    *,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    ceil_mode: bool = False,
    global_pooling: bool = False,
    adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT",
    **attrs: Any,
) -> tuple[Windows, Windows]:
    """The windows down and along an image of these sizes, all known."""
    if global_pooling:
        return adaptive_windows(sizes[0], 1), adaptive_windows(sizes[1], 1)
    if adaptive:
        return (
            adaptive_windows(sizes[0], kernel_size[0]),
            adaptive_windows(sizes[1], kernel_size[1]),
        )
    pads = resolve_padding(padding_algorithm, paddings, sizes, kernel_size, strides)
    counts = _pool_counts(sizes, kernel_size, strides, pads, ceil_mode)
    return (
        regular_windows(sizes[0], counts[0], kernel_size[0], strides[0], pads[0]),
        regular_windows(sizes[1], counts[1], kernel_size[1], strides[1], pads[2]),
    )


def _pool_counts(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    ceil_mode: bool,
) -> list[int]:
    """How many windows down and along; `pads` is (top, bottom, left, right)."""
    axes = zip(sizes, kernel, strides, pads[::2], pads[1::2], strict=True)
    return [pool_count(*axis, ceil_mode) for axis in axes]


def _counts(who: str, sizes: Sequence[int], attrs: dict[str, Any]) -> list[int]:
    """How many windows down and along; -1 where that is not known.

    Raises:
        ValueError: an attribute is wrong, or the windows don't fit.
    """
    kernel, strides = attrs["kernel_size"], attrs["strides"]
    if attrs["global_pooling"]:
        return [1, 1]
    if isinstance(kernel, UnknownInts):
        return [-1, -1]
    if len(kernel) != 2:
        raise ValueError(
            f"{who}: expected kernel_size to be two numbers, but got {list(kernel)}. "
            "The first is for the height, the second for the width."
        )
    if attrs["adaptive"]:
        return list(kernel)
    require_positive(who, strides=strides)
    paddings = attrs["paddings"]
    require_paddings(who, paddings)
    algorithm = attrs.get("padding_algorithm", "EXPLICIT")
    pads = resolve_padding(algorithm, paddings, sizes, kernel, strides)
    counts = _pool_counts(sizes, kernel, strides, pads, attrs["ceil_mode"])
    for count, size in zip(counts, sizes, strict=True):
        if count < 0 and size != -1:
            raise ValueError(
                f"{who}: expected windows that fit on the image, but got sizes {list(sizes)}, "
                f"kernel_size {list(kernel)} and paddings {list(paddings)}. "
                "Use smaller windows, or more padding."
            )
    return counts


def pooled(who: str) -> Any:
    """Makes the rule of a pooling of images. With `mask`, see `pooled_with_index`."""

    def rule(x: MetaTensor, **attrs: Any) -> MetaTensor:
        if x.ndim != 4:
            raise ValueError(
                f"{who}: expected x with 4 dimensions, but got {list(x.shape)}. "
                "An image is [batch, channels, height, width]."
            )
        if attrs.get("pooling_type", "max") not in ("max", "avg"):
            raise ValueError(
                f"{who}: expected pooling_type 'max' or 'avg', but got {attrs['pooling_type']!r}."
            )
        if attrs.get("data_format", "NCHW") == "NHWC":
            n, height, width, c = x.shape
            return MetaTensor([n, *_counts(who, (height, width), attrs), c], x.dtype)
        return MetaTensor([*x.shape[:2], *_counts(who, x.shape[2:], attrs)], x.dtype)

    return rule


def pooled_with_index(x: MetaTensor, **attrs: Any) -> tuple[MetaTensor, MetaTensor]:
    """The maxima, and where they were: int32 of the same shape."""
    out = pooled("max_pool2d_with_index")(x, **attrs)
    return out, MetaTensor(out.shape, dtypes.int32)
