"""A classic program in short lines, as the pictures show it.

    block 0, variables
      x: data [-1, 3] float32
      tmp_0: [-1, 2] float32
    block 0, ops
      tmp_0 = matmul_v2(X=x, Y=w)

Paddle prints the same with all attributes: str(program).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minipaddle.base.framework import Operator, Program
from minipaddle.base.op_attrs import phi_attrs
from minipaddle.common.dtype import DataType


def short_op(operator: Any) -> str:
    """An op in one short line: `tmp_0 = matmul_v2(X=data1, Y=data2)`.

    Attributes are shown where they are not the default; of real Paddle's operators none.
    """
    arguments = [
        f"{slot}={_listed(operator.input(slot))}"
        for slot in operator.input_names
        if operator.input(slot)
    ]
    for name, value in _unusual_attrs(operator).items():
        arguments.append(f"{name}={value.name if isinstance(value, DataType) else repr(value)}")
    block = sub_block(operator)
    arguments += [] if block is None else [f"block {block}"]
    call = f"{operator.type}({', '.join(arguments)})"
    made = ", ".join(operator.output_arg_names)
    return f"{made} = {call}" if made else call


def _unusual_attrs(operator: Any) -> dict[str, Any]:
    try:
        op = operator.phi_op
    except (KeyError, AttributeError):
        return {}  # no declaration, or real Paddle's: nothing to compare with
    known = [*op.attrs, *(op.forward_op.attrs if op.forward_op else ())]
    defaults = {attr.name: attr.default for attr in known}
    attrs = phi_attrs(operator).items()
    return {name: value for name, value in attrs if name != "place" and value != defaults[name]}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def sub_block(operator: Any) -> int | None:
    """The number of the block that an op runs; None if it runs none.

    Takes real Paddle's operators, too.
    """
    if not operator.has_attr("sub_block"):
        return None
    value = operator.attr("sub_block")  # real Paddle gives a BlockDesc
    return int(getattr(value, "id", getattr(value, "idx", value)))


def nested_ops(program: Program, block: int = 0, depth: int = 0) -> Iterator[tuple[str, Operator]]:
    """The ops of a program, each with its line; those of a block below the op that runs it."""
    for operator in program.block(block).ops:
        yield "    " * depth + short_op(operator), operator
        inner = sub_block(operator)
        if inner is not None:
            yield from nested_ops(program, inner, depth + 1)


def program_lines(program: Program) -> list[str]:
    """The whole program, block by block: variables, then ops."""
    lines = []
    for block in program.blocks:
        lines.append(f"block {block.idx}, variables")
        lines += [f"  {variable_line(variable)}" for variable in block.vars.values()]
        lines.append(f"block {block.idx}, ops")
        lines += [f"  {short_op(operator)}" for operator in block.ops]
    return lines


def variable_line(variable: Any) -> str:
    """`x: [-1, 3] float32`"""
    kind = "parameter " if variable.is_parameter else "stays " if variable.persistable else ""
    return f"{variable.name}: {kind}{list(variable.shape)} {variable.dtype.name}"


def check_classic(who: str, program: Any) -> None:
    """Raises TypeError if it is no classic Program of minipaddle."""
    if not isinstance(program, Program):
        raise TypeError(
            f"viz.{who}: expected a classic Program, but got {type(program).__module__}."
            f"{type(program).__name__}. Build it under paddle.pir_utils.OldIrGuard()."
        )
