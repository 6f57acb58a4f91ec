"""From the ops of a block to instructions.

Paddle: paddle/fluid/framework/new_executor/interpreter/interpreter_util.cc (BuildOpFuncList).
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.block_names import BlockNames
from minipaddle.base.control_flow import CONTROL_FLOW
from minipaddle.base.control_flow_lowering import lower_control_flow
from minipaddle.base.framework import Operator
from minipaddle.base.op_attrs import attr_variables, phi_attrs
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.base.xshape import RESHAPE_BACK, XSHAPE
from minipaddle.new_executor.instruction import Instruction

# ops that only say, in a program for inference, what is fed and what is fetched
FEED_AND_FETCH = ("feed", "fetch")


def lower_block(names: BlockNames) -> list[Any]:
    """The instructions of a block. Raises KeyError if an op is not declared."""
    instructions: list[Any] = []
    for position, operator in enumerate(names.block.ops):
        if operator.type in FEED_AND_FETCH:
            continue
        if operator.type in CONTROL_FLOW:
            made = [lower_control_flow(operator, names, lower_block)]
        else:
            made = _kernel_calls(operator, names)
        for instruction in made:
            instruction.place = (names.block.idx, position)
            names.lowering.bound.update(instruction.writes())
        instructions += made
    return instructions


def _kernel_calls(operator: Operator, number: BlockNames) -> list[Instruction]:
    """The call of an op's kernel, and of what comes with it."""
    op = operator.phi_op
    compat, given = compat_of(op.name), operator.phi_inputs(op)
    if any(slot_of(compat, item.name) == "XShape" for item in op.inputs):
        op = RESHAPE_BACK
    inputs: list[Any] = []
    for item, slot in zip(op.inputs, given, strict=True):
        names = [number(name) for name in slot]
        inputs.append(names if item.is_list else names[0] if names else None)
    outputs: list[Any] = []
    for name in op.outputs:
        found = [number(each) for each in operator.output(output_slot(compat, name))]
        outputs.append(found if name in op.list_outputs and found else found[0] if found else None)
    computed = attr_variables(operator)
    attrs = {} if op is RESHAPE_BACK else phi_attrs(operator)
    attrs = {name: value for name, value in attrs.items() if name not in computed}
    attr_inputs = {attr: number(name) for attr, name in computed.items()}
    call_stack = operator.call_stack
    calls = [Instruction(op, inputs, outputs, attrs, attr_inputs, operator.type, call_stack)]
    if operator.output("XShape"):
        shapes = [number(name) for name in operator.output("XShape")]
        calls.append(Instruction(XSHAPE, inputs, shapes, op_type=operator.type))
    return calls
