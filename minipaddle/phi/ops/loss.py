"""Losses.

Paddle: paddle/phi/kernels/cross_entropy_kernel.h, bce_loss_kernel.h, huber_loss_kernel.h,
kldiv_loss_kernel.h, nll_loss_kernel.h, sigmoid_cross_entropy_with_logits_kernel.h,
label_smooth_kernel.h.
Left out: hinge, margin and CTC losses.
"""

from __future__ import annotations

import math

from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, Optional, op
from minipaddle.phi.core.type_promotion import promote
from minipaddle.phi.infermeta import loss as infermeta
from minipaddle.phi.infermeta.enforce import require_dimensions, require_floating
from minipaddle.phi.ops.activation import tanh
from minipaddle.phi.ops.creation import assign_value, full_like
from minipaddle.phi.ops.elementary import exp
from minipaddle.phi.ops.logic import equal, not_equal
from minipaddle.phi.ops.manipulation import cast, reshape, unsqueeze
from minipaddle.phi.ops.reduction import sum


def _rows(xp, x, axis):
    """x as a matrix, with one row for each label and the classes along the row."""
    if x.ndim == 2 and axis in (-1, 1):
        return x
    last = axis in (-1, x.ndim - 1)
    return (x if last else xp.moveaxis(x, axis, -1)).reshape(-1, x.shape[axis] or 1)


def _classes(xp, label, ignore_index, count):
    """(the labels in a row, each a class; where they are ignored, or None if none is).

    Raises IndexError if a label is no class.
    """
    if label.size:
        low, high = label.min(), label.max()
        if low >= 0 and high < count and not low <= ignore_index <= high:
            return label.ravel(), None
    ignored = label == ignore_index
    classes = xp.where(ignored, 0, label).ravel()
    wrong = classes[(classes < 0) | (classes >= count)]
    if wrong.size:
        raise IndexError(
            f"cross_entropy_with_softmax: expected labels in [0, {count}), but got "
            f"{int(wrong[0])}. "
            f"Check the labels, or the number of classes of the last layer."
        )
    return classes, ignored


@op(
    source="paddle/phi/ops/yaml/ops.yaml: cross_entropy_with_softmax",
    outputs=("softmax", "loss"),
    traits=("Pure",),
    inplace={"softmax": "input"},
    amp="black_o1",
)
def cross_entropy_with_softmax(
    xp,
    input,
    label,
    *,
    soft_label: bool = False,
    use_softmax: bool = True,
    numeric_stable_mode: bool = True,
    ignore_index: int = -100,
    axis: int = -1,
):
    """softmax = softmax(input); loss = -log(softmax at the label). One op, because the log of a
    softmax is safe only if computed together. With C classes along `axis`: input [..., C], label
    [..., 1] -> softmax [..., C], loss [..., 1].
    """
    wanted = list(input.shape)
    wanted[axis] = wanted[axis] if soft_label else 1
    if label.shape != tuple(wanted) or input.dtype.kind != "f" or not input.shape[axis]:
        raise ValueError  # InferMeta says why
    if soft_label and label.dtype != input.dtype:
        raise ValueError
    if use_softmax:
        shifted = input - input.max(axis=axis, keepdims=True)
        softmax = xp.exp(shifted)
        total = xp.add.reduce(softmax, axis=axis, keepdims=True)
        softmax /= total
        log_total = xp.log(total)
    else:  # the input has been through a softmax already; log 0 counts as a large number
        softmax, log_total = input.copy(), input.dtype.type(0)
        shifted = xp.maximum(xp.log(input), input.dtype.type(-1e20 if input.itemsize > 2 else -6e4))
    if soft_label:
        return softmax, xp.sum(label * (log_total - shifted), axis=axis, keepdims=True)
    classes, ignored = _classes(xp, label, ignore_index, input.shape[axis])
    at_label = _rows(xp, shifted, axis)[xp.arange(classes.size), classes]
    loss = log_total - at_label.reshape(label.shape)
    return softmax, loss if ignored is None else xp.where(ignored, input.dtype.type(0), loss)


cross_entropy_with_softmax.infer_meta(infermeta.cross_entropy)


@cross_entropy_with_softmax.vjp(wrt=("input",), double_grad=False)
def _(
    label,
    softmax,
    loss_grad,
    *,
    soft_label: bool,
    use_softmax: bool,
    numeric_stable_mode: bool,
    ignore_index: int,
    axis: int,
):
    if soft_label:
        target = label
        # Paddle leaves this sum out: it is 1 where the label is a probability
        share = loss_grad * sum(label, axis=(axis,), keepdim=True)
    else:
        count = softmax.shape[axis]
        shape = [1] * len(softmax.shape)
        shape[axis] = count
        classes = assign_value(shape=tuple(shape), dtype=label.dtype, values=tuple(range(count)))
        target = cast(equal(label, classes), dtype=softmax.dtype)
        if 0 <= ignore_index < count:  # other numbers are no class: they hit nothing anyway
            counted = not_equal(label, full_like(label, value=ignore_index, dtype=label.dtype))
            target = target * cast(counted, dtype=softmax.dtype)
        # a row whose label is ignored has no hit: its gradient is zero
        share = loss_grad * sum(target, axis=(axis,), keepdim=True)
    if not use_softmax:
        return (-loss_grad * target / softmax,)
    return (softmax * share - target * loss_grad,)


@cross_entropy_with_softmax.grad_kernel
def _(
    xp,
    wanted,
    label,
    softmax,
    loss_grad,
    *,
    soft_label,
    use_softmax,
    numeric_stable_mode,
    ignore_index,
    axis,
):
    """Without a one-hot target: one number per row is changed."""
    if soft_label:
        if not use_softmax:
            return (-loss_grad * label / softmax,)
        share = loss_grad * xp.sum(label, axis=axis, keepdims=True)
        return (softmax * share - label * loss_grad,)
    classes, ignored = _classes(xp, label, ignore_index, softmax.shape[axis])
    share = loss_grad
    if ignored is not None:
        share = xp.where(ignored, loss_grad.dtype.type(0), loss_grad)
    rows, at_label = softmax, (xp.arange(classes.size), classes)
    is_matrix = softmax.ndim == 2 and axis in (-1, 1)
    if not is_matrix:
        rows, share = _rows(xp, softmax, axis), share.reshape(-1, 1)
    if use_softmax:
        grad = rows * share
        grad[at_label] -= share[:, 0]
    else:
        grad = xp.zeros_like(rows)
        found = rows[at_label]
        if ignored is not None:  # there may be a 0: it is not divided by
            found = xp.where(ignored.ravel(), rows.dtype.type(1), found)
        grad[at_label] = -share[:, 0] / found
    if is_matrix:
        return (grad,)
    if axis in (-1, softmax.ndim - 1):
        return (grad.reshape(softmax.shape),)
    shape = [size for i, size in enumerate(softmax.shape) if i != axis % softmax.ndim]
    return (xp.moveaxis(grad.reshape(*shape, softmax.shape[axis]), -1, axis),)


def _require_alike(input, label):
    """InferMeta says what is wrong; here it is only noticed."""
    if input.shape != label.shape or input.dtype != label.dtype or input.dtype.kind != "f":
        raise ValueError


def _log(xp, x):
    """log(x), but at least -100."""
    one, least = x.dtype.type(1), x.dtype.type(-100)
    return xp.where(x > 0, xp.maximum(xp.log(xp.where(x > 0, x, one)), least), least)


@op(source="paddle/phi/ops/yaml/ops.yaml: bce_loss", traits=("Pure",), inplace={"out": "input"})
def bce_loss(xp, input, label):
    """-label * log(input) - (1 - label) * log(1 - input): how far probabilities are from what is
    true. A log counts as -100 at least.
    """
    _require_alike(input, label)
    if input.size and not (input.min() >= 0 and input.max() <= 1):
        raise ValueError(
            "bce_loss: expected probabilities in [0, 1], but got numbers from "
            f"{float(input.min())} to {float(input.max())}. Apply a sigmoid first, or use "
            "binary_cross_entropy_with_logits."
        )
    return -label * _log(xp, input) - (1 - label) * _log(xp, 1 - input)


bce_loss.infer_meta(infermeta.like_input("bce_loss"))


@bce_loss.vjp(wrt=("input",))
def _(input, label, out_grad):
    slope = input * (1.0 - input)
    large = cast(slope > 1e-12, dtype=input.dtype)
    # slope, but at least 1e-12
    return (out_grad * (input - label) / (slope * large + (1.0 - large) * 1e-12),)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: sigmoid_cross_entropy_with_logits",
    traits=("Pure",),
    inplace={"out": "x"},
    amp="black_o1",
)
def sigmoid_cross_entropy_with_logits(
    xp,
    x,
    label,
    pos_weight: Optional,
    *,
    normalize: bool = False,
    ignore_index: int = -100,
):
    """bce_loss(sigmoid(x), label), computed so that large numbers don't overflow.

    pos_weight: a factor for the part in which the label is 1. normalize: divides by the number of
    labels that are not ignored.
    """
    _require_alike(x, label)
    if pos_weight is not None and pos_weight.shape != x.shape:
        raise ValueError
    negative = xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(-x, x.dtype.type(0))  # -log(sigmoid(x))
    if pos_weight is not None:
        negative = negative * pos_weight
    counted = label != ignore_index
    out = xp.where(counted, (1 - label) * x + negative, x.dtype.type(0))
    return out / x.dtype.type(max(int(counted.sum()), 1e-6)) if normalize else out


sigmoid_cross_entropy_with_logits.infer_meta(infermeta.sigmoid_cross_entropy)


@sigmoid_cross_entropy_with_logits.vjp(wrt=("x",))
def _(x, label, pos_weight: Optional, out_grad, *, normalize: bool, ignore_index: int):
    sigmoid = (tanh(x * 0.5) + 1.0) * 0.5
    if pos_weight is None:
        slope = sigmoid - label
    else:
        slope = (1.0 - label) - (1.0 - sigmoid) * pos_weight
    number = full_like(label, value=ignore_index, dtype=label.dtype)
    counted = cast(not_equal(label, number), dtype=x.dtype)
    slope = slope * counted
    if normalize:
        total = sum(counted)
        # 1 where nothing is counted: the gradient is 0 then
        slope = slope / (total + cast(total < 0.5, dtype=x.dtype))
    return (out_grad * slope,)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: huber_loss",
    outputs=("out", "residual"),
    traits=("Pure",),
    promote=("input", "label"),
    amp="black_o1",
)
def huber_loss(xp, input, label, *, delta: float):
    """With residual = label - input: residual^2 / 2 where it is small, and a straight line from
    |residual| = delta on: mistakes that are far off don't count too much.
    """
    _require_alike(input, label)
    residual = label - input
    size = xp.abs(residual)
    line = delta * (size - 0.5 * delta)
    return xp.where(size <= delta, 0.5 * residual * residual, line), residual


@huber_loss.infer_meta
def _(input, label, *, delta):
    dtype = promote("huber_loss", input, label)
    label = MetaTensor(label.shape, input.dtype)
    out = MetaTensor(infermeta.like_input("huber_loss")(input, label).shape, dtype)
    return out, MetaTensor(out.shape, out.dtype)


@huber_loss.vjp(double_grad=False)
def _(residual, out_grad, *, delta: float):
    above = cast(residual > delta, dtype=residual.dtype)
    below = cast(residual < -delta, dtype=residual.dtype)
    # the residual, but between -delta and delta
    slope = residual * (1.0 - above - below) + (above - below) * delta
    label_grad = out_grad * slope
    return -label_grad, label_grad


@op(source="paddle/phi/ops/yaml/ops.yaml: kldiv_loss", traits=("Pure",))
def kldiv_loss(xp, x, label, *, reduction: str = "mean", log_target: bool = False):
    """label * (log(label) - x): how far the distribution exp(x) is from `label`. x holds logs; with
    log_target, the label does too.
    """
    _require_alike(x, label)
    if log_target:
        out = xp.exp(label) * (label - x)
    else:
        known = ~(label <= 0)  # nan stays nan
        safe = xp.where(known, label, x.dtype.type(1))
        out = xp.where(known, label * (xp.log(safe) - x), x.dtype.type(0))
    if reduction == "mean":
        return xp.asarray(out.mean(dtype=x.dtype))
    if reduction == "sum":
        return xp.asarray(out.sum(dtype=x.dtype))
    if reduction == "batchmean":
        return xp.asarray(out.sum(dtype=x.dtype) / x.dtype.type(x.shape[0] if x.ndim else 1))
    if reduction != "none":
        raise ValueError
    return out


kldiv_loss.infer_meta(infermeta.kldiv_loss)


@kldiv_loss.vjp(wrt=("x",))
def _(
    x: NoNeedBuffer,
    label,
    out_grad,
    *,
    reduction: str = "mean",
    log_target: bool = False,
):
    if log_target:
        slope = -exp(label)
    else:
        slope = -label * cast(label > 0, dtype=label.dtype)
    if reduction == "mean":
        slope = slope * (1.0 / max(x.size, 1))
    elif reduction == "batchmean":
        slope = slope * (math.prod(x.shape[1:]) / max(x.size, 1))  # 1 / batch
    return (slope * out_grad,)


def _check_nll(input, label, weight):
    """InferMeta says what is wrong; here it is only noticed."""
    fits = input.ndim in (2, 4) and label.shape == (input.shape[0], *input.shape[2:])
    if not fits or label.dtype != "int64" or input.dtype.kind != "f":
        raise ValueError
    if weight is not None and (weight.shape != input.shape[1:2] or weight.dtype != input.dtype):
        raise ValueError


@op(
    source="paddle/phi/ops/yaml/ops.yaml: nll_loss",
    outputs=("out", "total_weight"),
    traits=("Pure",),
    amp="black_o1",
)
def nll_loss(
    xp,
    input,
    label,
    weight: Optional,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
):
    """-input at the label, times the weight of its class. input [N, C] or [N, C, H, W] holds logs
    of probabilities, label [N] or [N, H, W] -> out like the label, or their sum or weighted mean;
    total_weight: the sum of the weights (0 for reduction "none").
    """
    _check_nll(input, label, weight)
    ignored = label == ignore_index
    classes = xp.where(ignored, 0, label)
    count = input.shape[1]
    if classes.size and not (classes.min() >= 0 and classes.max() < count):
        raise ValueError(
            f"nll_loss: expected labels in [0, {count}), but got numbers from "
            f"{int(classes.min())} to {int(classes.max())}. Check the labels."
        )
    zero = input.dtype.type(0)
    weights = xp.where(ignored, zero, input.dtype.type(1) if weight is None else weight[classes])
    picked = xp.take_along_axis(input, classes[:, None], axis=1)[:, 0]
    out = xp.where(ignored, zero, -picked * weights)
    if reduction == "none":
        return out, xp.zeros((), input.dtype)
    out = xp.asarray(out.sum(dtype=input.dtype))
    total = xp.asarray(weights.sum(dtype=input.dtype))
    if reduction == "mean":
        out = out / (total + (total == 0))
    return xp.asarray(out, input.dtype), total


nll_loss.infer_meta(infermeta.nll_loss)


@nll_loss.vjp(wrt=("input",))
def _(
    input,
    label,
    weight: Optional,
    total_weight,
    out_grad,
    *,
    ignore_index: int,
    reduction: str,
):
    count = input.shape[1]
    shape = (1, count) + (1,) * (len(input.shape) - 2)
    classes = assign_value(shape=shape, dtype=label.dtype, values=tuple(range(count)))
    hits = cast(equal(unsqueeze(label, axis=(1,)), classes), dtype=input.dtype)
    counted = not_equal(label, full_like(label, value=ignore_index, dtype=label.dtype))
    hits = hits * cast(unsqueeze(counted, axis=(1,)), dtype=input.dtype)
    if weight is not None:
        hits = hits * reshape(weight, shape=shape)
    if reduction == "none":
        return (-hits * unsqueeze(out_grad, axis=(1,)),)
    if reduction == "mean":
        zero = full_like(total_weight, value=0.0, dtype=total_weight.dtype)
        # where everything is ignored, the gradient is 0, not 0 / 0
        out_grad = out_grad / (total_weight + cast(equal(total_weight, zero), dtype=input.dtype))
    return (-hits * out_grad,)


@op(source="paddle/phi/ops/yaml/ops.yaml: label_smooth", traits=("Pure",))
def label_smooth(xp, label, prior_dist: Optional, *, epsilon: float = 0.0):
    """(1 - epsilon) * label + epsilon / C: a little of each of the C classes of the last axis. With
    prior_dist [1, C], epsilon * prior_dist.
    """
    if label.dtype.kind != "f" or not label.ndim:
        raise ValueError  # InferMeta says why
    prior = 1.0 / (label.shape[-1] or 1) if prior_dist is None else prior_dist
    return (1 - epsilon) * label + epsilon * prior


@label_smooth.infer_meta
def _(label, prior_dist, *, epsilon):
    require_floating("label_smooth", label.dtype, "label", RuntimeError)
    require_dimensions("label_smooth", label)
    if prior_dist is not None and prior_dist.size != label.shape[-1] != -1:
        raise ValueError(
            f"label_smooth: expected prior_dist with {label.shape[-1]} numbers, but got "
            f"{list(prior_dist.shape)}. It has one for each class."
        )
    return MetaTensor(label.shape, label.dtype)


@label_smooth.vjp(wrt=("label",))
def _(out_grad, *, epsilon: float):
    return (out_grad * (1.0 - epsilon),)
