"""Activations. Paddle: python/paddle/nn/functional/activation.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "relu",
    "softmax",
    "tanh",
]

relu = OPS["relu"]
tanh = OPS["tanh"]


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along `axis`."""
    return OPS["softmax"](x, axis=axis)
