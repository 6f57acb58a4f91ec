"""initializer: how a parameter gets its first numbers. Each is a call of an op, so it works in
every world.

Paddle: python/paddle/nn/initializer/.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.phi.core.op import OPS


class Initializer:
    """Makes a Tensor (or a Variable, or a Value) of a shape and dtype."""

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        raise NotImplementedError(
            f"Initializer: expected {type(self).__name__} to define __call__(shape, dtype), but "
            "it does not. Write it."
        )


class Constant(Initializer):
    """One number everywhere."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        return OPS["full"](shape=shape, value=float(self.value), dtype=dtype)


class Assign(Initializer):
    """The given numbers."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        if list(self.value.shape) != list(shape):
            raise ValueError(
                f"Assign: expected numbers of shape {list(shape)}, but got "
                f"{list(self.value.shape)}. "
                "Reshape them to the parameter's shape."
            )
        return OPS["assign_value"](shape=shape, dtype=dtype, values=self.value.ravel().tolist())


class Uniform(Initializer):
    """Random numbers, evenly spread over [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0) -> None:
        self.low, self.high = low, high

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        return OPS["uniform"](shape=shape, dtype=dtype, min=self.low, max=self.high)


class XavierUniform(Initializer):
    """Uniform in (-a, a) with a = sqrt(6 / (fan_in + fan_out)): keeps the size of activations
    (Glorot, Bengio 2010).
    """

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        fan_in, fan_out = (*shape[:2], *shape[:1], 1, 1)[:2]  # [N] counts as [N, N]
        limit = math.sqrt(6.0 / (fan_in + fan_out))
        return Uniform(-limit, limit)(shape, dtype)
