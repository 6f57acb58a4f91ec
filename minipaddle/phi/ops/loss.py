"""Losses.

Paddle: paddle/phi/kernels/cross_entropy_kernel.h.
"""

from __future__ import annotations

from minipaddle.phi.core.op import op
from minipaddle.phi.infermeta import binary
from minipaddle.phi.ops.manipulation import cast, one_hot, squeeze
from minipaddle.phi.ops.math import sum


@op(
    source="paddle/phi/ops/yaml/ops.yaml: cross_entropy_with_softmax",
    outputs=("softmax", "loss"),
    traits=("Pure",),
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
    softmax is safe only if computed together. input [..., C], label [..., 1] -> softmax [..., C],
    loss [..., 1]."""
    if use_softmax:
        shifted = input - xp.max(input, axis=-1, keepdims=True)
        e = xp.exp(shifted)
        total = xp.sum(e, axis=-1, keepdims=True)
        softmax, log_softmax = e / total, shifted - xp.log(total)
    else:
        softmax, log_softmax = input, xp.log(input)
    if soft_label:
        return softmax, -xp.sum(label * log_softmax, axis=-1, keepdims=True)
    counted = label != ignore_index
    classes = input.shape[-1]
    wrong = label[counted & ((label < 0) | (label >= classes))]
    if wrong.size:
        raise IndexError(
            f"cross_entropy_with_softmax: expected labels in [0, {classes}), but got "
            f"{int(wrong.ravel()[0])}. "
            f"Check the labels, or the number of classes of the last layer."
        )
    picked = xp.take_along_axis(log_softmax, xp.where(counted, label, 0), axis=-1)
    return softmax, xp.where(counted, -picked, input.dtype.type(0))


cross_entropy_with_softmax.infer_meta(binary.cross_entropy)


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
        share = loss_grad * sum(label, axis=(-1,), keepdim=True)
    else:
        hits = one_hot(squeeze(label, axis=(-1,)), num_classes=softmax.shape[-1])
        target = cast(hits, dtype=softmax.dtype)
        # a row whose label is ignored has no hit: its gradient is zero
        share = loss_grad * sum(target, axis=(-1,), keepdim=True)
    if not use_softmax:
        return (-loss_grad * target / softmax,)
    return (softmax * share - target * loss_grad,)
