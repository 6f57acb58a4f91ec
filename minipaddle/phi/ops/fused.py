"""Ops that only passes make: several ops in one.

Paddle: paddle/fluid/operators/fused/fused_elemwise_activation_op.h.
Left out: activations inside the sum; a kept intermediate result is the sum only.
"""

from __future__ import annotations

from minipaddle.phi.core.attribute import Strings
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta import binary
from minipaddle.phi.ops.manipulation import cast, reduce_as

ACTIVATIONS = ("relu", "tanh")


@op(
    source="paddle/phi/ops/yaml/fused_ops.yaml: fused_elemwise_add_activation",
    outputs=("out", "intermediate_out"),
    traits=("Pure",),
    same_dtype=("x", "y"),
)
def fused_elemwise_add_activation(
    xp,
    x,
    y,
    *,
    functor_list: Strings,
    scale: float = 0.0,
    axis: int = -1,
    save_intermediate_out: bool = False,
):
    """activation(x + y), with one new array in the place of two. `functor_list` says it from the
    outside in: ["relu", "elementwise_add"]. `intermediate_out` is the sum, or else empty.
    """
    total = xp.add(x, y)
    kept = total.copy() if save_intermediate_out else xp.empty((0,), total.dtype)
    if functor_list[0] == "relu":
        return xp.maximum(total, total.dtype.type(0), out=total), kept
    return xp.tanh(total, out=total), kept


@fused_elemwise_add_activation.infer_meta
def _(x, y, *, functor_list, scale, axis, save_intermediate_out):
    if functor_list not in [(name, "elementwise_add") for name in ACTIVATIONS]:
        raise ValueError(
            "fused_elemwise_add_activation: expected functor_list to be ['relu' or 'tanh', "
            f"'elementwise_add'], but got {list(functor_list)}. Apply others as ops."
        )
    if not x.dtype.is_floating:
        raise TypeError(
            "fused_elemwise_add_activation: expected a floating dtype, but got "
            f"{x.dtype.name}. Cast it first."
        )
    shape = binary.broadcast_shape("fused_elemwise_add_activation", x, y)
    out = MetaTensor(shape, x.dtype)
    return out, out if save_intermediate_out else MetaTensor((0,), x.dtype)


@fused_elemwise_add_activation.vjp
def _(x: NoNeedBuffer, y: NoNeedBuffer, out, out_grad, *, functor_list: Strings):
    if functor_list[0] == "relu":
        grad = out_grad * cast(out > 0, dtype=out.dtype)
    else:
        grad = out_grad * (1.0 - out * out)
    return reduce_as(grad, x), reduce_as(grad, y)
