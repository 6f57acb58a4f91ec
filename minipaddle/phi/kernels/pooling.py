"""Pooling along one axis at a time: the maximum of a window is the maximum of its rows' maxima, and
its sum the sum of its rows' sums. So kh + kw steps do instead of kh * kw.

One step treats the i-th place of all windows together: a slice with the windows' stride.

Paddle: paddle/phi/kernels/funcs/pooling.cc, where one loop runs over the windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minipaddle.phi.kernels.im2col import scratch
from minipaddle.phi.kernels.windows import Windows


def _axis_slice(axis: int, piece: slice) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, piece)


def _framed(xp: Any, x: Any, windows: Windows, axis: int, fill: float) -> Any:
    """x with `fill` around it on this axis, as far as windows hang over its edges; in scratch
    memory.
    """
    reach = (windows.count - 1) * windows.stride + windows.length - windows.before
    after = max(reach - windows.size, 0)
    if not windows.before and not after:
        return x
    shape = list(x.shape)
    shape[axis] += windows.before + after
    framed = scratch(xp, "framed", tuple(shape), x.dtype)
    framed[...] = fill
    framed[_axis_slice(axis, slice(windows.before, windows.before + windows.size))] = x
    return framed


def _places(windows: Windows, axis: int) -> Iterator[tuple[Any, ...]]:
    """Per place of a regular window: where it is, for all windows together, on the framed axis."""
    for i in range(windows.length):
        yield _axis_slice(axis, slice(i, i + windows.stride * windows.count, windows.stride))


def reduce_windows(xp: Any, x: Any, windows: Windows, axis: int, kind: str) -> Any:
    """The maximum (kind "max") or the sum ("avg") of each window along the axis."""
    reduce = xp.max if kind == "max" else xp.sum
    if windows.whole:
        return reduce(x, axis=axis, keepdims=True)
    if not windows.length:
        pieces = [
            reduce(x[_axis_slice(axis, slice(start, stop))], axis=axis, keepdims=True)
            for start, stop in zip(windows.starts, windows.stops, strict=True)
        ]
        return xp.concatenate(pieces, axis=axis)
    combine = xp.maximum if kind == "max" else xp.add
    x = _framed(xp, x, windows, axis, lowest(x) if kind == "max" else 0.0)
    first, *others = _places(windows, axis)
    if not others:
        return x[first].copy()
    result = combine(x[first], x[others[0]])
    for place in others[1:]:
        combine(result, x[place], out=result)
    return result


def lowest(x: Any) -> float:
    """What padding counts as for a maximum: the lowest number of x's dtype; of float32 for float64
    too, as in Paddle.
    """
    limits = {"e": -65504.0, "f": -3.4028234663852886e38, "d": -3.4028234663852886e38}
    return limits[x.dtype.char]


def spread_sums(xp: Any, grad: Any, windows: Windows, axis: int) -> Any:
    """The way back from sums: each window's gradient goes to all its places."""
    shape = list(grad.shape)
    if windows.whole:
        shape[axis] = windows.size
        return xp.broadcast_to(grad, tuple(shape))
    result, inside = _empty_frame(xp, grad, windows, axis)
    if windows.length:
        for place in _places(windows, axis):
            result[place] += grad
    else:
        for i, (start, stop) in enumerate(zip(windows.starts, windows.stops, strict=True)):
            result[_axis_slice(axis, slice(start, stop))] += grad[
                _axis_slice(axis, slice(i, i + 1))
            ]
    return result[inside]


def spread_maxima(xp: Any, x: Any, out: Any, grad: Any, windows: Windows, axis: int) -> Any:
    """The way back from maxima `out` of x: each window's gradient goes to the first place where the
    maximum is.
    """
    result, inside = _empty_frame(xp, grad, windows, axis)
    if windows.length:
        x = _framed(xp, x, windows, axis, lowest(x))
        _to_the_first(result, x, out, grad, list(_places(windows, axis)))
        return result[inside]
    for i, (start, stop) in enumerate(zip(windows.starts, windows.stops, strict=True)):
        here = _axis_slice(axis, slice(i, i + 1))
        places = [_axis_slice(axis, slice(j, j + 1)) for j in range(start, stop)]
        _to_the_first(result, x, out[here], grad[here], places)
    return result


def _to_the_first(result: Any, x: Any, out: Any, grad: Any, places: list[tuple[Any, ...]]) -> None:
    """Adds grad to the result at the first of the places where x is the maximum: what one place
    takes, those after it don't get. The last place takes what is left.
    """
    rest = grad
    for place in places[:-1]:
        part = rest * (x[place] == out)
        result[place] += part
        rest = rest - part
    result[places[-1]] += rest


def _empty_frame(xp: Any, grad: Any, windows: Windows, axis: int) -> tuple[Any, Any]:
    """Zeros as large as the framed axis, and where the real axis is in them."""
    shape = list(grad.shape)
    shape[axis] = windows.size
    if not windows.length:
        return xp.zeros(tuple(shape), grad.dtype), ...
    reach = (windows.count - 1) * windows.stride + windows.length
    shape[axis] = max(reach, windows.before + windows.size)
    inside = _axis_slice(axis, slice(windows.before, windows.before + windows.size))
    return xp.zeros(tuple(shape), grad.dtype), inside


def first_maxima(xp: Any, x: Any, windows: Windows, axis: int, at: Any) -> tuple[Any, Any]:
    """The maximum of each window along the axis, and what `at` (of x's shape) holds there."""
    none = _axis_slice(axis, slice(0, 0))
    best, where = [x[none]], [at[none]]
    for start, stop in zip(windows.starts, windows.stops, strict=True):
        here = _axis_slice(axis, slice(start, stop))
        if stop <= start:  # a window in the padding
            shape = list(x.shape)
            shape[axis] = 1
            best.append(xp.full(tuple(shape), lowest(x), x.dtype))
            where.append(xp.full(tuple(shape), -1, at.dtype))
            continue
        index = xp.expand_dims(xp.argmax(x[here], axis=axis), axis)
        best.append(xp.take_along_axis(x[here], index, axis))
        where.append(xp.take_along_axis(at[here], index, axis))
    return xp.concatenate(best, axis=axis), xp.concatenate(where, axis=axis)
