"""Each element several times, side by side.

Paddle: paddle/phi/kernels/repeat_interleave_kernel.h.
"""

from __future__ import annotations

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.ops.creation import full_like
from minipaddle.phi.ops.gather import index_add
from minipaddle.phi.ops.manipulation import expand, reshape, reshape_as, unsqueeze
from minipaddle.phi.ops.reduction import cumsum, sum


def _repeated(who, x, axis, times, output_size):
    """x, with its size along `axis` so many times (-1: not known)."""
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(
            f"{who}: expected an axis in [{-x.ndim}, {x.ndim}), but got {axis}. "
            f"The input has {x.ndim} dimensions."
        )
    shape = list(x.shape)
    shape[axis] = output_size if -1 in (times, shape[axis]) else times * shape[axis]
    _require_size(who, shape[axis], output_size)
    return MetaTensor(shape, x.dtype)


def _require_size(who, size, output_size):
    """Raises ValueError if the result is not as long as was announced (-1: nothing was)."""
    if output_size not in (-1, size):
        raise ValueError(
            f"{who}: expected output_size {size}, but got {output_size}. It says how long the "
            "result is; leave it out."
        )


@op(source="paddle/phi/ops/yaml/ops.yaml: repeat_interleave", traits=("Pure",))
def repeat_interleave(xp, x, *, repeats: int, axis: int, output_size: int = -1):
    """Each element along the axis `repeats` times."""
    out = xp.repeat(x, repeats, axis)
    if repeats < 1 or output_size not in (-1, out.shape[axis]):
        raise ValueError  # InferMeta says why
    return out


@repeat_interleave.infer_meta
def _(x, *, repeats, axis, output_size):
    if repeats < 1:
        raise ValueError(
            f"repeat_interleave: expected repeats of 1 or more, but got {repeats}. Give each "
            "element its number in a Tensor to leave some out."
        )
    return _repeated("repeat_interleave", x, axis, repeats, output_size)


@repeat_interleave.vjp
def _(x: NoNeedBuffer, out_grad, *, repeats: int, axis: int, output_size: int):
    behind = axis % x.ndim + 1
    copies = unsqueeze(full_like(x, value=0.0, dtype=out_grad.dtype), axis=(behind,))
    copies = expand(copies, shape=[repeats if i == behind else -1 for i in range(x.ndim + 1)])
    return (sum(reshape_as(out_grad, copies), axis=(behind,)),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: repeat_interleave_with_tensor_index",
    traits=("Pure",),
)
def repeat_interleave_with_tensor_index(xp, x, repeats, *, axis: int, output_size: int = -1):
    """Each element along the axis as often as its number in `repeats` says."""
    who = "repeat_interleave_with_tensor_index"
    ends = xp.cumsum(repeats.reshape(-1))
    if len(ends) != x.shape[axis] or repeats.dtype.kind != "i":
        raise ValueError  # InferMeta says why
    size = int(ends[-1]) if ends.size else 0
    if (repeats < 0).any():
        raise ValueError(f"{who}: expected numbers of 0 or more, but got one below. Count again.")
    _require_size(who, size, output_size)
    return xp.take(x, xp.searchsorted(ends, xp.arange(size), side="right"), axis)


@repeat_interleave_with_tensor_index.infer_meta
def _(x, repeats, *, axis, output_size):
    who = "repeat_interleave_with_tensor_index"
    out = _repeated(who, x, axis, -1, output_size)
    if repeats.dtype.name not in ("int32", "int64"):
        raise ValueError(
            f"{who}: expected repeats of int32 or int64, but got {repeats.dtype.name}. Cast them."
        )
    column = repeats.ndim == 2 and repeats.shape[1] == 1
    sizes = {repeats.shape[0], x.shape[axis]} - {-1} if repeats.ndim == 1 or column else set()
    if len(sizes) != 1:
        raise ValueError(
            f"{who}: expected one number for each of the {x.shape[axis]} elements, but got repeats "
            f"of shape {list(repeats.shape)}. Make them a vector of that length."
        )
    return out


@repeat_interleave_with_tensor_index.vjp(wrt=("x",))
def _(x: NoNeedBuffer, repeats, out_grad, *, axis: int, output_size: int):
    ones = full_like(repeats, value=1, dtype=repeats.dtype)
    places = reshape(cumsum(ones, axis=0), shape=(-1,)) - 1  # 0, 1, 2, ...
    came_from = repeat_interleave_with_tensor_index(places, repeats, axis=0)
    zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
    return (index_add(zeros, came_from, out_grad, axis=axis),)
