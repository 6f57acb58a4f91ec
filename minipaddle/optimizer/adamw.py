"""AdamW: Adam with a weight decay that does not pass through the moments.

Paddle: python/paddle/optimizer/adamw.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.optimizer.adam import Adam
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.phi.core.op import OPS


class AdamW(Adam):
    """AdamW (Loshchilov, Hutter 2019): parameter *= 1 - learning_rate * weight_decay, then a step
    of Adam. See Adam for the other arguments.

    Args:
        weight_decay: a number.
        lr_ratio: parameter -> a factor for its learning rate.
        apply_decay_param_fun: name of a parameter -> whether it decays (default: all do).

    Raises:
        TypeError: weight_decay is no number.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Sequence[Any] | None = None,
        weight_decay: float = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if not isinstance(weight_decay, (int, float)):
            raise TypeError(
                f"AdamW: expected weight_decay to be a number, but got {weight_decay!r}. "
                "Regularizers are for the other optimizers."
            )
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            float(weight_decay),
            grad_clip,
            lazy_mode,
            multi_precision,
            amsgrad=amsgrad,
            name=name,
        )
        self.regularization = None  # the op decays
        self._lr_ratio = lr_ratio
        self._apply_decay_param_fun = apply_decay_param_fun

    def _set_group_decay(self, group: dict[str, Any]) -> None:
        """Groups say a number for the op; the parameters' regularizers stay as they are."""

    def _append_optimize_op(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        decays = self._apply_decay_param_fun
        return OPS["adamw_"](
            *self._tensors(parameter, gradient, learning_rate),
            **self._attrs(parameter),
            lr_ratio=1.0 if self._lr_ratio is None else float(self._lr_ratio(parameter)),
            coeff=float(self._option(parameter, "weight_decay")),
            with_decay=decays is None or bool(decays(parameter.name)),
        )
