"""Data types: `paddle.float32` and its relatives.

Paddle: paddle/phi/common/data_type.h (the enum and its numbers),
python/paddle/framework/dtype.py.
Left out: bfloat16, complex and fp8 types (numpy has no bfloat16; the others are not needed
here).
"""

from __future__ import annotations

import numpy as np


class DataType:
    """One data type. There is exactly one object per type, so `a.dtype is b.dtype` works.

    Attributes:
        name: "float32", as users write it.
        number: its number in phi's enum, which `repr` shows as Paddle does.
        proto_number: its number in framework.proto, which a Program's text and bytes show.
        short: its name in PIR text, as in `tensor<2x3xf32>`.
        numpy_dtype: the numpy dtype of the arrays that hold it.
    """

    __slots__ = ("name", "number", "numpy_dtype", "proto_number", "short")

    def __init__(self, name: str, number: int, proto_number: int, short: str) -> None:
        self.name = name
        self.number = number
        self.proto_number = proto_number
        self.short = short
        self.numpy_dtype = np.dtype(None if name == "Undefined" else name)

    def __repr__(self) -> str:
        return f"<DataType.{self.name.upper()}: {self.number}>"

    def __str__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple:  # a copy or an unpickled DataType is the same object again
        return (to_dtype, (self.name,))

    @property
    def is_floating(self) -> bool:
        return self.numpy_dtype.kind == "f"

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.numpy_dtype.itemsize


bool_ = DataType("bool", 1, 0, "b")
uint8 = DataType("uint8", 2, 20, "u8")
int8 = DataType("int8", 3, 21, "i8")
int16 = DataType("int16", 5, 1, "i16")
int32 = DataType("int32", 7, 2, "i32")
int64 = DataType("int64", 9, 3, "i64")
float16 = DataType("float16", 15, 4, "f16")
float32 = DataType("float32", 10, 5, "f32")
float64 = DataType("float64", 11, 6, "f64")

undefined = DataType("Undefined", 0, -1, "?")  # "the op decides"; never the dtype of a Tensor

ALL = (bool_, uint8, int8, int16, int32, int64, float16, float32, float64)

BY_NUMPY = {dtype.numpy_dtype: dtype for dtype in ALL}
BY_SHORT = {dtype.short: dtype for dtype in ALL}
BY_PROTO = {dtype.proto_number: dtype for dtype in (*ALL, undefined)}
_BY_NAME = {dtype.name: dtype for dtype in (*ALL, undefined)}


def to_dtype(value: object, by_other_names: bool = True) -> DataType:
    """Turns "float32", numpy's float32 or a DataType into the DataType.

    Args:
        by_other_names: numpy's other names ("int", "double", "half", ...) and Python's int and
            float are taken too. Most of Paddle's functions do so; what makes a Tensor from data
            does not.

    Raises:
        TypeError: `value` names no data type of ours.
    """
    if isinstance(value, DataType):
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    other = isinstance(value, str) or value is int or value is float
    if isinstance(value, (np.dtype, type, str)) and (by_other_names or not other):
        try:
            return BY_NUMPY[np.dtype(value)]
        except (KeyError, TypeError):
            pass  # falls through to the one message below
    names = ", ".join(dtype.name for dtype in ALL)
    raise TypeError(f"dtype: expected one of {names}, but got {value!r}. Use one of them.")


_default_dtype = float32


def get_default_dtype() -> str:
    """The dtype of parameters and of Python floats that become Tensors."""
    return _default_dtype.name


def set_default_dtype(d: object) -> None:
    """Sets the dtype of new parameters and of Python floats that become Tensors.

    Raises:
        TypeError: `d` is not a floating-point type.
    """
    global _default_dtype
    wanted = to_dtype(d, by_other_names=False)
    if not wanted.is_floating:
        raise TypeError(
            f"set_default_dtype: expected float16, float32 or float64, but got {wanted.name}. "
            "Parameters need gradients, and only floating-point numbers have them."
        )
    _default_dtype = wanted
