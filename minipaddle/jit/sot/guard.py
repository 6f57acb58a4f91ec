"""Guards: under which conditions a captured graph may be used again.

Everything that the tracer relied on becomes one condition: a Tensor's shape, dtype and
stop_gradient; a number's value; which function a name stands for. Together they are one lambda
of the frame, as text that can be read.

Paddle: python/paddle/jit/sot/opcode_translator/executor/guard.py.
"""

from __future__ import annotations

import copy
import math
from collections import namedtuple
from typing import Any

from minipaddle.eager.tensor import Tensor
from minipaddle.jit.sot.tracker import Tracker
from minipaddle.nn.layer.layers import Layer
from minipaddle.phi.core.world import tracer

Frame = namedtuple("Frame", ["f_locals", "f_globals"])
SIMPLE = (bool, int, float, str, bytes, type(None))


def layer_state(layer: Layer) -> tuple:
    """What a graph relies on in a Layer: which parameters it has, and the mode of each of its
    parts.
    """
    parts = [layer, *layer.sublayers()]
    return tuple(map(id, layer.parameters())), tuple(part.training for part in parts)


def _is_plain_data(value: Any) -> bool:
    """True for lists, tuples, dicts and sets of numbers and texts: they are guarded by contents."""
    if isinstance(value, dict):
        return all(_is_plain_data(item) for pair in value.items() for item in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(_is_plain_data(item) for item in value)
    return isinstance(value, SIMPLE)


class Guard:
    """Collects conditions, then compiles them."""

    def __init__(self) -> None:
        self.conditions: dict[str, None] = {}  # a dict, to keep the order and drop repetitions
        self.constants: dict[str, Any] = {"Tensor": Tensor}
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
        if isinstance(value, SIMPLE) or _is_plain_data(value):
            kept = f"value_{len(self.constants)}"
            self.constants[kept] = copy.deepcopy(value)
            self.constants["NoneType"] = type(None)
            self.conditions[f"type({where}) is {type(value).__name__}"] = None
            plain = isinstance(value, SIMPLE) and value not in (math.inf, -math.inf)
            if value != value:  # nan: the only number that is not equal to itself
                self.conditions[f"{where} != {where}"] = None
            else:
                self.conditions[f"{where} == {repr(value) if plain else kept}"] = None
        elif type(value).__name__ == "method":
            return  # made anew at each access; the object and its class are guarded
        else:
            name = f"object_{len(self.constants)}"
            known = [n for n, held in self.constants.items() if held is value]
            self.constants[known[0] if known else name] = value
            self.conditions[f"{where} is {known[0] if known else name}"] = None

    def add_alias(self, tracker: Tracker, other: Tracker) -> None:
        """Two names stood for one Tensor, so the graph has one input for both."""
        where, first = tracker.expression(self.constants), other.expression(self.constants)
        if where != first:
            self.conditions[f"{where} is {first}"] = None

    def add_layer(self, tracker: Tracker, layer: Layer) -> None:
        """The graph holds the parameters of this Layer, and was captured for its training or eval
        mode.
        """
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
