"""IrPrinter: a program as text, in Paddle's format.

    (%2) = "pd_op.matmul" (%1, %0) {stop_gradient:[false],transpose_x:false,transpose_y:false}
           : (tensor<-1x3xf32>, tensor<3x2xf32>) -> tensor<-1x2xf32>          (on one line)

Paddle: paddle/pir/src/core/ir_printer.cc.
Left out: the hooks for printing some operations in a form of their own; call stacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minipaddle.pir.core.type import Type
from minipaddle.pir.core.value import Value

if TYPE_CHECKING:
    from minipaddle.pir.core.block import Block
    from minipaddle.pir.core.operation import Operation


class IrPrinter:
    """Gives each value a number, in the order in which it is met."""

    def __init__(self) -> None:
        self.numbers: dict[Value, str] = {}

    def block(self, block: Block) -> str:
        lines = "".join(f"    {self.operation(op)}\n" for op in block.ops)
        return f"{{\n{lines}}}\n"

    def operation(self, op: Operation) -> str:
        results = ", ".join(self.value(result) for result in op.results())
        operands = ", ".join(self.value(source) for source in op.operands_source())
        attributes = ",".join(f"{key}:{op.attributes[key]!r}" for key in sorted(op.attributes))
        in_types = ", ".join(
            type_text(None if source is None else source.type()) for source in op.operands_source()
        )
        out_types = ", ".join(type_text(result.type()) for result in op.results())
        types = f"({in_types}) -> {out_types}"
        return f'({results}) = "{op.name()}" ({operands}) {{{attributes}}} : {types}'

    def value(self, value: Value | None) -> str:
        if value is None:
            return "<<NULL VALUE>>"
        return self.numbers.setdefault(value, f"%{len(self.numbers)}")


def type_text(type: Type | None) -> str:
    """A type as text."""
    return "<<NULL TYPE>>" if type is None else repr(type)
