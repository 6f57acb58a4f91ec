"""ParamAttr: what a user says about a parameter; and the making of parameters.

Paddle: python/paddle/base/param_attr.py, layer_helper_base.py (create_parameter).
Left out: model averaging.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.nn.initializer import Initializer, default_initializer_for
from minipaddle.phi.core.world import current_world
from minipaddle.pir.core.attribute import Attribute
from minipaddle.pir.core.value import Value


class ParamAttr:
    """What is special about a parameter.

    Args:
        name: its name (default: made from the layer's name).
        initializer: how it gets its first numbers.
        learning_rate: a factor for the optimizer's learning rate.
        regularizer: L1Decay or L2Decay for this parameter, in place of the optimizer's.
        trainable: False: it has no gradient.
        need_clip: False: clipping leaves its gradient as it is.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: the name is empty.
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        kinds: tuple[tuple[str, Any, Any], ...] = (
            ("name", name, (str, type(None))),
            ("initializer", initializer, (Initializer, type(None))),
            ("learning_rate", learning_rate, (int, float)),
            ("trainable", trainable, bool),
            ("do_model_average", do_model_average, bool),
            ("need_clip", need_clip, bool),
        )
        for what, value, kind in kinds:
            if not isinstance(value, kind):
                names = [k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,))]
                raise TypeError(
                    f"ParamAttr: expected {what} to be {' or '.join(names)}, but got {value!r}. "
                    "See the arguments of paddle.ParamAttr."
                )
        if name == "":
            raise ValueError("ParamAttr: expected a name, but got ''. Leave it out, or name it.")
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def __repr__(self) -> str:
        return f"ParamAttr({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    @staticmethod
    def _to_attr(value: Any) -> Any:
        """What users may pass as an attr: None, True, a name, an Initializer, a regularizer or a
        ParamAttr; False (no parameter at all) stays False.

        Raises:
            TypeError: it is none of these.
        """
        if isinstance(value, ParamAttr):
            return value
        if value is None or isinstance(value, bool):
            return False if value is False else ParamAttr()
        if isinstance(value, str):
            return ParamAttr(name=value)
        if isinstance(value, Initializer):
            return ParamAttr(initializer=value)
        if hasattr(value, "_coeff"):  # L1Decay, L2Decay: they live on a floor above
            return ParamAttr(regularizer=value)
        raise TypeError(
            f"ParamAttr: expected None, a name, an Initializer or a ParamAttr, but got {value!r}. "
            "Pass paddle.ParamAttr(...)."
        )


def create_parameter(
    shape: Sequence[int],
    dtype: Any = None,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Callable | None = None,
) -> Any:
    """A new parameter, in the current world.

    Args:
        shape: its shape.
        dtype: default: the default dtype.
        attr: a ParamAttr, or what `ParamAttr._to_attr` takes; it wins over the other arguments.
        default_initializer: default: zeros for a bias, XavierUniform for a weight, or what
            set_global_initializer said.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: a size is negative; a classic Program has that name, for something else.
    """
    if not isinstance(name, str | None):
        raise TypeError(
            f"create_parameter: expected name to be a text, but got {name!r}. Leave it out for a "
            "new one."
        )
    if not (default_initializer is None or callable(default_initializer)):
        raise TypeError(
            "create_parameter: expected default_initializer to be an Initializer, but got "
            f"{default_initializer!r}. Use one of paddle.nn.initializer."
        )
    attr = ParamAttr._to_attr(None if attr is False else attr)
    initializer = attr.initializer or default_initializer_for(is_bias, default_initializer)
    name = attr.name or name or _default_name(is_bias)
    wanted = dtypes.to_dtype(dtype or dtypes.get_default_dtype(), by_other_names=False)
    parameter = current_world().create_parameter(
        _sizes(shape), wanted, initializer, name, attr.trainable
    )
    parameter.optimize_attr = {"learning_rate": attr.learning_rate}
    parameter.regularizer = attr.regularizer
    parameter.need_clip = attr.need_clip
    if isinstance(parameter, Value):
        parameter.get_defining_op().attributes["need_clip"] = Attribute([attr.need_clip])
    return parameter


def _sizes(shape: Any) -> list[int]:
    """The shape as ints. Raises TypeError or ValueError if it can't be the shape of a parameter."""
    several = isinstance(shape, (list, tuple))
    if not several or not all(isinstance(size, (int, np.integer)) for size in shape):
        raise TypeError(
            f"create_parameter: expected a shape of ints, but got {shape!r}. Give one size for "
            "each axis."
        )
    if any(size < 0 for size in shape):
        raise ValueError(
            f"create_parameter: expected sizes of 0 or more, but got {list(shape)}. A parameter "
            "has all its sizes from the start."
        )
    return [int(size) for size in shape]


def _default_name(is_bias: bool) -> str:
    """create_parameter_0.w_0: the name of a layer that has just this parameter."""
    return unique_name.generate(
        f"{unique_name.generate('create_parameter')}.{'b' if is_bias else 'w'}"
    )
