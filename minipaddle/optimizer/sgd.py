"""SGD: parameter -= learning_rate * gradient. Paddle: python/paddle/optimizer/sgd.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.phi.core.op import OPS

_sgd = OPS["sgd_"]


class SGD(Optimizer):
    """Stochastic gradient descent. See Optimizer for the arguments.

    Args:
        multi_precision: update float16 parameters in float32 copies.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision

    def _append_optimize_op(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        master = self._master_weights.get(parameter.name)
        return _sgd(parameter, learning_rate, gradient, master, master is not None)
