"""Activations as layers. Paddle: python/paddle/nn/layer/activation.py.

Left out: PReLU, SELU, CELU, GLU, Maxout, RReLU, the shrinking ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.nn import functional
from minipaddle.nn.layer.layers import Layer

__all__ = [
    "ELU",
    "GELU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "ReLU",
    "ReLU6",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softplus",
    "Swish",
    "Tanh",
    "ThresholdedReLU",
]


class _Activation(Layer):
    """A layer that calls one function, with the arguments that it was made with.

    Attributes:
        function: called with x and the arguments.
        _arguments: by name, in the order in which `print(layer)` shows them.
    """

    function: Callable[..., Any]

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._arguments: dict[str, Any] = {}
        self._name = name

    def forward(self, x: Any) -> Any:
        return type(self).function(x, **self._arguments)

    def extra_repr(self) -> str:
        shown = dict(self._arguments, **({"name": self._name} if self._name else {}))
        return ", ".join(f"{name}={value}" for name, value in shown.items())


class ReLU(_Activation):
    """max(x, 0)."""

    function = functional.relu


class ReLU6(_Activation):
    """x between 0 and 6."""

    function = functional.relu6


class Tanh(_Activation):
    """The hyperbolic tangent."""

    function = functional.tanh


class Sigmoid(_Activation):
    """1 / (1 + exp(-x))."""

    function = functional.sigmoid


class LogSigmoid(_Activation):
    """log(sigmoid(x))."""

    function = functional.log_sigmoid


class Mish(_Activation):
    """x * tanh(softplus(x))."""

    function = functional.mish


class Swish(_Activation):
    """x * sigmoid(x): the older name of Silu."""

    function = functional.swish


class Hardswish(_Activation):
    """x * relu6(x + 3) / 6."""

    function = functional.hardswish


class Hardsigmoid(_Activation):
    """x / 6 + 0.5, between 0 and 1."""

    function = functional.hardsigmoid


class Silu(_Activation):
    """x * sigmoid(x)."""

    function = functional.silu

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"inplace": inplace}


class GELU(_Activation):
    """x times the part of a normal distribution that lies below x; `approximate`: by tanh."""

    function = functional.gelu

    def __init__(self, approximate: bool | str = False, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"approximate": approximate}


class LeakyReLU(_Activation):
    """x, but negative_slope * x where it is negative."""

    function = functional.leaky_relu

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"negative_slope": negative_slope}


class ELU(_Activation):
    """x, but alpha * (exp(x) - 1) where it is negative."""

    function = functional.elu

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"alpha": alpha}


class Hardtanh(_Activation):
    """x between min and max."""

    function = functional.hardtanh

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"min": min, "max": max}


class ThresholdedReLU(_Activation):
    """x where it is above the threshold, `value` elsewhere."""

    function = functional.thresholded_relu

    def __init__(self, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"threshold": threshold, "value": value}


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""

    function = functional.softplus

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"beta": beta, "threshold": threshold}


class Softmax(_Activation):
    """exp(x) / sum(exp(x)) along an axis."""

    function = functional.softmax

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"axis": axis}


class LogSoftmax(_Activation):
    """log(softmax(x)) along an axis."""

    function = functional.log_softmax

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._arguments = {"axis": axis}
