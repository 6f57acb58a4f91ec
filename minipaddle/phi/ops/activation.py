"""Activations.

Paddle: paddle/phi/kernels/activation_kernel.h, softmax_kernel.h, log_softmax_kernel.h,
gelu_kernel.h.
"""

from __future__ import annotations

import math

from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.enforce import normalize_axes
from minipaddle.phi.infermeta.unary import along_axis, as_floating, floating_only
from minipaddle.phi.kernels.erf import erf as erf_of
from minipaddle.phi.ops.creation import full, full_like
from minipaddle.phi.ops.elementary import FLOATS, UNARY, as_float, erf, exp, log
from minipaddle.phi.ops.manipulation import cast
from minipaddle.phi.ops.math import maximum, minimum
from minipaddle.phi.ops.reduction import max, sum


def _floating(x):
    """x, if it holds floating-point numbers; InferMeta says what is wrong if not."""
    if x.dtype.kind != "f":
        raise TypeError
    return x


# -- relu and its relatives, made of straight pieces -----------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: relu", scalar="max({x}, {x} * 0)", **UNARY)
def relu(xp, x):
    """max(x, 0)."""
    if x.dtype.kind != "f":
        raise TypeError  # InferMeta says what is wrong
    return xp.maximum(x, 0)


relu.infer_meta(floating_only("relu"))


@relu.vjp
def _(out, out_grad):
    return (out_grad * cast(out > 0, dtype=out.dtype),)


@relu.grad_kernel
def _(xp, wanted, out, out_grad):
    return (out_grad * (out > 0),)


@relu.decomp
def _(x):
    return maximum(x, full(shape=(), value=0.0, dtype=x.dtype))


@op(source="paddle/phi/ops/yaml/ops.yaml: relu6", traits=("Pure",))
def relu6(xp, x):
    """x between 0 and 6."""
    return xp.clip(_floating(x), 0.0, 6.0)


relu6.infer_meta(floating_only("relu6"))


@relu6.vjp
def _(out, out_grad):
    return (out_grad * cast(out > 0.0, dtype=out.dtype) * cast(out < 6.0, dtype=out.dtype),)


@relu6.decomp
def _(x):
    above = maximum(x, full(shape=(), value=0.0, dtype=x.dtype))
    return minimum(above, full(shape=(), value=6.0, dtype=x.dtype))


@op(source="paddle/phi/ops/yaml/ops.yaml: leaky_relu", **UNARY)
def leaky_relu(xp, x, *, negative_slope: float = 0.02):
    """x, but a small part of it where it is negative."""
    return xp.where(_floating(x) > 0, x, x * x.dtype.type(negative_slope))


leaky_relu.infer_meta(floating_only("leaky_relu"))


@leaky_relu.vjp
def _(x, out_grad, *, negative_slope: float):
    positive = cast(x >= 0.0, dtype=x.dtype)
    return (out_grad * (positive * (1.0 - negative_slope) + negative_slope),)


@op(source="paddle/phi/ops/yaml/ops.yaml: thresholded_relu", traits=("Pure",), inplace={"out": "x"})
def thresholded_relu(xp, x, *, threshold: float = 1.0, value: float = 0.0):
    """x where it is above `threshold`, `value` elsewhere."""
    return xp.where(_floating(x) > threshold, x, x.dtype.type(value))


thresholded_relu.infer_meta(floating_only("thresholded_relu"))


@thresholded_relu.vjp
def _(x, out_grad, *, threshold: float, value: float):
    return (out_grad * cast(x > threshold, dtype=x.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: hardtanh", **UNARY)
def hardtanh(xp, x, *, t_min: float = 0.0, t_max: float = 24.0):
    """x between t_min and t_max."""
    return xp.clip(_floating(x), x.dtype.type(t_min), x.dtype.type(t_max))


hardtanh.infer_meta(floating_only("hardtanh"))


@hardtanh.vjp
def _(x, out_grad, *, t_min: float, t_max: float):
    return (out_grad * cast(x > t_min, dtype=x.dtype) * cast(x < t_max, dtype=x.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: hardsigmoid", traits=("Pure",))
def hardsigmoid(xp, x, *, slope: float = 0.2, offset: float = 0.5):
    """A straight line for the sigmoid: slope * x + offset, between 0 and 1."""
    return xp.clip(_floating(x) * x.dtype.type(slope) + x.dtype.type(offset), 0.0, 1.0)


hardsigmoid.infer_meta(floating_only("hardsigmoid"))


@hardsigmoid.vjp
def _(out, out_grad, *, slope: float, offset: float):
    inside = cast(out > 0.0, dtype=out.dtype) * cast(out < 1.0, dtype=out.dtype)
    return (out_grad * inside * slope,)


@op(source="paddle/phi/ops/yaml/ops.yaml: hardswish", traits=("Pure",))
def hardswish(xp, x):
    """x * relu6(x + 3) / 6: swish out of straight pieces."""
    return _floating(x) * xp.clip(x + 3.0, 0.0, 6.0) / 6.0


hardswish.infer_meta(floating_only("hardswish"))


@hardswish.vjp
def _(x, out_grad):
    bent = cast(x > -3.0, dtype=x.dtype) * cast(x < 3.0, dtype=x.dtype)
    straight = cast(x >= 3.0, dtype=x.dtype)
    return (out_grad * (bent * (x / 3.0 + 0.5) + straight),)


@hardswish.decomp
def _(x):
    six = full(shape=(), value=6.0, dtype=x.dtype)
    zero = full(shape=(), value=0.0, dtype=x.dtype)
    raised = x + full(shape=(), value=3.0, dtype=x.dtype)
    return x * minimum(maximum(raised, zero), six) / six


# -- sigmoid, tanh and their relatives -------------------------------------------------------------


def _sigmoid(xp, x):
    """With exp of negative numbers only, which never overflows."""
    e = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, x.dtype.type(1), e) / (e + 1.0)


@op(source="paddle/phi/ops/yaml/ops.yaml: sigmoid", **FLOATS)
def sigmoid(xp, x):
    """1 / (1 + exp(-x)): any number to one between 0 and 1."""
    return _sigmoid(xp, as_float(x))


sigmoid.infer_meta(as_floating)


@sigmoid.vjp
def _(out, out_grad):
    return (out_grad * out * (1.0 - out),)


@op(source="paddle/phi/ops/yaml/ops.yaml: logsigmoid", traits=("Pure",))
def logsigmoid(xp, x):
    """log(sigmoid(x)), exact for large negative x too."""
    return xp.minimum(_floating(x), 0.0) - xp.log1p(xp.exp(-xp.abs(x)))


logsigmoid.infer_meta(floating_only("logsigmoid"))


@logsigmoid.vjp
def _(x, out_grad):
    return (out_grad * sigmoid(-x),)


@op(source="paddle/phi/ops/yaml/ops.yaml: tanh", scalar="tanh({x})", **FLOATS)
def tanh(xp, x):
    """The hyperbolic tangent."""
    return xp.tanh(as_float(x))


tanh.infer_meta(as_floating)


@tanh.vjp
def _(out, out_grad):
    return (out_grad * (1.0 - out * out),)


@op(source="paddle/phi/ops/yaml/ops.yaml: silu", **UNARY)
def silu(xp, x):
    """x * sigmoid(x)."""
    return _floating(x) * _sigmoid(xp, x)


silu.infer_meta(floating_only("silu"))


@silu.vjp
def _(x, out, out_grad):
    share = sigmoid(x)
    return (out_grad * (share + out * (1.0 - share)),)


@silu.decomp
def _(x):
    return x * sigmoid(x)


@op(source="paddle/phi/ops/yaml/ops.yaml: swish", traits=("Pure",))
def swish(xp, x):
    """x * sigmoid(x): the older name of silu."""
    return _floating(x) * _sigmoid(xp, x)


swish.infer_meta(floating_only("swish"))


@swish.vjp
def _(x, out_grad):
    share = sigmoid(x)
    return (out_grad * share * (1.0 + x * (1.0 - share)),)


@swish.decomp
def _(x):
    return x * sigmoid(x)


@op(source="paddle/phi/ops/yaml/ops.yaml: gelu", traits=("Pure",))
def gelu(xp, x, *, approximate: bool = False):
    """x times the part of a normal distribution that lies below x; `approximate`: by tanh."""
    _floating(x)
    if approximate:
        inner = (x + 0.044715 * x * x * x) * math.sqrt(2.0 / math.pi)
        return 0.5 * x * (1.0 + xp.tanh(inner))
    below = erf_of(xp, x * math.sqrt(0.5)).astype(x.dtype)
    return 0.5 * x * (1.0 + below)


gelu.infer_meta(floating_only("gelu"))


@gelu.vjp
def _(x, out_grad, *, approximate: bool):
    if approximate:
        factor = math.sqrt(2.0 / math.pi)
        t = tanh((x + x * x * x * 0.044715) * factor)
        slope = (x * x * (3.0 * 0.044715) + 1.0) * factor
        return (out_grad * ((t + 1.0) + x * (1.0 - t * t) * slope) * 0.5,)
    below = (erf(x * math.sqrt(0.5)) + 1.0) * 0.5
    density = exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
    return (out_grad * (below + x * density),)


@gelu.decomp
def _(x, *, approximate: bool):
    half = full(shape=(), value=0.5, dtype=x.dtype)
    one = full(shape=(), value=1.0, dtype=x.dtype)
    if approximate:
        factor = full(shape=(), value=math.sqrt(2.0 / math.pi), dtype=x.dtype)
        inner = x * x * x * full(shape=(), value=0.044715, dtype=x.dtype) + x
        below = one + tanh(inner * factor)
    else:
        below = one + erf(x * full(shape=(), value=math.sqrt(0.5), dtype=x.dtype))
    return x * half * below


@op(source="paddle/phi/ops/yaml/ops.yaml: softplus", traits=("Pure",), amp="black_o1")
def softplus(xp, x, *, beta: float = 1.0, threshold: float = 20.0):
    """log(1 + exp(beta * x)) / beta: relu with a round corner. Above `threshold`, x itself."""
    scaled = _floating(x) * beta
    curved = xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta
    return xp.where(scaled > threshold, x, curved)


softplus.infer_meta(floating_only("softplus"))


@softplus.vjp
def _(x, out_grad, *, beta: float, threshold: float):
    scaled = x * beta
    straight = cast(scaled > threshold, dtype=x.dtype)
    return (out_grad * (straight + (1.0 - straight) * sigmoid(scaled)),)


def _softplus(xp, x):
    """log(1 + exp(x)), with exp of negative numbers only, which never overflows."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


@op(source="paddle/phi/ops/yaml/ops.yaml: mish", traits=("Pure",))
def mish(xp, x, *, lambda_: float):
    """x * tanh(softplus(x)). Above `lambda_`, softplus is x itself: no float32 tells them apart."""
    return _floating(x) * xp.tanh(xp.where(x > lambda_, x, _softplus(xp, x)))


mish.infer_meta(floating_only("mish"))


@mish.vjp
def _(x, out_grad, *, lambda_: float):
    t = tanh(softplus(x, beta=1.0, threshold=lambda_))
    return (out_grad * (t + x * (1.0 - t * t) * sigmoid(x)),)


@op(source="paddle/phi/ops/yaml/ops.yaml: elu", **UNARY)
def elu(xp, x, *, alpha: float = 1.0):
    """x, but alpha * (exp(x) - 1) where it is negative."""
    return xp.where(_floating(x) >= 0, x, alpha * xp.expm1(xp.minimum(x, 0.0)))


elu.infer_meta(floating_only("elu"))


@elu.vjp
def _(x, out: NoNeedBuffer, out_grad, *, alpha: float):  # of x alone, also in a second gradient
    positive = cast(x > 0.0, dtype=x.dtype)
    negative = minimum(x, full_like(x, value=0.0, dtype=x.dtype))
    return (out_grad * (positive + (1.0 - positive) * exp(negative) * alpha),)


# -- softmax ---------------------------------------------------------------------------------------


@op(source="paddle/phi/ops/yaml/ops.yaml: softmax", amp="black_o1", **UNARY)
def softmax(xp, x, *, axis: int = -1):
    """exp(x) / sum(exp(x)) along `axis`, computed so that large numbers don't overflow."""
    if _floating(x).ndim == 0:
        normalize_axes("softmax", axis, 0)
        return xp.ones_like(x)
    if not x.size:
        normalize_axes("softmax", axis, x.ndim)
        return x.copy()
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    e /= xp.sum(e, axis=axis, keepdims=True)
    return e


softmax.infer_meta(along_axis("softmax"))


@softmax.vjp
def _(out, out_grad, *, axis: int):
    return (out * (out_grad - sum(out * out_grad, axis=(axis,), keepdim=True)),)


@softmax.decomp
def _(x, *, axis: int):
    e = exp(x - max(x, axis=(axis,), keepdim=True))
    return e / sum(e, axis=(axis,), keepdim=True)


@op(source="paddle/phi/ops/yaml/ops.yaml: log_softmax", traits=("Pure",), amp="black_o1")
def log_softmax(xp, x, *, axis: int = -1):
    """log(softmax(x)) along `axis`, exact also where the softmax is too small for its dtype."""
    if _floating(x).ndim == 0:
        normalize_axes("log_softmax", axis, 0)
        return xp.zeros_like(x)
    if not x.size:
        normalize_axes("log_softmax", axis, x.ndim)
        return x.copy()
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    shifted -= xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))
    return shifted


log_softmax.infer_meta(along_axis("log_softmax"))


@log_softmax.vjp
def _(out, out_grad, *, axis: int):
    return (out_grad - exp(out) * sum(out_grad, axis=(axis,), keepdim=True),)


@log_softmax.decomp
def _(x, *, axis: int):
    shifted = x - max(x, axis=(axis,), keepdim=True)
    return shifted - log(sum(exp(shifted), axis=(axis,), keepdim=True))
