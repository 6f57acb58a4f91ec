"""Momentum: the parameter rolls on in the direction of the gradients of before.

Paddle: python/paddle/optimizer/momentum.py.
Left out: use_multi_tensor, which updates all parameters with one op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.phi.core.op import OPS
from minipaddle.regularizer import L2Decay


class Momentum(Optimizer):
    """velocity = momentum * velocity + gradient; parameter -= learning_rate * velocity.

    An L2 decay goes into the op, which adds it to the gradient itself. See Optimizer for the other
    arguments.

    Args:
        momentum: how much of the old velocity stays.
        use_nesterov: look one step ahead: parameter -= learning_rate * (gradient + momentum *
            velocity).
        rescale_grad: a factor for the gradients.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Sequence[Any] | None = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            momentum=momentum,
            use_nesterov=bool(use_nesterov),
            rescale_grad=rescale_grad,
        )
        self._multi_precision = multi_precision

    def _create_accumulators(self, parameter: Any) -> None:
        self._add_accumulator("velocity", parameter)

    def _create_regularization_of_grad(
        self, parameter: Any, gradient: Any, regularization: Any
    ) -> Any:
        if isinstance(parameter.regularizer or regularization, L2Decay):
            return gradient  # the op does it
        return super()._create_regularization_of_grad(parameter, gradient, regularization)

    def _append_optimize_op(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        regularizer = parameter.regularizer or self.regularization
        fused = isinstance(regularizer, L2Decay)
        master = self._master_weights.get(parameter.name)
        return OPS["momentum_"](
            parameter,
            gradient,
            self._get_accumulator("velocity", parameter),
            learning_rate,
            master,
            self._option(parameter, "momentum"),
            self._option(parameter, "use_nesterov"),
            "l2_decay" if fused else "",
            regularizer._coeff if fused else 0.0,
            master is not None,
            self._option(parameter, "rescale_grad"),
        )
