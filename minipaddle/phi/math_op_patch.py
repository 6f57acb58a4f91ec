"""Operators: `x + y`, `2 * x`, `x @ w`, `x > 0`, for Tensors, Variables, Values and MetaTensors
alike.

Each class gets the same methods; they differ only in what `call_op` does. A number beside `+ - *
/` becomes a `scale` op, as in Paddle, and anywhere else a Tensor made by `full`.

Paddle: python/paddle/base/dygraph/math_op_patch.py, base/layers/math_op_patch.py,
pir/math_op_patch.py.
Left out: shifts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS, Op

PATCHED: list[type] = []  # Tensor, and Variable and Value once their packages are loaded
METHODS: dict[str, Any] = {}

NUMBERS = (bool, int, float, np.number, np.bool_)


def patch_methods(methods: dict[str, Any]) -> None:
    """Gives each of the classes these functions as methods, also those that come later.

    Paddle: monkey_patch_tensor, monkey_patch_variable, monkey_patch_value.
    """
    METHODS.update(methods)
    for cls in PATCHED:
        _set_methods(cls, methods)


def patch_class(cls: type, call_op: Callable[..., Any]) -> None:
    """Gives a class its operators and methods; called once by the package of each world."""
    patch_operators(cls, call_op)
    PATCHED.append(cls)
    _set_methods(cls, METHODS)


def _set_methods(cls: type, methods: dict[str, Any]) -> None:
    for name, function in methods.items():
        if isinstance(function, Op):
            function = _as_method(name, function)  # a plain function binds `self` by itself
        setattr(cls, name, function)


def _as_method(name: str, op: Op) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return op(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = op.__doc__
    return method


def patch_operators(cls: type, call_op: Callable[..., Any]) -> None:
    """Gives `cls` the operators. `call_op(op, inputs, attrs)` carries an op out on objects of
    `cls`.
    """

    def call(name: str, *inputs: Any, **attrs: Any) -> Any:
        return call_op(OPS[name], inputs, attrs)

    def for_number(x: Any, value: Any) -> Any:
        """x, in a dtype that can hold `value`: an integer beside a float becomes float32, a bool
        beside an integer int64.
        """
        if x.dtype is dtypes.bool_ and type(value) is int:
            return call("cast", x, dtype=dtypes.int64)
        if isinstance(value, (float, np.floating)) and not x.dtype.is_floating:
            return call("cast", x, dtype=dtypes.float32)
        return x

    def as_operand(x: Any, value: Any, shape: Any = ()) -> Any:
        require_in_range(x.dtype, value)
        return call("full", shape=tuple(shape), value=value, dtype=x.dtype)

    def power(x: Any, value: Any) -> Any:
        """In programs, as in Paddle, the number becomes a Tensor; dygraph has an op for numbers."""
        if getattr(x, "is_symbolic", False):
            return call("elementwise_pow", x, as_operand(x, value))
        return call("pow", x, y=value)

    def scaled(x: Any, factor: Any, bias: Any = 0.0) -> Any:
        return call("scale", x, scale=factor, bias=float(bias))

    converts = hasattr(call_op, "convert")  # from an array

    def operator(
        method: str, op_name: str, number: Callable | None = None, reverse: bool = False
    ) -> None:
        def apply(self: Any, other: Any) -> Any:
            if isinstance(other, NUMBERS):
                value = other.item() if isinstance(other, np.generic) else other
                x = for_number(self, value)
                if number is not None:
                    return number(x, value)
                # in front of the operator, programs spell the number out in x's shape, as Paddle
                spelled = reverse and getattr(x, "is_symbolic", False) and -1 not in x.shape
                other = as_operand(x, value, x.shape if spelled else ())
                self = x
            elif not isinstance(other, cls):
                if not converts and hasattr(other, "__array__"):  # numpy would go on on its own
                    raise TypeError(
                        f"{op_name}: expected a {cls.__name__} or a number beside a "
                        f"{cls.__name__}, but got {type(other).__name__}. Feed the array under a "
                        "name of its own."
                    )
                other = call_op.convert(self, other) if converts else None
                if other is None:
                    return NotImplemented
            return call(op_name, other, self) if reverse else call(op_name, self, other)

        apply.__name__ = method
        setattr(cls, method, apply)

    operator("__add__", "add", lambda x, v: scaled(x, 1.0, v))
    operator("__radd__", "add", lambda x, v: scaled(x, 1.0, v), reverse=True)
    operator("__sub__", "subtract", lambda x, v: scaled(x, 1.0, -v))
    operator("__rsub__", "subtract", lambda x, v: scaled(x, -1.0, v), reverse=True)
    operator("__mul__", "multiply", lambda x, v: scaled(x, v))
    operator("__rmul__", "multiply", lambda x, v: scaled(x, v), reverse=True)
    operator(
        "__truediv__",
        "divide",
        lambda x, v: scaled(_float(call, x), 1.0 / v if v else math.copysign(math.inf, v)),
    )
    operator("__rtruediv__", "divide", reverse=True)
    operator("__matmul__", "matmul")
    operator("__gt__", "greater_than")
    operator("__lt__", "less_than")
    operator("__ge__", "greater_equal")
    operator("__le__", "less_equal")
    operator("__eq__", "equal")
    operator("__ne__", "not_equal")
    operator("__pow__", "elementwise_pow", power)
    operator("__rpow__", "elementwise_pow", reverse=True)
    operator("__floordiv__", "floor_divide")
    operator("__rfloordiv__", "floor_divide", reverse=True)
    operator("__mod__", "remainder")
    operator("__rmod__", "remainder", reverse=True)
    operator("__and__", "bitwise_and")
    operator("__rand__", "bitwise_and", reverse=True)
    operator("__or__", "bitwise_or")
    operator("__ror__", "bitwise_or", reverse=True)
    operator("__xor__", "bitwise_xor")
    operator("__rxor__", "bitwise_xor", reverse=True)
    cls.__hash__ = object.__hash__  # type: ignore[method-assign]
    cls.__array_priority__ = 100.0  # array + x is ours too  # type: ignore[attr-defined]
    if not converts:
        cls.__array_ufunc__ = None  # type: ignore[attr-defined]
    cls.__neg__ = lambda self: scaled(self, -1.0)  # type: ignore[attr-defined]
    cls.__abs__ = lambda self: call("abs", self)  # type: ignore[attr-defined]
    cls.__invert__ = lambda self: call("bitwise_not", self)  # type: ignore[attr-defined]


def require_in_range(dtype: Any, value: Any) -> None:
    """Raises ValueError where an integer dtype can't hold the number; Paddle takes what is left
    of it without a word.
    """
    kind = dtype.numpy_dtype
    if kind.kind in "iu" and not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
        raise ValueError(
            f"full: expected a number that {dtype.name} can hold, but got {value}. Cast the Tensor "
            "beside it to a larger dtype first."
        )


def _float(call: Callable, x: Any) -> Any:
    """Division of integers by a number gives float32."""
    return x if x.dtype.is_floating else call("cast", x, dtype=dtypes.float32)


def _call_meta(op: Op, inputs: Any, attrs: dict[str, Any]) -> Any:
    return op.on_metas(*inputs, **attrs)


def _patch_meta_tensor() -> None:
    equality, unequal, hashing = MetaTensor.__eq__, MetaTensor.__ne__, MetaTensor.__hash__
    patch_operators(MetaTensor, _call_meta)
    MetaTensor.__eq__ = equality  # MetaTensors are compared as plain data  # type: ignore[method-assign]
    MetaTensor.__ne__ = unequal  # type: ignore[method-assign]
    MetaTensor.__hash__ = hashing  # type: ignore[method-assign]


_patch_meta_tensor()
