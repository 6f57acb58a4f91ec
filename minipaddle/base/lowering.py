"""From a Program to instructions: find the kernels, number the variables, see what comes from
where.

Paddle: paddle/fluid/framework/new_executor/interpreter/interpreter_util.cc (BuildOpFuncList).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base.framework import Program, Variable
from minipaddle.base.op_attrs import attr_variables, phi_attrs
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.base.xshape import RESHAPE_BACK, XSHAPE
from minipaddle.new_executor.feed import (
    check_feed,
    missing_feed,
    refuse_computed_feeds,
    refuse_extra_feeds,
)
from minipaddle.new_executor.instruction import Instruction, InstructionList, prune

# ops that only say, in a program for inference, what is fed and what is fetched
FEED_AND_FETCH = ("feed", "fetch")


def lower_program(
    program: Program, feed_names: Sequence[str], fetch_list: Sequence[Any]
) -> InstructionList:
    """Lowers block 0 of a Program.

    Raises:
        KeyError: the program needs a feed that is missing, or has an op that is not declared.
        ValueError: a fetch is not in the program.
    """
    block = program.global_block()
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name, f"v{len(numbers)}")

    instructions, written = [], set()
    for operator in block.ops:
        if operator.type in FEED_AND_FETCH:
            continue
        op = operator.phi_op
        compat = compat_of(op.name)
        if any(slot_of(compat, item.name) == "XShape" for item in op.inputs):
            op = RESHAPE_BACK
        inputs: list[Any] = []
        for item in op.inputs:
            names = [number(name) for name in operator.input(slot_of(compat, item.name))]
            inputs.append(names if item.is_list else names[0] if names else None)
        outputs: list[Any] = []
        for name in op.outputs:
            found = [number(each) for each in operator.output(output_slot(compat, name))]
            outputs.append(
                found if name in op.list_outputs and found else found[0] if found else None
            )
        computed = attr_variables(operator)
        attrs = {} if op is RESHAPE_BACK else phi_attrs(operator)
        attrs = {name: value for name, value in attrs.items() if name not in computed}
        attr_inputs = {attr: number(name) for attr, name in computed.items()}
        call_stack = operator.attr("op_callstack") if operator.has_attr("op_callstack") else ()
        instructions.append(
            Instruction(op, inputs, outputs, attrs, attr_inputs, operator.type, call_stack)
        )
        if operator.output("XShape"):
            shapes = [number(name) for name in operator.output("XShape")]
            instructions.append(Instruction(XSHAPE, inputs, shapes, op_type=operator.type))
        written.update(operator.output_arg_names)

    fetched = [_fetch_name(item, block) for item in fetch_list or fetch_targets(block)]
    persistent = {name for name in written if block.has_var(name) and block.var(name).persistable}
    wanted = {number(name) for name in {*fetched, *persistent}}
    instructions = prune(instructions, wanted)
    names = {variable: name for name, variable in numbers.items()}
    made: set[str] = set()
    from_outside: dict[str, None] = {}
    for instruction in instructions:
        for variable in instruction.reads():
            if variable not in made:
                from_outside[names[variable]] = None
        made.update(instruction.writes())
    for name in fetched:
        if numbers[name] not in made:
            from_outside[name] = None

    feeds, reads = {}, {}
    for name in from_outside:
        variable = block.var(name)
        if name in feed_names:
            feeds[name] = (numbers[name], check_feed(name, variable.shape, variable.dtype))
        elif variable.persistable:
            reads[name] = numbers[name]
        else:
            raise missing_feed(name, variable.shape, variable.dtype, feed_names)
    refuse_extra_feeds(feed_names, block.vars)
    refuse_computed_feeds(feed_names, written.difference(from_outside))
    writes = {
        name: numbers[name]
        for name in sorted(persistent)
        if any(numbers[name] in item.writes() for item in instructions)
    }
    fetches = [numbers[name] for name in fetched]
    return InstructionList(instructions, feeds, reads, writes, fetches, names)


def fetch_targets(block: Any) -> list[str]:
    """What a program for inference gives if nobody says what to fetch."""
    ops = [operator for operator in block.ops if operator.type == "fetch"]
    return [operator.input("X")[0] for operator in sorted(ops, key=lambda op: op.attr("col"))]


def _fetch_name(item: Any, block: Any) -> str:
    name = item.name if isinstance(item, Variable) else item
    if not isinstance(name, str) or not block.has_var(name):
        raise ValueError(
            f"Executor.run: expected a variable of the program in fetch_list, but got {item!r}. "
            "Fetch a Variable, or the name of one."
        )
    return name
