"""Layer: a piece of a network that holds parameters, buffers and other layers.

What a Layer holds stands in three dictionaries, by name. Setting an attribute puts a parameter, a
Layer or a Tensor into the right one; reading an attribute looks there.

    self.weight = self.create_parameter([2, 3])     _parameters["weight"]
    self.body = paddle.nn.Linear(2, 3)              _sub_layers["body"]
    self.count = paddle.zeros([1])                  _buffers["count"]: no gradient, no training

Paddle: python/paddle/nn/layer/layers.py.
Left out: hooks of state_dict, `to_static_state_dict`, lazy building, the names of modules and
parameters in torch's style.
"""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from minipaddle.base.framework import Parameter, Variable
from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.common.place import CPU, CUDAPlace, Place, array_module
from minipaddle.eager.grad_node_info import HookRemoveHelper
from minipaddle.eager.tensor import EagerParamBase, Tensor
from minipaddle.new_executor.scope import global_scope
from minipaddle.nn.param_attr import create_parameter
from minipaddle.pir.core.value import Value


class Layer:
    """Base class: define `__init__` (call super().__init__() first) and `forward`.

    Args:
        name_scope: what the names of its parameters start with (default: the class's name).
        dtype: the dtype of parameters for which none is said; None: the default dtype.
    """

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        scope = name_scope or _snake_case(type(self).__name__)
        self._full_name = unique_name.generate(scope)
        self._dtype = dtype
        self._parameters: OrderedDict[str, Any] = OrderedDict()
        self._buffers: OrderedDict[str, Any] = OrderedDict()
        self._sub_layers: OrderedDict[str, Any] = OrderedDict()
        self._non_persistable_buffer_names_set: set[str] = set()
        self._forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._forward_post_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._hooks_with_kwargs: set[int] = set()
        self.training = True

    def full_name(self) -> str:
        """The name that its parameters' names start with: `linear_0`."""
        return self._full_name

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"Layer: expected {type(self).__name__} to define forward(), but it does not. Write it."
        )

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if not (self._forward_pre_hooks or self._forward_post_hooks):
            return self.forward(*inputs, **kwargs)
        for number, hook in list(self._forward_pre_hooks.items()):
            if number in self._hooks_with_kwargs:
                changed = hook(self, inputs, kwargs)
                if changed is not None:
                    inputs, kwargs = changed
                continue
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for number, hook in list(self._forward_post_hooks.items()):
            with_kwargs = number in self._hooks_with_kwargs
            arguments = (inputs, kwargs, outputs) if with_kwargs else (inputs, outputs)
            changed = hook(self, *arguments)
            outputs = outputs if changed is None else changed
        return outputs

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, inputs)` before forward; what it returns replaces the inputs.

        Args:
            prepend: before the hooks that are there already.
            with_kwargs: calls `hook(layer, inputs, kwargs)`, which may return (inputs, kwargs).
        """
        return self._register(self._forward_pre_hooks, hook, prepend, with_kwargs)

    def register_forward_post_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, inputs, outputs)` after forward; what it returns replaces the
        outputs. With `with_kwargs`, calls `hook(layer, inputs, kwargs, outputs)`.
        """
        return self._register(self._forward_post_hooks, hook, prepend, with_kwargs)

    def _register(
        self, hooks: OrderedDict[int, Callable], hook: Callable, prepend: bool, with_kwargs: bool
    ) -> HookRemoveHelper:
        if not callable(hook):
            raise TypeError(
                f"Layer: expected a hook that can be called, but got {type(hook).__name__}. Pass a "
                "function of (layer, inputs)."
            )
        helper = HookRemoveHelper(hooks, hook)
        if prepend:
            hooks.move_to_end(helper.number, last=False)
        if with_kwargs:
            self._hooks_with_kwargs.add(helper.number)
        return helper

    # -- attributes ----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # Python asks here only for what is no ordinary attribute
        for holder in _KINDS:
            held = self.__dict__.get(holder)
            if held is not None and name in held:
                return held[name]
        if name in ("_forward_pre_hooks", "_parameters", "_sub_layers", "_buffers"):
            raise AttributeError(
                f"Layer: expected super().__init__() to have made {name!r}, but it was not called. "
                f"Call super().__init__() first in {type(self).__name__}.__init__."
            )
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        holder = _holder_of(value)
        if "_sub_layers" not in self.__dict__:  # the last of the three that __init__ makes
            if holder is not None:
                raise ValueError(
                    f"Layer: expected super().__init__() before {name!r} is set, but it was not "
                    f"called. Call super().__init__() first in {type(self).__name__}.__init__."
                )
            object.__setattr__(self, name, value)
            return
        # a name keeps its kind: a parameter gives way to a parameter, a layer to a layer
        for known, wanted in _KINDS.items():
            if holder == known:
                self._put(known, name, value)
                return
            if name in self.__dict__[known]:
                if value is not None and not isinstance(value, (Value, Variable)):
                    raise TypeError(
                        f"Layer: expected {name!r} to stay {wanted} or None, but got "
                        f"{type(value).__name__}. Delete it first: del layer.{name}."
                    )
                self.__dict__[known][name] = value
                return
        object.__setattr__(self, name, value)

    def _put(self, holder: str, name: str, value: Any) -> None:
        """Sets a parameter, layer or buffer; what had the name before goes."""
        for other in (self.__dict__, *(self.__dict__[known] for known in _KINDS)):
            if other is not self.__dict__[holder]:
                other.pop(name, None)
        if holder == "_buffers" and name not in self._buffers:
            self._non_persistable_buffer_names_set.add(name)  # register_buffer makes the others
        self.__dict__[holder][name] = value

    def __delattr__(self, name: str) -> None:
        for holder in _KINDS:
            if name in self.__dict__[holder]:
                del self.__dict__[holder][name]
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parameters, *self._sub_layers, *self._buffers]

    # -- what belongs to it --------------------------------------------------------------------

    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Callable | None = None,
    ) -> Any:
        """A parameter named after this layer: `linear_0.w_0`, `linear_0.b_0`. None where attr is
        False: `bias_attr=False` means no bias.
        """
        if attr is False:
            return None
        letter = "b" if is_bias else "w"
        name = unique_name.generate(f"{self._full_name}.{letter}")
        dtype = self._dtype if dtype is None else dtype
        return create_parameter(shape, dtype, name, attr, is_bias, default_initializer)

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Adds a parameter under a name.

        Raises:
            TypeError: it is no parameter.
            KeyError: the name is empty, has a dot, or is taken.
        """
        self._check_name("add_parameter", name, self._parameters)
        if parameter is not None and _holder_of(parameter) != "_parameters":
            raise TypeError(
                f"add_parameter: expected a parameter, but got {type(parameter).__name__}. Make "
                "one with self.create_parameter(shape)."
            )
        self._parameters[name] = parameter
        return parameter

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Adds a Tensor that belongs to the layer but is not trained.

        Args:
            persistable: it is part of the state_dict.

        Raises:
            TypeError: it is no Tensor.
            KeyError: the name is empty, has a dot, or is taken.
        """
        self._check_name("register_buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"register_buffer: expected a Tensor, but got {type(tensor).__name__}. Make one "
                "with paddle.to_tensor."
            )
        self._buffers[name] = tensor
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Adds a layer under a name. Raises TypeError if it is no Layer."""
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise TypeError(
                f"add_sublayer: expected a Layer, but got {type(sublayer).__name__}. Wrap "
                "functions in a Layer."
            )
        self._sub_layers[name] = sublayer
        return sublayer

    def _check_name(self, who: str, name: str, own: dict[str, Any]) -> None:
        if "_sub_layers" not in self.__dict__:
            raise ValueError(
                f"{who}: expected super().__init__() before, but it was not called. Call "
                f"super().__init__() first in {type(self).__name__}.__init__."
            )
        if not isinstance(name, str):
            raise TypeError(f"{who}: expected a name, but got {name!r}. Pass a str.")
        if not name or "." in name:
            raise KeyError(
                f"{who}: expected a name without a dot, but got {name!r}. Dots stand between the "
                "names of layers."
            )
        if hasattr(self, name) and name not in own:
            raise KeyError(f"{who}: expected a new name, but got {name!r}. Choose another one.")

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Layer] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """(name, layer) pairs, names joined by dots; a layer that stands twice comes once."""
        seen = set() if layers_set is None else layers_set
        if include_self and self not in seen:
            if remove_duplicate:
                seen.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from layer.named_sublayers(below, True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """(name, layer) pairs of the layers directly below."""
        seen: set[Layer] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self) -> Iterator[Layer]:
        for _, layer in self.named_children():
            yield layer

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(name, parameter) pairs; a parameter that two layers share comes once."""
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """(name, buffer) pairs."""
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def _named(
        self, holder: str, prefix: str, include_sublayers: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        layers: Any = [(prefix, self)]
        if include_sublayers:
            layers = self.named_sublayers(prefix, True, None, remove_duplicate)
        seen: set[int] = set()
        for above, layer in layers:
            for name, item in layer.__dict__[holder].items():
                if item is None or id(item) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(item))
                yield (f"{above}.{name}" if above else name), item

    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        return [item for _, item in self.named_parameters(include_sublayers=include_sublayers)]

    def buffers(self, include_sublayers: bool = True) -> list[Any]:
        return [item for _, item in self.named_buffers(include_sublayers=include_sublayers)]

    # -- state ---------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Layer:
        """Switches to training, or with mode=False to inference."""
        for layer in self.sublayers(include_self=True):
            layer.training = mode
        return self

    def eval(self) -> Layer:
        """Switches to inference."""
        return self.train(False)

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Calls `fn(layer)` for every layer, those below first."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """All parameters and persistable buffers by their names in the structure: `body.0.weight`.

        Args:
            destination: a dict to add them to.
            keep_vars: the parameters themselves; otherwise detached Tensors with the same data.
        """
        destination = OrderedDict() if destination is None else destination
        hidden = self._non_persistable_buffer_names_set
        kept = {name: item for name, item in self._buffers.items() if name not in hidden}
        for name, item in (*self._parameters.items(), *kept.items()):
            if item is not None:
                full = structured_name_prefix + name
                destination[full] = item if keep_vars else item.detach()
        for name, layer in self._sub_layers.items() if include_sublayers else ():
            if layer is not None:
                prefix = f"{structured_name_prefix}{name}."
                layer.state_dict(destination, True, prefix, keep_vars)
        return destination

    def set_state_dict(
        self, state_dict: dict[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Writes numbers into the parameters and buffers: Tensors or arrays, by name. In a static
        program, they go into the global scope.

        Names that are missing, or whose shape differs, are skipped with a warning, as in Paddle.

        Args:
            use_structured_name: the keys are `body.0.weight`; otherwise `linear_0.w_0`.

        Returns:
            (missing, unexpected) names.

        Raises:
            ValueError: a dtype differs.
            TypeError: there are no names.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"set_state_dict: expected a dict of names and numbers, but got "
                f"{type(state_dict).__name__}. Pass what state_dict() or paddle.load returned."
            )
        missing, used = [], set()
        for name, item in self.state_dict().items():
            key = name if use_structured_name else item.name
            value = state_dict.get(key)
            shape = None if value is None else list(np.shape(value))
            if shape != list(item.shape):
                missing.append(key)
                got = "none of that name" if shape is None else f"shape {shape}"
                warnings.warn(
                    f"set_state_dict: expected {key!r} of shape {list(item.shape)}, but got {got}. "
                    "It is skipped.",
                    stacklevel=2,
                )
                continue
            used.add(key)
            if isinstance(item, Tensor):
                item.set_value(value if isinstance(value, Tensor) else np.asarray(value))
            else:
                global_scope().set(item.name, np.array(value, item.dtype.numpy_dtype))
        return missing, [key for key in state_dict if key not in used]

    set_dict = load_dict = set_state_dict

    def to(self, device: Any = None, dtype: Any = None, blocking: bool | None = None) -> Layer:
        """Moves all parameters and buffers to a device ("cpu", "gpu:0" or a Place), or casts them.

        Raises:
            ValueError: the device is none.
            RuntimeError: a GPU is asked for and there is none.
        """
        return self._convert(device, None if dtype is None else dtypes.to_dtype(dtype), False)

    def astype(self, dtype: Any = None) -> Layer:
        """Casts all parameters and buffers. Raises ValueError if `dtype` is no dtype."""
        try:
            wanted = dtypes.to_dtype(dtype)
        except TypeError as error:
            raise ValueError(f"astype: {error}") from None
        return self._convert(None, wanted, False)

    def float(self) -> Layer:
        """Casts all floating-point parameters and buffers to float32."""
        return self._convert(None, dtypes.float32, True)

    def float16(self) -> Layer:
        """Casts all floating-point parameters and buffers to float16."""
        return self._convert(None, dtypes.float16, True)

    def _convert(
        self,
        device: Any,
        dtype: dtypes.DataType | None,
        floating_only: bool,
        include_sublayers: bool = True,
    ) -> Layer:
        module = None if device is None else array_module(_place_of(device))
        parameters = self.parameters(include_sublayers=include_sublayers)
        buffers = self.buffers(include_sublayers=include_sublayers)
        for item in (*parameters, *buffers):
            for tensor in (item, item.grad):
                if tensor is None or (floating_only and not tensor.dtype.is_floating):
                    continue
                data = tensor._data
                if dtype is not None:
                    data = data.astype(dtype.numpy_dtype)
                if module is not None:
                    data = module.asarray(data.get() if hasattr(data, "get") else data)
                tensor._data = data
            if item.autograd_meta is not None and item.is_leaf:
                meta = item.autograd_meta
                meta.grad_node = meta.edge = None  # they knew the old dtype
        layers = self.sublayers(include_self=True) if include_sublayers else [self]
        for layer in layers if dtype is not None else ():
            layer._dtype = dtype.name  # type: ignore[union-attr]
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Sets the gradients of all parameters to zeros, or drops them."""
        for parameter in self.parameters():
            if not parameter.stop_gradient:
                parameter.clear_gradient(set_to_zero)

    # -- text ----------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the parentheses of the layer's repr."""
        return ""

    def __repr__(self) -> str:
        if not self._sub_layers:
            return f"{type(self).__name__}({self.extra_repr()})"
        lines = [
            f"({name}): {layer!r}".replace("\n", "\n  ") for name, layer in self._sub_layers.items()
        ]
        return "\n  ".join([f"{type(self).__name__}({self.extra_repr()}", *lines]) + "\n)"


# the dictionaries of a Layer, in the order in which a name is looked up, and what they hold
_KINDS = {"_parameters": "a parameter", "_sub_layers": "a Layer", "_buffers": "a Tensor"}


def _holder_of(value: Any) -> str | None:
    """The dictionary to which a value belongs; None: it is an ordinary attribute."""
    if isinstance(value, Layer):
        return "_sub_layers"
    if isinstance(value, Value):
        is_parameter = value.get_defining_op().name() == "builtin.parameter"
        return "_parameters" if is_parameter else None
    if isinstance(value, (EagerParamBase, Parameter)):
        return "_parameters"
    return "_buffers" if isinstance(value, Tensor) else None


def _snake_case(name: str) -> str:
    """As Paddle names layers: LayerNorm -> layer_norm, Conv2D -> conv2d, ReLU -> re_lu."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", name).lower()


def _place_of(device: Any) -> Place:
    if isinstance(device, Place):
        return device
    kind, _, number = str(device).partition(":")
    if kind not in ("cpu", "gpu"):
        raise ValueError(
            f"Layer.to: expected 'cpu', 'gpu' or 'gpu:0', but got {device!r}. Use one of these."
        )
    return CPU if kind == "cpu" else CUDAPlace(int(number or 0))
