"""Linear and others. Paddle: python/paddle/nn/functional/common.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "label_smooth",
    "linear",
]


def linear(x: Any, weight: Any, bias: Any = None, name: Any = None) -> Any:
    """x [..., in] @ weight [in, out] + bias [out]."""
    out = OPS["matmul"](x, weight)
    return out if bias is None else OPS["add"](out, bias)


def label_smooth(
    label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None
) -> Any:
    """(1 - epsilon) * label + epsilon / C: a label [..., C] that is a little less sure of itself.

    Args:
        prior_dist: [1, C]: the share of each class, in place of 1 / C.

    Raises:
        ValueError: epsilon is not in [0, 1], or the shapes don't fit.
    """
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(
            f"label_smooth: expected epsilon in [0, 1], but got {epsilon}. It is the share that is "
            "spread over all classes."
        )
    return OPS["label_smooth"](label, prior_dist, epsilon=float(epsilon))
