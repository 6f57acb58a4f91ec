"""Variables: what stands on the symbolic stack instead of the real objects.

Paddle: python/paddle/jit/sot/opcode_translator/executor/variables/.
"""

from __future__ import annotations

from typing import Any

from minipaddle.jit.sot.tracker import DummyTracker, Tracker
from minipaddle.pir.core.value import Value


class VariableBase:
    """Something on the stack. `tracker` says where it came from."""

    def __init__(self, tracker: Tracker | None = None) -> None:
        self.tracker = tracker or DummyTracker()


class TensorVariable(VariableBase):
    """A Tensor: a Value of the graph that is being captured."""

    def __init__(self, value: Value, tracker: Tracker | None = None) -> None:
        super().__init__(tracker)
        self.value = value

    def __repr__(self) -> str:
        return f"Tensor({list(self.value.shape)}, {self.value.dtype.name})"


class ObjectVariable(VariableBase):
    """An object that is really there: a number, a function, a module, a Layer."""

    def __init__(self, value: Any, tracker: Tracker | None = None) -> None:
        super().__init__(tracker)
        self.value = value

    def __repr__(self) -> str:
        name = getattr(self.value, "__name__", None)
        if name is None and not isinstance(self.value, (int, float, str, tuple, type(None))):
            name = type(self.value).__name__
        return name or repr(self.value)


class ContainerVariable(VariableBase):
    """A tuple or list that was built while tracing."""

    def __init__(
        self, kind: type, items: list[VariableBase], tracker: Tracker | None = None
    ) -> None:
        super().__init__(tracker)
        self.kind, self.items = kind, items

    def __repr__(self) -> str:
        return f"{self.kind.__name__}({', '.join(map(repr, self.items))})"


class NullVariable(VariableBase):
    """CPython's NULL, which stands beside a callable that is no method."""

    def __repr__(self) -> str:
        return "NULL"


def to_python(variable: VariableBase) -> Any:
    """What a called function gets: Values for Tensors, the object itself otherwise."""
    if isinstance(variable, (TensorVariable, ObjectVariable)):
        return variable.value
    if isinstance(variable, ContainerVariable):
        return variable.kind(to_python(item) for item in variable.items)
    raise TypeError(
        f"sot: expected a value, but got {variable!r}. This is a mistake in the tracer."
    )


def from_python(value: Any, tracker: Tracker | None = None) -> VariableBase:
    """The variable for what a called function gave back."""
    if isinstance(value, Value):
        return TensorVariable(value, tracker)
    if isinstance(value, (tuple, list)) and _holds_values(value):
        return ContainerVariable(type(value), [from_python(item) for item in value], tracker)
    return ObjectVariable(value, tracker)


def _holds_values(items: Any) -> bool:
    return any(
        isinstance(item, Value) or (isinstance(item, (tuple, list)) and _holds_values(item))
        for item in items
    )
