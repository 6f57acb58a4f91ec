"""Attributes: what stands between the braces of an operation. Each exists once, like types.

Paddle: paddle/pir/include/core/attribute.h, builtin_attribute.h.
Left out: a class per integer and float width (the op's declaration knows the width).
"""

from __future__ import annotations

from typing import Any

from minipaddle.common.dtype import DataType
from minipaddle.common.place import Place
from minipaddle.pir.core.type import context


class Attribute:
    """One value: a bool, number, str, DataType, Place, or a tuple of these."""

    __slots__ = ("value",)

    value: Any

    def __new__(cls, value: Any) -> Attribute:
        if isinstance(value, list):
            value = tuple(value)
        # 1, 1.0 and True are equal in Python but are not the same attribute
        return context.unique(cls, _kinds(value), value)

    def _fill(self, kinds: Any, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return text_of(self.value)


def _kinds(value: Any) -> Any:
    return tuple(_kinds(item) for item in value) if isinstance(value, tuple) else type(value)


def text_of(value: Any) -> str:
    """An attribute's value as PIR text.

    A float has six digits, as in Paddle, where that loses nothing; otherwise as many as it takes
    to read it back unchanged (Paddle would cut it off).
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:.6g}"
        return short if float(short) == value else repr(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, DataType):
        return value.name
    if isinstance(value, Place):
        return repr(value)
    if isinstance(value, tuple):
        return f"[{','.join(text_of(item) for item in value)}]"
    return str(value)
