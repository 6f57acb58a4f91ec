"""Assign. Paddle: python/paddle/nn/initializer/assign.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.nn.initializer.initializer import Initializer
from minipaddle.phi.core.op import OPS


class Assign(Initializer):
    """The given numbers: an array, a list or a Tensor.

    Raises (when the parameter is made):
        ValueError: they have another shape than the parameter.
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        if list(self.value.shape) != list(shape):
            raise ValueError(
                f"Assign: expected numbers of shape {list(shape)}, but got "
                f"{list(self.value.shape)}. Reshape them to the parameter's shape."
            )
        return OPS["assign_value"](shape=shape, dtype=dtype, values=self.value.ravel().tolist())
