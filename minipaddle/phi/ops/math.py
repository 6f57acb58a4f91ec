"""Arithmetic: with two Tensors, element by element, or with a Tensor and a number.

Shapes broadcast; of two floating-point dtypes the larger one wins; other dtypes must be equal.

Paddle: paddle/phi/kernels/elementwise_*_kernel.h, scale_kernel.h, clip_kernel.h, add_n_kernel.h.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.attribute import Number, Scalar
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, TensorList, op
from minipaddle.phi.infermeta.binary import broadcast_shape, elementwise
from minipaddle.phi.infermeta.enforce import require_floating, require_same_dtype, shapes_agree
from minipaddle.phi.infermeta.unary import unchanged
from minipaddle.phi.ops.creation import full_like
from minipaddle.phi.ops.elementary import floor, log
from minipaddle.phi.ops.logic import equal, isnan
from minipaddle.phi.ops.manipulation import cast, reduce_as, sum_to

ARITHMETIC: dict[str, Any] = {"traits": ("Pure",), "promote": ("x", "y")}
OPERATOR: dict[str, Any] = {"traits": ("Pure", "Operator"), "promote": ("x", "y")}


def _numbers(who):
    """InferMeta of an op that Paddle does not have for bools; numpy gives int8, or an error."""

    def rule(x, y, **attrs):
        if x.dtype is y.dtype is dtypes.bool_:
            raise TypeError(f"{who}: expected numbers, but got two bool Tensors. Cast them first.")
        return elementwise(who)(x, y)

    return rule


# -- two Tensors -----------------------------------------------------------------------------------


@op(
    source="paddle/phi/ops/yaml/ops.yaml: add", inplace={"out": "x"}, scalar="{x} + {y}", **OPERATOR
)
def add(xp, x, y):
    """x + y, element by element; shapes broadcast."""
    return x + y


add.infer_meta(elementwise("add"))


@add.vjp
def _(x: NoNeedBuffer, y: NoNeedBuffer, out_grad, *, axis: int = -1):
    return reduce_as(out_grad, x), reduce_as(out_grad, y)


@add.grad_kernel
def _(xp, wanted, x, y, out_grad, *, axis=-1):
    return (  # without the sums that nobody wants
        sum_to(xp, out_grad, x.shape) if wanted[0] else None,
        sum_to(xp, out_grad, y.shape) if wanted[1] else None,
    )


@op(
    source="paddle/phi/ops/yaml/ops.yaml: subtract",
    inplace={"out": "x"},
    scalar="{x} - {y}",
    **OPERATOR,
)
def subtract(xp, x, y):
    """x - y, element by element; shapes broadcast."""
    return x - y


subtract.infer_meta(_numbers("subtract"))


@subtract.vjp
def _(x: NoNeedBuffer, y: NoNeedBuffer, out_grad, *, axis: int = -1):
    return reduce_as(out_grad, x), reduce_as(-out_grad, y)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: multiply",
    inplace={"out": "x"},
    scalar="{x} * {y}",
    **OPERATOR,
)
def multiply(xp, x, y):
    """x * y, element by element; shapes broadcast."""
    return x * y


multiply.infer_meta(elementwise("multiply"))


@multiply.vjp(zero_grad=True)
def _(x, y, out_grad, *, axis: int = -1):
    return reduce_as(out_grad * y, x), reduce_as(out_grad * x, y)


@multiply.grad_kernel
def _(xp, wanted, x, y, out_grad, *, axis=-1):
    return (  # without the products that nobody wants
        sum_to(xp, out_grad * y, x.shape) if wanted[0] else None,
        sum_to(xp, out_grad * x, y.shape) if wanted[1] else None,
    )


@op(
    source="paddle/phi/ops/yaml/ops.yaml: divide",
    inplace={"out": "x"},
    scalar="{x} / {y}",
    **OPERATOR,
)
def divide(xp, x, y):
    """x / y, element by element; shapes broadcast. Integers give float32, and bools a bool, as in
    Paddle.
    """
    if x.dtype.kind == "b":
        _refuse_zero(xp, "divide", y)
        return x & y
    return x / y if x.dtype.kind == "f" else (x / y).astype(xp.float32)


@divide.infer_meta
def _(x, y):
    meta = elementwise("divide")(x, y)
    integers = not meta.dtype.is_floating and meta.dtype is not dtypes.bool_
    return MetaTensor(meta.shape, dtypes.float32) if integers else meta


@divide.vjp(zero_grad=True)
def _(x: NoNeedBuffer, y, out, out_grad, *, axis: int = -1):
    return reduce_as(out_grad / y, x), reduce_as(-out_grad * out / y, y)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: floor_divide",
    traits=("Pure", "ForwardOnly", "Operator"),
    promote=("x", "y"),
    inplace={"out": "x"},
)
def floor_divide(xp, x, y):
    """The largest whole number not above x / y; the dtype stays."""
    _refuse_bad_divisor(xp, "floor_divide", y)
    return xp.floor_divide(x, y)


floor_divide.infer_meta(_numbers("floor_divide"))


@op(source="paddle/phi/ops/yaml/ops.yaml: remainder", inplace={"out": "x"}, **OPERATOR)
def remainder(xp, x, y):
    """What floor_divide leaves over: x - floor(x / y) * y. It has the sign of y."""
    _refuse_bad_divisor(xp, "remainder", y)
    return xp.remainder(x, y)


remainder.infer_meta(_numbers("remainder"))


@remainder.vjp
def _(x, y, out_grad):
    return reduce_as(out_grad, x), reduce_as(-out_grad * floor(x / y), y)


def _refuse_bad_divisor(xp, who, y):
    if y.dtype.kind == "b":
        raise TypeError  # InferMeta says why
    _refuse_zero(xp, who, y)


def _refuse_zero(xp, who, y):
    """Integers can't be divided by 0: numpy would answer 0, with a warning."""
    if y.dtype.kind in "iub" and not xp.all(y):
        raise ValueError(
            f"{who}: expected integers other than 0 to divide by, but got a 0 in y. Use "
            "floating-point numbers, whose answer is infinite, or take the zeros out."
        )


@op(source="python/paddle/tensor/math.py: gcd, which is a loop there", inplace={"out": "x"},
    traits=("Pure", "ForwardOnly"), promote=("x", "y"))  # fmt: skip
def gcd(xp, x, y):
    """The largest whole number that divides both; 0 of two zeros."""
    if x.dtype != y.dtype or x.dtype.kind not in "iu":
        raise TypeError  # InferMeta says why
    return xp.gcd(x, y)


@gcd.infer_meta
def _(x, y):
    if x.dtype.is_floating or x.dtype is dtypes.bool_:
        raise TypeError(f"gcd: expected integers, but got x {x.dtype.name}. Cast it with astype.")
    return elementwise("gcd")(x, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: elementwise_pow", **OPERATOR)
def elementwise_pow(xp, x, y):
    """x to the power y, element by element."""
    if x.dtype.kind == "b":
        raise TypeError  # InferMeta says why
    if x.dtype.kind in "iu" and y.size:
        _refuse_negative("elementwise_pow", x, y.min())
    return xp.power(x, y)


elementwise_pow.infer_meta(_numbers("elementwise_pow"))


@elementwise_pow.vjp
def _(x, y, out_grad):
    # where 0 would stand beside something infinite, the gradient is 0: 1 is put in place of x
    # (>= and <= stand for ==, which MetaTensors keep for themselves)
    x_is_0 = cast(x >= 0.0, dtype=x.dtype) * cast(x <= 0.0, dtype=x.dtype)
    y_is_0 = cast(y >= 0.0, dtype=x.dtype) * cast(y <= 0.0, dtype=x.dtype)
    base = x + x_is_0 * y_is_0
    inside = x + x_is_0 * cast(y >= 0.0, dtype=x.dtype)
    x_grad = out_grad * y * elementwise_pow(base, y - 1.0)
    y_grad = out_grad * log(inside) * elementwise_pow(x, y)
    return reduce_as(x_grad, x), reduce_as(y_grad, y)


def _refuse_negative(who, x, y):
    """An integer to a negative power is a fraction."""
    if x.dtype.kind in "iu" and y < 0:
        raise ValueError(
            f"{who}: expected powers of 0 or more beside {x.dtype.name}, but got {y}. The result "
            "would be a fraction; cast x to float32 first."
        )


@op(source="paddle/phi/ops/yaml/ops.yaml: maximum", **ARITHMETIC)
def maximum(xp, x, y):
    """The larger one, element by element; NaN beside anything gives NaN."""
    return xp.maximum(x, y)


maximum.infer_meta(elementwise("maximum"))


@maximum.vjp
def _(x, y, out_grad):
    half = cast(equal(x, y), dtype=out_grad.dtype) * 0.5  # equal ones share the gradient
    x_share = cast(x > y, dtype=out_grad.dtype) + half
    y_share = cast(x < y, dtype=out_grad.dtype) + half
    return reduce_as(out_grad * x_share, x), reduce_as(out_grad * y_share, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: minimum", **ARITHMETIC)
def minimum(xp, x, y):
    """The smaller one, element by element; NaN beside anything gives NaN."""
    return xp.minimum(x, y)


minimum.infer_meta(elementwise("minimum"))


@minimum.vjp
def _(x, y, out_grad):
    half = cast(equal(x, y), dtype=out_grad.dtype) * 0.5
    x_share = cast(x < y, dtype=out_grad.dtype) + half
    y_share = cast(x > y, dtype=out_grad.dtype) + half
    return reduce_as(out_grad * x_share, x), reduce_as(out_grad * y_share, y)


@op(source="paddle/phi/ops/yaml/ops.yaml: fmax", **ARITHMETIC)
def fmax(xp, x, y):
    """The larger one, element by element; beside NaN, the number."""
    return xp.fmax(x, y)


fmax.infer_meta(elementwise("fmax"))


@fmax.vjp
def _(x, y, out_grad):
    x_share = cast(x >= y, dtype=out_grad.dtype) + cast(isnan(y), dtype=out_grad.dtype)
    return reduce_as(out_grad * x_share, x), reduce_as(out_grad * (1.0 - x_share), y)


@op(source="paddle/phi/ops/yaml/ops.yaml: fmin", **ARITHMETIC)
def fmin(xp, x, y):
    """The smaller one, element by element; beside NaN, the number."""
    return xp.fmin(x, y)


fmin.infer_meta(elementwise("fmin"))


@fmin.vjp
def _(x, y, out_grad):
    x_share = cast(x <= y, dtype=out_grad.dtype) + cast(isnan(y), dtype=out_grad.dtype)
    return reduce_as(out_grad * x_share, x), reduce_as(out_grad * (1.0 - x_share), y)


@op(source="paddle/phi/ops/yaml/ops.yaml: add_n", traits=("Pure",), grad_node="AddNGradNodeFinal")
def add_n(xp, inputs: TensorList):
    """The sum of several Tensors of one shape."""
    if len(inputs) == 1:
        return inputs[0].copy()
    if any(x.shape != inputs[0].shape or x.dtype != inputs[0].dtype for x in inputs):
        raise ValueError  # numpy would broadcast; InferMeta says what is wrong
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
        require_same_dtype("add_n", inputs=inputs[0], other=item)
        if not shapes_agree(shape, item.shape):
            raise ValueError(
                f"add_n: expected Tensors of one shape, but got {list(shape)} and "
                f"{list(item.shape)}. Use +, which broadcasts."
            )
    return MetaTensor(shape, inputs[0].dtype)


@add_n.vjp(invoke=True)
def _(inputs: NoNeedBuffer, out_grad):
    return ([out_grad] * len(inputs),)


@op(source="paddle/phi/ops/yaml/ops.yaml: lerp", traits=("Pure",), inplace={"out": "x"})
def lerp(xp, x, y, weight):
    """x + weight * (y - x): x for a weight of 0, y for 1, what lies between for the others."""
    if not x.dtype == y.dtype == weight.dtype or x.dtype.kind != "f":
        raise TypeError  # InferMeta says why
    return x + weight * (y - x)


@lerp.infer_meta
def _(x, y, weight):
    require_floating("lerp", x.dtype)
    require_same_dtype("lerp", x=x, y=y)
    require_same_dtype("lerp", x=x, weight=weight)
    ends = MetaTensor(broadcast_shape("lerp", x, y), x.dtype)
    return MetaTensor(broadcast_shape("lerp", ends, weight), x.dtype)


@lerp.vjp(wrt=("x", "y"))  # the weight is given, as in Paddle
def _(x, y, weight, out, out_grad):
    return reduce_as(out_grad * (1.0 - weight), x), reduce_as(out_grad * weight, y)


# -- a Tensor and numbers --------------------------------------------------------------------------


@op(
    source="paddle/phi/ops/yaml/ops.yaml: scale",
    traits=("Pure",),
    inplace={"out": "x"},
    scalar="{x} * {scale!r} + {bias!r} if {bias_after_scale} else ({x} + {bias!r}) * {scale!r}",
)
def scale(xp, x, *, scale: Scalar = 1.0, bias: float = 0.0, bias_after_scale: bool = True):
    """x * scale + bias, or (x + bias) * scale. The dtype of x stays, also where scale is a
    float.
    """
    if x.dtype.kind in "iu":
        factor, offset = _whole(x.dtype, scale), _whole(x.dtype, bias)
    else:
        factor, offset = x.dtype.type(scale), x.dtype.type(bias)
    if not bias_after_scale:
        return (x + offset) * factor
    return x * factor + offset  # + 0 has an effect: -0 becomes 0, as in Paddle


scale.infer_meta(unchanged)


@scale.vjp(invoke=True)
def _(out_grad, *, scale: Scalar):
    return (_SCALE(out_grad, scale=scale),)


_SCALE = scale  # inside its rule, `scale` is the attribute


def _whole(dtype, number):
    """A number in an integer dtype. -1 is 255 in uint8, so that x - 1 is x + 255."""
    values = 2 ** (8 * dtype.itemsize)
    largest = values - 1 if dtype.kind == "u" else values // 2 - 1
    whole = int(number)
    if not -largest - 1 <= whole <= largest:
        raise ValueError(
            f"scale: expected a number that fits beside {dtype.name}, up to {largest}, but got "
            f"{number}. Cast the Tensor to a larger dtype first."
        )
    return dtype.type(whole % values if dtype.kind == "u" else whole)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: pow",
    traits=("Pure",),
    inplace={"out": "x"},
    amp="black_o1",
)
def pow(xp, x, *, y: Number = 1.0):
    """x to the power y, a number. The dtype of x stays: of a y beside integers, only what is in
    front of the point counts.
    """
    _refuse_negative("pow", x, y)
    return xp.power(x, x.dtype.type(y))


pow.infer_meta(unchanged)


@pow.vjp
def _(x, out_grad, *, y: Number = -1):
    if y == 0:  # also where x is 0, whose power -1 is infinite
        return (full_like(out_grad, value=0.0, dtype=out_grad.dtype),)
    return (out_grad * pow(x, y=y - 1) * y,)


@op(source="paddle/phi/ops/yaml/ops.yaml: clip", traits=("Pure",), inplace={"out": "x"})
def clip(xp, x, *, min: Scalar, max: Scalar):
    """x, but `min` where it is smaller and `max` where it is larger."""
    low, high = x.dtype.type(min), x.dtype.type(max)
    if low > high:
        raise ValueError(f"clip: expected min <= max, but got min {min} and max {max}. Swap them.")
    return xp.clip(x, low, high)


clip.infer_meta(unchanged)


@clip.vjp
def _(x, out_grad, *, min: Scalar = 0.0, max: Scalar = 0.0):
    inside = cast(x >= min, dtype=x.dtype) * cast(x <= max, dtype=x.dtype)
    return (out_grad * inside,)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: increment",
    traits=("Pure", "ForwardOnly"),
    inplace={"out": "x"},
)
def increment(xp, x, *, value: float = 1.0):
    """One number, plus `value`. Counters of loops use its in-place form."""
    if x.size != 1:
        raise ValueError  # InferMeta says why
    return x + x.dtype.type(value)


@increment.infer_meta
def _(x, *, value):
    if x.size != 1:
        raise ValueError(
            f"increment: expected x with one element, but got shape {list(x.shape)}. Add the "
            "number with + instead."
        )
    return MetaTensor(x.shape, x.dtype)
