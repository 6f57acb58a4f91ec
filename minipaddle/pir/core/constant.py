"""Constants: values whose contents are known before the program runs, because pd_op.full or
full_int_array made them.

Paddle: paddle/fluid/pir/utils/general_functions.h (GetConstantValue and its like).
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.attribute import UnknownInts, unknown
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.value import Value
from minipaddle.pir.core.vector import combined_values

CONSTANTS = ("pd_op.full_int_array", "pd_op.full")


def constant_of(value: Value | None) -> Any:
    """The contents of a constant: a tuple of ints, or a number. None if it is not a constant."""
    if value is None or value.get_defining_op().name() not in CONSTANTS:
        return None
    return value.get_defining_op().attributes["value"].value


def constant_or_unknown(who: str, name: str, value: Value) -> Any:
    """The contents of a value that stands for an attribute, for InferMeta."""
    constant = constant_of(value)
    if constant is None and value.get_defining_op().name() == "pd_op.stack":
        # [batch, 10]: some of the numbers are known
        known = [
            constant_of(piece)
            for piece in combined_values(value.get_defining_op().operand_source(0))
        ]
        return UnknownInts(-1 if piece is None else int(piece) for piece in known)
    return unknown(who, name, value.shape) if constant is None else constant


def attribute_values(op: Operation, for_infer_meta: bool = False) -> dict[str, Any]:
    """All of phi's attributes of an operation: from the braces, and from operands that are
    constants. What is computed when the program runs is left out, or, `for_infer_meta`, unknown.
    """
    declaration = op.info.op
    assert declaration is not None
    mutable = iter(op.operands_source()[len(declaration.inputs) :])
    values = {}
    for attr in declaration.attrs:
        if not attr.mutable:
            values[attr.name] = op.attributes[attr.name].value
            continue
        operand = next(mutable)
        constant = constant_of(operand)
        if constant is not None:
            values[attr.name] = constant
        elif for_infer_meta and operand is not None:
            values[attr.name] = constant_or_unknown(declaration.name, attr.name, operand)
    return values


def attribute_operands(op: Operation) -> dict[str, Value]:
    """The operands that stand for attributes, by the attributes' names."""
    declaration = op.info.op
    assert declaration is not None
    mutable = [attr.name for attr in declaration.attrs if attr.mutable]
    values = op.operands_source()[len(declaration.inputs) :]
    return {name: v for name, v in zip(mutable, values, strict=True) if v is not None}
