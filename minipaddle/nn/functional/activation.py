"""Activations. Paddle: python/paddle/nn/functional/activation.py.

Left out: selu, celu, prelu, the shrinking ones, gumbel_softmax, maxout.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.enforce import require_one_of
from minipaddle.phi.core.op import OPS, find_op

__all__ = [
    "elu",
    "elu_",
    "gelu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "relu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmax_",
    "softplus",
    "swish",
    "tanh",
    "tanh_",
    "thresholded_relu",
    "thresholded_relu_",
]

relu = OPS["relu"]
relu6 = OPS["relu6"]
elu = OPS["elu"]
sigmoid = OPS["sigmoid"]
log_sigmoid = OPS["logsigmoid"]
tanh = OPS["tanh"]
swish = OPS["swish"]
hardswish = OPS["hardswish"]
relu_ = find_op("relu_")
elu_ = find_op("elu_")
tanh_ = find_op("tanh_")
thresholded_relu = OPS["thresholded_relu"]
thresholded_relu_ = find_op("thresholded_relu_")


def leaky_relu(x: Any, negative_slope: float = 0.01, name: Any = None) -> Any:
    """x, but negative_slope * x where it is negative."""
    return OPS["leaky_relu"](x, negative_slope=negative_slope)


def leaky_relu_(x: Any, negative_slope: float = 0.01, name: Any = None) -> Any:
    """leaky_relu, in place."""
    return find_op("leaky_relu_")(x, negative_slope=negative_slope)


def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: Any = None) -> Any:
    """x between min and max."""
    return OPS["hardtanh"](x, t_min=min, t_max=max)


def hardtanh_(x: Any, min: float = -1.0, max: float = 1.0, name: Any = None) -> Any:
    """hardtanh, in place."""
    return find_op("hardtanh_")(x, t_min=min, t_max=max)


def hardsigmoid(x: Any, slope: float = 0.1666667, offset: float = 0.5, name: Any = None) -> Any:
    """slope * x + offset, between 0 and 1."""
    return OPS["hardsigmoid"](x, slope=slope, offset=offset)


def gelu(x: Any, approximate: bool | str = False, name: Any = None) -> Any:
    """x times the part of a normal distribution that lies below x.

    Args:
        approximate: True or "tanh" computes it by tanh, False or "none" exactly.

    Raises:
        ValueError: another string.
    """
    require_one_of("gelu", "approximate", approximate, (True, False, "tanh", "none"))
    return OPS["gelu"](x, approximate=approximate in (True, "tanh"))


def silu(x: Any, inplace: bool = False, name: Any = None) -> Any:
    """x * sigmoid(x)."""
    return find_op("silu_" if inplace else "silu")(x)


def softplus(x: Any, beta: float = 1, threshold: float = 20, name: Any = None) -> Any:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return OPS["softplus"](x, beta=float(beta), threshold=float(threshold))


def mish(x: Any, name: Any = None) -> Any:
    """x * tanh(softplus(x))."""
    return OPS["mish"](x, lambda_=20.0)


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along `axis`; x is cast to `dtype` first, if one is given."""
    return OPS["softmax"](_cast(x, dtype), axis=axis)


def softmax_(x: Any, axis: int = -1, dtype: Any = None, name: Any = None) -> Any:
    """softmax, in place."""
    return find_op("softmax_")(_cast(x, dtype), axis=axis)


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: Any = None) -> Any:
    """log(softmax(x)) along `axis`; x is cast to `dtype` first, if one is given.

    Raises:
        ValueError: there is no such axis.
    """
    return OPS["log_softmax"](_cast(x, dtype), axis=axis)


def _cast(x: Any, dtype: Any) -> Any:
    if dtype is None or dtypes.to_dtype(dtype) is x.dtype:
        return x
    return OPS["cast"](x, dtype=dtype)
