"""Clipping the gradients of parameters where they are, before the optimizer's step. Dygraph only.

Paddle: python/paddle/nn/utils/clip_grad_norm_.py, clip_grad_value_.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from minipaddle.eager import Tensor, no_grad, to_tensor
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.core.world import in_dynamic_mode


def _grads(who: str, parameters: Iterable[Tensor] | Tensor) -> list[Tensor]:
    if not in_dynamic_mode():
        raise RuntimeError(
            f"{who}: expected dygraph, but got a static program. Give the optimizer a grad_clip."
        )
    several = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in several if parameter.grad is not None]


def clip_grad_norm_(
    parameters: Iterable[Tensor] | Tensor,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scales all gradients by one factor, so that their norm together is at most max_norm.

    Args:
        norm_type: 1, 2, or inf: the largest number.
        error_if_nonfinite: raise if the norm is inf or nan.

    Returns:
        The norm before.

    Raises:
        ValueError: another norm_type.
        RuntimeError: not in dygraph; or the norm is not finite.
    """
    grads = _grads("clip_grad_norm_", parameters)
    if norm_type not in (1, 2, math.inf):
        raise ValueError(
            f"clip_grad_norm_: expected norm_type 1, 2 or inf, but got {norm_type}. Use one of "
            "them."
        )
    if not grads:
        return to_tensor(0.0)
    with no_grad():
        sizes = [OPS["abs"](grad) for grad in grads]
        if norm_type == math.inf:
            norm = OPS["max"](OPS["stack"]([OPS["max"](size) for size in sizes]))
        elif norm_type == 1:
            norm = OPS["sum"](OPS["stack"]([OPS["sum"](size) for size in sizes]))
        else:
            squares = [OPS["sum"](OPS["square"](size)) for size in sizes]
            norm = OPS["sqrt"](OPS["sum"](OPS["stack"](squares)))
        if error_if_nonfinite and not math.isfinite(norm.item()):
            raise RuntimeError(
                f"clip_grad_norm_: expected a finite norm, but got {norm.item()}. Look for inf or "
                "nan in the loss, or set error_if_nonfinite=False."
            )
        # 1e-6: no division by 0
        factor = OPS["clip"](max_norm / (norm + 1e-6), min=0.0, max=1.0)
        for grad in grads:
            find_op("multiply_")(grad, factor)
    return norm


def clip_grad_value_(parameters: Iterable[Tensor] | Tensor, clip_value: float) -> None:
    """Brings each number of the gradients into [-clip_value, clip_value]."""
    for grad in _grads("clip_grad_value_", parameters):
        with no_grad():
            find_op("clip_")(grad, min=-float(clip_value), max=float(clip_value))
