"""ParamAttr: what a user says about a parameter; and the making of parameters.

Paddle: python/paddle/base/param_attr.py, layer_helper_base.py (create_parameter).
Left out: regularizers, learning rates of single parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.nn.initializer import Constant, Initializer, XavierUniform
from minipaddle.phi.core.world import current_world


@dataclass
class ParamAttr:
    """Name, initializer, and whether a parameter is trained."""

    name: str | None = None
    initializer: Callable | None = None
    trainable: bool = True

    @staticmethod
    def of(value: Any) -> ParamAttr:
        """What users may pass as an attr: None, a name, an Initializer or a ParamAttr.

        Raises:
            TypeError: it is none of these.
        """
        if value is None or value is True:
            return ParamAttr()
        if isinstance(value, ParamAttr):
            return value
        if isinstance(value, str):
            return ParamAttr(name=value)
        if isinstance(value, Initializer):
            return ParamAttr(initializer=value)
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
        attr: a ParamAttr, or what `ParamAttr.of` takes; it wins over the other arguments.
        default_initializer: default: zeros for a bias, XavierUniform for a weight.
    """
    attr = ParamAttr.of(attr)
    initializer = attr.initializer or default_initializer
    initializer = initializer or (Constant(0.0) if is_bias else XavierUniform())
    name = attr.name or name or unique_name.generate("create_parameter")
    wanted = dtypes.to_dtype(dtypes.get_default_dtype() if dtype is None else dtype)
    return current_world().create_parameter(
        [int(size) for size in shape], wanted, initializer, name, attr.trainable
    )
