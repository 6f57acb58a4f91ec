"""From a PIR program to instructions: number the values, see what comes from where, drop what
nobody fetches.

IntArray and Scalar operands that are constants are written into the call; the operations that
made them are then not run.

Paddle: paddle/fluid/pir/transforms/pd_op_to_kernel_pass.cc, new_executor/pir_adaptor/.
Left out: the kernel dialect as a program of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.new_executor.feed import feeds_and_reads, refuse_extra_feeds
from minipaddle.new_executor.instruction import Instruction, InstructionList, prune, reads_of
from minipaddle.pir.core.block import Program
from minipaddle.pir.core.constant import attribute_values
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.type import DenseTensorType, VectorType
from minipaddle.pir.core.value import Value
from minipaddle.pir.core.vector import combined_values, split_values


def lower_program(
    program: Program, feed_names: Sequence[str], fetch_list: Sequence[Any], scope: Any
) -> InstructionList:
    """Lowers a program.

    Raises:
        KeyError: the program needs a feed that is missing.
        ValueError: a fetch is not in the program.
    """
    ops = program.global_block().ops
    numbers = number_values(ops)
    fetches = [_fetched(item, program) for item in fetch_list]
    writes: dict[str, str] = {}
    for op in ops:
        if op.name() in ("builtin.set_parameter", "builtin.shadow_output"):
            key = "parameter_name" if op.name() == "builtin.set_parameter" else "output_name"
            source = op.operand_source(0)
            assert source is not None
            writes[op.attributes[key].value] = numbers[source]

    instructions = [instruction_of(op, numbers) for op in ops if op.info.op is not None]
    wanted = {numbers[value] for value in fetches} | set(writes.values())
    instructions = prune(instructions, wanted)
    read = {*reads_of(instructions), *wanted}

    def lives_in_scope(value: Value) -> bool:
        return value.persistable or scope.find_var(value.name) is not None

    inputs = [
        (numbers[op.result(0)], op.result(0))
        for op in ops
        if op.name() in ("builtin.parameter", "pd_op.data") and numbers[op.result(0)] in read
    ]
    feeds, reads = feeds_and_reads(inputs, feed_names, lives_in_scope)
    refuse_extra_feeds(feed_names, [value.name for value in program.list_vars()])
    return InstructionList(
        instructions, feeds, reads, writes, [numbers[value] for value in fetches]
    )


def number_values(ops: Sequence[Operation]) -> dict[Value, str]:
    """A variable's name for each value."""
    numbers: dict[Value, str] = {}
    for op in ops:
        for result in op.results():
            if isinstance(result.type(), DenseTensorType):
                numbers[result] = f"v{len(numbers)}"
    return numbers


def instruction_of(op: Operation, numbers: dict[Value, str]) -> Instruction:
    """One operation, ready to run."""
    declaration = op.info.op
    assert declaration is not None
    count = len(declaration.inputs)
    inputs: list[Any] = []
    for value in op.operands_source()[:count]:
        if value is not None and isinstance(value.type(), VectorType):
            inputs.append([numbers[piece] for piece in combined_values(value)])
        else:
            inputs.append(None if value is None else numbers[value])
    attrs = attribute_values(op)
    mutable = [attr.name for attr in declaration.attrs if attr.mutable]
    attr_inputs = {
        name: numbers[value]
        for name, value in zip(mutable, op.operands_source()[count:], strict=True)
        if name not in attrs and value is not None
    }
    outputs: list[Any] = [
        [numbers[value] for value in split_values(result)]
        if isinstance(result.type(), VectorType)
        else numbers.get(result)
        for result in op.results()
    ]
    return Instruction(declaration, inputs, outputs, attrs, attr_inputs)


def _fetched(item: Any, program: Program) -> Value:
    """The value behind an entry of fetch_list: a Value, or the name of a parameter, an input or a
    pd_op.fetch.
    """
    ops = program.global_block().ops
    if isinstance(item, str):
        for op in ops:
            if op.name() == "pd_op.fetch" and op.attributes["name"].value == item:
                item = op.operand_source(0)
                break
        else:
            item = next((v for v in program.list_vars() if v.name == item), item)
    if isinstance(item, Value):
        maker = item.get_defining_op()
        if maker.name() == "pd_op.fetch":
            return _fetched(maker.operand_source(0), program)
        if maker.parent is program.global_block() and item.type() is not None:
            return item
    raise ValueError(
        f"Executor.run: expected a Value of the program in fetch_list, but got {item!r}. "
        "Fetch a Value that was made in this program (a clone has Values of its own), or a name."
    )
