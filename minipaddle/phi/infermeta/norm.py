"""InferMeta rules of normalisations.

Paddle: paddle/phi/infermeta/multiary.cc (BatchNormInferMeta), ternary.cc (LayerNormInferMeta,
GroupNormInferMeta, InstanceNormInferMeta).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.enforce import require_floating, require_shape


def channel_axis(data_format: str, ndim: int) -> int:
    """Where the channels are: last in NHWC and its like, otherwise second."""
    return ndim - 1 if data_format in ("NLC", "NHWC", "NDHWC") else 1


def statistics_dtype(dtype: DataType) -> DataType:
    """Means and variances of half-precision numbers are kept in float32."""
    return dtypes.float64 if dtype is dtypes.float64 else dtypes.float32


def require_vector(
    who: str, name: str, vector: MetaTensor | None, size: int, beside: MetaTensor
) -> None:
    """Raises ValueError unless there is one number for each place, in x's dtype. Beside
    half-precision numbers, float32 is fine.
    """
    require_shape(who, name, vector, [size])
    if vector is not None and vector.dtype not in (beside.dtype, statistics_dtype(beside.dtype)):
        raise ValueError(
            f"{who}: expected {name} of x's dtype {beside.dtype.name}, but got "
            f"{vector.dtype.name}. Cast x with astype, or the layer with to(dtype=...)."
        )


def batch_norm(
    x: MetaTensor,
    mean: MetaTensor,
    variance: MetaTensor,
    scale: MetaTensor | None,
    bias: MetaTensor | None,
    *,
    data_format: str,
    **attrs: Any,
) -> tuple[MetaTensor, ...]:
    """x [N, C, ...]; everything else has one number per channel."""
    if not 2 <= x.ndim <= 5:
        raise ValueError(
            f"batch_norm_: expected x with 2 to 5 dimensions, but got {list(x.shape)}. "
            "The first is the batch, one is the channels."
        )
    channels = x.shape[channel_axis(data_format, x.ndim)]
    named = {"mean": mean, "variance": variance, "scale": scale, "bias": bias}
    for name, vector in named.items():
        require_vector("batch_norm_", name, vector, channels, x)
    if channels == -1:
        channels = mean.shape[0]
    saved = MetaTensor([channels], statistics_dtype(x.dtype))
    # how much a GPU's library keeps for the way back is known to nobody before it runs
    reserved = MetaTensor([-1], dtypes.uint8)
    return (
        MetaTensor(x.shape, x.dtype),
        MetaTensor(mean.shape, mean.dtype),
        MetaTensor(variance.shape, variance.dtype),
        saved,
        saved,
        reserved,
    )


def layer_norm(
    x: MetaTensor,
    scale: MetaTensor | None,
    bias: MetaTensor | None,
    *,
    begin_norm_axis: int,
    **attrs: Any,
) -> tuple[MetaTensor, MetaTensor, MetaTensor]:
    """Axes from begin_norm_axis on are normalised together; mean and variance keep the others."""
    require_floating("layer_norm", x.dtype)
    if not 0 < begin_norm_axis < x.ndim:
        raise ValueError(
            f"layer_norm: expected begin_norm_axis between 1 and {x.ndim - 1} for x "
            f"{list(x.shape)}, but got {begin_norm_axis}. The first axis is the batch."
        )
    normalised = x.shape[begin_norm_axis:]
    size = -1 if -1 in normalised else math.prod(normalised)
    require_vector("layer_norm", "scale", scale, size, x)
    require_vector("layer_norm", "bias", bias, size, x)
    kept = MetaTensor(x.shape[:begin_norm_axis], statistics_dtype(x.dtype))
    return MetaTensor(x.shape, x.dtype), kept, kept


def group_norm(
    x: MetaTensor,
    scale: MetaTensor | None,
    bias: MetaTensor | None,
    *,
    groups: int,
    data_format: str,
    **attrs: Any,
) -> tuple[MetaTensor, MetaTensor, MetaTensor]:
    """Mean and variance are [N, groups]."""
    if x.ndim < 2:
        raise ValueError(
            f"group_norm: expected x with at least 2 dimensions, but got {list(x.shape)}. "
            "The first is the batch, one is the channels."
        )
    channels = x.shape[channel_axis(data_format, x.ndim)]
    if groups < 1 or (channels != -1 and channels % groups):
        raise ValueError(
            f"group_norm: expected groups that divide the {channels} channels of x "
            f"{list(x.shape)}, but got {groups}. All groups are of one size."
        )
    require_vector("group_norm", "scale", scale, channels, x)
    require_vector("group_norm", "bias", bias, channels, x)
    kept = MetaTensor([x.shape[0], groups], statistics_dtype(x.dtype))
    return MetaTensor(x.shape, x.dtype), kept, kept


def instance_norm(
    x: MetaTensor, scale: MetaTensor | None, bias: MetaTensor | None, **attrs: Any
) -> tuple[MetaTensor, MetaTensor, MetaTensor]:
    """Mean and 1 / standard deviation are [N * C]."""
    if not 2 <= x.ndim <= 5:
        raise ValueError(
            f"instance_norm: expected x with 2 to 5 dimensions, but got {list(x.shape)}. "
            "The first is the batch, the second the channels."
        )
    n, channels = x.shape[:2]
    require_vector("instance_norm", "scale", scale, channels, x)
    require_vector("instance_norm", "bias", bias, channels, x)
    rows = -1 if -1 in (n, channels) else n * channels
    kept = MetaTensor([rows], statistics_dtype(x.dtype))
    return MetaTensor(x.shape, x.dtype), kept, kept


def rms_norm(
    x: MetaTensor, scale: MetaTensor | None, *, normalized_shape: Sequence[int], **attrs: Any
) -> tuple[MetaTensor, MetaTensor]:
    """The last axes, of normalized_shape, are normalised together."""
    count = len(normalized_shape)
    last = x.shape[x.ndim - count :] if count <= x.ndim else ()
    fits = len(last) == count > 0 and all(
        a in (-1, b) for a, b in zip(last, normalized_shape, strict=True)
    )
    if not fits:
        raise ValueError(
            f"rms_norm: expected x [..., {', '.join(map(str, normalized_shape))}], but got "
            f"{list(x.shape)}. normalized_shape names the last sizes of x."
        )
    require_shape("rms_norm", "scale", scale, last)
    kept = MetaTensor(x.shape[: x.ndim - count], statistics_dtype(x.dtype))
    return MetaTensor(x.shape, x.dtype), kept
