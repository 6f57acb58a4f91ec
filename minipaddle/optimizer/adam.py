"""Adam: each number of a parameter has a step size of its own, from the sizes of its gradients.

Paddle: python/paddle/optimizer/adam.py.
Left out: use_multi_tensor, which updates all parameters with one op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.phi.core.op import OPS


class Adam(Optimizer):
    """Adam (Kingma, Ba 2015). The formula stands in phi/ops/optimizer.py, adam_step. See Optimizer
    for the other arguments.

    Args:
        beta1, beta2: how slowly the means of the gradients and of their squares change.
        epsilon: keeps the division from exploding.
        lazy_mode: for sparse gradients only; changes nothing here.
        multi_precision: update float16 parameters in float32 copies.
        amsgrad: divide by the largest mean of squares so far (Reddi et al. 2018).

    Raises:
        ValueError: a beta is not in [0, 1), or epsilon is negative.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        for what, value, fits in (
            ("beta1 in [0, 1)", beta1, 0 <= beta1 < 1),
            ("beta2 in [0, 1)", beta2, 0 <= beta2 < 1),
            ("epsilon of 0 or more", epsilon, epsilon >= 0),
        ):
            if not fits:
                raise ValueError(
                    f"{type(self).__name__}: expected {what}, but got {value}. "
                    "The usual values are 0.9, 0.999 and 1e-8."
                )
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            beta1=float(beta1),
            beta2=float(beta2),
            epsilon=float(epsilon),
            lazy_mode=lazy_mode,
        )
        self._multi_precision = multi_precision
        self._amsgrad = amsgrad

    def _create_accumulators(self, parameter: Any) -> None:
        dtype = dtypes.float32 if parameter.dtype is dtypes.float16 else parameter.dtype
        for name in ("moment1", "moment2", *(["moment2_max"] if self._amsgrad else [])):
            self._add_accumulator(name, parameter, dtype)
        for beta in ("beta1", "beta2"):
            value = self._option(parameter, beta)
            self._add_accumulator(f"{beta}_pow_acc", parameter, dtype, value, [1])

    def _append_optimize_op(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        return OPS["adam_"](
            *self._tensors(parameter, gradient, learning_rate), **self._attrs(parameter)
        )

    def _tensors(self, parameter: Any, gradient: Any, learning_rate: Any) -> list[Any]:
        """The op's Tensor inputs."""
        largest = self._get_accumulator("moment2_max", parameter) if self._amsgrad else None
        return [
            parameter,
            gradient,
            learning_rate,
            self._get_accumulator("moment1", parameter),
            self._get_accumulator("moment2", parameter),
            largest,
            self._get_accumulator("beta1_pow_acc", parameter),
            self._get_accumulator("beta2_pow_acc", parameter),
            self._master_weights.get(parameter.name),
            None,
        ]

    def _attrs(self, parameter: Any) -> dict[str, Any]:
        """The op's attributes."""
        return {
            "beta1": self._option(parameter, "beta1"),
            "beta2": self._option(parameter, "beta2"),
            "epsilon": self._option(parameter, "epsilon"),
            "lazy_mode": self._option(parameter, "lazy_mode"),
            "multi_precision": parameter.name in self._master_weights,
            "amsgrad": self._amsgrad,
        }
