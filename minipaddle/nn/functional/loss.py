"""Losses: how far an answer is from what it should be, as one number or one per sample.

Paddle: python/paddle/nn/functional/loss.py.
Left out: margin, contrastive and CTC losses.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.enforce import require_one_of
from minipaddle.nn.functional.common import label_smooth
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world, in_dynamic_mode

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "softmax_with_cross_entropy",
    "square_error_cost",
]


def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """-log(softmax(input)) at the label.

    Args:
        input: [N, C] or [..., C], before the softmax; the C classes may be on another `axis`.
        label: class numbers [N] or [N, 1]; with soft_label probabilities [N, C].
        weight: [C], a factor for each class.
        ignore_index: samples with this label don't count.
        reduction: "mean", "sum" or "none". The mean is over what counts, by its weight.
        use_softmax: False: the input has been through a softmax already.
        label_smoothing: this much of the label is spread over all classes.

    Raises:
        ValueError: the reduction is unknown or the shapes don't fit.
        IndexError: a label is not a class.
    """
    check_reduction("cross_entropy", reduction)
    if ignore_index > 0 and soft_label:
        raise ValueError(
            "cross_entropy: expected no ignore_index beside soft_label=True, but got "
            f"{ignore_index}. Leave it out."
        )
    classes_last = axis in (-1, input.ndim - 1)
    short_label = label.ndim == input.ndim - 1
    _check_label_ndim("cross_entropy", input, label)
    if short_label:
        label = OPS["unsqueeze"](label, axis=axis)
    if label_smoothing > 0.0:
        if short_label:
            label = OPS["squeeze"](label, axis=axis)
            label = OPS["one_hot"](label, num_classes=input.shape[-1])
        label = label_smooth(label, epsilon=label_smoothing)
        if label.dtype is not input.dtype:
            label = OPS["cast"](label, dtype=input.dtype)
        soft_label = True
    _, loss = OPS["cross_entropy_with_softmax"](
        input,
        label,
        soft_label=soft_label,
        use_softmax=use_softmax,
        ignore_index=ignore_index,
        axis=axis,
    )
    weights = None
    if weight is not None:
        if soft_label:
            weights = _soft_weights(label, weight, loss)
            loss = OPS["cast"](loss, dtype=weights.dtype)
        else:
            weights = _hard_weights(input, label, weight, ignore_index, axis, classes_last)
        loss = OPS["multiply"](loss, weights)
    if reduction == "none":
        return OPS["squeeze"](loss, axis=axis) if short_label else loss
    if reduction == "sum":
        return OPS["sum"](loss)
    nothing = in_dynamic_mode() and 0 in input.shape  # the mean of nothing is nan
    if nothing or (weights is None and ignore_index < 0):
        return _mean_all(loss)
    total = OPS["sum"](loss)
    if ignore_index >= 0:
        counted = OPS["cast"](label != ignore_index, dtype=loss.dtype)
        weights = counted if weights is None else OPS["multiply"](counted, weights)
    count = OPS["sum"](weights)
    # where nothing counts, the loss is 0, not 0 / 0
    return total / (count + OPS["cast"](count == 0.0, dtype=count.dtype))


def _soft_weights(label: Any, weight: Any, loss: Any) -> Any:
    """The weight of each sample: the weights of the classes, mixed by the label."""
    mixed = OPS["matmul"](OPS["cast"](label, dtype=weight.dtype), weight, transpose_y=True)
    return OPS["reshape"](mixed, shape=list(loss.shape))


def _hard_weights(
    input: Any, label: Any, weight: Any, ignore_index: int, axis: int, classes_last: bool
) -> Any:
    """The weight of each sample's class; 0 where it is ignored."""
    if input.shape[axis] != weight.shape[-1]:
        raise ValueError(
            f"cross_entropy: expected weight with one number for each of the {input.shape[axis]} "
            f"classes, but got shape {list(weight.shape)}. Give each class its weight."
        )
    # an ignored label may be no class: take the weight of class 0 for it, and make it 0 then
    classes = OPS["multiply"](OPS["cast"](label != ignore_index, dtype=label.dtype), label)
    counted = OPS["cast"](label != ignore_index, dtype=input.dtype)
    if counted.ndim > 1 and counted.shape[axis] == 1:
        counted = OPS["squeeze"](counted, axis=axis)
    if not classes_last:
        order = [i for i in range(label.ndim) if i != axis % label.ndim] + [axis % label.ndim]
        classes = OPS["transpose"](classes, perm=order)
    found = OPS["multiply"](OPS["gather_nd"](weight, classes), counted)
    return OPS["reshape"](found, shape=list(label.shape))


def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """The op behind cross_entropy, with no reduction: logits [..., C], label [..., 1] (or [..., C]
    if soft) -> loss [..., 1]; with return_softmax, (loss, softmax).
    """
    _check_label_ndim("softmax_with_cross_entropy", logits, label)
    if label.ndim == logits.ndim - 1:
        label = OPS["unsqueeze"](label, axis=axis)
    softmax, loss = OPS["cross_entropy_with_softmax"](
        logits,
        label,
        soft_label=soft_label,
        numeric_stable_mode=numeric_stable_mode,
        ignore_index=ignore_index,
        axis=axis,
    )
    return (loss, softmax) if return_softmax else loss


def square_error_cost(input: Any, label: Any) -> Any:
    """(input - label)^2, number by number."""
    return OPS["square"](OPS["subtract"](input, label))


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean of (input - label)^2; shapes broadcast. Raises ValueError: unknown reduction."""
    check_reduction("mse_loss", reduction)
    return _reduced(square_error_cost(input, label), reduction)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean of |input - label|; shapes broadcast. Raises ValueError: unknown reduction."""
    check_reduction("l1_loss", reduction)
    loss = OPS["abs"](OPS["subtract"](input, label))
    return _mean_all_or(loss, reduction)


def smooth_l1_loss(
    input: Any,
    label: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> Any:
    """d^2 / 2 where d = |input - label| is at most delta, delta * (d - delta / 2) above: a mistake
    that is far off doesn't count too much. is_huber=False divides it by delta.

    Raises:
        ValueError: the reduction is unknown or the shapes differ.
    """
    check_reduction("smooth_l1_loss", reduction)
    loss, _ = OPS["huber_loss"](input, label, delta=delta)
    return _reduced(loss if is_huber else loss / delta, reduction)


def binary_cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-label * log(input) - (1 - label) * log(1 - input): the input holds probabilities.

    Args:
        weight: a factor for each number; it broadcasts.

    Raises:
        ValueError: the reduction is unknown, the shapes differ, or a number is not in [0, 1].
    """
    check_reduction("binary_cross_entropy", reduction)
    loss = OPS["bce_loss"](input, label)
    if weight is not None:
        loss = OPS["multiply"](loss, weight)
    return _mean_all_or(loss, reduction)


def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Any:
    """binary_cross_entropy of sigmoid(logit), safe for large numbers.

    Args:
        weight: a factor for each number; it broadcasts.
        pos_weight: a factor for the part in which the label is 1; it broadcasts.

    Raises:
        ValueError: the reduction is unknown or the shapes differ.
    """
    check_reduction("binary_cross_entropy_with_logits", reduction)
    one = OPS["full"](shape=[1], value=1.0, dtype=logit.dtype)
    if pos_weight is not None:
        more = OPS["multiply"](label, OPS["subtract"](pos_weight, one))
        pos_weight = OPS["add"](more, one)
    loss = OPS["sigmoid_cross_entropy_with_logits"](logit, label, pos_weight)
    if weight is not None:
        loss = OPS["multiply"](loss, weight)
    return _mean_all_or(loss, reduction)


def nll_loss(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-input at the label: cross_entropy of what has been through a log_softmax.

    Args:
        input: [N, C] or [N, C, ...], logs of probabilities.
        label: [N] or [N, ...], int64.
        weight: [C], a factor for each class.
        ignore_index: samples with this label don't count.

    Raises:
        ValueError: the reduction is unknown, the shapes don't fit, or a label is no class.
    """
    check_reduction("nll_loss", reduction)
    _check_label_ndim("nll_loss", input, label)
    if input.ndim < 2 or input.shape[1] == 0:
        raise ValueError(
            f"nll_loss: expected input [N, C, ...] with C classes, but got {list(input.shape)}. "
            "Give it an axis of classes."
        )
    batch, classes, *rest = input.shape
    flat = input.ndim not in (2, 4)
    if flat:
        input = OPS["reshape"](input, shape=[batch, classes, 1, -1])
        label = OPS["reshape"](label, shape=[batch, 1, -1])
    loss, _ = OPS["nll_loss"](input, label, weight, ignore_index=ignore_index, reduction=reduction)
    if flat and reduction == "none":
        loss = OPS["reshape"](loss, shape=[batch, *rest])
    return loss


def kl_div(
    input: Any,
    label: Any,
    reduction: str = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> Any:
    """label * (log(label) - input): how far the distribution exp(input) is from `label`.

    Args:
        reduction: "mean" over all numbers, "batchmean" (the sum, divided by the first size), "sum"
            or "none".
        log_target: the label holds logs too.

    Raises:
        ValueError: the reduction is unknown or the shapes differ.
    """
    check_reduction("kl_div", reduction, "batchmean")
    if input.dtype is not label.dtype and input.dtype.is_floating and label.dtype.is_floating:
        if input.dtype is dtypes.float64:
            label = OPS["cast"](label, dtype=dtypes.float64)
        elif label.dtype is dtypes.float64:
            input = OPS["cast"](input, dtype=dtypes.float64)
    loss = OPS["kldiv_loss"](input, label, reduction="none", log_target=log_target)
    if reduction == "batchmean":
        total = OPS["sum"](loss)
        return total / input.shape[0] if input.ndim else total
    return _reduced(loss, reduction)


# -- what they share ---------------------------------------------------------------------------


def check_reduction(who: str, reduction: str, *more: str) -> None:
    """Raises ValueError unless it is "mean", "sum", "none" or one of `more`."""
    known = ("mean", "sum", "none", *more)
    require_one_of(who, "reduction", reduction, known)


def _check_label_ndim(who: str, input: Any, label: Any) -> None:
    if input.ndim == 0 or label.ndim not in (input.ndim - 1, input.ndim):
        raise ValueError(
            f"{who}: expected a label with as many dimensions as the input, or one less, but got "
            f"input {list(input.shape)} and label {list(label.shape)}. Give each row one label."
        )


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    return OPS["mean"](loss) if reduction == "mean" else OPS["sum"](loss)


def _mean_all_or(loss: Any, reduction: str) -> Any:
    """As `_reduced`; the mean is the op mean_all, which has no axes, where Paddle takes that one:
    not in a classic Program.
    """
    if reduction == "mean" and current_world().name != "program":
        return OPS["mean_all"](loss)
    return _reduced(loss, reduction)


def _mean_all(loss: Any) -> Any:
    """The mean, as cross_entropy takes it: mean_all in dygraph, mean in programs."""
    return OPS["mean_all"](loss) if in_dynamic_mode() else OPS["mean"](loss)
