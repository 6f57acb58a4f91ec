"""Trackers: where a variable came from. Each answers the same two questions:

    expression()    how a guard finds the object again, as a Python expression
    gen(pycode)     how new bytecode loads it again

Paddle: python/paddle/jit/sot/opcode_translator/executor/tracker.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minipaddle.jit.sot.pycode_generator import PyCodeGen


class Tracker:
    """Base class."""

    def expression(self, constants: dict[str, Any]) -> str:
        """A Python expression of `frame`; objects that have no literal are added to `constants`."""
        raise NotImplementedError

    def gen(self, pycode: PyCodeGen) -> None:
        """Adds the instructions that load the object."""
        raise NotImplementedError


class LocalTracker(Tracker):
    """An argument of the traced function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def expression(self, constants: dict[str, Any]) -> str:
        return f"frame.f_locals[{self.name!r}]"

    def gen(self, pycode: PyCodeGen) -> None:
        pycode.load_fast(self.name)


class GlobalTracker(Tracker):
    """A global name of the traced function's module."""

    def __init__(self, name: str) -> None:
        self.name = name

    def expression(self, constants: dict[str, Any]) -> str:
        return f"frame.f_globals[{self.name!r}]"

    def gen(self, pycode: PyCodeGen) -> None:
        pycode.load_global(self.name)


class ConstTracker(Tracker):
    """An object that is known and does not change its identity: a constant of the code, a
    builtin, a module's namespace.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def expression(self, constants: dict[str, Any]) -> str:
        if isinstance(self.value, (int, float, str, type(None))):
            return repr(self.value)
        name = f"constant_{len(constants)}"
        constants[name] = self.value
        return name

    def gen(self, pycode: PyCodeGen) -> None:
        pycode.load_const(self.value)


class GetAttrTracker(Tracker):
    """`obj.name`."""

    def __init__(self, obj: Tracker, name: str) -> None:
        self.obj, self.name = obj, name

    def expression(self, constants: dict[str, Any]) -> str:
        return f"{self.obj.expression(constants)}.{self.name}"

    def gen(self, pycode: PyCodeGen) -> None:
        self.obj.gen(pycode)
        pycode.load_attr(self.name)


class GetItemTracker(Tracker):
    """`obj[key]`, with a constant key."""

    def __init__(self, obj: Tracker, key: Any) -> None:
        self.obj, self.key = obj, key

    def expression(self, constants: dict[str, Any]) -> str:
        return f"{self.obj.expression(constants)}[{self.key!r}]"

    def gen(self, pycode: PyCodeGen) -> None:
        self.obj.gen(pycode)
        pycode.load_const(self.key)
        pycode.binary_subscr()


class DummyTracker(Tracker):
    """Something that was computed while tracing: it can't be loaded from anywhere."""

    def expression(self, constants: dict[str, Any]) -> str:
        raise LookupError("computed while tracing")

    gen = expression  # type: ignore[assignment]
