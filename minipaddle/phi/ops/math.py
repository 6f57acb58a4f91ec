"""Ops that compute element by element, and reductions.

Paddle: paddle/phi/kernels/elementwise_*_kernel.h, reduce_*_kernel.h, scale_kernel.h.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.attribute import IntArray, Number, Scalar
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, TensorList, op
from minipaddle.phi.infermeta.binary import broadcast_shape, compared, elementwise
from minipaddle.phi.infermeta.unary import normalize_axes, reduced, unchanged
from minipaddle.phi.ops.manipulation import cast, expand_as, reduce_as, unsqueeze


@op(source="paddle/phi/ops/yaml/ops.yaml: add", traits=("Pure",), promote=("x", "y"))
def add(xp, x, y):
    """x + y, element by element; shapes broadcast."""
    return x + y


add.infer_meta(elementwise("add"))


@add.vjp
def _(x: NoNeedBuffer, y: NoNeedBuffer, out_grad, *, axis: int = -1):
    return reduce_as(out_grad, x), reduce_as(out_grad, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: subtract", traits=("Pure",), promote=("x", "y"))
def subtract(xp, x, y):
    """x - y, element by element; shapes broadcast."""
    return x - y


subtract.infer_meta(elementwise("subtract"))


@subtract.vjp
def _(x: NoNeedBuffer, y: NoNeedBuffer, out_grad, *, axis: int = -1):
    return reduce_as(out_grad, x), reduce_as(-out_grad, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: multiply", traits=("Pure",), promote=("x", "y"))
def multiply(xp, x, y):
    """x * y, element by element; shapes broadcast."""
    return x * y


multiply.infer_meta(elementwise("multiply"))


@multiply.vjp
def _(x, y, out_grad, *, axis: int = -1):
    return reduce_as(out_grad * y, x), reduce_as(out_grad * x, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: divide", traits=("Pure",), promote=("x", "y"))
def divide(xp, x, y):
    """x / y, element by element; shapes broadcast. Integers give float32, as in Paddle."""
    return x / y if x.dtype.kind == "f" else (x / y).astype(xp.float32)


@divide.infer_meta
def _(x, y):
    meta = elementwise("divide")(x, y)
    return meta if meta.dtype.is_floating else MetaTensor(meta.shape, dtypes.float32)


@divide.vjp
def _(x: NoNeedBuffer, y, out, out_grad, *, axis: int = -1):
    return reduce_as(out_grad / y, x), reduce_as(-out_grad * out / y, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: greater_than", traits=("Pure",), promote=("x", "y"))
def greater_than(xp, x, y):
    """x > y, element by element."""
    return x > y


greater_than.infer_meta(compared("greater_than"))


@op(source="paddle/phi/ops/yaml/ops.yaml: equal", traits=("Pure",), promote=("x", "y"))
def equal(xp, x, y):
    """x == y, element by element."""
    return x == y


equal.infer_meta(compared("equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: less_than", traits=("Pure",), promote=("x", "y"))
def less_than(xp, x, y):
    """x < y, element by element."""
    return x < y


less_than.infer_meta(compared("less_than"))


@op(source="paddle/phi/ops/yaml/ops.yaml: greater_equal", traits=("Pure",), promote=("x", "y"))
def greater_equal(xp, x, y):
    """x >= y, element by element."""
    return x >= y


greater_equal.infer_meta(compared("greater_equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: less_equal", traits=("Pure",), promote=("x", "y"))
def less_equal(xp, x, y):
    """x <= y, element by element."""
    return x <= y


less_equal.infer_meta(compared("less_equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: not_equal", traits=("Pure",), promote=("x", "y"))
def not_equal(xp, x, y):
    """x != y, element by element."""
    return x != y


not_equal.infer_meta(compared("not_equal"))


@op(source="paddle/phi/ops/yaml/ops.yaml: scale", traits=("Pure",))
def scale(xp, x, *, scale: Scalar = 1.0, bias: float = 0.0, bias_after_scale: bool = True):
    """x * scale + bias, or (x + bias) * scale. The dtype of x stays, also where scale is a
    float.
    """
    factor, offset = x.dtype.type(scale), x.dtype.type(bias)
    if not bias_after_scale:
        return (x + offset) * factor
    return x * factor + offset if bias else x * factor


scale.infer_meta(unchanged)


@scale.vjp(invoke=True)
def _(out_grad, *, scale: Scalar):
    return (_SCALE(out_grad, scale=scale),)


_SCALE = scale  # inside its rule, `scale` is the attribute


@op(source="paddle/phi/ops/yaml/ops.yaml: add_n", traits=("Pure",))
def add_n(xp, inputs: TensorList):
    """The sum of several Tensors of one shape."""
    if len(inputs) == 1:
        return inputs[0].copy()
    total = inputs[0]
    for item in inputs[1:]:
        total = total + item
    return total


@add_n.infer_meta
def _(inputs):
    if not inputs:
        raise ValueError("add_n: expected at least one Tensor, but got none. Pass a list of them.")
    shape = inputs[0].shape
    for item in inputs[1:]:
        broadcast_shape("add_n", inputs[0], item)
    return MetaTensor(shape, inputs[0].dtype)


@add_n.vjp(invoke=True)
def _(inputs: NoNeedBuffer, out_grad):
    return ([out_grad] * len(inputs),)


@op(source="paddle/phi/ops/yaml/ops.yaml: sum", traits=("Pure",))
def sum(
    xp,
    x,
    *,
    axis: IntArray = (),
    dtype: DataType = dtypes.undefined,
    keepdim: bool = False,
):
    """The sum over the axes of `axis` (none: over all). Integers are summed as int64."""
    wanted = x.dtype if x.dtype.kind == "f" else xp.int64
    if dtype is not dtypes.undefined:
        wanted = dtype.numpy_dtype
    return xp.asarray(xp.sum(x, axis=tuple(axis) or None, keepdims=keepdim, dtype=wanted))


@sum.infer_meta
def _(x, *, axis, keepdim, dtype=dtypes.undefined):
    meta = reduced("sum")(x, axis=axis, keepdim=keepdim)
    return meta if dtype is dtypes.undefined else MetaTensor(meta.shape, dtype)


@sum.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    grad = cast(_with_axes_back(out_grad, x, axis, keepdim, unsqueeze), dtype=x.dtype)
    return (expand_as(grad, x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: mean", traits=("Pure",))
def mean(xp, x, *, axis: IntArray = (), keepdim: bool = False):
    """The mean over the axes of `axis` (none: over all)."""
    return xp.asarray(xp.mean(x, axis=tuple(axis) or None, keepdims=keepdim, dtype=x.dtype))


mean.infer_meta(reduced("mean", keep_integers=True))


@mean.vjp
def _(x: NoNeedBuffer, out_grad, *, axis: IntArray, keepdim: bool, reduce_all: bool = False):
    share = out_grad * (out_grad.size / x.size) if x.size else out_grad
    return (expand_as(_with_axes_back(share, x, axis, keepdim, unsqueeze), x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: mean_all", traits=("Pure",))
def mean_all(xp, x):
    """The mean of all elements. Dygraph's cross_entropy uses it."""
    return xp.asarray(xp.mean(x, dtype=x.dtype))


@mean_all.infer_meta
def _(x):
    return MetaTensor([], x.dtype)


@mean_all.vjp
def _(x: NoNeedBuffer, out_grad):
    return (expand_as(out_grad / x.size if x.size else out_grad, x),)


def as_float(x):
    """Integers as float32, in which Paddle computes functions of them."""
    return x if x.dtype.kind == "f" else x.astype("float32")


def _with_axes_back(grad, x, axis, keepdim, unsqueeze):
    """Gives a reduction's gradient the axes of size 1 that the reduction dropped."""
    if keepdim or grad.ndim == x.ndim:
        return grad
    return unsqueeze(grad, axis=sorted(normalize_axes("sum", axis, x.ndim)))


@op(source="paddle/phi/ops/yaml/ops.yaml: argmax", traits=("Pure", "ForwardOnly"))
def argmax(xp, x, *, axis: Scalar = -1, keepdims: bool = False):
    """The position of the largest element along `axis`."""
    return xp.asarray(xp.argmax(x, axis=int(axis), keepdims=keepdims)).astype(xp.int64)


@argmax.infer_meta
def _(x, *, axis, keepdims):
    meta = reduced("argmax")(x, axis=(int(axis),), keepdim=keepdims)
    return MetaTensor(meta.shape, dtypes.int64)


@op(source="paddle/phi/ops/yaml/ops.yaml: exp", traits=("Pure",))
def exp(xp, x):
    """e to the power x; of integers in float32."""
    return xp.exp(as_float(x))


exp.infer_meta(unchanged)


@exp.vjp
def _(out, out_grad):
    return (out_grad * out,)


@op(source="paddle/phi/ops/yaml/ops.yaml: pow", traits=("Pure",))
def pow(xp, x, *, y: Number):
    """x to the power y, a number."""
    return xp.power(x, x.dtype.type(y))


pow.infer_meta(unchanged)


@pow.vjp
def _(x, out_grad, *, y: Number = -1):
    return (out_grad * (x ** (y - 1)) * y,)
