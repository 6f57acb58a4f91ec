"""InferMeta rules of ops with one Tensor input.

Paddle: paddle/phi/infermeta/unary.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.attribute import UnknownInts
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.enforce import normalize_axes, require_floating


def unchanged(x: MetaTensor, **attrs: Any) -> MetaTensor:
    """The output is like the input."""
    return MetaTensor(x.shape, x.dtype)


def reshaped(x: MetaTensor, *, shape: Sequence[int]) -> MetaTensor:
    """-1 is worked out from the other sizes; 0 copies the input's size at that place."""
    if isinstance(shape, UnknownInts):
        return MetaTensor(shape, x.dtype)
    if any(size < -1 for size in shape) or list(shape).count(-1) > 1:
        raise ValueError(
            f"reshape: expected sizes of 0 or more and at most one -1, but got {list(shape)}. "
            "Leave only one size to be worked out."
        )
    sizes = [x.shape[i] if size == 0 and i < x.ndim else size for i, size in enumerate(shape)]
    if -1 in x.shape:
        return MetaTensor(sizes, x.dtype)
    total = math.prod(x.shape)
    if total:
        known = math.prod(size for size in sizes if size != -1)
        fits = known and (total % known == 0 if -1 in sizes else total == known)
        worked_out = total // known if known else 0
    else:  # no elements: 0 is 0, and -1 becomes the 0 that is missing, or what the others leave
        sizes = list(shape)
        left = math.prod(size for size in x.shape if size)
        known = math.prod(size for size in sizes if size > 0)
        fits = left % known == 0 if {0, -1} <= set(sizes) else 0 in sizes or -1 in sizes
        worked_out = left // known if 0 in sizes else 0
    if not fits:
        raise ValueError(
            f"reshape: expected a shape with {total} elements, but got {list(shape)} for an input "
            f"of shape {list(x.shape)}. The number of elements must stay the same."
        )
    return MetaTensor([worked_out if size == -1 else size for size in sizes], x.dtype)


def unsqueezed(x: MetaTensor, *, axis: Sequence[int]) -> MetaTensor:
    """Inserts sizes of 1; each axis counts in the shape that has grown so far."""
    shape = list(x.shape)
    for item in axis:
        size = len(shape) + 1
        if not -size <= item < size:
            raise ValueError(
                f"unsqueeze: expected an axis in [{-size}, {size}), but got {item}. "
                f"The input has shape {list(x.shape)}."
            )
        shape.insert(item % size, 1)
    return MetaTensor(shape, x.dtype)


def squeezed(x: MetaTensor, *, axis: Sequence[int]) -> MetaTensor:
    """Drops sizes of 1: at the given axes, or everywhere. An axis whose size is not 1 stays, as
    in Paddle.
    """
    axes = normalize_axes("squeeze", axis, x.ndim) if x.ndim else ()
    return MetaTensor(
        [size for i, size in enumerate(x.shape) if not (i in axes and size == 1)], x.dtype
    )


def transposed(x: MetaTensor, *, perm: Sequence[int]) -> MetaTensor:
    """`perm` names each axis once."""
    axes = normalize_axes("transpose", perm, x.ndim) if perm else ()
    if len(axes) != x.ndim:
        raise ValueError(
            f"transpose: expected a perm of {x.ndim} axes for shape {list(x.shape)}, but got "
            f"{list(perm)}. Name every axis once."
        )
    return MetaTensor([x.shape[i] for i in axes], x.dtype)


def flattened(x: MetaTensor, *, start_axis: int, stop_axis: int) -> MetaTensor:
    """One axis stands for those from `start_axis` to `stop_axis`; a number becomes a row of 1."""
    if x.ndim == 0:
        return MetaTensor([1], x.dtype)
    (start,) = normalize_axes("flatten", start_axis, x.ndim)
    (stop,) = normalize_axes("flatten", stop_axis, x.ndim)
    if start > stop:
        raise ValueError(
            f"flatten: expected start_axis <= stop_axis, but got {start_axis} and {stop_axis} for "
            f"shape {list(x.shape)}. Swap them."
        )
    inside = x.shape[start : stop + 1]
    size = -1 if -1 in inside else math.prod(inside)
    return MetaTensor([*x.shape[:start], size, *x.shape[stop + 1 :]], x.dtype)


def as_floating(x: MetaTensor, **attrs: Any) -> MetaTensor:
    """Like the input; integers give float32."""
    return MetaTensor(x.shape, x.dtype if x.dtype.is_floating else dtypes.float32)


def floating_only(who: str) -> Any:
    """Makes the rule of an op that takes floating-point numbers only, and keeps them as they are.

    Raises:
        TypeError: x holds integers or bools.
    """

    def rule(x: MetaTensor, **attrs: Any) -> MetaTensor:
        require_floating(who, x.dtype)
        return MetaTensor(x.shape, x.dtype)

    return rule


def along_axis(who: str) -> Any:
    """Makes the rule of an op that takes floating-point numbers, works along one axis, and keeps
    the shape.
    """

    def rule(x: MetaTensor, *, axis: int) -> MetaTensor:
        require_floating(who, x.dtype)
        normalize_axes(who, axis, x.ndim)
        return unchanged(x)

    return rule


def asked(x: MetaTensor, **attrs: Any) -> MetaTensor:
    """True or False for each element."""
    return MetaTensor(x.shape, dtypes.bool_)


def integer_only(who: str) -> Any:
    """Makes the rule of an op on bits.

    Raises:
        TypeError: x holds floating-point numbers.
    """

    def rule(x: MetaTensor, **attrs: Any) -> MetaTensor:
        if x.dtype.is_floating:
            raise TypeError(
                f"{who}: expected integers or bools, but got {x.dtype.name}. Cast x with astype."
            )
        return MetaTensor(x.shape, x.dtype)

    return rule
