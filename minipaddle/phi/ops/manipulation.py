"""Ops that change shape, dtype or order of one Tensor, but no numbers.

Paddle: paddle/phi/kernels/reshape_kernel.h, transpose_kernel.h, cast_kernel.h, ...
A result of an op with the trait "View" shares memory with x, where numpy can do that: who writes
into one writes into both, and they share the counter of such changes, as in Paddle.
Left out: strides that a user sets.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.attribute import Axes, IntArray, Ints, ScalarInt, UnknownInts
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, Optional, op
from minipaddle.phi.infermeta.binary import broadcast_shape, like_target
from minipaddle.phi.infermeta.enforce import normalize_axes, require_dimensions
from minipaddle.phi.infermeta.unary import (
    flattened,
    reshaped,
    squeezed,
    transposed,
    unchanged,
    unsqueezed,
)


@op(source="paddle/phi/ops/yaml/ops.yaml: reshape", traits=("Pure", "View"), inplace={"out": "x"})
def reshape(xp, x, *, shape: IntArray):
    """The same numbers in another shape; -1 is worked out, 0 copies x's size at that place."""
    if min(shape, default=0) < -1:  # numpy takes any negative number for -1
        raise ValueError  # InferMeta says why
    sizes = [x.shape[i] if size == 0 and i < x.ndim else size for i, size in enumerate(shape)]
    if x.size == 0:  # numpy can't work out a size beside a 0
        sizes = reshaped(MetaTensor(x.shape, x.dtype), shape=shape).shape
    found = x.reshape(sizes)
    return found if x.ndim else found.copy()  # a number without dimensions is no view, as in Paddle


reshape.infer_meta(reshaped)


@reshape.vjp
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="written here: reshape whose target is a Tensor", traits=("Pure", "View"))
def reshape_as(xp, x, target: NoNeedBuffer):
    """x in the shape of `target`."""
    return x.reshape(target.shape)


reshape_as.infer_meta(like_target)


@reshape_as.vjp(wrt=("x",))
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: unsqueeze", traits=("Pure", "View"), inplace={"out": "x"})
def unsqueeze(xp, x, *, axis: IntArray = ()):
    """Inserts axes of size 1."""
    if axis == (-1,):  # the usual case, without InferMeta
        return x[..., None]
    return x.reshape(unsqueezed(MetaTensor(x.shape, x.dtype), axis=axis).shape)


unsqueeze.infer_meta(unsqueezed)


@unsqueeze.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: squeeze", traits=("Pure", "View"), inplace={"out": "x"})
def squeeze(xp, x, *, axis: IntArray = ()):
    """Drops axes of size 1."""
    return x.reshape(squeezed(MetaTensor(x.shape, x.dtype), axis=axis).shape)


squeeze.infer_meta(squeezed)


@squeeze.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: flatten", traits=("Pure", "View"), inplace={"out": "x"})
def flatten(xp, x, *, start_axis: int = 1, stop_axis: int = 1):
    """The axes from `start_axis` to `stop_axis` (included) become one."""
    meta = flattened(MetaTensor(x.shape, x.dtype), start_axis=start_axis, stop_axis=stop_axis)
    return x.reshape(meta.shape) if x.ndim else x.reshape(1).copy()  # as reshape


flatten.infer_meta(flattened)


@flatten.vjp
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: transpose", traits=("Pure", "View"), inplace={"out": "x"})
def transpose(xp, x, *, perm: Axes):
    """Reorders the axes: axis i of the result is axis perm[i] of x."""
    return x.transpose(perm)


transpose.infer_meta(transposed)


@transpose.vjp
def _(out_grad, *, perm: Axes):
    back = [0] * len(perm)
    for position, axis in enumerate(perm):
        back[axis] = position
    return (transpose(out_grad, perm=back),)


@op(source="paddle/phi/ops/yaml/ops.yaml: cast", traits=("Pure",), inplace={"out": "x"}, amp="none")
def cast(xp, x, *, dtype: DataType):
    """The same numbers in another dtype."""
    return x.astype(dtype.numpy_dtype if isinstance(dtype, DataType) else dtype)


@cast.infer_meta
def _(x, *, dtype):
    return MetaTensor(x.shape, dtype)


@cast.vjp(invoke=True)
def _(x: NoNeedBuffer, out_grad):
    return (cast(out_grad, dtype=x.dtype),)


def expanded_shape(x, shape):
    """The sizes after `expand`.

    Raises:
        ValueError: x has more axes than `shape`, or a size of x is neither 1 nor the wanted one.
    """
    own = (1,) * (len(shape) - x.ndim) + tuple(x.shape)
    if x.ndim > len(shape):
        raise ValueError(
            f"expand: expected a shape of at least {x.ndim} sizes, but got {list(shape)} for an "
            f"input of shape {list(x.shape)}. New axes go in front."
        )
    new_axes = len(shape) - x.ndim
    sizes = []
    for i, (size, wanted) in enumerate(zip(own, shape, strict=True)):
        if wanted < -1 or (wanted == -1 and i < new_axes):
            raise ValueError(
                f"expand: expected sizes of 0 or more, or -1 for an axis of x, but got "
                f"{list(shape)} for an input of shape {list(x.shape)}. Name the sizes of new axes."
            )
        if wanted != -1 and size not in (1, -1, wanted):
            raise ValueError(
                f"expand: expected a shape that {list(x.shape)} broadcasts to, but got "
                f"{list(shape)}. Only axes of size 1 can grow."
            )
        sizes.append(size if wanted == -1 else wanted)
    return sizes


@op(source="paddle/phi/ops/yaml/ops.yaml: expand", traits=("Pure",))
def expand(xp, x, *, shape: IntArray = ()):
    """x, broadcast to `shape`; -1 keeps x's size."""
    return xp.broadcast_to(x, expanded_shape(x, shape)).copy()


@expand.infer_meta
def _(x, *, shape):
    if isinstance(shape, UnknownInts):
        return MetaTensor(shape, x.dtype)
    return MetaTensor(expanded_shape(x, shape), x.dtype)


@expand.vjp
def _(x: NoNeedBuffer, out_grad, *, shape: IntArray):
    return (reduce_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: expand_as", traits=("Pure",))
def expand_as(xp, x, y: Optional, *, target_shape: Ints = ()):
    """x, broadcast to the shape of y, or to `target_shape`."""
    return xp.broadcast_to(x, target_shape if y is None else y.shape).copy()


@expand_as.infer_meta
def _(x, y, *, target_shape):
    target = MetaTensor(target_shape, x.dtype) if y is None else y
    shape = broadcast_shape("expand_as", x, target)
    if -1 not in shape + target.shape and shape != target.shape:
        raise ValueError(
            f"expand_as: expected x to broadcast to shape {list(target.shape)}, but got "
            f"{list(x.shape)}. Only sizes of 1 grow."
        )
    return like_target(x, target)


@expand_as.vjp(wrt=("x",))
def _(x: NoNeedBuffer, out_grad, *, target_shape: Ints):
    return (reduce_as(out_grad, x),)


def sum_to(xp, x, wanted):
    """Sums x over the axes along which something of the shape `wanted` was broadcast."""
    shape = x.shape
    if shape == wanted:
        return x
    if shape[1:] == wanted:  # a bias's gradient
        return xp.add.reduce(x, axis=0)
    extra = len(shape) - len(wanted)
    if shape[extra:] == wanted:  # only the axes in front
        return xp.add.reduce(x, axis=tuple(range(extra)))
    axes = [i for i in range(x.ndim) if i < extra or wanted[i - extra] == 1 != x.shape[i]]
    return xp.sum(x, axis=tuple(axes), keepdims=True).reshape(wanted)


@op(source="paddle/phi/ops/yaml/ops.yaml: reduce_as", traits=("Pure",))
def reduce_as(xp, x, target: NoNeedBuffer):
    """Sums x over the axes along which `target` was broadcast: the gradient of broadcasting."""
    return sum_to(xp, x, target.shape)


reduce_as.infer_meta(like_target)


@reduce_as.vjp(wrt=("x",))
def _(x: NoNeedBuffer, target: NoNeedBuffer, out_grad):
    return (expand_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: assign", traits=("Pure",), inplace={"out": "x"})
def assign(xp, x):
    """A copy of x."""
    return x.copy()


assign.infer_meta(unchanged)


@assign.vjp(invoke=True)
def _(out_grad):
    return (assign(out_grad),)


@op(source="paddle/phi/ops/yaml/ops.yaml: one_hot", traits=("Pure", "ForwardOnly"))
def one_hot(xp, x, *, num_classes: ScalarInt):
    """x [...] of class numbers -> [..., num_classes] float32. On a GPU, where a look at the numbers
    would have to be waited for, a number out of range gives a row of zeros.
    """
    if x.dtype.kind not in "iu":
        raise TypeError  # InferMeta says why
    if xp.__name__ == "numpy" and x.size and not 0 <= x.min() <= x.max() < num_classes:
        raise ValueError(
            f"one_hot: expected class numbers in [0, {num_classes}), but got {x.min()} to "
            f"{x.max()}. Check the labels, or num_classes."
        )
    classes = xp.arange(int(num_classes), dtype=x.dtype)
    return (x[..., None] == classes).astype(xp.float32)


@one_hot.infer_meta
def _(x, *, num_classes):
    if x.dtype.is_floating or x.dtype is dtypes.bool_:
        raise TypeError(
            f"one_hot: expected class numbers of an integer dtype, but got {x.dtype.name}. Cast "
            "them with astype('int64')."
        )
    return MetaTensor([*x.shape, int(num_classes)], dtypes.float32)


@op(source="paddle/phi/ops/yaml/ops.yaml: flip", traits=("Pure",))
def flip(xp, x, *, axis: Axes):
    """x in reverse order along the axes."""
    return xp.flip(x, normalize_axes("flip", axis, x.ndim) if axis else ()).copy()


@flip.infer_meta
def _(x, *, axis):
    if axis:
        require_dimensions("flip", x)
    normalize_axes("flip", axis, x.ndim)
    return unchanged(x)


@flip.vjp(invoke=True)
def _(out_grad, *, axis: Axes):
    return (flip(out_grad, axis=axis),)


@op(source="paddle/phi/ops/yaml/ops.yaml: roll", traits=("Pure",))
def roll(xp, x, *, shifts: IntArray = (), axis: Axes = ()):
    """Moves the elements along the axes; what falls off one end comes in at the other. Without
    axes, x counts as one long row.
    """
    if len(shifts) != max(len(axis), 1):
        raise ValueError  # InferMeta says why
    return xp.roll(x, shifts, axis) if axis else xp.roll(x, shifts[0])


@roll.infer_meta
def _(x, *, shifts, axis):
    if len(shifts) != max(len(axis), 1):
        raise ValueError(
            f"roll: expected one shift for each axis, but got shifts {list(shifts)} and axis "
            f"{list(axis)}. Give as many shifts as axes; without an axis, one."
        )
    if axis:
        require_dimensions("roll", x)
    normalize_axes("roll", axis, x.ndim)
    return unchanged(x)


@roll.vjp
def _(x: NoNeedBuffer, out_grad, *, shifts: IntArray, axis: Axes):
    return (roll(out_grad, shifts=tuple(-shift for shift in shifts), axis=axis),)


def _matrix(who):
    """Makes the rule of an op on the last two axes."""

    def rule(x, *, diagonal):
        if x.ndim < 2:
            raise ValueError(
                f"{who}: expected at least 2 dimensions, but got shape {list(x.shape)}. "
                "Reshape it to a matrix."
            )
        return unchanged(x)

    return rule


@op(source="paddle/phi/ops/yaml/ops.yaml: tril", traits=("Pure",), inplace={"out": "x"})
def tril(xp, x, *, diagonal: int = 0):
    """The lower triangles of the matrices in the last two axes; the rest is 0."""
    if x.ndim < 2:
        raise ValueError  # InferMeta says why
    return xp.tril(x, diagonal)


tril.infer_meta(_matrix("tril"))


@tril.vjp
def _(out_grad, *, diagonal: int):
    return (tril(out_grad, diagonal=diagonal),)


@op(source="paddle/phi/ops/yaml/ops.yaml: triu", traits=("Pure",), inplace={"out": "x"})
def triu(xp, x, *, diagonal: int = 0):
    """The upper triangles of the matrices in the last two axes; the rest is 0."""
    if x.ndim < 2:
        raise ValueError  # InferMeta says why
    return xp.triu(x, diagonal)


triu.infer_meta(_matrix("triu"))


@triu.vjp
def _(out_grad, *, diagonal: int):
    return (triu(out_grad, diagonal=diagonal),)
