"""Gradients of conditional_block and while: ops that run a gradient block.

The gradient block holds the gradients of the ops of the forward block, in reverse. Inside it, the
gradient of an outside variable `x` is called `x@GRAD`; the op says what it is called outside.

What a loop hands from turn to turn keeps its name, and so does its gradient: each turn of the
gradient block reads `y@GRAD` and writes it. What a loop only reads gets a piece of its gradient
from each turn; they are summed when the program runs.

Paddle: paddle/fluid/operators/controlflow/{conditional_block_op,while_op}.cc (the GradOpMakers),
_append_backward_ops_ in python/paddle/base/backward.py.
Left out: gradients of these gradients. Paddle's own gradient is wrong, and this one right, where a
loop overwrites what an op before it needs, in a cond inside a loop, and in a loop inside a loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minipaddle.base.backward_plan import GRADIENT_MAKERS, Plan
from minipaddle.base.backward_walk import Walk, grad_var_name
from minipaddle.base.framework import Block, Operator
from minipaddle.base.layer_helper import append_named
from minipaddle.base.op_desc import EMPTY
from minipaddle.common.errors import NoGradientError


class ConditionalBlockGradient:
    """conditional_block -> conditional_block_grad."""

    def sources(self, plan: Plan, operator: Operator, needed: set[str]) -> list[str]:
        targets = needed.intersection(operator.output("Out"))
        for name in targets:
            writers = (op for op in plan.forward_block.ops if name in op.output_arg_names)
            if next(writers, None) is not operator:
                raise NoGradientError(
                    f"conditional_block has no gradient rule for {name!r}, which has a value "
                    "before and keeps it if the branch does not run. Return the new value from "
                    "both branches of cond."
                )
        flow = _flow(plan, operator, targets)
        return [name for name in operator.input("Input") if flow.reaches(name)]

    def append(self, walk: Walk, operator: Operator) -> None:
        given = _given_gradients(walk, operator)
        walk.pass_by(operator)
        flow = _flow(walk, operator, given)
        captured = [name for name in operator.input("Input") if flow.reaches(name)]
        block = _gradient_block(walk, operator, given, own=captured, asked_for=captured)
        inputs = operator.input("Input")
        walk.block.append_op(
            "conditional_block_grad",
            {
                "Cond": operator.input("Cond"),
                "Input": inputs,
                "Out": operator.output("Out"),
                "Out@GRAD": list(given.values()),
                "Scope": operator.output("Scope"),
            },
            {"Input@GRAD": _new_pieces(walk, inputs, captured)},
            {"sub_block": block, "is_scalar_condition": operator.attr("is_scalar_condition")},
        )


class WhileGradient:
    """while -> while_grad."""

    def sources(self, plan: Plan, operator: Operator, needed: set[str]) -> list[str]:
        carried, captured = self.flow(plan, operator, needed.intersection(operator.output("Out")))
        return [name for name in operator.input("X") if name in (*carried, *captured)]

    def flow(
        self, plan: Plan, operator: Operator, given: Iterable[str]
    ) -> tuple[list[str], list[str]]:
        """(outputs that get a gradient, what the block only reads and gets one), if the outputs
        `given` have one. An output gets one from a later turn, too.
        """
        outputs, inputs = operator.output("Out"), operator.input("X")
        carried = set(given)
        while True:
            flow = _flow(plan, operator, carried)
            reached = {name for name in inputs if flow.reaches(name)}
            more = reached.intersection(outputs) - carried
            if not more:
                break
            carried |= more
        captured = [name for name in inputs if name in reached and name not in outputs]
        return [name for name in outputs if name in carried], captured

    def append(self, walk: Walk, operator: Operator) -> None:
        given = _given_gradients(walk, operator)
        carried, captured = self.flow(walk, operator, given)
        # the gradient before the loop takes over the name of the one after it
        outside = {name: walk.base_name(name) for name in carried}
        for name, gradient in outside.items():
            if name in given and given[name] != gradient:
                source = walk.variable(given[name])
                append_named("assign", [source], gradient)
            _declare(walk.block, gradient, walk, name)
        walk.pass_by(operator)
        renamed = [name for name in carried if outside[name] != grad_var_name(name)]
        inside = {name: grad_var_name(name) for name in carried}
        own, asked_for = [*captured, *renamed], [*carried, *captured]
        block = _gradient_block(walk, operator, inside, own, asked_for)
        for name in set(carried).difference(renamed):
            block.vars.pop(inside[name], None)  # it is the one outside
        inputs = operator.input("X")
        for name in carried:
            walk.new_piece(name, outside[name])
        gradients = dict(zip(inputs, _new_pieces(walk, inputs, captured), strict=True)) | {
            name: outside[name] for name in carried if name in inputs
        }
        walk.block.append_op(
            "while_grad",
            {
                "X": inputs,
                "Out": operator.output("Out"),
                "Out@GRAD": [outside[name] for name in carried],
                "StepScopes": operator.output("StepScopes"),
            },
            {"X@GRAD": [gradients[name] for name in inputs]},
            {
                "sub_block": block,
                "is_test": operator.attr("is_test"),
                "original_output_grad": list(inside.values()),
            },
        )


class NoSecondGradient:
    """The gradient ops themselves."""

    def sources(self, plan: Plan, operator: Operator, needed: set[str]) -> list[str]:
        raise NoGradientError(
            f"{operator.type} has no gradient rule: gradients of gradients do not go through if "
            "and while. Write the condition with paddle.where, or the loop as Python's own."
        )

    def append(self, walk: Walk, operator: Operator) -> None:
        raise AssertionError("sources has raised")


GRADIENT_MAKERS["conditional_block"] = ConditionalBlockGradient()
GRADIENT_MAKERS["while"] = WhileGradient()
GRADIENT_MAKERS["conditional_block_grad"] = NoSecondGradient()
GRADIENT_MAKERS["while_grad"] = NoSecondGradient()


def _flow(plan: Plan, operator: Operator, targets: Iterable[str]) -> Plan:
    """A plan of the walk through the op's block; nothing is appended."""
    body = operator._block_attr("sub_block")
    for inner in body.ops:
        if inner.type not in GRADIENT_MAKERS and inner.phi_op.forward_op is not None:
            raise NoGradientError(
                f"{inner.type} has no gradient rule inside {operator.type}: gradients of gradients "
                "do not go through if and while. Compute the first gradient outside of it."
            )
    flow = Plan(body, plan.no_grad)
    flow.plan(list(targets), body.ops)
    return flow


def _given_gradients(walk: Walk, operator: Operator) -> dict[str, str]:
    """Output of an op -> its whole gradient, where there is one."""
    found = {name: walk.gradient_of(name) for name in operator.output("Out")}
    return {name: gradient.name for name, gradient in found.items() if gradient is not None}


def _gradient_block(
    walk: Walk, operator: Operator, given: dict[str, str], own: list[str], asked_for: list[str]
) -> Block:
    """A new block: the gradient of the op's block.

    Args:
        given: variable -> its gradient, from where the block's walk starts.
        own: variables whose gradient is the new block's own, though they are not.
        asked_for: variables whose gradient the op asks for.
    """
    program, body = walk.block.program, operator._block_attr("sub_block")
    block = program._create_block(walk.block.idx)
    block.forward_block_idx = body.idx
    inner = Walk(block, walk.no_grad, forward_block=body)
    for name in own:
        inner.base_names[name] = grad_var_name(name)
        _declare(block, inner.base_names[name], walk, name)
    path = inner.plan(list(given), body.ops)
    for name, gradient in given.items():
        inner.new_piece(name, gradient)
    inner.append_gradients(path)
    for name in asked_for:
        _name_gradient(inner, name)
    program._current_block_idx = walk.block.idx
    block.vars = {name: block.vars[name] for name in sorted(block.vars)}  # as Paddle lists them
    return block


def _declare(block: Block, gradient: str, walk: Walk, name: str) -> None:
    """Makes the variable for a gradient, if it isn't there."""
    if gradient not in block.vars:
        like = walk.variable(name)
        block.create_var(gradient, like.shape, like.dtype, stop_gradient=False)


def _name_gradient(inner: Walk, name: str) -> None:
    """Lets the gradient of an outside variable have the name by which the op asks for it."""
    found, wanted = inner.gradient_of(name), grad_var_name(name)
    if found is None:  # the block overwrites the variable and never reads it
        variable = inner.variable(name)
        append_named("full_like", [variable], wanted, value=0.0, dtype=variable.dtype)
    elif found.name != wanted:
        append_named("assign", [found], wanted)


def _new_pieces(walk: Walk, inputs: list[str], wanted: Iterable[str]) -> list[Any]:
    """A new gradient for each of the wanted inputs, and EMPTY for the others."""
    names = []
    for name in inputs:
        if name not in wanted:
            names.append(EMPTY)
            continue
        names.append(walk.new_piece(name))
        _declare(walk.block, names[-1], walk, name)
    return names
