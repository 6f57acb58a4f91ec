"""x[...] and x[...] = values, in ops: the same ones in every world.

What stands between the brackets is sorted into two kinds:

    basic       ints, slices, None, ...       slice or strided_slice, then unsqueeze
    advanced    Tensors, arrays, lists        the axes they stand at come first (transpose), then
                                              gather_nd, or masked_select for one mask of x's shape

    x[0, 1:3]         slice(x, axes=[0, 1], starts=[0, 1], ends=[1, 3], decrease_axis=[0])
    x[:, [2, 0]]      transpose, gather_nd, transpose
    x[0] = 5.0        set_value_(x, starts=[0], ends=[1], steps=[1], ...)

Paddle: paddle/fluid/pybind/slice_utils.h (dygraph), python/paddle/base/variable_index.py (static).
Left out: in dygraph, Paddle reads and writes at advanced indices with ops of its own
(index_elementwise_get), which are faster there; an index outside of x is an error here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.core.world import in_dynamic_mode
from minipaddle.tensor.creation import constant
from minipaddle.tensor.logic import is_tensor

FIRST, LAST = -(2**31), 2**31 - 1  # before the first place, behind the last: what Paddle writes


class Index:
    """What stands between the brackets, sorted.

    Attributes:
        axes, starts, ends, steps: the basic part, without the axes that stay whole.
        decrease: axes that an int takes away.
        none: where None puts a new axis, counted in the result of the basic part.
        advanced: axis (in the result of the basic part) -> Tensor of ints or bools.
    """

    def __init__(self) -> None:
        self.axes: list[int] = []
        self.starts: list[Any] = []
        self.ends: list[Any] = []
        self.steps: list[int] = []
        self.decrease: list[int] = []
        self.none: list[int] = []
        self.advanced: dict[int, Any] = {}

    def add(self, axis: int, start: Any, end: Any, step: int) -> None:
        self.axes.append(axis)
        self.starts.append(start)
        self.ends.append(end)
        self.steps.append(step)


def _is_int(item: Any) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))


def parse_index(x: Any, item: Any) -> Index:
    """Sorts the index of x[item].

    Raises:
        IndexError: too many indices, an int outside of x, or a mask that does not fit.
        ValueError: something that is no index, a step of 0, or more than one Ellipsis.
    """
    items = list(item) if isinstance(item, tuple) else [item]
    items = _with_whole_axes(x, [_plain(one) for one in items])
    index, axis, place = Index(), 0, 0
    for one in items:
        if one is None:
            index.none.append(place)
            place += 1
        elif isinstance(one, slice):
            start, end, step = _range_of(one, x.shape[axis])
            whole = _is_int(start) and step == 1 and _is_int(end) and end == LAST
            if not whole or not (start == 0 or (in_dynamic_mode() and start <= -x.shape[axis])):
                index.add(axis, start, end, step)
            axis, place = axis + 1, place + 1
        elif _is_int(one) or (is_tensor(one) and one.ndim == 0 and one.dtype is not dtypes.bool_):
            start, end = _place_of(x, axis, one)
            index.add(axis, start, end, 1)
            index.decrease.append(axis)
            axis += 1
        else:
            index.advanced[place] = one
            used = max(one.ndim, 1) if one.dtype is dtypes.bool_ else 1
            _check_advanced(x, axis, one)
            axis, place = axis + used, place + used
    return index


def _plain(item: Any) -> Any:
    """Lists and arrays become Tensors; a 0-D Tensor of an int becomes the int."""
    if isinstance(item, (bool, np.bool_)):
        return item
    if isinstance(item, (list, np.ndarray)):
        array = np.asarray(item)
        if array.size == 0 and isinstance(item, list):
            array = array.astype("int64")
        if array.dtype.kind not in "biu":
            raise ValueError(
                f"Tensor[...]: expected ints or bools in a list, but got {item!r}. Cast them first."
            )
        return constant(array)
    if isinstance(item, Tensor) and item.ndim == 0 and item.dtype is not dtypes.bool_:
        return int(item)
    if item is None or item is Ellipsis or isinstance(item, slice) or _is_int(item):
        return item
    if is_tensor(item):
        return item
    raise ValueError(
        f"Tensor[...]: expected ints, slices, None, ..., bools, lists, arrays or Tensors, but got "
        f"{item!r} ({type(item).__name__}). Use one of them."
    )


def _with_whole_axes(x: Any, items: list[Any]) -> list[Any]:
    """`...`, or what is missing at the end, as `:`."""
    dots = [i for i, one in enumerate(items) if one is Ellipsis]
    if len(dots) > 1:
        raise ValueError(f"Tensor[...]: expected at most one '...', but got {len(dots)}.")
    used = 0
    for one in items:
        if is_tensor(one) and one.dtype is dtypes.bool_:
            used += max(one.ndim, 1)
        else:
            used += one is not None and one is not Ellipsis
    if used > x.ndim:
        raise IndexError(
            f"Tensor[...]: expected at most {x.ndim} indices for shape {list(x.shape)}, but got "
            f"{used}. A Tensor has one index for each axis."
        )
    at = dots[0] if dots else len(items)
    return [*items[:at], *[slice(None)] * (x.ndim - used), *items[at + 1 :]]


def _range_of(item: slice, size: int) -> tuple[Any, Any, int]:
    """(start, end, step) as Paddle writes them."""

    def known(value: Any, default: Any) -> Any:
        if value is None:
            return default
        if is_symbolic(value):
            return value
        if not (_is_int(value) or isinstance(value, Tensor)):
            raise ValueError(
                f"Tensor[...]: expected ints in a slice, but got {value!r}. Round it first."
            )
        return int(value)

    step = known(item.step, 1)
    if step == 0:
        raise ValueError("Tensor[...]: expected a step other than 0, but got 0.")
    start = known(item.start, 0 if step > 0 else LAST)
    end = known(item.stop, LAST if step > 0 else FIRST)
    if _is_int(end) and size != -1 and end >= size:
        end = LAST
    return start, end, step


def _place_of(x: Any, axis: int, item: Any) -> tuple[Any, Any]:
    """(start, end) of the slice that holds one place."""
    if not _is_int(item):
        return item, item + 1
    place, size = int(item), x.shape[axis]
    if size != -1 and not -size <= place < size:
        raise IndexError(
            f"Tensor[...]: expected an index in [{-size}, {size}) for axis {axis} of shape "
            f"{list(x.shape)}, but got {place}."
        )
    return place, LAST if place == -1 else place + 1


def _check_advanced(x: Any, axis: int, item: Any) -> None:
    if item.dtype.is_floating:
        raise ValueError(
            f"Tensor[...]: expected an index of int32, int64 or bool, but got {item.dtype.name}. "
            "Cast it with astype('int64')."
        )
    if item.dtype is dtypes.bool_:
        wanted = list(x.shape)[axis : axis + item.ndim]
        fits = all(a == b or -1 in (a, b) for a, b in zip(item.shape, wanted, strict=True))
        if not fits:
            raise IndexError(
                f"Tensor[...]: expected a mask of shape {wanted}, but got {list(item.shape)}. It "
                "has one bool for each place."
            )


# -- reading -----------------------------------------------------------------------------------


def getitem(x: Any, item: Any) -> Any:
    """x[item].

    Raises:
        IndexError, ValueError: see `parse_index`.
    """
    if isinstance(item, (bool, np.bool_)):  # a new axis, of size 1 or 0
        mask = constant(np.array([item]))
        return getitem(OPS["unsqueeze"](x, axis=[0]), mask)
    index = parse_index(x, item)
    part = _basic(x, index)
    if index.none:
        part = OPS["unsqueeze"](part, axis=index.none)
    return _advanced(part, index.advanced) if index.advanced else part


def _basic(x: Any, index: Index) -> Any:
    """The part that ints and slices name."""
    if not index.axes:
        return x  # x[...] is x itself
    place = {"axes": index.axes, "starts": index.starts, "ends": index.ends}
    if all(step == 1 for step in index.steps):
        symbolic = any(is_symbolic(item) for item in (*index.starts, *index.ends))
        flags = [-1 if symbolic else 1] * len(index.axes)
        return OPS["slice"](x, **place, infer_flags=flags, decrease_axis=index.decrease)
    part = OPS["strided_slice"](x, **place, strides=index.steps)
    return OPS["squeeze"](part, axis=index.decrease) if index.decrease else part


def _advanced(x: Any, advanced: dict[int, Any]) -> Any:
    """x at the places that Tensors name."""
    first = next(iter(advanced.values()))
    if len(advanced) == 1 and first.dtype is dtypes.bool_ and first.ndim == x.ndim:
        return OPS["masked_select"](x, first)
    to_front, back = _permutations(x.ndim, advanced)
    moved = _transposed(x, to_front)
    return _transposed(OPS["gather_nd"](moved, _points(list(advanced.values()))), back)


def _transposed(x: Any, perm: list[int]) -> Any:
    return x if perm == sorted(perm) else OPS["transpose"](x, perm=perm)


def _permutations(ndim: int, advanced: dict[int, Any]) -> tuple[list[int], list[int]]:
    """The two perms for transpose: one brings the advanced axes to the front; the other brings the
    axes of the result back to where they stood, if they stood side by side, as in numpy.
    """
    taken: list[int] = []
    for place, one in advanced.items():
        taken += range(place, place + (one.ndim if one.dtype is dtypes.bool_ else 1))
    rest = [axis for axis in range(ndim) if axis not in taken]
    new = max(1 if one.dtype is dtypes.bool_ else one.ndim for one in advanced.values())
    side_by_side = taken == list(range(taken[0], taken[0] + len(taken)))
    before = taken[0] if side_by_side else 0
    axes = list(range(new + len(rest)))
    return taken + rest, [*axes[new : new + before], *axes[:new], *axes[new + before :]]


def _points(indices: list[Any]) -> Any:
    """The indices as one Tensor [..., K], for gather_nd."""
    if len(indices) == 1:
        (one,) = indices
        is_mask = one.dtype is dtypes.bool_
        return OPS["nonzero"](one) if is_mask else OPS["unsqueeze"](one, axis=[-1])
    return OPS["stack"](OPS["broadcast_tensors"](_columns(indices)), axis=-1)


def _columns(indices: list[Any]) -> list[Any]:
    """One Tensor of ints for each axis: a mask becomes the places where it is True."""
    columns = []
    for one in indices:
        if one.dtype is dtypes.bool_:
            places = OPS["nonzero"](one)
            columns += [getitem(places, (slice(None), axis)) for axis in range(one.ndim)]
        else:
            columns.append(one)
    return columns


# -- writing -----------------------------------------------------------------------------------


def setitem(x: Any, item: Any, value: Any) -> Any:
    """x after x[item] = value: in dygraph x itself, changed in place; in a PIR program a new Value.

    Raises:
        IndexError: a place does not exist.
        ValueError: the value is no number, array or Tensor, or its shape does not fit.
    """
    if isinstance(item, (bool, np.bool_)):
        raise ValueError(
            f"Tensor[...] = ...: expected places to write to, but got {item!r}. Use x[...] = value."
        )
    value = _value(x, value)
    index = parse_index(x, item)
    if index.advanced:
        if not index.axes and not index.none and in_dynamic_mode():
            return _put(x, index, value, "index_put_")
        part = _basic(x, index)
        if index.none:
            part = OPS["unsqueeze"](part, axis=index.none)
        value = _put(part, index, _as_tensor(x, value), "index_put")
    place = {
        "starts": index.starts,
        "ends": index.ends,
        "steps": index.steps,
        "axes": index.axes,
        "decrease_axes": index.decrease,
        "none_axes": index.none,
    }
    if is_tensor(value):
        return find_op("set_value_with_tensor_")(x, value, **place)
    return find_op("set_value_")(x, **place, shape=[1], values=[value])


def _value(x: Any, value: Any) -> Any:
    """A number, or a Tensor of the dtype of x."""
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        value = constant(value)
    if not is_tensor(value):
        raise ValueError(
            f"Tensor[...] = ...: expected a number, an array or a Tensor, but got "
            f"{type(value).__name__}. Make one with paddle.to_tensor."
        )
    return value if value.dtype is x.dtype else OPS["cast"](value, dtype=x.dtype)


def _as_tensor(x: Any, value: Any) -> Any:
    if is_tensor(value):
        return value
    if in_dynamic_mode():
        return OPS["full"](shape=[1], value=value, dtype=x.dtype)
    number = constant(np.array([value]))
    return number if number.dtype is x.dtype else OPS["cast"](number, dtype=x.dtype)


def _put(x: Any, index: Index, value: Any, op: str) -> Any:
    """index_put, with the advanced axes in front while it writes."""
    value = _as_tensor(x, value)
    advanced = index.advanced
    to_front, back = _permutations(x.ndim, advanced)
    indices = list(advanced.values())
    if len(indices) > 1 or to_front != sorted(to_front):
        indices = _columns(indices)
    if to_front == sorted(to_front):
        result = find_op(op)(x, indices, value)
        # the transpose changes nothing: it is what Paddle's programs have
        return result if in_dynamic_mode() else OPS["transpose"](result, perm=to_front)
    if value.ndim > 1:  # it has the axes of x[item]: bring them into the order of the moved x
        shape = list(getitem(x, tuple(_item_of(x.ndim, advanced))).shape)
        value = OPS["transpose"](OPS["expand"](value, shape=shape), perm=_inverse(back))
    moved = OPS["index_put"](OPS["transpose"](x, perm=to_front), indices, value)
    result = OPS["transpose"](moved, perm=_inverse(to_front))
    if op == "index_put":
        return result
    everything = {"starts": (), "ends": (), "steps": (), "axes": ()}
    return find_op("set_value_with_tensor_")(x, result, **everything)


def _item_of(ndim: int, advanced: dict[int, Any]) -> list[Any]:
    """The advanced part as an index again."""
    items: list[Any] = []
    axis = 0
    while axis < ndim:
        one = advanced.get(axis, slice(None))
        items.append(one)
        axis += one.ndim if is_tensor(one) and one.dtype is dtypes.bool_ else 1
    return items


def _inverse(perm: list[int]) -> list[int]:
    return sorted(range(len(perm)), key=perm.__getitem__)


# -- the methods -------------------------------------------------------------------------------


def set_in_place(self: Any, item: Any, value: Any) -> None:
    """x[item] = value. Raises RuntimeError in static programs: there is `static.setitem`."""
    if is_symbolic(self):
        raise RuntimeError(
            "x[...] = ...: expected a Tensor, but got a variable of a static program. Use "
            "x = paddle.static.setitem(x, index, value)."
        )
    setitem(self, item, value)


def iterate(self: Any) -> Any:
    """The parts along the first axis. Raises TypeError for a 0-D Tensor."""
    if self.ndim == 0:
        raise TypeError(
            "iteration: expected a Tensor with dimensions, but got a 0-D Tensor. Use item() for "
            "its number."
        )
    if self.shape[0] == -1:
        raise TypeError(
            f"iteration: expected a known first size, but got shape {list(self.shape)}. "
            "Loop with paddle.static.nn.while_loop."
        )
    return iter([getitem(self, i) for i in range(self.shape[0])])


METHODS = {"__getitem__": getitem, "__setitem__": set_in_place, "__iter__": iterate}
