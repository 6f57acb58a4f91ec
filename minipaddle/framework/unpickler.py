"""A reader of pickles that can't be made to run code.

A pickle is a small program: it names functions and has them called. So `pickle.load` of a file
from somebody else may do anything on your machine. The files that `paddle.save` writes call only a
few functions, those that rebuild arrays. This reader knows these few, and has its own harmless ones
in their place; whatever else a file asks for is refused.

Real Paddle loads with `pickle.load`: only load files there that you trust.
Left out: a limit for the memory that a file asks for.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np


class RefusedError(Exception):
    """A file asks for something else than arrays, numbers, text and containers of them."""


class _Function:
    """A function that a pickle may call. It has no attributes that a pickle could change."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)

    def __setstate__(self, state: Any) -> None:
        raise RefusedError("a change of a function")


class _Dtype:
    """Stands for numpy.dtype: numbers only, no Python objects, no records."""

    __slots__ = ("numpy_dtype",)

    def __init__(self, name: Any, *flags: Any) -> None:
        try:
            self.numpy_dtype = np.dtype(name if type(name) is str else None)
        except TypeError:
            raise RefusedError(f"arrays of {name!r}") from None
        if type(name) is not str or self.numpy_dtype.kind not in "biufc":
            raise RefusedError(f"arrays of {name!r}")

    def __setstate__(self, state: Any) -> None:
        """state: (version, byte order, then what records and the like need: nothing here)."""
        if not (isinstance(state, tuple) and len(state) > 4 and state[1] in ("<", ">", "|", "=")):
            raise RefusedError("a dtype of an unknown form")
        if any(part is not None for part in state[2:5]):
            raise RefusedError("arrays of records")
        self.numpy_dtype = self.numpy_dtype.newbyteorder(state[1])


class _Array:
    """Stands for numpy.ndarray: a pickle makes an empty one first, then fills it."""

    __slots__ = ("array",)

    def __init__(self, *shape_and_type: Any) -> None:
        self.array = np.zeros(0)

    def __setstate__(self, state: Any) -> None:
        """state: (version, shape, dtype, is column-major, bytes)."""
        if not (isinstance(state, tuple) and len(state) == 5 and isinstance(state[2], _Dtype)):
            raise RefusedError("an array of an unknown form")
        _, shape, dtype, is_column_major, data = state
        if not isinstance(data, bytes):
            raise RefusedError("an array of Python objects")
        flat = np.frombuffer(data, dtype.numpy_dtype).astype(dtype.numpy_dtype.newbyteorder("="))
        self.array = flat.reshape(shape, order="F" if is_column_major else "C")


def _scalar(dtype: Any, data: Any) -> Any:
    """One number of numpy's."""
    if not (isinstance(dtype, _Dtype) and isinstance(data, bytes)):
        raise RefusedError("a number of an unknown form")
    return np.frombuffer(data, dtype.numpy_dtype)[0]


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """How protocol 2 writes bytes."""
    if not (isinstance(text, str) and encoding == "latin1"):
        raise RefusedError("text in an unknown encoding")
    return text.encode("latin1")


_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Function(_Array),
    ("numpy", "dtype"): _Function(_Dtype),
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _Function(_encode),
}
for _core in ("numpy.core", "numpy._core"):  # before and since numpy 2
    _ADMITTED[_core + ".multiarray", "_reconstruct"] = _Function(_Array)
    _ADMITTED[_core + ".multiarray", "scalar"] = _Function(_scalar)
for _builtins in ("__builtin__", "builtins"):  # protocol 2 has Python 2's name
    for _type in (tuple, set, frozenset, bytes, complex):
        _ADMITTED[_builtins, _type.__name__] = _type


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        try:
            return _ADMITTED[module_name, global_name]
        except KeyError:
            raise RefusedError(f"{module_name}.{global_name}") from None

    def persistent_load(self, pid: Any) -> Any:
        raise RefusedError("an object outside the file")


def safe_load(file: BinaryIO) -> Any:
    """Reads one pickle: None, bools, numbers, text, bytes, numpy arrays, and dicts, lists, tuples
    and sets of them.

    Raises:
        RefusedError: it asks for something else.
        Exception: what comes up in a file that is no pickle, or is cut off; of any kind.
    """
    return _without_stand_ins(_Unpickler(file, encoding="latin1").load(), {})


def _without_stand_ins(value: Any, done: dict[int, Any]) -> Any:
    """The same with real arrays. `done` keeps what stands in two places one object."""
    if isinstance(value, (type(None), bool, int, float, complex, str, bytes, np.generic)):
        return value
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, _Array):
        changed: Any = value.array
    elif isinstance(value, dict):
        changed = type(value)((key, _without_stand_ins(item, done)) for key, item in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        changed = type(value)(_without_stand_ins(item, done) for item in value)
    else:
        raise RefusedError(f"{type(value).__name__} as a value")
    done[id(value)] = changed
    return changed
