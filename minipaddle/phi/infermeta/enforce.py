"""Checks that many InferMeta rules share: does the axis exist, do the shapes agree, is the dtype
right? Each raises the error that the user reads.

Paddle: PADDLE_ENFORCE and its like, paddle/common/enforce.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.phi.core.meta_tensor import MetaTensor


def normalize_axes(who: str, axis: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Axes as non-negative numbers; no axes at all means every axis.

    Raises:
        ValueError: an axis is out of range, or is named twice.
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    result = []
    for item in axes:
        if not -max(ndim, 1) <= item < max(ndim, 1):
            raise ValueError(
                f"{who}: expected an axis in [{-ndim}, {ndim}), but got {item}. "
                f"The input has {ndim} dimensions."
            )
        result.append(item % max(ndim, 1))
    if len(set(result)) != len(result):
        raise ValueError(
            f"{who}: expected each axis once, but got {list(axes)}. Name each axis once."
        )
    return tuple(result) if result else tuple(range(ndim))


def require_dimensions(who: str, x: Any) -> None:
    """Raises ValueError if x is one number, without axes."""
    if not x.ndim:
        raise ValueError(
            f"{who}: expected a Tensor with dimensions, but got a 0-D Tensor. Reshape it to [1]."
        )


def shapes_agree(left: Sequence[int], right: Sequence[int]) -> bool:
    """True if both may be the same shape: an unknown size, -1, agrees with every size."""
    return len(left) == len(right) and all(
        a == b or -1 in (a, b) for a, b in zip(left, right, strict=True)
    )


def require_shape(
    who: str,
    name: str,
    x: MetaTensor | None,
    wanted: Sequence[int],
    advice: str = "Reshape it.",
) -> None:
    """Raises ValueError where sizes that are known differ. An input that is not given fits."""
    if x is not None and not shapes_agree(x.shape, wanted):
        raise ValueError(
            f"{who}: expected {name} of shape {list(wanted)}, but got {list(x.shape)}. {advice}"
        )


def require_dtype(who: str, name: str, x: MetaTensor | None, wanted: DataType) -> None:
    """Raises ValueError unless x has this dtype. An input that is not given fits."""
    if x is not None and x.dtype is not wanted:
        raise ValueError(
            f"{who}: expected {name} of dtype {wanted.name}, but got {x.dtype.name}. Cast {name} "
            "with astype."
        )


def require_same_dtype(who: str, **inputs: MetaTensor) -> None:
    """Raises ValueError unless two inputs, given by their names, have one dtype."""
    (a, x), (b, y) = inputs.items()
    if x.dtype is not y.dtype:
        raise ValueError(
            f"{who}: expected {a} and {b} of one dtype, but got {a} {x.dtype.name} and {b} "
            f"{y.dtype.name}. Cast one of them with astype."
        )


def require_floating(
    who: str, dtype: Any, name: str = "x", error: type[Exception] = TypeError
) -> None:
    """Raises an error, of the kind that Paddle raises there, unless `dtype`, numpy's or ours, is a
    floating-point one.
    """
    if not to_dtype(dtype).is_floating:
        raise error(
            f"{who}: expected {name} of a floating-point dtype, but got {to_dtype(dtype).name}. "
            f"Cast {name} with astype('float32')."
        )
