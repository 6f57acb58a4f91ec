"""Scope: where variables live between runs: parameters, learning rates.

Paddle: paddle/fluid/framework/scope.h, variable.h.
Left out: child scopes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np


class ScopeVariable:
    """A variable in a Scope, as `find_var` gives it."""

    def __init__(self, scope: Scope, name: str) -> None:
        self._scope = scope
        self.name = name

    def get_tensor(self) -> ScopeVariable:
        return self

    def set(self, value: Any, place: Any = None) -> None:
        """Writes an array into the variable."""
        self._scope.set(self.name, np.array(value))

    def shape(self) -> list[int]:
        return list(self._scope.get(self.name).shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.array(self._scope.get(self.name))
        return array if dtype is None else array.astype(dtype)


class Scope:
    """Arrays by name."""

    def __init__(self) -> None:
        self._arrays: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """The array. Raises RuntimeError if there is none."""
        if name not in self._arrays:
            raise RuntimeError(
                f"Scope: expected the variable {name!r}, but got none of that name. "
                "Run the startup program first: exe.run(startup_program)."
            )
        return self._arrays[name]

    def set(self, name: str, array: Any) -> None:
        """Stores an array under a name."""
        self._arrays[name] = array

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable, or None."""
        return ScopeVariable(self, name) if name in self._arrays else None

    def var(self, name: str) -> ScopeVariable:
        """The variable; made if it is not there."""
        return ScopeVariable(self, name)

    def local_var_names(self) -> list[str]:
        """The names of all variables."""
        return list(self._arrays)


_current = Scope()


def global_scope() -> Scope:
    """The scope that `Executor.run` uses if it is given none."""
    return _current


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Inside, `scope` is the global scope."""
    global _current
    before = _current
    _current = scope
    try:
        yield
    finally:
        _current = before
