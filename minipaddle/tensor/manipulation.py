"""Shapes, dtypes, order, joining and taking apart. Paddle: python/paddle/tensor/manipulation.py.

Left out: `out=`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.dtype import to_dtype
from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.core.world import in_dynamic_mode, state
from minipaddle.phi.infermeta.enforce import normalize_axes, require_dimensions
from minipaddle.tensor.creation import constant
from minipaddle.tensor.logic import is_tensor

__all__ = [
    "broadcast_tensors",
    "broadcast_to",
    "cast",
    "cast_",
    "chunk",
    "concat",
    "expand",
    "expand_as",
    "flatten",
    "flatten_",
    "flip",
    "gather",
    "gather_nd",
    "index_add",
    "index_add_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "masked_fill",
    "masked_fill_",
    "moveaxis",
    "put_along_axis",
    "repeat_interleave",
    "reshape",
    "reshape_",
    "roll",
    "scatter",
    "scatter_",
    "scatter_nd_add",
    "slice",
    "split",
    "squeeze",
    "squeeze_",
    "stack",
    "strided_slice",
    "swapaxes",
    "take_along_axis",
    "tile",
    "unbind",
    "unflatten",
    "unique",
    "unsqueeze",
    "unsqueeze_",
    "unstack",
]

unsqueeze = OPS["unsqueeze"]
unsqueeze_ = find_op("unsqueeze_")
squeeze = OPS["squeeze"]
squeeze_ = find_op("squeeze_")
cast = OPS["cast"]
cast_ = find_op("cast_")
gather_nd = OPS["gather_nd"]
scatter = OPS["scatter"]
scatter_ = find_op("scatter_")
scatter_nd_add = OPS["scatter_nd_add"]
strided_slice = OPS["strided_slice"]
expand = OPS["expand"]
tile = OPS["tile"]
unbind = OPS["unbind"]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def in_dtype(x: Any, dtype: Any) -> Any:
    """x, cast to `dtype` if one is given and it is another."""
    if dtype is None or to_dtype(dtype) is x.dtype:
        return x
    return OPS["cast"](x, dtype=dtype)


def astype(x: Any, dtype: Any) -> Any:
    """x in another dtype; x itself, if it has that dtype. A classic Program casts all the same."""
    return OPS["cast"](x, dtype=dtype) if state.world == "program" else in_dtype(x, dtype)


# -- shape and order ---------------------------------------------------------------------------


def reshape(x: Any, shape: Any, name: Any = None) -> Any:
    """The same numbers in another shape; in dygraph x itself, if its shape is named. -1 is worked
    out, 0 copies x's size at that place.
    """
    return x if _has_shape(x, shape) else OPS["reshape"](x, shape=shape)


def reshape_(x: Any, shape: Any, name: Any = None) -> Any:
    """reshape, of x itself."""
    return x if _has_shape(x, shape) else find_op("reshape_")(x, shape=shape)


def _has_shape(x: Any, shape: Any) -> bool:
    named = isinstance(x, Tensor) and isinstance(shape, (list, tuple))
    return named and x._data.shape == tuple(shape)


def _both_axes(x: Any, start_axis: int, stop_axis: int) -> dict[str, int]:
    """The axes of flatten as numbers from 0."""
    (start,) = normalize_axes("flatten", start_axis, x.ndim)
    (stop,) = normalize_axes("flatten", stop_axis, x.ndim)
    return {"start_axis": start, "stop_axis": stop}


def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: Any = None) -> Any:
    """The axes from `start_axis` to `stop_axis` (included) become one.

    Raises:
        ValueError: an axis does not exist, or start_axis comes after stop_axis.
    """
    return OPS["flatten"](x, **_both_axes(x, start_axis, stop_axis))


def flatten_(x: Any, start_axis: int = 0, stop_axis: int = -1, name: Any = None) -> Any:
    """flatten, of x itself."""
    return find_op("flatten_")(x, **_both_axes(x, start_axis, stop_axis))


def unflatten(x: Any, axis: int, shape: Any, name: Any = None) -> Any:
    """One axis becomes several, of the sizes `shape`."""
    axis %= x.ndim
    return reshape(x, [*x.shape[:axis], *shape, *x.shape[axis + 1 :]])


def moveaxis(x: Any, source: Any, destination: Any, name: Any = None) -> Any:
    """The axes `source` at the places `destination`; the others keep their order.

    Raises:
        ValueError: not as many places as axes, or an axis that is not there.
    """
    require_dimensions("moveaxis", x)
    axes, places = (
        normalize_axes("moveaxis", _listed(named), x.ndim) for named in (source, destination)
    )
    if len(axes) != len(places):
        raise ValueError(
            f"moveaxis: expected as many places as axes, but got source {source} and destination "
            f"{destination}. Name one place for each axis."
        )
    where = dict(zip(places, axes))
    others = iter([axis for axis in range(x.ndim) if axis not in where.values()])
    perm = [where[place] if place in where else next(others) for place in range(x.ndim)]
    return OPS["transpose"](x, perm=perm)


def swapaxes(x: Any, axis0: int, axis1: int, name: Any = None) -> Any:
    """Two axes change places."""
    require_dimensions("swapaxes", x)
    (first,), (second,) = (normalize_axes("swapaxes", axis, x.ndim) for axis in (axis0, axis1))
    perm = list(range(x.ndim))
    perm[first], perm[second] = second, first
    return OPS["transpose"](x, perm=perm)


def flip(x: Any, axis: Any, name: Any = None) -> Any:
    """x in reverse order along the axes."""
    return OPS["flip"](x, axis=_listed(axis))


def roll(x: Any, shifts: Any, axis: Any = None, name: Any = None) -> Any:
    """Moves the elements along the axes; what falls off one end comes in at the other. Without
    axes, x counts as one long row.
    """
    return OPS["roll"](x, shifts=shifts, axis=() if axis is None else _listed(axis))


# -- size --------------------------------------------------------------------------------------


def broadcast_to(x: Any, shape: Any, name: Any = None) -> Any:
    """x, broadcast to `shape`; -1 keeps x's size."""
    return OPS["expand"](x, shape=shape)


def expand_as(x: Any, y: Any, name: Any = None) -> Any:
    """x, broadcast to the shape of y."""
    return OPS["expand_as"](x, y, target_shape=list(y.shape))


def broadcast_tensors(input: Any, name: Any = None) -> Any:
    """All Tensors of the list in the shape that they broadcast to together."""
    return OPS["broadcast_tensors"](list(input))


# -- joining and taking apart ------------------------------------------------------------------


def concat(x: Any, axis: Any = 0, name: Any = None) -> Any:
    """The Tensors of the list one after the other along `axis`.

    Raises:
        ValueError: their other sizes, or their dtypes, differ.
    """
    return OPS["concat"](list(x), axis=axis)


def stack(x: Any, axis: int = 0, name: Any = None) -> Any:
    """The Tensors of the list, all of one shape, beside each other along a new axis."""
    return OPS["stack"](list(x), axis=axis)


def split(x: Any, num_or_sections: Any, axis: Any = 0, name: Any = None) -> Any:
    """Takes x apart along `axis`.

    Args:
        num_or_sections: how many equal pieces; or the sizes of the pieces, one of which may be -1.

    Returns:
        A list of Tensors: copies, not views.

    Raises:
        ValueError: the size is not divisible, or the sizes don't add up.
    """
    if isinstance(num_or_sections, int):
        return OPS["split_with_num"](x, num=num_or_sections, axis=axis)
    return OPS["split"](x, sections=num_or_sections, axis=axis)


def chunk(x: Any, chunks: int, axis: Any = 0, name: Any = None) -> Any:
    """Takes x apart along `axis`, in `chunks` equal pieces."""
    return OPS["split_with_num"](x, num=chunks, axis=axis)


def unstack(x: Any, axis: int = 0, num: int | None = None) -> Any:
    """The slices of x along `axis`, which goes away."""
    require_dimensions("unstack", x)
    (place,) = normalize_axes("unstack", axis, x.ndim)
    return OPS["unstack"](x, axis=axis, num=x.shape[place] if num is None else num)


# -- parts -------------------------------------------------------------------------------------


def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """input[starts[0]:ends[0], ...] along the axes."""
    known = not is_symbolic(starts) and not is_symbolic(ends)
    known = known and not any(map(is_symbolic, (*_listed(starts), *_listed(ends))))
    flags = [1 if known else -1] * len(axes)
    return OPS["slice"](input, axes=axes, starts=starts, ends=ends, infer_flags=flags)


def gather(x: Any, index: Any, axis: Any = None, name: Any = None) -> Any:
    """The slices of x at the places `index` ([N] or one number) along `axis` (default 0)."""
    return OPS["gather"](x, index, axis=0 if axis is None else axis)


def index_add(x: Any, index: Any, axis: int, value: Any, name: Any = None) -> Any:
    """x, with slice i of `value` added to its slice index[i] along `axis`."""
    return OPS["index_add"](x, index, value, axis=axis)


def index_add_(x: Any, index: Any, axis: int, value: Any, name: Any = None) -> Any:
    """`index_add` in place."""
    return OPS["index_add"].inplace_op(x, index, value, axis=axis)


def index_put(
    x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False, name: Any = None
) -> Any:
    """x after x[indices] = value, or, with `accumulate`, x[indices] += value."""
    return OPS["index_put"](x, list(indices), value, accumulate=accumulate)


def index_put_(
    x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False, name: Any = None
) -> Any:
    """index_put, of x itself."""
    return find_op("index_put_")(x, list(indices), value, accumulate=accumulate)


def index_fill(x: Any, index: Any, axis: int, value: Any, name: Any = None) -> Any:
    """x, with the number `value` in the slices at the places `index` along `axis`.

    Raises:
        ValueError: index is no Tensor, value is more than one number, or there is no such axis.
    """
    value, perm = _index_fill(x, index, axis, value)
    if in_dynamic_mode() and not index.size:
        return x.clone()
    out = OPS["index_put"](OPS["transpose"](x, perm=perm), [index], value)
    return OPS["transpose"](out, perm=perm)


def index_fill_(x: Any, index: Any, axis: int, value: Any, name: Any = None) -> Any:
    """index_fill, of x itself."""
    value, perm = _index_fill(x, index, axis, value)
    if index.size:
        find_op("transpose_")(x, perm=perm)
        find_op("index_put_")(x, [index], value)
        find_op("transpose_")(x, perm=perm)
    return x


def _index_fill(x: Any, index: Any, axis: int, value: Any) -> tuple[Any, list[int]]:
    """(the value as a Tensor, the perm that brings the axis to the front and back)."""
    if not is_tensor(index) or (is_tensor(value) and value.ndim):
        raise ValueError(
            f"index_fill: expected index to be a Tensor and value one number, but got "
            f"{type(index).__name__} and {value!r}. Use index_put for others."
        )
    if not isinstance(axis, int) or not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"index_fill: expected an axis in [{-x.ndim}, {x.ndim}), but got {axis!r}. "
            f"The input has {x.ndim} dimensions."
        )
    perm = list(range(x.ndim))
    perm[0], perm[axis] = perm[axis], perm[0]
    return value if is_tensor(value) else constant(value, x.dtype), perm


def repeat_interleave(
    x: Any,
    repeats: Any,
    axis: int | None = None,
    name: Any = None,
    *,
    output_size: int | None = None,
) -> Any:
    """Each element along `axis` (None: of x as one row) `repeats` times, side by side.

    Args:
        repeats: an int, or a Tensor with a number for each element.
        output_size: how long the result is, where `repeats` is known too late to say it.

    Raises:
        ValueError: not as many repeats as elements, or one is negative.
        IndexError: there is no such axis.
    """
    if is_tensor(repeats) and not repeats.ndim:
        repeats = OPS["reshape"](repeats, shape=[1])
    if axis is None:
        x, axis = x if x.ndim == 1 else flatten(x), 0
    size = -1 if output_size is None else output_size
    if is_tensor(repeats):
        repeat = OPS["repeat_interleave_with_tensor_index"]
        return repeat(x, repeats, axis=axis, output_size=size)
    return OPS["repeat_interleave"](x, repeats=repeats, axis=axis, output_size=size)


def _fill_value(x: Any, value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return OPS["full"](shape=[], value=value, dtype=x.dtype)
    return value


def masked_fill(x: Any, mask: Any, value: Any, name: Any = None) -> Any:
    """x, with the number `value` where the mask is True."""
    value = _fill_value(x, value)
    if not in_dynamic_mode():
        mask = OPS["cast"](mask, dtype="bool")
    return OPS["masked_fill"](x, mask, value)


def masked_fill_(x: Any, mask: Any, value: Any, name: Any = None) -> Any:
    """masked_fill, of x itself."""
    return find_op("masked_fill_")(x, mask, _fill_value(x, value))


def _along(arr: Any, indices: Any, axis: int) -> tuple[Any, Any]:
    """arr and indices, broadcast to each other but for `axis`."""
    if arr.ndim != indices.ndim:
        raise ValueError(
            f"take_along_axis: expected arr and indices with the same number of dimensions, but "
            f"got {list(arr.shape)} and {list(indices.shape)}."
        )
    require_dimensions("take_along_axis", arr)
    axis %= arr.ndim
    common = [max(a, b) for a, b in zip(arr.shape, indices.shape, strict=True)]

    def grown(x: Any) -> Any:
        shape = [x.shape[i] if i == axis else size for i, size in enumerate(common)]
        same = in_dynamic_mode() and list(x.shape) == shape
        return x if same else OPS["expand"](x, shape=shape)

    indices = grown(indices)
    return grown(arr), indices


def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    """out[i, j] = arr[indices[i, j], j] (axis 0) or arr[i, indices[i, j]] (axis 1), and so on.

    Args:
        broadcast: the other axes of arr and indices broadcast; if not, the sizes of indices may
            be smaller, and only the first places of arr are used.
    """
    if broadcast:
        return OPS["take_along_axis"](*_along(arr, indices, axis), axis=axis)
    others = [i for i in range(arr.ndim) if i != axis % arr.ndim]
    ends = [indices.shape[i] for i in others]
    first = slice(arr, others, [0] * len(others), ends) if others else arr
    return OPS["take_along_axis"](first, indices, axis=axis)


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """arr after arr[indices[i, j], j] = values[i, j] (axis 0), and so on.

    Args:
        reduce: "assign", or "add" to add the values instead.
        include_self: for "add": to what is there; if not, to 0.
    """
    values = _fill_value(arr, values)
    if broadcast:
        common = [max(a, b) for a, b in zip(arr.shape, indices.shape, strict=True)]
        common[axis] = indices.shape[axis]
        if not in_dynamic_mode() or list(indices.shape) != common:
            indices = OPS["expand"](indices, shape=common)
    if not in_dynamic_mode() or list(values.shape) != list(indices.shape):
        values = OPS["expand"](values, shape=list(indices.shape))
    return OPS["put_along_axis"](
        arr, indices, values, axis=axis, reduce=reduce, include_self=include_self
    )


def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    dtype: Any = "int64",
    sorted: bool = True,
    name: Any = None,
) -> Any:
    """The different elements of x, sorted; and, if asked for, where each comes up first, which one
    each element of x is, and how often each comes up.
    """
    wanted = (True, return_index, return_inverse, return_counts)
    results = OPS["unique"](
        x,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=() if axis is None else _listed(axis),
        dtype=dtype,
    )
    chosen = [item for item, want in zip(results, wanted, strict=True) if want]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)
