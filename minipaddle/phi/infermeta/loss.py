"""InferMeta rules of losses.

Paddle: paddle/phi/infermeta/binary.cc, ternary.cc, multiary.cc.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.enforce import require_one_of
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.infermeta.enforce import require_dtype, require_floating, require_shape


def like_input(who: str) -> Any:
    """Makes the rule of a loss that compares two Tensors of one shape and dtype, number by
    number.
    """

    def rule(input: MetaTensor, label: MetaTensor, **attrs: Any) -> MetaTensor:
        require_floating(who, input.dtype, "input", RuntimeError)
        require_shape(who, "label", label, input.shape)
        require_dtype(who, "label", label, input.dtype)
        return MetaTensor(input.shape, input.dtype)

    return rule


def cross_entropy(
    input: MetaTensor, label: MetaTensor, *, soft_label: bool, axis: int, **attrs: Any
) -> tuple[MetaTensor, MetaTensor]:
    """With C classes along `axis`: input [..., C], label [..., 1] (or [..., C] if soft) ->
    softmax [..., C], loss [..., 1].
    """
    who = "cross_entropy_with_softmax"
    require_floating(who, input.dtype, "input", RuntimeError)
    if not -input.ndim <= axis < input.ndim:
        raise ValueError(
            f"{who}: expected an axis in [{-input.ndim}, {input.ndim}), but got {axis}. The input "
            f"has {input.ndim} dimensions."
        )
    if not input.shape[axis]:
        raise ValueError(
            f"{who}: expected at least one class, but got none along axis {axis} of input "
            f"{list(input.shape)}. Look at where the input comes from."
        )
    one = list(input.shape)
    one[axis] = 1
    wanted = list(input.shape) if soft_label else one
    if input.ndim != label.ndim:
        raise ValueError(
            f"{who}: expected input and label with the same number of dimensions, but got input "
            f"{list(input.shape)} and label {list(label.shape)}. Give the label an axis of size 1 "
            "where the input has its classes."
        )
    advice = f"There must be one label for each of input's rows (input {list(input.shape)})."
    require_shape(who, "label", label, wanted, advice)
    if soft_label:
        require_dtype(who, "label", label, input.dtype)
    if not soft_label and label.dtype.is_floating:
        raise TypeError(
            f"{who}: expected a label of an integer dtype, but got {label.dtype.name}. "
            "Cast it with astype('int64'), or set soft_label=True."
        )
    return MetaTensor(input.shape, input.dtype), MetaTensor(one, input.dtype)


def nll_loss(
    input: MetaTensor,
    label: MetaTensor,
    weight: MetaTensor | None,
    *,
    reduction: str,
    **attrs: Any,
) -> tuple[MetaTensor, MetaTensor]:
    """input [N, C] or [N, C, H, W], label [N] or [N, H, W], weight [C] -> the loss, like the label
    or a single number, and the sum of the weights.
    """
    require_floating("nll_loss", input.dtype, "input", RuntimeError)
    if input.ndim not in (2, 4):
        raise ValueError(
            "nll_loss: expected input [N, C] or [N, C, H, W], but got "
            f"{list(input.shape)}. Reshape it, or use paddle.nn.functional.nll_loss, which does."
        )
    require_shape("nll_loss", "label", label, [input.shape[0], *input.shape[2:]])
    require_dtype("nll_loss", "label", label, dtypes.int64)
    require_shape("nll_loss", "weight", weight, [input.shape[1]])
    require_dtype("nll_loss", "weight", weight, input.dtype)
    shape = label.shape if reduction == "none" else []
    return MetaTensor(shape, input.dtype), MetaTensor([], input.dtype)


def kldiv_loss(x: MetaTensor, label: MetaTensor, *, reduction: str, log_target: bool) -> MetaTensor:
    """Like x; a single number with a reduction."""
    require_one_of("kldiv_loss", "reduction", reduction, ("none", "mean", "sum", "batchmean"))
    out = like_input("kldiv_loss")(x, label)
    return out if reduction == "none" else MetaTensor([], x.dtype)


def sigmoid_cross_entropy(
    x: MetaTensor, label: MetaTensor, pos_weight: MetaTensor | None, **attrs: Any
) -> MetaTensor:
    """Like x; label and pos_weight have its shape."""
    who = "sigmoid_cross_entropy_with_logits"
    require_shape(who, "pos_weight", pos_weight, x.shape)
    return like_input(who)(x, label)
