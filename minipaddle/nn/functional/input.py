"""one_hot, embedding. Paddle: python/paddle/nn/functional/input.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "embedding",
    "one_hot",
]


def one_hot(x: Any, num_classes: int = -1, name: Any = None) -> Any:
    """x [...] of class numbers -> [..., num_classes]: 1 at the place of the class, 0 elsewhere.

    Args:
        num_classes: -1 takes the largest number in x, plus one.
    """
    if num_classes == -1:
        num_classes = int(x.max()) + 1
    return OPS["one_hot"](x, num_classes=num_classes)


def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: Any = None,
) -> Any:
    """Row x[...] of `weight` [rows, width] for each number in x: [..., width].

    Args:
        padding_idx: this row counts as 0, and gets no gradient. A negative one counts from the end.
        sparse: accepted; the gradient is dense here all the same.

    Raises:
        ValueError: padding_idx is no row.
        NotImplementedError: max_norm or scale_grad_by_freq is asked for.
    """
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError(
            "embedding: expected no max_norm and no scale_grad_by_freq, but got one of them. They "
            "are left out here."
        )
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif rows != -1 and not -rows <= padding_idx < rows:
        raise ValueError(
            f"embedding: expected padding_idx in [{-rows}, {rows}), but got {padding_idx}."
        )
    elif rows != -1:
        padding_idx %= rows
    return OPS["embedding"](x, weight, padding_idx=padding_idx, sparse=sparse)
