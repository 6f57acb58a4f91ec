"""Diagonals: reading one, writing one, a matrix made of one, and their sum.

As with slices, the ops come in pairs: the gradient of `diagonal`, which reads, is
`fill_diagonal_tensor`, which writes into zeros; and the other way round.

Paddle: paddle/phi/kernels/diagonal_kernel.h, diag_kernel.h, trace_kernel.h,
fill_diagonal_tensor_kernel.h.
"""

from __future__ import annotations

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.enforce import require_same_dtype, require_shape
from minipaddle.phi.ops.creation import full_like
from minipaddle.phi.ops.manipulation import expand_as, reshape_as, unsqueeze
from minipaddle.phi.ops.reduction import sum


def _view(xp, x, offset, axis1, axis2):
    """The diagonal as a view of x, behind the axes that are left. `offset` columns further right,
    or, below 0, so many rows further down.
    """
    matrices = xp.moveaxis(x, (axis1, axis2), (-2, -1))[..., max(-offset, 0) :, max(offset, 0) :]
    size = min(matrices.shape[-2:])
    return xp.einsum("...ii->...i", matrices[..., :size, :size])


def _axes(who, x, axis1, axis2):
    """Both axes as numbers from 0. Raises IndexError or ValueError."""
    if x.ndim < 2 or not all(-x.ndim <= axis < x.ndim for axis in (axis1, axis2)):
        raise IndexError(
            f"{who}: expected two axes in [{-x.ndim}, {x.ndim}), but got {axis1} and {axis2} for "
            f"shape {list(x.shape)}. A diagonal runs through rows and columns."
        )
    if axis1 % x.ndim == axis2 % x.ndim:
        raise ValueError(
            f"{who}: expected two different axes, but got {axis1} and {axis2}. "
            "One is for the rows, the other for the columns."
        )
    return axis1 % x.ndim, axis2 % x.ndim


def _length(rows, columns, offset):
    """How long the diagonal of a matrix is; -1: not known."""
    if -1 in (rows, columns):
        return -1
    return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))


def _shape(who, x, offset, axis1, axis2):
    """The shape of a diagonal."""
    places = _axes(who, x, axis1, axis2)
    rest = [size for axis, size in enumerate(x.shape) if axis not in places]
    rows, columns = (x.shape[axis] for axis in places)
    return [*rest, _length(rows, columns, offset)]


@op(source="paddle/phi/ops/yaml/ops.yaml: diagonal", traits=("Pure", "View"))
def diagonal(xp, x, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """The diagonal of the matrices in two axes of x: the other axes, and then the diagonal."""
    return _view(xp, x, offset, axis1, axis2)


@diagonal.infer_meta
def _(x, *, offset, axis1, axis2):
    return MetaTensor(_shape("diagonal", x, offset, axis1, axis2), x.dtype)


@diagonal.vjp
def _(x: NoNeedBuffer, out_grad, *, offset: int, axis1: int, axis2: int):
    zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
    return (fill_diagonal_tensor(zeros, out_grad, offset=offset, dim1=axis1, dim2=axis2),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: fill_diagonal_tensor",
    traits=("Pure",),
    inplace={"out": "x"},
)
def fill_diagonal_tensor(xp, x, y, *, offset: int = 0, dim1: int = 0, dim2: int = 1):
    """x, with y as its diagonal; y has the shape that `diagonal` returns."""
    out = x.copy()
    place = _view(xp, out, offset, dim1, dim2)
    if place.shape != y.shape or x.dtype != y.dtype:
        raise ValueError  # InferMeta says why
    place[...] = y
    return out


@fill_diagonal_tensor.infer_meta
def _(x, y, *, offset, dim1, dim2):
    wanted = _shape("fill_diagonal_tensor", x, offset, dim1, dim2)
    require_shape("fill_diagonal_tensor", "y", y, wanted)
    require_same_dtype("fill_diagonal_tensor", x=x, y=y)
    return MetaTensor(x.shape, x.dtype)


@fill_diagonal_tensor.vjp
def _(out_grad, *, offset: int, dim1: int, dim2: int):
    y_grad = diagonal(out_grad, offset=offset, axis1=dim1, axis2=dim2)
    zeros = full_like(y_grad, value=0.0, dtype=out_grad.dtype)
    return fill_diagonal_tensor(out_grad, zeros, offset=offset, dim1=dim1, dim2=dim2), y_grad


@op(source="paddle/phi/ops/yaml/ops.yaml: diag", traits=("Pure",))
def diag(xp, x, *, offset: int = 0, padding_value: float = 0.0):
    """Of a vector (or a number): the matrix with it as its diagonal, `padding_value` elsewhere. Of
    a matrix: its diagonal.
    """
    if x.ndim == 2:
        return _view(xp, x, offset, 0, 1).copy()
    if x.ndim > 2:
        raise ValueError  # InferMeta says why
    size = x.size + abs(offset)
    out = xp.full((size, size), padding_value, x.dtype)
    _view(xp, out, offset, 0, 1)[...] = x
    return out


@diag.infer_meta
def _(x, *, offset, padding_value):
    if x.ndim > 2:
        raise ValueError(
            f"diag: expected a vector or a matrix, but got shape {list(x.shape)}. Use diagonal."
        )
    if x.ndim == 2:
        return MetaTensor([_length(x.shape[0], x.shape[1], offset)], x.dtype)
    size = -1 if -1 in x.shape else x.size + abs(offset)
    return MetaTensor([size, size], x.dtype)


@diag.vjp
def _(x: NoNeedBuffer, out_grad, *, offset: int):
    if x.ndim == 2:
        zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
        return (fill_diagonal_tensor(zeros, out_grad, offset=offset, dim1=0, dim2=1),)
    return (reshape_as(diagonal(out_grad, offset=offset, axis1=0, axis2=1), x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: trace", traits=("Pure",))
def trace(xp, x, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """The sum of the diagonal of the matrices in two axes of x."""
    return xp.asarray(_view(xp, x, offset, axis1, axis2).sum(axis=-1, dtype=x.dtype))


@trace.infer_meta
def _(x, *, offset, axis1, axis2):
    return MetaTensor(_shape("trace", x, offset, axis1, axis2)[:-1], x.dtype)


@trace.vjp
def _(x: NoNeedBuffer, out_grad, *, offset: int, axis1: int, axis2: int):
    zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
    places = {"offset": offset, "axis1": axis1, "axis2": axis2}
    along = expand_as(unsqueeze(out_grad, axis=(-1,)), diagonal(zeros, **places))
    return (fill_diagonal_tensor(zeros, along, offset=offset, dim1=axis1, dim2=axis2),)


@trace.decomp
def _(x, *, offset: int, axis1: int, axis2: int):
    return sum(diagonal(x, offset=offset, axis1=axis1, axis2=axis2), axis=(-1,))
