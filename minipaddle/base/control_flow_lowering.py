"""From the ops that run a block to the instructions that do: conditional_block, while, their grads.

Paddle: paddle/fluid/operators/controlflow/{conditional_block_op,while_op}.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.base.block_names import BlockNames, Forward
from minipaddle.base.framework import Block, Operator
from minipaddle.base.op_desc import EMPTY
from minipaddle.common.errors import IRError
from minipaddle.new_executor.control_flow import (
    ConditionalBlockGradInstruction,
    ConditionalBlockInstruction,
    ControlFlowInstruction,
    WhileGradInstruction,
    WhileInstruction,
)

# lowers a block, given the names of its variables
LowerBlock = Callable[[BlockNames], list[Any]]


def lower_control_flow(
    operator: Operator, names: BlockNames, lower_block: LowerBlock
) -> ControlFlowInstruction:
    """The instruction of an op that runs a block. Raises IRError if the op is not well formed."""
    return _LOWER[operator.type](operator, names, lower_block)


def _conditional_block(
    operator: Operator, names: BlockNames, lower_block: LowerBlock
) -> ControlFlowInstruction:
    inner = BlockNames(operator._block_attr("sub_block"), names.lowering, names)
    forward = names.lowering.forwards[inner.block.idx] = Forward(inner, (), {})
    before = {name for name in operator.output("Out") if names.has_value(name)}
    block = lower_block(inner)
    outputs = _written_outside(block, inner)
    condition = _only(operator, "Cond", operator.input("Cond"))
    if operator.has_attr("is_scalar_condition") and not operator.attr("is_scalar_condition"):
        raise IRError(
            "conditional_block: expected is_scalar_condition = True, but got False. Reduce the "
            "condition to one bool first."
        )
    return ConditionalBlockInstruction(
        block,
        operator.type,
        operator.call_stack,
        condition=names(condition),
        outputs=list(outputs),
        unset=[variable for variable, name in outputs.items() if name not in before],
        scope=names(_only(operator, "Scope", operator.output("Scope"))),
        kept=forward.kept,
    )


def _while(
    operator: Operator, names: BlockNames, lower_block: LowerBlock
) -> ControlFlowInstruction:
    inner = BlockNames(operator._block_attr("sub_block"), names.lowering, names)
    forward = Forward(inner, operator.output("Out"), {})
    names.lowering.forwards[inner.block.idx] = forward
    before = {name for name in operator.output("Out") if names.has_value(name)}
    block = lower_block(inner)
    outputs = _written_outside(block, inner)
    condition = _only(operator, "Condition", operator.input("Condition"))
    return WhileInstruction(
        block,
        operator.type,
        operator.call_stack,
        condition=names(condition),
        label=f"block {inner.block.idx}, condition {condition!r},",
        outputs=list(outputs),
        unset=[variable for variable, name in outputs.items() if name not in before],
        scope=names(_only(operator, "StepScopes", operator.output("StepScopes"))),
        kept=forward.kept,
    )


def _conditional_block_grad(
    operator: Operator, names: BlockNames, lower_block: LowerBlock
) -> ControlFlowInstruction:
    inner = _gradient_names(operator, names)
    given = operator.input("Out@GRAD")
    results = {}
    for name, gradient in _gradients(operator, "Input"):
        results[names(gradient)] = names(name)
        if f"{name}@GRAD" not in given:
            inner.own[f"{name}@GRAD"] = names(gradient)  # what the block calls it
    block = lower_block(inner)
    assert inner.forward is not None
    return ConditionalBlockGradInstruction(
        block,
        operator.type,
        operator.call_stack,
        condition=names(_only(operator, "Cond", operator.input("Cond"))),
        results=results,
        scope=names(_only(operator, "Scope", operator.input("Scope"))),
        saved=inner.saved,
        kept=inner.forward.kept,
    )


def _while_grad(
    operator: Operator, names: BlockNames, lower_block: LowerBlock
) -> ControlFlowInstruction:
    inner = _gradient_names(operator, names)
    inside = operator.attr("original_output_grad")
    outside = operator.input("Out@GRAD")
    if len(inside) != len(outside):
        raise IRError(
            f"while_grad: expected a gradient for each of original_output_grad = {inside}, but got "
            f"{outside}. The description is damaged."
        )
    given, missing, returned, captured = {}, {}, {}, {}
    for name, gradient in zip(inside, outside, strict=True):
        if not names.has_value(gradient):
            missing[inner(name)] = names(name.removesuffix("@GRAD"))
        elif inner(name) != names(gradient):
            given[inner(name)] = names(gradient)
    for name, gradient in _gradients(operator, "X"):
        if f"{name}@GRAD" not in inside:
            inner.own[f"{name}@GRAD"] = names.lowering.new(f"{name}@GRAD")
            captured[inner.own[f"{name}@GRAD"]] = (names(gradient), names(name))
        elif inner(f"{name}@GRAD") != names(gradient):
            returned[inner(f"{name}@GRAD")] = names(gradient)
    carried = [inner(name) for name in inside]
    names.lowering.bound.update(carried)
    block = lower_block(inner)
    assert inner.forward is not None
    return WhileGradInstruction(
        block,
        operator.type,
        operator.call_stack,
        carried=carried,
        given=given,
        missing=missing,
        returned=returned,
        captured=captured,
        scope=names(_only(operator, "StepScopes", operator.input("StepScopes"))),
        saved=inner.saved,
        kept=inner.forward.kept,
    )


_LOWER = {
    "conditional_block": _conditional_block,
    "while": _while,
    "conditional_block_grad": _conditional_block_grad,
    "while_grad": _while_grad,
}


def _gradient_names(operator: Operator, names: BlockNames) -> BlockNames:
    block: Block = operator._block_attr("sub_block")
    forward = names.lowering.forwards.get(block.forward_block_idx)
    if forward is None:
        raise IRError(
            f"{operator.type}: expected block {block.idx} to be the gradient of a block that runs "
            f"before, but got block {block.forward_block_idx}. The description is damaged."
        )
    return BlockNames(block, names.lowering, names, forward)


def _gradients(operator: Operator, slot: str) -> list[tuple[str, str]]:
    """(input, its gradient) for those inputs whose gradient is wanted."""
    inputs, gradients = operator.input(slot), operator.output(f"{slot}@GRAD")
    if len(inputs) != len(gradients):
        raise IRError(
            f"{operator.type}: expected a gradient for each of {inputs}, but got {gradients}. The "
            "description is damaged."
        )
    pairs = zip(inputs, gradients, strict=True)
    return [(name, gradient) for name, gradient in pairs if gradient != EMPTY]


def _written_outside(block: list[Any], inner: BlockNames) -> dict[str, str]:
    """The variables of the blocks around it that a block writes: here -> in the Program."""
    own = set(inner.own.values())
    written = dict.fromkeys(name for instruction in block for name in instruction.writes())
    return {name: inner.lowering.names[name] for name in written if name not in own}


def _only(operator: Operator, slot: str, names: list[str]) -> str:
    if len(names) != 1:
        raise IRError(
            f"{operator.type}: expected one variable in the slot {slot}, but got {names}. The "
            "description is damaged."
        )
    return names[0]
