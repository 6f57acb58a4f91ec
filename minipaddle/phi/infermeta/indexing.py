"""InferMeta rules of ops that read or write parts of a Tensor.

Paddle: paddle/phi/infermeta/unary.cc (SliceRawInferMeta, StridedSliceRawInferMeta), binary.cc
(GatherInferMeta, GatherNdInferMeta), ternary.cc (ScatterInferMeta).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.phi.core.attribute import UnknownInts
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.binary import broadcast_shape
from minipaddle.phi.infermeta.enforce import normalize_axes, require_dimensions, require_dtype

Range = tuple[int, int, int]


def ranges(
    shape: Sequence[int],
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int],
) -> dict[int, Range]:
    """axis -> (start, stop, step), all inside the axis, as Python's own slices have it."""
    found = {}
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if not -len(shape) <= axis < len(shape):
            raise ValueError  # InferMeta says why
        axis %= len(shape)
        found[axis] = slice(start, end, step).indices(shape[axis])
    return found


def _check_axes(who: str, x: MetaTensor, axes: Sequence[int], *lists: Sequence[int]) -> None:
    if axes:
        require_dimensions(who, x)
    normalize_axes(who, axes, x.ndim)
    if any(len(item) != len(axes) for item in lists):
        raise ValueError(
            f"{who}: expected one start, end and step for each axis, but got axes {list(axes)} and "
            f"{[list(item) for item in lists]}. Make them equally long."
        )


def _part(
    who: str,
    x: MetaTensor,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int],
) -> list[int]:
    """The sizes of a part of x; -1 where it depends on what is not known yet."""
    _check_axes(who, x, axes, starts, ends, steps)
    if 0 in steps:
        raise ValueError(
            f"{who}: expected steps other than 0, but got {list(steps)}. 1 takes every element."
        )
    shape = list(x.shape)
    if any(isinstance(item, UnknownInts) for item in (starts, ends, steps)):
        for axis in axes:
            shape[axis] = -1
        return shape
    known = [i for i, axis in enumerate(axes) if x.shape[axis] != -1]
    picked = [[item[i] for i in known] for item in (axes, starts, ends, steps)]
    for axis, found in ranges(x.shape, *picked).items():
        shape[axis] = len(range(*found))
    return shape


def sliced(
    input: MetaTensor,
    *,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    infer_flags: Sequence[int] = (),
    decrease_axis: Sequence[int] = (),
) -> MetaTensor:
    """The shape of the part, without the axes of `decrease_axis`."""
    shape = _part("slice", input, axes, starts, ends, (1,) * len(axes))
    for axis in decrease_axis:
        if shape[axis] not in (1, -1):
            raise ValueError(
                f"slice: expected a size of 1 at axis {axis}, which goes away, but got "
                f"{shape[axis]} (input {list(input.shape)}, starts {list(starts)}, ends "
                f"{list(ends)}). The place does not exist, or end is not start + 1."
            )
    return MetaTensor([s for i, s in enumerate(shape) if i not in decrease_axis], input.dtype)


def strided_sliced(
    x: MetaTensor,
    *,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
) -> MetaTensor:
    """The shape of the part."""
    return MetaTensor(_part("strided_slice", x, axes, starts, ends, strides), x.dtype)


def written_fits(
    x: MetaTensor,
    values: MetaTensor,
    *,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int],
    axes: Sequence[int],
    decrease_axes: Sequence[int] = (),
    none_axes: Sequence[int] = (),
) -> MetaTensor:
    """set_value: `values` must broadcast to the part that is written."""
    part = _part("set_value", x, axes, starts, ends, steps)
    for axis in decrease_axes:
        if part[axis] not in (1, -1):
            raise IndexError(
                f"set_value: expected a place in axis {axis} of shape {list(x.shape)}, but got "
                f"{list(starts)}."
            )
    shape = [size for i, size in enumerate(part) if i not in decrease_axes]
    for axis in none_axes:
        shape.insert(axis, 1)
    given = list(values.shape)
    while len(given) > len(shape) and given[0] == 1:
        given.pop(0)
    tail = shape[len(shape) - len(given) :] if len(given) <= len(shape) else None
    if tail is None or any(a not in (1, -1, b) and b != -1 for a, b in zip(given, tail)):
        raise ValueError(
            f"set_value: expected values that broadcast to shape {shape}, but got shape "
            f"{list(values.shape)}. Counted from the right, sizes must be equal, or 1 in values."
        )
    return MetaTensor(x.shape, x.dtype)


def _check_index(who: str, index: MetaTensor) -> None:
    if index.dtype.name not in ("int32", "int64"):
        raise ValueError(
            f"{who}: expected an index of int32 or int64, but got {index.dtype.name}. Cast it with "
            "astype('int64')."
        )


def gathered(x: MetaTensor, index: MetaTensor, *, axis: int) -> MetaTensor:
    """The axis gets the size of the index; it goes away for one number."""
    require_dimensions("gather", x)
    _check_index("gather", index)
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] not in (1, -1)):
        raise ValueError(
            f"gather: expected an index of shape [N], [N, 1] or [], but got {list(index.shape)}. "
            "gather_nd takes several places at once."
        )
    (place,) = normalize_axes("gather", int(axis), x.ndim)
    middle = [] if index.ndim == 0 else [index.shape[0]]
    return MetaTensor([*x.shape[:place], *middle, *x.shape[place + 1 :]], x.dtype)


def selected(x: MetaTensor, index: MetaTensor, *, axis: int) -> MetaTensor:
    """The axis gets the size of the index."""
    require_dimensions("index_select", x)
    _check_index("index_select", index)
    if index.ndim != 1:
        raise ValueError(
            f"index_select: expected an index of shape [N], but got {list(index.shape)}. Reshape "
            "it to one dimension."
        )
    (place,) = normalize_axes("index_select", axis, x.ndim)
    return MetaTensor([*x.shape[:place], index.shape[0], *x.shape[place + 1 :]], x.dtype)


def gathered_nd(x: MetaTensor, index: MetaTensor) -> MetaTensor:
    """index [..., K] -> [..., what is left of x behind K axes]."""
    _check_index("gather_nd", index)
    if index.ndim == 0 or index.shape[-1] > x.ndim:
        raise ValueError(
            f"gather_nd: expected an index whose last size is at most {x.ndim}, the number of "
            f"dimensions of x, but got shape {list(index.shape)}. The last axis holds one place."
        )
    return MetaTensor([*index.shape[:-1], *x.shape[index.shape[-1] :]], x.dtype)


def scattered(
    x: MetaTensor, index: MetaTensor, updates: MetaTensor, *, overwrite: bool
) -> MetaTensor:
    """The output is like x; updates have as many rows as the index has places."""
    _check_index("scatter", index)
    if index.ndim and updates.ndim and -1 not in (index.shape[0], updates.shape[0]):
        rows = updates.shape[0]
        if index.shape[0] != rows and updates.ndim == x.ndim:
            raise ValueError(
                f"scatter: expected one row of updates for each place, but got index "
                f"{list(index.shape)} and updates {list(updates.shape)}. Make them equally long."
            )
    return MetaTensor(x.shape, x.dtype)


def taken_fits(who: str, arr: MetaTensor, indices: MetaTensor, axis: int) -> None:
    """Raises ValueError where arr and indices have other numbers of axes."""
    normalize_axes(who, axis, arr.ndim)
    _check_index(who, indices)
    if arr.ndim != indices.ndim:
        raise ValueError(
            f"{who}: expected arr and indices with the same number of dimensions, but got "
            f"{list(arr.shape)} and {list(indices.shape)}. index_select takes a row of places."
        )


def like_indices(who: str, x: MetaTensor, indices: Sequence[MetaTensor]) -> MetaTensor:
    """The shape of x[indices]: that of the indices together, then what is left of x.

    Raises:
        ValueError: the indices don't broadcast.
    """
    if any(item.dtype.name == "bool" for item in indices):
        used = sum(max(item.ndim, 1) if item.dtype.name == "bool" else 1 for item in indices)
        return MetaTensor([-1, *x.shape[used:]], x.dtype)
    front = indices[0]
    for item in indices[1:]:
        front = MetaTensor(broadcast_shape(who, front, item), item.dtype)
    return MetaTensor([*front.shape, *x.shape[len(indices) :]], x.dtype)


def index_put_fits(
    x: MetaTensor, indices: Sequence[MetaTensor], value: MetaTensor, **attrs: Any
) -> MetaTensor:
    """The output is like x."""
    if not indices:
        raise ValueError("index_put: expected at least one index, but got none. Pass a tuple.")
    require_dtype("index_put", "value", value, x.dtype)
    like_indices("index_put", x, indices)
    return MetaTensor(x.shape, x.dtype)
