"""Scope: where variables live between runs: parameters, learning rates.

A Scope has Variables by name, and each Variable holds a DenseTensor. A kid Scope sees what its
parent has; what it makes itself, its parent does not see.

Paddle: paddle/fluid/framework/scope.h, variable.h, paddle/phi/core/dense_tensor.h.
Left out: what a Variable can hold beside a DenseTensor; the Variables "feed" and "fetch" that
Paddle's Executor puts into the Scope.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.common.place import Place, array_module


class DenseTensor:
    """An array, or nothing yet: what an Executor reads and writes. It has no gradient.

    Attributes:
        array: a numpy or cupy array; None as long as the tensor has no value.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any = None) -> None:
        self.array = array

    def set(self, value: Any, place: Place | None = None) -> None:
        """Stores a copy of `value`, on `place` (default: the CPU).

        Raises:
            TypeError: place is no place, or value holds something else than numbers.
        """
        if not isinstance(place, Place | None):
            raise TypeError(
                f"DenseTensor.set: expected a place, but got {type(place).__name__}. Pass "
                "paddle.CPUPlace()."
            )
        array = (array_module(place) if place else np).array(value)
        to_dtype(array.dtype)
        self.array = array

    def shape(self) -> list[int]:
        return [] if self.array is None else list(self.array.shape)

    def _dtype(self) -> DataType:
        return to_dtype(self._initialized().dtype)

    def _is_initialized(self) -> bool:
        return self.array is not None

    def _initialized(self) -> Any:
        if self.array is None:
            raise RuntimeError(
                "DenseTensor: expected a value, but got a tensor that has none yet. "
                "Run the startup program, or call set(array, place)."
            )
        return self.array

    def numpy(self) -> np.ndarray:
        """A copy on the CPU. Raises RuntimeError if there is no value."""
        array = self._initialized()
        return np.array(array) if isinstance(array, (np.ndarray, np.generic)) else array.get()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __repr__(self) -> str:
        if self.array is None:
            return "DenseTensor(no value)"
        return f"DenseTensor(shape={self.shape()}, dtype={self._dtype().name}, data={self.array})"


class ScopeVariable:
    """A variable of a Scope, as `find_var` gives it."""

    __slots__ = ("name", "tensor")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tensor = DenseTensor()

    def get_tensor(self) -> DenseTensor:
        """The tensor that the variable holds; later runs write into the same one."""
        return self.tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.tensor.__array__(dtype, copy)


class Scope:
    """Variables by name.

    Args:
        parent: where to look for what is not here. Made by `parent.new_scope()`.
    """

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._kids: list[Scope] = []
        self._variables: dict[str, ScopeVariable] = {}

    # -- the tree ------------------------------------------------------------------------------

    def new_scope(self) -> Scope:
        """A new kid of this scope."""
        kid = Scope(self)
        self._kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Forgets all kids, with what they hold."""
        for kid in self._kids:
            kid.drop_kids()
            kid._variables.clear()
            kid._parent = None
        self._kids.clear()

    # -- variables -----------------------------------------------------------------------------

    def var(self, name: str) -> ScopeVariable:
        """The variable of this scope itself; made, without a value, if it is not there.

        Raises:
            TypeError: the name is no text.
        """
        if not isinstance(name, str):
            raise TypeError(
                f"Scope.var: expected a name, but got {type(name).__name__}. The name of a "
                "Variable is variable.name."
            )
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = ScopeVariable(name)
        return found

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable, of this scope or of the nearest one above that has it; or None."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._variables.get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def local_var_names(self) -> list[str]:
        """The names of this scope's own variables."""
        return list(self._variables)

    def erase(self, names: Iterable[str]) -> None:
        """Removes variables of this scope itself; names that it does not have are skipped."""
        for name in names:
            self._variables.pop(name, None)

    # -- what an interpreter does --------------------------------------------------------------

    def read(self, names: Iterable[str]) -> list[Any]:
        """The arrays of these variables. Raises RuntimeError if one has none."""
        found = []
        own = self._variables
        for name in names:
            variable = own.get(name) or self.find_var(name)
            array = None if variable is None else variable.tensor.array
            if array is None:
                state = "got none of that name" if variable is None else "it has no value"
                raise RuntimeError(
                    f"Scope: expected the variable {name!r}, but {state}. "
                    "Run the startup program first: exe.run(startup_program)."
                )
            found.append(array)
        return found

    def get(self, name: str) -> Any:
        """The array of one variable, as `read` finds it."""
        return self.read([name])[0]

    def write(self, names: Iterable[str], arrays: Iterable[Any]) -> None:
        """Stores arrays where the variables are found. What is nowhere goes to the topmost scope:
        parameters belong to everybody.
        """
        own = self._variables
        for name, array in zip(names, arrays, strict=True):
            variable = own.get(name) or self.find_var(name)
            if variable is None:
                scope = self
                while scope._parent is not None:
                    scope = scope._parent
                variable = scope.var(name)
            variable.tensor.array = array

    def set(self, name: str, array: Any) -> None:
        """Stores one array, as `write` does."""
        self.write([name], [array])


_current = Scope()


def global_scope() -> Scope:
    """The scope that `Executor.run` uses if it is given none."""
    return _current


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Inside, `scope` is the global scope, for all threads (as in Paddle).

    Raises:
        TypeError: it is no Scope.
    """
    global _current
    if not isinstance(scope, Scope):
        raise TypeError(
            f"scope_guard: expected a Scope, but got {type(scope).__name__}. "
            "Make one with paddle.static.Scope()."
        )
    before = _current
    _current = scope
    try:
        yield
    finally:
        _current = before
