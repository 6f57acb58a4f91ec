"""functional: layers without parameters of their own.

Paddle: python/paddle/nn/functional/.
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import in_dynamic_mode

relu = OPS["relu"]
tanh = OPS["tanh"]


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along `axis`."""
    return OPS["softmax"](x, axis=axis)


def linear(x: Any, weight: Any, bias: Any = None, name: Any = None) -> Any:
    """x [..., in] @ weight [in, out] + bias [out]."""
    out = OPS["matmul"](x, weight)
    return out if bias is None else OPS["add"](out, bias)


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
