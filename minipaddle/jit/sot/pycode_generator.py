"""PyCodeGen: writes the new bytecode. It calls the graph and builds what the function returns.

`dis` reads bytecode, the `bytecode` library writes it. Where Python versions differ, it says so
here and nowhere else.

Paddle: python/paddle/jit/sot/opcode_translator/executor/pycode_generator.py.
"""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any

from bytecode import Bytecode, Instr


class PyCodeGen:
    """Instructions of a new function with the signature of `origin`."""

    def __init__(self, origin: types.CodeType) -> None:
        self.origin = origin
        self.instructions: list[Instr] = [self._instr("RESUME", 0)]

    def _instr(self, name: str, *arg: Any) -> Instr:
        return Instr(name, *arg, lineno=self.origin.co_firstlineno)

    def _add(self, name: str, *arg: Any) -> None:
        self.instructions.append(self._instr(name, *arg))

    def load_const(self, value: Any) -> None:
        self._add("LOAD_CONST", value)

    def load_fast(self, name: str) -> None:
        self._add("LOAD_FAST", name)

    def store_fast(self, name: str) -> None:
        self._add("STORE_FAST", name)

    def load_global(self, name: str) -> None:
        self._add("LOAD_GLOBAL", (False, name))

    def load_attr(self, name: str) -> None:
        # since 3.12 the same instruction also loads methods, and a flag tells which
        self._add("LOAD_ATTR", name if sys.version_info < (3, 12) else (False, name))

    def binary_subscr(self) -> None:
        self._add("BINARY_SUBSCR")

    def build(self, kind: type, count: int) -> None:
        self._add("BUILD_LIST" if kind is list else "BUILD_TUPLE", count)

    def begin_call(self, function: Any) -> None:
        """Loads a callable and the NULL beside it: before it up to 3.12, after it since 3.13."""
        if sys.version_info < (3, 13):
            self._add("PUSH_NULL")
            self.load_const(function)
        else:
            self.load_const(function)
            self._add("PUSH_NULL")

    def call(self, count: int) -> None:
        if sys.version_info < (3, 12):
            self._add("PRECALL", count)
        self._add("CALL", count)

    def code(self) -> types.CodeType:
        """The finished code object."""
        self._add("RETURN_VALUE")
        made = Bytecode(self.instructions)
        origin = self.origin
        made.name = f"#{origin.co_name}"
        made.filename = origin.co_filename
        made.first_lineno = origin.co_firstlineno
        made.argcount = origin.co_argcount
        made.posonlyargcount = origin.co_posonlyargcount
        made.kwonlyargcount = origin.co_kwonlyargcount
        count = origin.co_argcount + origin.co_kwonlyargcount
        made.argnames = list(origin.co_varnames[:count])
        # not nested: closures are reached through their cells
        made.flags = origin.co_flags & ~inspect.CO_NESTED  # type: ignore[assignment]
        return made.to_code()
