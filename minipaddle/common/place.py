"""Places: on which device a Tensor's data lives.

Paddle: paddle/phi/common/place.h, python/paddle/device/__init__.py (set_device).
Left out: XPU, custom devices, pinned memory.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy


class Place:
    """Where data lives. `kind` is "cpu", "gpu" or "undefined" (a Program that does not care
    yet).
    """

    __slots__ = ("device_id", "kind")

    def __init__(self, kind: str, device_id: int = 0) -> None:
        self.kind = kind
        self.device_id = device_id

    def __repr__(self) -> str:
        return "Place(cpu)" if self.kind == "cpu" else f"Place({self.kind}:{self.device_id})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Place)
            and self.kind == other.kind
            and self.device_id == other.device_id
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.device_id))


class CPUPlace(Place):
    """The CPU: arrays are numpy's."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("cpu")


class CUDAPlace(Place):
    """A GPU: arrays are CuPy's."""

    __slots__ = ()

    def __init__(self, device_id: int = 0) -> None:
        super().__init__("gpu", device_id)


UNDEFINED = Place("undefined")
CPU = CPUPlace()

_current: Place = CPU


def array_module(place: Place) -> ModuleType:
    """The module that computes on `place`: numpy, or cupy for a GPU.

    Raises:
        RuntimeError: a GPU is asked for, but CuPy or the GPU is missing.
    """
    if place.kind != "gpu":
        return numpy
    try:
        cupy = importlib.import_module("cupy")
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy raises its own types here, one for each missing piece
        raise RuntimeError(
            f"set_device('gpu'): expected CuPy and an NVIDIA GPU, but got: {error}. "
            "Run `pip install '.[gpu]'` in this repository, or use set_device('cpu')."
        ) from error
    if place.device_id >= count:
        raise RuntimeError(
            f"set_device('gpu:{place.device_id}'): expected a GPU number below {count}, "
            f"but got {place.device_id}. Choose one of the {count} GPUs of this machine."
        )
    return cupy


def module_of(array: object) -> ModuleType:
    """The module that an array belongs to: numpy or cupy."""
    if isinstance(array, (numpy.ndarray, numpy.generic)):
        return numpy
    return importlib.import_module("cupy")


def place_of(who: str, device: str) -> Place:
    """The place of that name: "cpu", "gpu" or "gpu:0". Raises ValueError if there is none."""
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "gpu") or (number and not number.isdigit()):
        raise ValueError(
            f"{who}: expected 'cpu', 'gpu' or 'gpu:0', but got {device!r}. Use one of these."
        )
    return CPU if kind == "cpu" else CUDAPlace(int(number or 0))


def set_device(device: str) -> Place:
    """Sets the place of new Tensors: "cpu", "gpu" or "gpu:0".

    Raises:
        ValueError: the name is not a device.
        RuntimeError: a GPU is asked for and there is none.
    """
    global _current
    place = place_of("set_device", device)
    array_module(place)
    _current = place
    return place


def is_compiled_with_cuda() -> bool:
    """True where `set_device("gpu")` works: nothing is compiled here, but scripts ask it like that.

    In Paddle it is a property of the installed package, whether there is a GPU or not.
    """
    try:
        array_module(CUDAPlace())
    except RuntimeError:
        return False
    return True


def get_device() -> str:
    """The device of new Tensors, as `set_device` takes it."""
    return "cpu" if _current.kind == "cpu" else f"gpu:{_current.device_id}"


def current_place() -> Place:
    """The place of new Tensors."""
    return _current
