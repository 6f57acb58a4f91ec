"""Activations.

Paddle: paddle/phi/kernels/activation_kernel.h, softmax_kernel.h.
"""

from __future__ import annotations

from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta.unary import normalize_axes, unchanged
from minipaddle.phi.ops.manipulation import cast
from minipaddle.phi.ops.math import as_float, exp, sum


@op(source="paddle/phi/ops/yaml/ops.yaml: relu", traits=("Pure",))
def relu(xp, x):
    """max(x, 0)."""
    return xp.maximum(x, x.dtype.type(0))


relu.infer_meta(unchanged)


@relu.vjp
def _(out, out_grad):
    return (out_grad * cast(out > 0, dtype=out.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: tanh", traits=("Pure",))
def tanh(xp, x):
    """The hyperbolic tangent."""
    return xp.tanh(as_float(x))


tanh.infer_meta(unchanged)


@tanh.vjp
def _(out, out_grad):
    return (out_grad * (1.0 - out * out),)


@op(source="paddle/phi/ops/yaml/ops.yaml: softmax", traits=("Pure",))
def softmax(xp, x, *, axis: int = -1):
    """exp(x) / sum(exp(x)) along `axis`, computed so that large numbers don't overflow."""
    if x.dtype.kind != "f":
        raise TypeError  # InferMeta says why
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True, initial=-xp.inf))
    return e / xp.sum(e, axis=axis, keepdims=True)


@softmax.infer_meta
def _(x, *, axis):
    if not x.dtype.is_floating:
        raise TypeError(
            f"softmax: expected floating-point numbers, but got {x.dtype.name}. Cast x with astype."
        )
    normalize_axes("softmax", axis, x.ndim)
    return unchanged(x)


@softmax.vjp
def _(out, out_grad, *, axis: int):
    return (out * (out_grad - sum(out * out_grad, axis=(axis,), keepdim=True)),)


@softmax.decomp
def _(x, *, axis: int):
    # without subtracting the maximum: there is no op for it here yet, so very large numbers
    # overflow
    e = exp(x)
    return e / sum(e, axis=(axis,), keepdim=True)
