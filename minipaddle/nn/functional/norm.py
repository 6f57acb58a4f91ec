"""Normalisations. Paddle: python/paddle/nn/functional/norm.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "normalize",
    "rms_norm",
]

CHANNELS_SECOND = ("NC", "NCL", "NCHW", "NCDHW")
CHANNELS_LAST = ("NLC", "NHWC", "NDHWC")


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Each channel with mean 0 and variance 1 over the batch, then times weight, plus bias.

    Args:
        x: [N, C, ...], or [N, ..., C] with data_format "NHWC" and its like.
        running_mean, running_var: [C]; in training they move towards the batch's, in place:
            momentum * running + (1 - momentum) * batch.
        weight, bias: [C].
        training: use the batch's mean and variance, not the running ones.
        use_global_stats: use the running ones, also in training.

    Raises:
        ValueError: the data_format is unknown, or the shapes don't fit.
    """
    if use_global_stats is None:
        use_global_stats, trainable_statistics = not training, False
    else:
        trainable_statistics = not use_global_stats
    results = OPS["batch_norm_"](
        x,
        running_mean,
        running_var,
        weight,
        bias,
        is_test=not training,
        momentum=momentum,
        epsilon=epsilon,
        data_format=_layout("batch_norm", data_format),
        use_global_stats=use_global_stats,
        trainable_statistics=trainable_statistics,
    )
    return results[0]


def layer_norm(
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """The last axes, of `normalized_shape`, with mean 0 and variance 1, then times weight, plus
    bias.

    Args:
        x: [..., *normalized_shape].
        weight, bias: one number per place, in one row.

    Raises:
        ValueError: x does not end in normalized_shape.
    """
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    begin = x.ndim - len(sizes)
    if begin < 0 or list(x.shape[begin:]) != sizes:
        raise ValueError(
            f"layer_norm: expected x of shape [*, {', '.join(map(str, sizes))}], but got "
            f"{list(x.shape)}. normalized_shape names the last sizes of x."
        )
    return OPS["layer_norm"](x, weight, bias, epsilon, begin)[0]


def group_norm(
    x: Any,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each image's channels in `num_groups` groups, each with mean 0 and variance 1, then times
    weight, plus bias.

    Args:
        x: [N, C, ...], or [N, ..., C] with data_format "NHWC" and its like.
        weight, bias: [C].

    Raises:
        ValueError: num_groups does not divide C, or the data_format is unknown.
    """
    layout = _layout("group_norm", data_format)
    return OPS["group_norm"](
        x, weight, bias, epsilon=epsilon, groups=num_groups, data_format=layout
    )[0]


def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each channel of each image with mean 0 and variance 1, then times weight [C], plus bias [C].
    running_mean, running_var, use_input_stats and momentum are not used, as in Paddle.
    """
    return OPS["instance_norm"](x, weight, bias, epsilon=eps)[0]


def rms_norm(
    input: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    eps: float = 1e-05,
    name: str | None = None,
) -> tuple[Any, Any]:
    """input / sqrt(mean(input ** 2) + eps) * weight over the last axes.

    Returns:
        The result, and 1 / sqrt(...) of each row. Paddle 3.3.1 computes it on a GPU only.
    """
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    return OPS["rms_norm"](input, weight, normalized_shape=sizes, epsilon=eps)


def _layout(who: str, data_format: str) -> str:
    """The op knows two layouts: channels second, and channels last."""
    if data_format in CHANNELS_SECOND:
        return "NCHW"
    if data_format in CHANNELS_LAST:
        return "NHWC"
    raise ValueError(
        f"{who}: expected data_format among {[*CHANNELS_SECOND, *CHANNELS_LAST]}, but got "
        f"{data_format!r}. It says where the channels are."
    )


def normalize(
    x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, out: Any = None, name: Any = None
) -> Any:
    """x, divided by its p-norm along `axis` (at least `epsilon`): vectors of length 1.

    Args:
        out: a Tensor into which the result is written too.
    """
    least = OPS["full"](shape=[1], value=epsilon, dtype=x.dtype)
    attrs = {"porder": float(p), "axis": axis, "epsilon": epsilon, "keepdim": True}
    result = OPS["divide"](x, OPS["maximum"](OPS["p_norm"](x, **attrs), least))
    if out is None:
        return result
    out.set_value(result)
    return out
