"""Optimizer steps as ops: they write their parameter in place.

Paddle: paddle/phi/kernels/sgd_kernel.h.
Left out: sparse gradients, master weights of another dtype.
"""

from __future__ import annotations

from minipaddle.phi.core.op import Optional, op


@op(
    source="paddle/phi/ops/yaml/ops.yaml: sgd_",
    outputs=("param_out", "master_param_out"),
    traits=("SideEffect", "ForwardOnly"),
    inplace={"param_out": "param"},
)
def sgd_(xp, param, learning_rate, grad, master_param: Optional, *, multi_precision: bool = False):
    """param -= learning_rate * grad, in param's own memory."""
    param -= learning_rate.astype(param.dtype) * grad
    return param, None


@sgd_.infer_meta
def _(param, learning_rate, grad, master_param, *, multi_precision):
    for a, b in zip(param.shape, grad.shape, strict=len(param.shape) == len(grad.shape)):
        if a != b and -1 not in (a, b):
            raise ValueError(
                f"sgd_: expected grad with param's shape {list(param.shape)}, but got "
                f"{list(grad.shape)}. "
                "Pass the gradient of this parameter."
            )
    return param, None
