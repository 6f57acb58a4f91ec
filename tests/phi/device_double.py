"""A stand-in for CuPy on machines without a GPU: numpy behind a fence.

It does not compute on a device, so it says nothing about speed, precision or the order of sums.
What it does show is the mistake that every port to a GPU makes first: numpy called on an array of
the device, or an array of the host mixed in. Its arrays refuse numpy, as CuPy's do; its functions
are those that cupy_functions.txt lists, and they refuse arrays of the host; a sum is a 0-D array, not
a number.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
import types
from pathlib import Path

import numpy as np

TAKE_HOST_ARRAYS = {"array", "asarray", "ascontiguousarray", "asnumpy"}
OPERATORS = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
]
SECTIONS: dict[str, set[str]] = {}
for line in (Path(__file__).parent / "cupy_functions.txt").read_text().splitlines():
    if line.startswith("["):
        section = SECTIONS.setdefault(line.strip("[]"), set())
    elif line and not line.startswith("#"):
        section.update(word.partition("(")[0] for word in line.replace("(", " (").split())


class DeviceArray:
    """An array that only the functions of this file may read."""

    __array_ufunc__ = None  # numpy's operators give way to ours
    __hash__ = None

    def __init__(self, host):
        self._host = host

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion of a device array to numpy. Use .get().")

    def __array_function__(self, function, *args):
        raise TypeError(f"numpy.{function.__name__} was called on a device array. Use xp.")

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    strides = property(lambda self: self._host.strides)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    T = property(lambda self: DeviceArray(self._host.T))
    base = property(lambda self: None if self._host.base is None else wrap(self._host.base))
    device = types.SimpleNamespace(id=0)

    @property
    def flags(self):
        flags = self._host.flags
        return types.SimpleNamespace(
            c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous, owndata=flags.owndata
        )

    def get(self):
        return self._host.copy()

    def __getattr__(self, name):
        if name.startswith("_") or name not in SECTIONS["cupy.ndarray"]:
            raise AttributeError(f"CuPy's arrays have no {name!r}")
        method = getattr(self._host, name)
        return lambda *args, **kwargs: wrap(method(*unwrap(args), **unwrap(kwargs)), name)

    def __getitem__(self, key):
        return wrap(self._host[unwrap(key)])

    def __setitem__(self, key, value):
        self._host[unwrap(key)] = unwrap(value)

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __neg__(self):
        return wrap(-self._host)

    def __invert__(self):
        return wrap(~self._host)

    def __abs__(self):
        return wrap(abs(self._host))

    def __bool__(self):
        return bool(self._host)

    def __int__(self):
        return int(self._host)

    def __float__(self):
        return float(self._host)

    def __index__(self):
        return self._host.__index__()


def _operator(name):
    def apply(self, other):
        return wrap(getattr(self._host, name)(unwrap(other)))

    return apply


for _name in OPERATORS:
    setattr(DeviceArray, f"__{_name}__", _operator(f"__{_name}__"))
    if _name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(DeviceArray, f"__r{_name}__", _operator(f"__r{_name}__"))


def _inplace(name):
    def apply(self, other):
        getattr(self._host, name)(unwrap(other))
        return self

    return apply


for _name in ("add", "sub", "mul", "truediv", "and", "or", "xor"):
    setattr(DeviceArray, f"__i{_name}__", _inplace(f"__i{_name}__"))


def wrap(value, of=""):
    """Results: arrays and numbers become arrays of the device."""
    if of in ("item", "tolist", "get"):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return DeviceArray(np.asarray(value))
    if isinstance(value, (list, tuple)):
        return type(value)(wrap(item) for item in value)
    return value


def unwrap(value, host_too=False):
    """Arguments; raises TypeError for an array of the host."""
    if isinstance(value, DeviceArray):
        return value._host
    if isinstance(value, np.ndarray) and not host_too:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>: an array of the host.")
    if isinstance(value, (list, tuple)):
        return type(value)(unwrap(item, host_too) for item in value)
    if isinstance(value, dict):
        return {key: unwrap(item, host_too) for key, item in value.items()}
    return value


class Function:
    """A function of CuPy; of a ufunc also `reduce`, `at` and so on."""

    def __init__(self, function):
        self.function = function
        self.__name__ = function.__name__

    def __call__(self, *args, **kwargs):
        host_too = self.__name__ in TAKE_HOST_ARRAYS
        result = self.function(*unwrap(args, host_too), **unwrap(kwargs, host_too))
        out = kwargs.get("out")
        return out if isinstance(out, DeviceArray) else wrap(result)

    def __getattr__(self, name):
        return Function(getattr(self.function, name))


class Grid:
    """`cupy.ogrid`."""

    def __getitem__(self, key):
        return wrap(list(np.ogrid[key]))


class Module(types.ModuleType):
    """`cupy`, or a part of it."""

    def __init__(self, name, of):
        super().__init__(name)
        self.__spec__ = importlib.machinery.ModuleSpec(name, None)
        self.__path__ = []
        self._of = of

    def __getattr__(self, name):
        found = getattr(self._of, name)
        if isinstance(found, types.ModuleType):
            return Module(f"{self.__name__}.{name}", found)
        if name not in SECTIONS.get(self.__name__, ()):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name == "ogrid":
            return Grid()
        return Function(found) if callable(found) and not isinstance(found, type) else found


def make_cupy():
    cupy = Module("cupy", np)
    cupy.ndarray = DeviceArray
    cupy.asnumpy = lambda array: array.get() if isinstance(array, DeviceArray) else array
    cupy.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(getDeviceCount=lambda: 1))
    return cupy


@contextlib.contextmanager
def in_place_of_cupy():
    """Inside, `import cupy` gives the stand-in."""
    before = sys.modules.get("cupy")
    sys.modules["cupy"] = cupy = make_cupy()
    try:
        yield cupy
    finally:
        if before is None:
            del sys.modules["cupy"]
        else:
            sys.modules["cupy"] = before
