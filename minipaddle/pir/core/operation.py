"""Operation: a name, operands, attributes, results.

Paddle: paddle/pir/include/core/operation.h.
Left out: regions (control flow), successors.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from minipaddle.common.errors import IRError
from minipaddle.pir.core.attribute import Attribute
from minipaddle.pir.core.dialect import OpInfo, get_op_info
from minipaddle.pir.core.type import Type
from minipaddle.pir.core.value import OpOperand, OpResult, Value

if TYPE_CHECKING:
    from minipaddle.pir.core.block import Block


_numbers = itertools.count()


class Operation:
    """One operation. It belongs to at most one block.

    `number` is never used again, as id() would be: an Executor tells programs apart by it.
    """

    def __init__(
        self,
        name: str,
        operands: Iterable[Value | None] = (),
        attributes: dict[str, Any] | None = None,
        result_types: Sequence[Type | None] = (),
    ) -> None:
        self.number = next(_numbers)
        self.info: OpInfo = get_op_info(name)
        self.attributes: dict[str, Attribute] = {
            key: value if isinstance(value, Attribute) else Attribute(value)
            for key, value in (attributes or {}).items()
        }
        self._operands = [OpOperand(self, i, value) for i, value in enumerate(operands)]
        self._results = [OpResult(type, self, i) for i, type in enumerate(result_types)]
        self.parent: Block | None = None

    def name(self) -> str:
        return self.info.name

    def operands(self) -> list[OpOperand]:
        return list(self._operands)

    def operand(self, index: int) -> OpOperand:
        return self._operands[index]

    def operand_source(self, index: int) -> Value | None:
        return self._operands[index].source()

    def operands_source(self) -> list[Value | None]:
        return [operand.source() for operand in self._operands]

    def num_operands(self) -> int:
        return len(self._operands)

    def results(self) -> list[Value]:
        return list(self._results)

    def result(self, index: int) -> Value:
        return self._results[index]

    def num_results(self) -> int:
        return len(self._results)

    def attrs(self) -> dict[str, Any]:
        """The attributes' values by name."""
        return {key: attribute.value for key, attribute in sorted(self.attributes.items())}

    def has_attr(self, name: str) -> bool:
        return name in self.attributes

    def get_input_names(self) -> list[str]:
        return list(self.info.inputs)

    def get_output_names(self) -> list[str]:
        return list(self.info.outputs)

    def get_parent_block(self) -> Block | None:
        return self.parent

    def erase(self) -> None:
        """Takes the operation out of its block and lets go of its operands.

        Raises:
            IRError: a result is still in use. (Real Paddle aborts the process here.)
        """
        users = [user.name() for result in self._results for user in result.all_used_ops()]
        if users:
            raise IRError(
                f"erase: expected {self.name()} to have no users, but got {users}. "
                "Replace its results first, with replace_all_uses_with."
            )
        for operand in self._operands:
            operand.set_source(None)
        if self.parent is not None:
            self.parent.ops.remove(self)
            self.parent = None

    def move_before(self, other: Operation) -> None:
        """Moves this operation to the place before `other`."""
        block, target = self.parent, other.parent
        if block is None or target is None:
            raise IRError(
                f"move_before: expected two operations in blocks, but got {self.name()} and "
                f"{other.name()}, "
                "of which one is in none. Insert it first."
            )
        block.ops.remove(self)
        target.ops.insert(target.ops.index(other), self)
        self.parent = target

    def __repr__(self) -> str:
        from minipaddle.pir.core.ir_printer import IrPrinter  # the printer knows operations

        return f"Operation({IrPrinter().operation(self).strip()})"
