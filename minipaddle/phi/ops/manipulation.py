"""Ops that change shape, dtype or order, but no numbers.

Paddle: paddle/phi/kernels/reshape_kernel.h, transpose_kernel.h, cast_kernel.h, ...
Left out: strided views; results that share memory with x here are views as numpy makes them.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.attribute import Axes, IntArray, Scalar
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.binary import like_target
from minipaddle.phi.infermeta.unary import reshaped, squeezed, transposed, unchanged, unsqueezed


@op(source="paddle/phi/ops/yaml/ops.yaml: reshape", traits=("Pure",))
def reshape(xp, x, *, shape: IntArray):
    """The same numbers in another shape; -1 is worked out, 0 copies x's size at that place."""
    sizes = [x.shape[i] if size == 0 and i < x.ndim else size for i, size in enumerate(shape)]
    if x.size == 0:  # numpy can't work out a size beside a 0
        sizes = reshaped(_Shape(x), shape=shape).shape
    return x.reshape(sizes)


reshape.infer_meta(reshaped)


@reshape.vjp
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="written here: reshape whose target is a Tensor", traits=("Pure",))
def reshape_as(xp, x, target: NoNeedBuffer):
    """x in the shape of `target`."""
    return x.reshape(target.shape)


reshape_as.infer_meta(like_target)


@reshape_as.vjp(wrt=("x",))
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: unsqueeze", traits=("Pure",))
def unsqueeze(xp, x, *, axis: IntArray):
    """Inserts axes of size 1."""
    return x.reshape(unsqueezed(_Shape(x), axis=axis).shape)


unsqueeze.infer_meta(unsqueezed)


@unsqueeze.vjp
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: squeeze", traits=("Pure",))
def squeeze(xp, x, *, axis: IntArray = ()):
    """Drops axes of size 1."""
    return x.reshape(squeezed(_Shape(x), axis=axis).shape)


squeeze.infer_meta(squeezed)


@squeeze.vjp
def _(x: NoNeedBuffer, out_grad):
    return (reshape_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: transpose", traits=("Pure",))
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


@op(source="paddle/phi/ops/yaml/ops.yaml: cast", traits=("Pure",))
def cast(xp, x, *, dtype: DataType):
    """The same numbers in another dtype."""
    return x.astype(dtype.numpy_dtype if isinstance(dtype, DataType) else dtype)


@cast.infer_meta
def _(x, *, dtype):
    return MetaTensor(x.shape, dtype)


@cast.vjp
def _(x: NoNeedBuffer, out_grad):
    return (cast(out_grad, dtype=x.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: expand_as", traits=("Pure",))
def expand_as(xp, x, target: NoNeedBuffer):
    """x, broadcast to the shape of `target`."""
    return xp.broadcast_to(x, target.shape)


expand_as.infer_meta(like_target)


@expand_as.vjp(wrt=("x",))
def _(x: NoNeedBuffer, out_grad):
    return (reduce_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: reduce_as", traits=("Pure",))
def reduce_as(xp, x, target: NoNeedBuffer):
    """Sums x over the axes along which `target` was broadcast: the gradient of broadcasting."""
    if x.shape == tuple(target.shape):
        return x
    extra = x.ndim - len(target.shape)
    axes = [i for i in range(x.ndim) if i < extra or target.shape[i - extra] == 1 != x.shape[i]]
    return xp.sum(x, axis=tuple(axes), keepdims=True).reshape(target.shape)


reduce_as.infer_meta(like_target)


@reduce_as.vjp(wrt=("x",))
def _(x: NoNeedBuffer, out_grad):
    return (expand_as(out_grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: assign", traits=("Pure",))
def assign(xp, x):
    """A copy of x."""
    return x.copy()


assign.infer_meta(unchanged)


@assign.vjp(invoke=True)
def _(out_grad):
    return (assign(out_grad),)


@op(source="paddle/phi/ops/yaml/ops.yaml: one_hot", traits=("Pure", "ForwardOnly"))
def one_hot(xp, x, *, num_classes: Scalar):
    """x [...] of class numbers -> [..., num_classes] float32; a number out of range gives a row
    of zeros.
    """
    classes = xp.arange(int(num_classes), dtype=x.dtype)
    return (x[..., None] == classes).astype(xp.float32)


@one_hot.infer_meta
def _(x, *, num_classes):
    return MetaTensor([*x.shape, int(num_classes)], dtypes.float32)


class _Shape(MetaTensor):
    """The MetaTensor of an array, for kernels that ask InferMeta for the shape of their result."""

    def __init__(self, array):
        super().__init__(array.shape, array.dtype)
