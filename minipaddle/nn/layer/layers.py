"""Layer: a piece of a network that holds parameters and other layers.

Paddle: python/paddle/nn/layer/layers.py.
Left out: buffers, backward hooks, dtype conversion.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minipaddle.base.framework import Parameter
from minipaddle.common import unique_name
from minipaddle.eager.tensor import EagerParamBase, Tensor
from minipaddle.nn.param_attr import create_parameter
from minipaddle.pir.core.value import Value


class Layer:
    """Base class: define `__init__` (call super().__init__() first) and `forward`."""

    def __init__(self, name_scope: str | None = None) -> None:
        self._full_name = unique_name.generate(name_scope or type(self).__name__.lower())
        self._parameters: OrderedDict[str, Any] = OrderedDict()
        self._sub_layers: OrderedDict[str, Layer] = OrderedDict()
        self._forward_pre_hooks: list[Callable] = []
        self._forward_post_hooks: list[Callable] = []
        self.training = True

    def full_name(self) -> str:
        """The name that its parameters' names start with."""
        return self._full_name

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"Layer: expected {type(self).__name__} to define forward(), but it does not. Write it."
        )

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        for hook in self._forward_pre_hooks:
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook in self._forward_post_hooks:
            changed = hook(self, inputs, outputs)
            outputs = outputs if changed is None else changed
        return outputs

    def register_forward_pre_hook(self, hook: Callable) -> None:
        """Calls `hook(layer, inputs)` before forward; what it returns replaces the inputs."""
        self._forward_pre_hooks.append(hook)

    def register_forward_post_hook(self, hook: Callable) -> None:
        """Calls `hook(layer, inputs, outputs)` after forward; what it returns replaces the
        outputs.
        """
        self._forward_post_hooks.append(hook)

    # -- what belongs to it --------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = (("_parameters", _is_parameter), ("_sub_layers", lambda v: isinstance(v, Layer)))
        for holder, belongs in kinds:
            held = self.__dict__.get(holder)
            if belongs(value):
                if held is None:
                    raise AttributeError(
                        f"Layer: expected super().__init__() before {name!r} is set, but it was "
                        "not called. "
                        f"Call super().__init__() first in {type(self).__name__}.__init__."
                    )
                held[name] = value
            elif held is not None:
                held.pop(name, None)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for holder in (self._parameters, self._sub_layers):
            holder.pop(name, None)
        object.__delattr__(self, name)

    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Callable | None = None,
    ) -> Any:
        """A parameter named after this layer: `linear_0.w_0`, `linear_0.b_0`."""
        letter = "b" if is_bias else "w"
        name = unique_name.generate(f"{self._full_name}.{letter}")
        return create_parameter(shape, dtype, name, attr, is_bias, default_initializer)

    def add_sublayer(self, name: str, sublayer: Layer) -> Layer:
        """Adds a layer under a name."""
        if not isinstance(sublayer, Layer):
            raise TypeError(
                f"add_sublayer: expected a Layer, but got {type(sublayer).__name__}. Wrap "
                "functions in a Layer."
            )
        setattr(self, name, sublayer)  # registers it, in the place of an attribute of that name
        return sublayer

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False
    ) -> Iterator[tuple[str, Layer]]:
        """(name, layer) pairs, names joined by dots."""
        if include_self:
            yield prefix, self
        for name, layer in self._sub_layers.items():
            yield from layer.named_sublayers(f"{prefix}.{name}" if prefix else name, True)

    def sublayers(self) -> list[Layer]:
        return [layer for _, layer in self.named_sublayers()]

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """(name, parameter) pairs; a parameter that two layers share comes once."""
        seen: set[int] = set()
        for prefix, layer in self.named_sublayers(include_self=True):
            for name, parameter in layer._parameters.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield (f"{prefix}.{name}" if prefix else name), parameter

    def parameters(self) -> list[Any]:
        return [parameter for _, parameter in self.named_parameters()]

    # -- state ---------------------------------------------------------------------------------

    def train(self) -> None:
        """Switches to training."""
        for _, layer in self.named_sublayers(include_self=True):
            layer.training = True

    def eval(self) -> None:
        """Switches to inference."""
        for _, layer in self.named_sublayers(include_self=True):
            layer.training = False

    def state_dict(self) -> OrderedDict[str, Any]:
        """All parameters by name."""
        return OrderedDict(self.named_parameters())

    def set_state_dict(self, state_dict: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Writes numbers into the parameters; returns (missing, unexpected) names.

        Raises:
            ValueError: a shape differs.
        """
        own = self.state_dict()
        for name, parameter in own.items():
            if name in state_dict:
                value = state_dict[name]
                parameter.set_value(value if isinstance(value, Tensor) else np.asarray(value))
        missing = [name for name in own if name not in state_dict]
        return missing, [name for name in state_dict if name not in own]

    def clear_gradients(self) -> None:
        """Drops the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.clear_gradient(False)

    def extra_repr(self) -> str:
        """What stands between the parentheses of the layer's repr."""
        return ""

    def __repr__(self) -> str:
        if not self._sub_layers:
            return f"{type(self).__name__}({self.extra_repr()})"
        lines = [
            f"({name}): {layer!r}".replace("\n", "\n  ") for name, layer in self._sub_layers.items()
        ]
        return "\n  ".join([f"{type(self).__name__}(", *lines]) + "\n)"


def _is_parameter(value: Any) -> bool:
    if isinstance(value, Value):
        return value.get_defining_op().name() == "builtin.parameter"
    return isinstance(value, (EagerParamBase, Parameter))
