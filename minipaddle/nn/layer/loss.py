"""Losses as layers. What each computes, and its arguments, stands in nn/functional/loss.py.

Paddle: python/paddle/nn/layer/loss.py.
"""

from __future__ import annotations

from typing import Any

from minipaddle.nn import functional
from minipaddle.nn.functional.loss import check_reduction
from minipaddle.nn.layer.layers import Layer

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]


class _Loss(Layer):
    """A loss with a reduction. Raises ValueError if it is unknown."""

    def __init__(self, reduction: str, *more: str) -> None:
        super().__init__()
        check_reduction(type(self).__name__, reduction, *more)
        self.reduction = reduction


class CrossEntropyLoss(_Loss):
    """-log(softmax(input)) at the label; see functional.cross_entropy."""

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.ignore_index = ignore_index
        self.soft_label = soft_label
        self.axis = axis
        self.use_softmax = use_softmax
        self.label_smoothing = label_smoothing
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.cross_entropy(
            input,
            label,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            soft_label=self.soft_label,
            axis=self.axis,
            use_softmax=self.use_softmax,
            label_smoothing=self.label_smoothing,
        )


class MSELoss(_Loss):
    """(input - label)^2."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)

    def forward(self, input: Any, label: Any) -> Any:
        return functional.mse_loss(input, label, self.reduction)


class L1Loss(_Loss):
    """|input - label|."""

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(reduction)
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.l1_loss(input, label, self.reduction)


class SmoothL1Loss(_Loss):
    """A square near 0 and a straight line from delta on; see functional.smooth_l1_loss."""

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
        is_huber: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.delta = delta
        self.is_huber = is_huber
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.smooth_l1_loss(input, label, self.reduction, self.delta, self.is_huber)


class BCELoss(_Loss):
    """Cross entropy of probabilities of yes or no; see functional.binary_cross_entropy."""

    def __init__(
        self, weight: Any = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(logit); see functional.binary_cross_entropy_with_logits."""

    def __init__(
        self,
        weight: Any = None,
        reduction: str = "mean",
        pos_weight: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self.weight = weight
        self.pos_weight = pos_weight
        self.name = name

    def forward(self, logit: Any, label: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(
            logit, label, self.weight, self.reduction, self.pos_weight
        )


class NLLLoss(_Loss):
    """-input at the label; see functional.nll_loss."""

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction)
        self._weight = weight
        self._ignore_index = ignore_index
        self._name = name

    def forward(self, input: Any, label: Any) -> Any:
        return functional.nll_loss(input, label, self._weight, self._ignore_index, self.reduction)


class KLDivLoss(_Loss):
    """How far one distribution is from another; see functional.kl_div."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction, "batchmean")
        self.log_target = log_target

    def forward(self, input: Any, label: Any) -> Any:
        return functional.kl_div(input, label, self.reduction, self.log_target)
