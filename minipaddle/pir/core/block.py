"""Block and Program: operations in order.

Paddle: paddle/pir/include/core/block.h, program.h; python/paddle/pir/program_patch.py.
Left out: regions, block arguments; a Program here holds its one block directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common.errors import IRError
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.value import Value


class Block:
    """Operations in the order in which they run."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ops: list[Operation] = []

    def insert(self, index: int, operation: Operation) -> Operation:
        """Puts an operation at a place."""
        self.ops.insert(index, operation)
        operation.parent = self
        return operation

    def append(self, operation: Operation) -> Operation:
        return self.insert(len(self.ops), operation)

    def remove_op(self, operation: Operation) -> None:
        """Erases an operation. Raises IRError if its results are in use."""
        operation.erase()

    def move_op(self, operation: Operation, index: int) -> None:
        """Moves an operation of this block to another place."""
        self.ops.remove(operation)
        self.ops.insert(index, operation)

    def num_ops(self) -> int:
        return len(self.ops)

    def all_parameters(self) -> list[Value]:
        """The values of the builtin.parameter operations."""
        return [op.result(0) for op in self.ops if op.name() == "builtin.parameter"]

    def __str__(self) -> str:
        from minipaddle.pir.core.ir_printer import IrPrinter

        return IrPrinter().block(self)


class Program:
    """A PIR program."""

    def __init__(self) -> None:
        self._block = Block(self)
        self.random_seed = 0
        # of an optimizer: what says the learning rate at each run, and the value that gets it
        self.lr_scheduler: Any = None
        self.lr_var: Any = None

    def global_block(self) -> Block:
        return self._block

    def num_ops(self) -> int:
        return len(self._block.ops)

    def all_parameters(self) -> list[Value]:
        return self._block.all_parameters()

    def list_vars(self) -> list[Value]:
        """The values that have a name: parameters and inputs."""
        return [value for op in self._block.ops for value in op.results() if value.has_name]

    def get_value_by_name(self, name: str) -> Value:
        """The parameter or input of that name. Raises ValueError if there is none."""
        for value in self.list_vars():
            if value.name == name:
                return value
        known = [value.name for value in self.list_vars()]
        raise ValueError(
            f"Program.get_value_by_name: expected one of {known}, but got {name!r}. "
            "Only parameters and inputs have names."
        )

    def clone(self) -> Program:
        """A copy with operations and values of its own."""
        copy = Program()
        values: dict[Value, Value] = {}
        for op in self._block.ops:
            operands = [None if v is None else values[v] for v in op.operands_source()]
            types = [result.type() for result in op.results()]
            twin = Operation(op.name(), operands, dict(op.attributes), types)
            values.update(zip(op.results(), twin.results(), strict=True))
            copy._block.append(twin)
        return copy

    @property
    def _version(self) -> int:
        """A number that differs when the program differs, so that an Executor knows when to
        compile anew.
        """
        return hash(
            tuple(
                (
                    op.number,
                    tuple(None if v is None else v._fetch_key for v in op.operands_source()),
                    tuple(id(attribute) for attribute in op.attributes.values()),  # kept for ever
                )
                for op in self._block.ops
            )
        )

    def lower(self, feed_names: Sequence[str], fetch_list: Sequence[Any], scope: Any) -> Any:
        """The program as instructions, for an Executor. See lowering.py."""
        from minipaddle.pir.lowering import lower_program  # it builds on this file

        return lower_program(self, feed_names, fetch_list, scope)

    def verify(self) -> None:
        """Checks that the program is well formed. Raises IRError if it is not."""
        from minipaddle.pir.core.verify import verify_program

        verify_program(self)

    def __str__(self) -> str:
        return str(self._block)

    __repr__ = __str__


def require_in_block(operation: Operation) -> Block:
    """The operation's block. Raises IRError if it is in none."""
    if operation.parent is None:
        raise IRError(
            f"{operation.name()}: expected an operation in a block, but got one that was erased "
            "or never inserted. "
            "Insert it into a block first."
        )
    return operation.parent
