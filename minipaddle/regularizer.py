"""regularizer: weight decay, as a term that is added to the gradient.

Given to a parameter (`ParamAttr(regularizer=L2Decay(1e-4))`) or to an optimizer
(`weight_decay=L2Decay(1e-4)`); a parameter's own one comes first.

Paddle: python/paddle/regularizer.py.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.layer_helper import append_named
from minipaddle.common import unique_name
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world

__all__ = ["L1Decay", "L2Decay"]


class WeightDecayRegularizer:
    """Base class: called with a parameter, it gives the term that its gradient gets."""

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = float(coeff)

    def __call__(self, parameter: Any) -> Any:
        """The gradient of the penalty, of the parameter's shape."""
        raise NotImplementedError(
            f"WeightDecayRegularizer: expected {type(self).__name__} to define __call__(parameter),"
            " but it does not. Write it."
        )

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """The loss grows by coeff * sum(|w|), so the gradient by coeff * sign(w): weights go to 0."""

    def __call__(self, parameter: Any) -> Any:
        return _call("scale", _call("sign", parameter), scale=self._coeff)


class L2Decay(WeightDecayRegularizer):
    """The loss grows by coeff / 2 * sum(w^2), so the gradient by coeff * w: weights stay small."""

    def __call__(self, parameter: Any) -> Any:
        return _call("scale", parameter, scale=self._coeff)


def _call(name: str, x: Any, **attrs: Any) -> Any:
    """Calls an op. In a classic Program the result has a name without meaning, as in Paddle."""
    if current_world().name != "program":
        return OPS[name](x, **attrs)
    return append_named(name, [x], unique_name.generate("_generated_var"), **attrs)
