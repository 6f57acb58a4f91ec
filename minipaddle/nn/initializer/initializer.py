"""Initializer: the base class; gains and fans, from which the scale of random numbers follows.

Paddle: python/paddle/nn/initializer/initializer.py, python/paddle/base/initializer.py
(set_global_initializer).
Left out: lazy initialization.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class Initializer:
    """Makes the first numbers of a parameter. A subclass defines `forward(shape, dtype)`."""

    def __call__(self, target: Any, dtype: Any = None) -> Any:
        """A Tensor (or a Variable, or a Value) of shape `target` with fresh numbers.

        `target` may also be a parameter, in dygraph: then its numbers are replaced, and nothing
        is returned.
        """
        if hasattr(target, "set_value"):
            target.set_value(self.forward(list(target.shape), target.dtype))
            return None
        return self.forward(target, dtype)

    def forward(self, shape: Sequence[int], dtype: Any) -> Any:
        raise NotImplementedError(
            f"Initializer: expected {type(self).__name__} to define forward(shape, dtype), but "
            "it does not. Write it."
        )


def compute_fans(shape: Sequence[int]) -> tuple[int, int]:
    """(fan_in, fan_out): how many numbers go into one output, and from one input to how many.

    A matrix is [in, out]. A convolution's weight is [out, in, height, width], and each pixel of
    the window counts. A vector [N] counts as [N, N].
    """
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much numbers must grow to make up for what an activation takes away.

    Args:
        nonlinearity: the activation's name: "relu", "tanh", ..., or "linear".
        param: the slope of leaky_relu (default 0.01).

    Raises:
        ValueError: the activation is not known.
    """
    slope = 0.01 if param is None else float(param)
    gains = {
        "sigmoid": 1,
        "linear": 1,
        "tanh": 5.0 / 3,
        "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1 + slope**2)),
        "selu": 3.0 / 4,
    }
    gains |= {f"conv{n}d{kind}": 1 for n in (1, 2, 3) for kind in ("", "_transpose")}
    if nonlinearity not in gains:
        raise ValueError(
            f"calculate_gain: expected one of {sorted(gains)}, but got {nonlinearity!r}. Use the "
            "name of one of them that is similar."
        )
    return gains[nonlinearity]


class _Global:
    """What set_global_initializer said."""

    weight: Initializer | None = None
    bias: Initializer | None = None


def set_global_initializer(
    weight_init: Initializer | None, bias_init: Initializer | None = None
) -> None:
    """From now on, parameters start with these, unless their ParamAttr names an initializer.
    None: back to the layers' own.

    Raises:
        TypeError: it is no Initializer.
    """
    for value in (weight_init, bias_init):
        if value is not None and not isinstance(value, Initializer):
            raise TypeError(
                f"set_global_initializer: expected an Initializer, but got {value!r}. Pass one of "
                "paddle.nn.initializer, or None."
            )
    _Global.weight, _Global.bias = weight_init, bias_init


def default_initializer_for(is_bias: bool, layers_own: Any = None) -> Any:
    """The initializer of a parameter whose ParamAttr names none: the global one, the layer's own,
    or zeros for a bias and XavierUniform for a weight.
    """
    from minipaddle.nn.initializer.constant import Constant  # these two build on this file
    from minipaddle.nn.initializer.xavier import XavierUniform

    chosen = (_Global.bias if is_bias else _Global.weight) or layers_own
    return chosen or (Constant(0.0) if is_bias else XavierUniform())
