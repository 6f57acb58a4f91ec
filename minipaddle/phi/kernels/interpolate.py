"""Images of another size: each number of the result is a mean of a few numbers of x, with weights.

One axis after the other. For each place along an axis, `taps` says which places of x count there,
and how much:

    size 2 -> 4, linear:   places 0 0 0 1     weights 1 .75 .25 1
                                  1 1 1 1             0 .25 .75 0

Paddle: paddle/phi/kernels/cpu/interpolate_kernel.cc, interpolate_grad_kernel.cc.
"""

from __future__ import annotations

import types
from typing import Any


def taps(
    xp: types.ModuleType,
    size: int,
    wanted: int,
    scale: float,
    method: str,
    align_corners: bool,
    align_mode: int,
) -> tuple[Any, Any]:
    """(places, weights), each [how many count, wanted], in float32 as in Paddle.

    Args:
        size, wanted: of x and of the result.
        scale: the factor that the user gave; 0: a size was given.
        align_corners: the first and last numbers stay where they are.
        align_mode: where a number lies: 0: in the middle of its pixel; 1: at its edge. (For the
            linear methods.)
    """
    if wanted == 1 and (align_corners or method in ("bilinear", "bicubic")):
        ratio = 0.0  # the first place, as in Paddle; "linear" and "trilinear" read the middle
    elif align_corners:
        ratio = (size - 1) / (wanted - 1)
    else:
        ratio = 1 / scale if scale > 0 else size / wanted
    middle = not align_corners and (method == "bicubic" or "linear" in method and align_mode == 0)
    shift = xp.float32(0.5 if middle else 0.0)
    at = xp.float32(ratio) * (xp.arange(wanted, dtype=xp.float32) + shift) - shift
    if method == "nearest":
        at = at + xp.float32(0.5 if align_corners else 0.0)
        return _inside(xp, xp.floor(at)[None], size), xp.ones((1, wanted), xp.float32)
    if method != "bicubic":
        at = xp.maximum(at, 0)
    first = xp.floor(at)
    part = at - first
    if method == "bicubic":
        places = xp.stack([first - 1, first, first + 1, first + 2])
        weights = [_cubic(part + 1), _cubic(part), _cubic(1 - part), _cubic(2 - part)]
    else:
        places, weights = xp.stack([first, first + 1]), [1 - part, part]
    return _inside(xp, places, size), xp.stack(weights)


def _inside(xp: types.ModuleType, places: Any, size: int) -> Any:
    return xp.clip(places, 0, size - 1).astype(xp.int64)


def _cubic(distance: Any, a: float = -0.75) -> Any:
    """Keys' curve through four points: the weight of a number so far away, from 0 to 2."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return near * (distance <= 1) + far * (distance > 1)


def read(xp: types.ModuleType, x: Any, axis: int, places: Any, weights: Any) -> Any:
    """x, with another size along the axis."""
    if len(places) == 1:  # the nearest: of integers too
        return xp.take(x, places[0], axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    weights = weights.astype(x.dtype)
    return sum(xp.take(x, places[i], axis) * weights[i].reshape(shape) for i in range(len(places)))


def give_back(
    xp: types.ModuleType, grad: Any, axis: int, size: int, places: Any, weights: Any
) -> Any:
    """The gradient of `read`: each number gives its gradient to those that it was made of."""
    matrix = xp.zeros((places.shape[1], size), grad.dtype)
    for i in range(len(places)):
        xp.add.at(matrix, (xp.arange(places.shape[1]), places[i]), weights[i].astype(grad.dtype))
    return xp.moveaxis(xp.tensordot(grad, matrix, axes=([axis], [0])), -1, axis)
