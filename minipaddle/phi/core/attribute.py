"""The kinds of attributes that an op can have, and how a user's value becomes one.

A kernel's keyword-only parameters are the op's attributes; their annotation says the kind:

    def mean(xp, x, *, axis: IntArray = (), keepdim: bool = False): ...

`IntArray` and `Scalar` may also be given as Tensors. In PIR they are operands, made by
`pd_op.full_int_array` and `pd_op.full`; all other kinds are printed between the braces.

Paddle: paddle/phi/common/int_array.h and scalar.h.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.common.place import UNDEFINED, Place

# A marker says "anything" to a type checker; its note is what the declaration reads.
IntArray = Annotated[Any, "a list of ints, or a Tensor that holds them"]
Scalar = Annotated[Any, "one number, or a Tensor that holds one"]
ScalarDouble = Annotated[Any, "one number, or a Tensor that holds one; float64 in PIR"]
ScalarInt = Annotated[Any, "one int, or a Tensor that holds one; int32 in PIR"]
ScalarInt64 = Annotated[Any, "one int, or a Tensor that holds one; int64 in PIR"]
Number = Annotated[Any, "one number, known when the op is called"]
Ints = Annotated[Any, "a list of ints, known when the op is called"]
Floats = Annotated[Any, "a list of numbers, known when the op is called"]
Strings = Annotated[Any, "a list of str, known when the op is called"]
Axes = Annotated[Any, "a list of axes, which stays between the braces in PIR"]

# the kinds that PIR shows as operands
MUTABLE = (IntArray, Scalar, ScalarDouble, ScalarInt, ScalarInt64)


class UnknownInts(tuple):
    """An IntArray that another op computes: InferMeta sees -1 for each number."""

    is_symbolic = True


class UnknownNumber:
    """A Scalar that another op computes. InferMeta may pass it on, but not ask for its value."""

    is_symbolic = True

    def __init__(self, who: str, name: str) -> None:
        self.who, self.name = who, name

    def _refuse(self, *others: Any) -> Any:
        raise ValueError(
            f"{self.who}: expected {self.name} to be known before the program runs, but got a "
            "value that another operation computes. Pass a number."
        )

    __int__ = __index__ = __float__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __mod__ = __neg__ = _refuse


def unknown(who: str, name: str, shape: Any) -> Any:
    """What InferMeta gets for the attribute `name` that a variable of this shape will hold."""
    return UnknownInts([-1] * max(shape[0], 0)) if len(shape) == 1 else UnknownNumber(who, name)


def is_symbolic(value: Any) -> bool:
    """True for a Variable or a Value: its contents are known only when the program runs."""
    return getattr(value, "is_symbolic", False)


def has_symbolic(value: Any) -> bool:
    """True for a list of ints in which a Variable or a Value stands for one of them."""
    return isinstance(value, (list, tuple)) and any(map(is_symbolic, value))


def _ints(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    if hasattr(value, "numpy"):  # a Tensor
        value = value.numpy()
    if isinstance(value, (list, tuple)):
        return tuple(
            int(item) if hasattr(item, "numpy") else operator.index(item) for item in value
        )
    if np.ndim(value) == 0:
        return (operator.index(value),)
    return tuple(operator.index(item) for item in value.ravel().tolist())


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(value)


def _number(value: Any) -> Any:
    if not getattr(value, "stop_gradient", True):
        raise TypeError  # an attribute has no gradient, and nobody would notice
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    if not isinstance(value, (bool, int, float)):
        raise TypeError
    return value


def _whole_number(value: Any) -> int:
    return operator.index(_number(value))


def _exactly(kind: type) -> Any:
    def convert(value: Any) -> Any:
        if kind is float and isinstance(value, int):
            return float(value)
        if kind in (int, bool) and isinstance(value, np.generic):
            value = value.item()
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError
        return value

    return convert


def _place(value: Any) -> Place:
    if value is None:
        return UNDEFINED
    if not isinstance(value, Place):
        raise TypeError
    return value


CONVERTERS: dict[Any, tuple[Callable[[Any], Any], str]] = {
    IntArray: (_ints, "an int or a list of ints"),
    Ints: (_ints, "an int or a list of ints"),
    Axes: (_ints, "an int or a list of ints"),
    Floats: (lambda v: tuple(_number(item) for item in np.asarray(v).ravel()), "a list of numbers"),
    Strings: (_strings, "a list of str"),
    Scalar: (_number, "a number"),
    ScalarDouble: (_number, "a number"),
    ScalarInt: (_whole_number, "an int"),
    ScalarInt64: (_whole_number, "an int"),
    Number: (_number, "a number"),
    DataType: (to_dtype, "a dtype"),
    Place: (_place, "a Place"),
    bool: (_exactly(bool), "True or False"),
    int: (_exactly(int), "an int"),
    float: (_exactly(float), "a float"),
    str: (_exactly(str), "a str"),
}


def convert(who: str, name: str, kind: Any, value: Any) -> Any:
    """Turns a user's `value` into the attribute's own form: tuples of ints, Python numbers, a
    DataType, a Place. A Variable or a Value that stands for an IntArray or a Scalar stays.

    Raises:
        TypeError: the value is not of that kind.
    """
    function, wanted = CONVERTERS[kind]
    if (is_symbolic(value) or has_symbolic(value)) and kind in MUTABLE:
        return value
    try:
        return function(value)
    except (TypeError, ValueError) as error:
        if kind is DataType:
            listed = str(error).removeprefix(
                "dtype: expected "
            )  # it lists the dtypes that there are
            raise TypeError(f"{who}: expected {name} to be {listed}") from None
        raise TypeError(
            f"{who}: expected {name} to be {wanted}, but got {value!r} ({type(value).__name__}). "
            f"Pass {wanted}."
        ) from None
