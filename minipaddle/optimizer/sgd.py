"""SGD: parameter -= learning_rate * gradient. Paddle: python/paddle/optimizer/sgd.py."""

from __future__ import annotations

from typing import Any

from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.phi.core.op import OPS


class SGD(Optimizer):
    """Stochastic gradient descent."""

    def _append_update(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        return OPS["sgd_"](parameter, learning_rate, gradient)
