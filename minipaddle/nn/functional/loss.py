"""Losses. Paddle: python/paddle/nn/functional/loss.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import in_dynamic_mode

__all__ = [
    "cross_entropy",
]


def cross_entropy(
    input: Any,
    label: Any,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
) -> Any:
    """-log(softmax(input)) at the label.

    Args:
        input: [N, C] or [..., C], before the softmax.
        label: class numbers [N] or [N, 1]; with soft_label probabilities [N, C].
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: the reduction is unknown or the shapes don't fit.
        IndexError: a label is not a class.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(
            f"cross_entropy: expected reduction 'mean', 'sum' or 'none', but got {reduction!r}. "
            "Use one of them."
        )
    short_label = label.ndim == input.ndim - 1
    if short_label:
        label = OPS["unsqueeze"](label, axis=axis)
    _, loss = OPS["cross_entropy_with_softmax"](
        input, label, soft_label=soft_label, use_softmax=use_softmax, axis=axis
    )
    if reduction == "mean":
        return OPS["mean_all"](loss) if in_dynamic_mode() else OPS["mean"](loss)
    if reduction == "sum":
        return OPS["sum"](loss)
    return OPS["squeeze"](loss, axis=axis) if short_label else loss
