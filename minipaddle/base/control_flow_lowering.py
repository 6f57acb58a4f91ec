"""From the ops that run a block to the instructions that do: conditional_block, while, their grads.

Paddle: paddle/fluid/operators/controlflow/{conditional_block_op,while_op}.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minipaddle.base.framework import Operator
from minipaddle.base.op_desc import EMPTY
from minipaddle.common.errors import IRError
from minipaddle.new_executor.control_flow import (
    ConditionalBlockGradInstruction,
    ConditionalBlockInstruction,
    ControlFlowInstruction,
    WhileGradInstruction,
    WhileInstruction,
)

if TYPE_CHECKING:
    from minipaddle.base.block_lowering import BlockLowering


def _conditional_block(operator: Operator, names: BlockLowering) -> ControlFlowInstruction:
    if operator.has_attr("is_scalar_condition") and not operator.attr("is_scalar_condition"):
        raise IRError(
            "conditional_block: expected is_scalar_condition = True, but got False. Reduce the "
            "condition to one bool first."
        )
    inner = names.sub_block(operator)
    common = _forward(operator, names, inner, condition="Cond", scope="Scope")
    return ConditionalBlockInstruction(**common)


def _while(operator: Operator, names: BlockLowering) -> ControlFlowInstruction:
    inner = names.sub_block(operator, carried=operator.output("Out"))
    common = _forward(operator, names, inner, condition="Condition", scope="StepScopes")
    label = f"block {inner.block.idx}, condition {operator.input('Condition')[0]!r},"
    return WhileInstruction(**common, label=label)


def _forward(
    operator: Operator, names: BlockLowering, inner: BlockLowering, condition: str, scope: str
) -> dict[str, Any]:
    """What the instructions of both forward ops hold; `condition` and `scope` are slots."""
    before = {name for name in operator.output("Out") if names.has_value(name)}
    block = inner.instructions()
    own, all_names = set(inner.own.values()), names.shared.names
    written = dict.fromkeys(name for instruction in block for name in instruction.writes())
    outputs = [name for name in written if name not in own]  # of the blocks around it
    return _common(operator, names, scope) | {
        "block": block,
        "condition": names(_only(operator, condition)),
        "outputs": outputs,
        "unset": [name for name in outputs if all_names[name] not in before],
        "kept": inner.kept,
    }


def _conditional_block_grad(operator: Operator, names: BlockLowering) -> ControlFlowInstruction:
    inner = names.sub_block(operator)
    given = operator.input("Out@GRAD")
    results = {}
    for name, gradient in _gradients(operator, "Input"):
        results[names(gradient)] = names(name)
        if f"{name}@GRAD" not in given:
            inner.own[f"{name}@GRAD"] = names(gradient)  # what the block calls it
    condition = names(_only(operator, "Cond"))
    common = _gradient(operator, names, inner, scope="Scope")
    return ConditionalBlockGradInstruction(**common, condition=condition, results=results)


def _while_grad(operator: Operator, names: BlockLowering) -> ControlFlowInstruction:
    inner = names.sub_block(operator)
    inside, outside = operator.attr("original_output_grad"), operator.input("Out@GRAD")
    given, missing, returned, captured = {}, {}, {}, {}
    for name, gradient in _pairs(operator, inside, outside):
        if not names.has_value(gradient):
            missing[inner(name)] = names(name.removesuffix("@GRAD"))
        elif inner(name) != names(gradient):
            given[inner(name)] = names(gradient)
    for name, gradient in _gradients(operator, "X"):
        if f"{name}@GRAD" not in inside:
            inner.own[f"{name}@GRAD"] = names.shared.new(f"{name}@GRAD")
            captured[inner.own[f"{name}@GRAD"]] = (names(gradient), names(name))
        elif inner(f"{name}@GRAD") != names(gradient):
            returned[inner(f"{name}@GRAD")] = names(gradient)
    carried = [inner(name) for name in inside]
    names.shared.bound.update(carried)
    return WhileGradInstruction(
        **_gradient(operator, names, inner, scope="StepScopes"),
        carried=carried,
        given=given,
        missing=missing,
        returned=returned,
        captured=captured,
    )


def _gradient(
    operator: Operator, names: BlockLowering, inner: BlockLowering, scope: str
) -> dict[str, Any]:
    """What the instructions of both gradient ops hold; `scope` is a slot."""
    assert inner.forward is not None
    block = inner.instructions()
    kept = {"saved": inner.saved, "kept": inner.forward.kept}
    return _common(operator, names, scope) | kept | {"block": block}


def _common(operator: Operator, names: BlockLowering, scope: str) -> dict[str, Any]:
    """What all four hold."""
    where = {"op_type": operator.type, "call_stack": operator.call_stack}
    return where | {"scope": names(_only(operator, scope))}


# op type -> what makes its instruction; it raises IRError if the op is not well formed
CONTROL_FLOW_LOWERING: dict[str, Callable[[Operator, Any], ControlFlowInstruction]] = {
    "conditional_block": _conditional_block,
    "while": _while,
    "conditional_block_grad": _conditional_block_grad,
    "while_grad": _while_grad,
}


def _gradients(operator: Operator, slot: str) -> list[tuple[str, str]]:
    """(input, its gradient) for those inputs whose gradient is wanted."""
    pairs = _pairs(operator, operator.input(slot), operator.output(f"{slot}@GRAD"))
    return [(name, gradient) for name, gradient in pairs if gradient != EMPTY]


def _pairs(operator: Operator, names: list[str], gradients: list[str]) -> list[tuple[str, str]]:
    if len(names) != len(gradients):
        raise IRError(
            f"{operator.type}: expected a gradient for each of {names}, but got {gradients}. The "
            "description is damaged."
        )
    return list(zip(names, gradients, strict=True))


def _only(operator: Operator, slot: str) -> str:
    """The one name in an input or output slot."""
    names = operator.input(slot) or operator.output(slot)
    if len(names) != 1:
        raise IRError(
            f"{operator.type}: expected one variable in the slot {slot}, but got {names}. The "
            "description is damaged."
        )
    return names[0]
