"""Guards: under which conditions a captured graph may be used again.

Everything that the tracer relied on becomes one condition: a Tensor's shape, dtype and
stop_gradient; a number's value; which function a name stands for. Together they are one lambda
of the frame, as text that can be read.

Paddle: python/paddle/jit/sot/opcode_translator/executor/guard.py.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import math
import types
from collections import namedtuple
from typing import Any

from minipaddle.eager.tensor import Tensor
from minipaddle.jit.sot.tracker import Tracker
from minipaddle.nn.layer.layers import Layer
from minipaddle.phi.core.world import tracer

Frame = namedtuple("Frame", ["f_locals", "f_globals"])
SIMPLE = (bool, int, float, str, bytes, type(None))


def layer_state(layer: Layer) -> tuple:
    """What a graph relies on in a Layer: its parameters and whether they are trained; its parts,
    with their settings (training or eval mode is one of them) and hooks.
    """
    parameters = tuple((id(item), item.stop_gradient) for item in layer.parameters())
    parts = tuple(
        (
            part,
            {
                name: value if type(value) in SIMPLE else copy.deepcopy(value)
                for name, value in vars(part).items()
                if is_plain_data(value)
            },
            (*part._forward_pre_hooks, *part._forward_post_hooks),
        )
        for part in (layer, *layer.sublayers())
    )
    return parameters, parts


def is_plain_data(value: Any) -> bool:
    """True for lists, tuples, dicts and sets of numbers and texts: they are guarded by contents."""
    if isinstance(value, dict):
        return all(is_plain_data(item) for pair in value.items() for item in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(is_plain_data(item) for item in value)
    return isinstance(value, SIMPLE)


class Guard:
    """Collects conditions, then compiles them."""

    def __init__(self) -> None:
        self.conditions: dict[str, None] = {}  # a dict, to keep the order and drop repetitions
        self.constants: dict[str, Any] = {"Tensor": Tensor, "NoneType": type(None)}
        self.function: Any = None

    def add_tracer(self) -> None:
        """The graph was captured with gradients recorded or not, and with auto_cast or not."""
        self.constants["tracer"] = tracer
        self.conditions[f"tracer.has_grad is {tracer.has_grad}"] = None
        self.conditions[f"(tracer.amp_dtype is None) is {tracer.amp_dtype is None}"] = None

    def add_tensor(self, tracker: Tracker, tensor: Tensor) -> None:
        """The graph was captured for this shape, dtype and stop_gradient."""
        where = tracker.expression(self.constants)
        dtype = f"dtype_{tensor.dtype.name}"
        self.constants[dtype] = tensor.dtype
        for condition in (
            f"isinstance({where}, Tensor)",
            f"{where}.shape == {list(tensor.shape)}",
            f"{where}.dtype is {dtype}",
            f"{where}.stop_gradient is {tensor.stop_gradient}",
        ):
            self.conditions[condition] = None

    def add_object(self, tracker: Tracker, value: Any) -> None:
        """A number or text must be equal; anything else must be the same object."""
        try:
            where = tracker.expression(self.constants)
        except LookupError:
            return  # computed from things that have guards of their own
        if isinstance(value, SIMPLE) or is_plain_data(value):
            kept = f"value_{len(self.constants)}"
            self.constants[kept] = copy.deepcopy(value)
            self._add_type(where, type(value))
            plain = type(value) in SIMPLE and value not in (math.inf, -math.inf)
            if value != value:  # nan: the only number that is not equal to itself
                self.conditions[f"{where} != {where}"] = None
            else:
                self.conditions[f"{where} == {repr(value) if plain else kept}"] = None
        elif isinstance(value, types.MethodType):  # made anew at each access, its function not
            self._add_same(f"{where}.__func__", value.__func__)
        elif isinstance(value, types.BuiltinMethodType) and not inspect.ismodule(value.__self__):
            return  # a method of a list, a text, ...: made anew at each access too
        else:
            self._add_same(where, value)

    def _add_same(self, where: str, value: Any) -> None:
        """The very same object must stand there."""
        name = f"object_{len(self.constants)}"
        known = [n for n, held in self.constants.items() if held is value]
        self.constants[known[0] if known else name] = value
        self.conditions[f"{where} is {known[0] if known else name}"] = None

    def _add_type(self, where: str, kind: type) -> None:
        name = kind.__name__
        if kind is not type(None) and getattr(builtins, name, None) is not kind:
            name = f"type_{len(self.constants)}"  # not a name that Python knows by itself
            self.constants[name] = kind
        self.conditions[f"type({where}) is {name}"] = None

    def add_container(self, tracker: Tracker, value: tuple | list) -> None:
        """The graph was captured for this many items; each item has a guard of its own."""
        where = tracker.expression(self.constants)
        self._add_type(where, type(value))
        self.conditions[f"len({where}) == {len(value)}"] = None

    def add_no_hooks(self, tracker: Tracker) -> None:
        """This Layer had no hooks when its forward was inlined."""
        try:
            where = tracker.expression(self.constants)
        except LookupError:
            return
        self.conditions[f"not {where}._forward_pre_hooks"] = None
        self.conditions[f"not {where}._forward_post_hooks"] = None

    def add_alias(self, tracker: Tracker, other: Tracker) -> None:
        """Two names stood for one Tensor, so the graph has one input for both."""
        where, first = tracker.expression(self.constants), other.expression(self.constants)
        if where != first:
            self.conditions[f"{where} is {first}"] = None

    def add_layer(self, tracker: Tracker, layer: Layer) -> None:
        """The graph holds the parameters of this Layer, and was captured for its settings."""
        try:
            where = tracker.expression(self.constants)
        except LookupError:
            return
        name = f"object_{len(self.constants)}"
        self.constants[name] = layer_state(layer)
        self.constants["layer_state"] = layer_state
        self.conditions[f"layer_state({where}) == {name}"] = None

    @property
    def expression(self) -> str:
        """The whole guard as Python text."""
        return f"lambda frame: {' and '.join(self.conditions) or 'True'}"

    def check(self, frame: Frame) -> bool:
        """True where the graph may be used. A name that is gone counts as changed."""
        if self.function is None:
            self.function = eval(compile(self.expression, "<sot guard>", "eval"), self.constants)
        try:
            return bool(self.function(frame))
        except (AttributeError, KeyError, IndexError, TypeError):
            return False
