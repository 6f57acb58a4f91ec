"""The pieces of an OpDesc message: attributes of many types, and slots.

Paddle: paddle/fluid/framework/op_desc.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.base.framework_proto import ATTR_FIELDS, ATTR_TYPES
from minipaddle.common.dtype import DataType
from minipaddle.common.errors import IRError
from minipaddle.common.place import Place

EMPTY = "@EMPTY@"  # stands in a slot for a variable that nobody wants


class Scalars(tuple):
    """Numbers that are written with a type each: framework.proto's Scalar."""


# of a Scalar: Python's type -> (number of the type, the field that holds the value)
SCALAR_FIELDS = {bool: (1, "b"), int: (2, "i"), float: (3, "r")}

# of lists, also with nothing in them; `scale` is an interpolation's
_LISTS = {"op_role_var": "STRING", "op_callstack": "STRING", "scale": "FLOAT"}
_KINDS = {bool: "BOOLEAN", int: "INT", float: "FLOAT", str: "STRING"}


def attr_value(item: Any) -> Any:
    """The value of an OpDesc.Attr message. Raises IRError if it is of a kind that is left out."""
    kind = next(name for name, number in ATTR_TYPES.items() if number == item.type)
    if kind == "SCALARS":
        fields = dict(SCALAR_FIELDS.values())
        return Scalars(getattr(each, fields[each.type]) for each in item.scalars)
    if kind not in ATTR_FIELDS:
        raise IRError(
            f"Operator.attr: expected {item.name!r} to be one of {list(ATTR_FIELDS)}, but got "
            f"{kind}, which is left out here. Write the program without it."
        )
    value = getattr(item, ATTR_FIELDS[kind])
    return list(value) if kind.endswith("S") else value


def write_attr(item: Any, name: str, value: Any) -> None:
    """Fills an OpDesc.Attr message; the type is read off the value.

    Raises:
        TypeError: the value is neither a number of at most 64 bits, nor text, dtype or place, nor a
            list of one kind of them.
    """
    item.name = name
    if isinstance(value, Place):
        value = "" if value.kind == "undefined" else value.kind
    if isinstance(value, DataType):
        value = value.proto_number
    if isinstance(value, Scalars):
        item.type = ATTR_TYPES["SCALARS"]
        for number in value:
            kind, field = SCALAR_FIELDS[type(number)]
            setattr(item.scalars.add(type=kind), field, number)
        return
    is_list = isinstance(value, (list, tuple))
    values = [_plain(name, each) for each in (value if is_list else [value])]
    kinds = {_KINDS[type(each)] for each in values} or {"INT"}
    if kinds == {"INT", "FLOAT"}:
        kinds = {"FLOAT"}
    if len(kinds) > 1:
        raise TypeError(
            f"Block.append_op: expected values of one kind in the attribute {name!r}, but got "
            f"{values}. Convert them."
        )
    (kind,) = kinds
    if is_list and name in _LISTS:
        kind = _LISTS[name]
    elif is_list and kind == "FLOAT" and any(float(np.float32(each)) != each for each in values):
        kind = "FLOAT64"  # 32 bits would change the numbers
    elif name == "sub_block":  # the index of a block
        kind = "BLOCK"
    elif kind == "INT" and any(abs(number) >= 2**31 for number in values):
        kind = "LONG"
    kind += "S" * is_list
    item.type = ATTR_TYPES[kind]
    if is_list:
        getattr(item, ATTR_FIELDS[kind]).extend(values)
    else:
        setattr(item, ATTR_FIELDS[kind], values[0])


def _plain(name: str, value: Any) -> Any:
    """One value of an attribute, in one of Python's own types: a key of _KINDS."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) not in _KINDS or (type(value) is int and not -(2**63) <= value < 2**63):
        raise TypeError(
            f"Block.append_op: expected the attribute {name!r} to hold numbers of at most 64 bits "
            f"or texts, but got {value!r}. What is computed goes into an input slot."
        )
    return value


def slot_arguments(items: Any, slot: str) -> list[str]:
    """The names in one slot of an OpDesc's inputs or outputs."""
    for item in items:
        if item.parameter == slot:
            return list(item.arguments)
    return []
