"""Clipping: gradients that are too large are made smaller before the optimizer's step.

A clip is called with (parameter, gradient) pairs and gives pairs with the new gradients. It calls
ops, so it works in every world.

Paddle: python/paddle/nn/clip.py.
Left out: sparse gradients, norms over several ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.eager import no_grad
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.core.world import current_world, in_dynamic_mode

__all__ = [
    "ClipGradBase",
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
]

Pairs = list[tuple[Any, Any]]


class ClipGradBase:
    """Base class. A subclass defines `_clip(gradients)`.

    A pair without gradient is dropped. A parameter with need_clip=False keeps its gradient, and it
    does not count.
    """

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> Pairs:
        pairs = [(parameter, grad) for parameter, grad in params_grads if grad is not None]
        wanted = [getattr(parameter, "need_clip", True) for parameter, _ in pairs]
        grads = [grad for (_, grad), want in zip(pairs, wanted, strict=True) if want]
        if not grads:
            return pairs
        with no_grad():
            clipped = iter(self._clip(grads))
        return [
            (parameter, next(clipped) if want else grad)
            for (parameter, grad), want in zip(pairs, wanted, strict=True)
        ]

    def _clip(self, grads: list[Any]) -> list[Any]:
        raise NotImplementedError(
            f"ClipGradBase: expected {type(self).__name__} to define _clip(gradients), but it does "
            "not. Write it."
        )


class ClipGradByValue(ClipGradBase):
    """Each number of a gradient is brought into [min, max].

    Args:
        min: default: -max.

    Raises:
        ValueError: max is not positive where min is left out.
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None:
            if max <= 0:
                raise ValueError(
                    f"ClipGradByValue: expected a positive max, but got {max}. Pass min too."
                )
            min = -max
        self.max, self.min = float(max), float(min)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def _clip(self, grads: list[Any]) -> list[Any]:
        return [OPS["clip"](grad, min=self.min, max=self.max) for grad in grads]


class ClipGradByNorm(ClipGradBase):
    """A gradient whose L2 norm is above clip_norm is scaled down to it; each for itself."""

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def _clip(self, grads: list[Any]) -> list[Any]:
        return [OPS["clip_by_norm"](grad, max_norm=self.clip_norm) for grad in grads]


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients are scaled by one factor: clip_norm / max(norm, clip_norm), where norm is the
    L2 norm of all of them together. So the direction of the step stays.

    Args:
        group_name: taken for Paddle's sake.
        auto_skip_clip: in dygraph, leaves the gradients alone where they are small enough.
    """

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        self.clip_norm = float(clip_norm)
        self.group_name = group_name
        self.auto_skip_clip = auto_skip_clip

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def _clip(self, grads: list[Any]) -> list[Any]:
        squares = [OPS["squared_l2_norm"](grad) for grad in grads]
        dtype = dtypes.float32
        if any(square.dtype is dtypes.float64 for square in squares):
            dtype = dtypes.float64
        sums = []
        for kind in (dtypes.float16, dtypes.float32, dtypes.float64):  # a sum for each dtype
            alike = [square for square in squares if square.dtype is kind]
            if alike:
                total = _sum_of(alike)
                sums.append(total if kind is dtype else OPS["cast"](total, dtype=dtype))
        norm = OPS["sqrt"](_sum_of(sums))
        largest = OPS["full"](shape=[1], value=self.clip_norm, dtype=dtype)
        if self.auto_skip_clip and in_dynamic_mode() and norm.item() <= self.clip_norm:
            return grads
        factor = OPS["divide"](largest, OPS["maximum"](norm, largest))
        return [_scaled(grad, factor) for grad in grads]


def _sum_of(numbers: list[Any]) -> Any:
    """The sum of numbers that stand in Tensors; Paddle takes another op in a classic Program."""
    if current_world().name == "program":
        return OPS["add_n"](numbers)
    return OPS["sum"](OPS["stack"](numbers))


def _scaled(grad: Any, factor: Any) -> Any:
    """The gradient times the factor; in dygraph in place, so that `.grad` shows what was used."""
    if grad.dtype is not factor.dtype:
        factor = OPS["cast"](factor, dtype=grad.dtype)
    multiply = "multiply_" if in_dynamic_mode() and grad.ndim else "multiply"
    return find_op(multiply)(grad, factor)
