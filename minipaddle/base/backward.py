"""append_backward and gradients: a Program gets the ops that compute its gradients.

The forward ops are walked in reverse, see backward_walk.py. A Program can have several backwards,
and a gradient can be differentiated again.

Paddle: python/paddle/base/backward.py.
Left out: callbacks, distributed attributes, a backward inside cond or while_loop.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from minipaddle.base import backward_control_flow  # noqa: F401  (registers its makers)
from minipaddle.base.backward_plan import reached_from
from minipaddle.base.backward_recompute import append_gradients_with_checkpoints
from minipaddle.base.backward_walk import Walk, grad_var_name
from minipaddle.base.control_flow import all_or_nothing
from minipaddle.base.framework import Block, Operator, OpRole, Program, Variable, program_guard
from minipaddle.base.layer_helper import append_named
from minipaddle.base.variable import names_of
from minipaddle.common.enforce import require_type
from minipaddle.phi.core.backward import given_gradients, require_loss
from minipaddle.phi.core.world import world_guard

__all__ = ["append_backward", "grad_var_name", "gradients"]


def append_backward(
    loss: Variable,
    parameter_list: Iterable[Any] | None = None,
    no_grad_set: Iterable[Any] | None = None,
    *,
    checkpoints: Sequence[Any] | None = None,
) -> Any:
    """Appends the gradient ops of `loss` to its Program.

    Args:
        loss: the Variable to start from; one element.
        parameter_list: the parameters that are wanted (Variables or names; default: all trainable).
        no_grad_set: Variables (or names) through which no gradient goes.
        checkpoints: results of layers (Variables or names) that are kept for the backward. What
            lies between them is computed again, see backward_recompute.py: more work, less memory.
            With an optimizer: optimizer.apply_gradients(pairs).

    Returns:
        (parameter, its gradient) pairs. With checkpoints: a tuple of these pairs and the names of
        the checkpoints, in the order of the program.

    Raises:
        TypeError: loss is no Variable, or a list holds neither Variables nor names.
        ValueError: loss has more than one element, no float dtype, is inside cond or while_loop, or
            does not depend on what needs gradients; a checkpoint is not on the way to it.
        NoGradientError: an op on the way has no gradient rule.
    """
    who = "append_backward"
    require_loss(loss, Variable)
    program, forward = _where(who, "loss", loss)
    wanted = program.all_parameters()
    if parameter_list is not None:
        names = names_of(who, "parameter_list", parameter_list)
        wanted = [program.global_block().var(name) for name in names]
    no_grad = set(names_of(who, "no_grad_set", () if no_grad_set is None else no_grad_set))
    names = names_of(who, "checkpoints", () if checkpoints is None else checkpoints)
    if names and forward.idx != 0:
        raise ValueError(
            f"append_backward: expected no checkpoints in block {forward.idx}, but got {names}. "
            "Build the net in block 0."
        )
    with _new_backward(forward) as (block, ops):
        first = len(block.ops)
        walk = Walk(block, no_grad, forward, program._appending_grad_times)
        path = walk.plan([loss.name], ops)
        if not path:
            raise ValueError(
                f"append_backward: expected {loss.name!r} to depend on a variable with "
                "stop_gradient=False, but got none. Set stop_gradient=False on an input, or use a "
                "parameter."
            )
        shape, dtype = list(loss.shape), loss.dtype
        append_named("full", [], walk.new_piece(loss.name), shape=shape, value=1.0, dtype=dtype)
        start = block.ops[-1]
        if names:
            names = append_gradients_with_checkpoints(walk, path, names)
        else:
            walk.append_gradients(path)
        walk.finish()
    path[-1]._set_attr("op_role", OpRole.LOSS)
    start._set_attr("op_role", OpRole.LOSS | OpRole.BACKWARD)
    start._set_attr("op_namescope", "")
    start._set_attr("str_value", "")
    block.var(walk.gradients[loss.name]).stop_gradient = False
    pairs = [
        (parameter, block.var(walk.gradients[parameter.name]))
        for parameter in wanted
        if parameter.name in walk.gradients
    ]
    _mark_gradients(block, first, pairs)
    return (pairs, names) if names else pairs


def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    target_gradients: Any = None,
    no_grad_set: Iterable[Any] | None = None,
) -> list[Variable | None]:
    """Appends the ops that compute the gradients of `targets` with respect to `inputs`.

    With several targets, their gradients are summed.

    Args:
        targets: Variables of one Program.
        inputs: any Variables of it, parameters or not.
        target_gradients: one Variable (or None, for ones) per target, of the target's shape.
        no_grad_set: Variables (or names) through which no gradient goes.

    Returns:
        One gradient per input; None where the targets do not depend on it.

    Raises:
        TypeError: what is given is no Variable.
        ValueError: the Variables are of several Programs, or of no float dtype, or a target
            gradient has another shape than its target.
        NoGradientError: an op on the way has no gradient rule.
    """
    who = "gradients"
    starts = _variables(who, "targets", targets)
    if not starts:
        raise ValueError("gradients: expected a target, but got none. Pass the Variable to derive.")
    wanted = _variables(who, "inputs", inputs)
    given = given_gradients(who, starts, target_gradients)
    program, block = _where(who, "targets", *starts)
    if block.idx != 0:
        raise ValueError(
            f"gradients: expected Variables of block 0, but got one of block {block.idx}. Call "
            "append_backward there."
        )
    others = _variables(who, "target_gradients", [g for g in given if g is not None])
    for variable in [*wanted, *others]:
        if block.vars.get(variable.name) is not variable:
            raise ValueError(
                f"gradients: expected Variables of the targets' Program, but got "
                f"{variable.name!r}, which is of another one. Pass its own Variables."
            )
    for target, gradient in zip(starts, given, strict=True):
        if gradient is not None and list(gradient.shape) != list(target.shape):
            raise ValueError(
                f"gradients: expected a gradient of {target.name!r} of shape "
                f"{list(target.shape)}, but got {gradient.name!r} of shape "
                f"{list(gradient.shape)}. It has one number for each number of its target."
            )
    no_grad = set(names_of(who, "no_grad_set", () if no_grad_set is None else no_grad_set))
    with _new_backward(block) as (_, forward):
        walk = Walk(block, no_grad, order=program._appending_grad_times)
        within = {variable.name for variable in wanted}
        reached_from(within, forward, walk)
        path = walk.plan([target.name for target in starts], forward, within)
        for target, gradient in zip(starts, given, strict=True):
            if gradient is not None:
                walk.new_piece(target.name, gradient.name)
                continue
            piece = walk.new_piece(target.name)
            append_named("full_like", [target], piece, value=1.0, dtype=target.dtype)
            block.ops[-1]._set_attr("op_namescope", "")
        walk.append_gradients(path)
        walk.finish()
    found = [walk.gradients.get(variable.name) for variable in wanted]
    return [None if name is None else block.var(name) for name in found]


@contextlib.contextmanager
def _new_backward(forward: Block) -> Iterator[tuple[Block, list[Operator]]]:
    """Inside, ops go to the block that is given, in the role BACKWARD; it comes with the ops that
    have computed what `forward` holds. If anything fails, the Program is as it was.

    The block is `forward` itself. Behind another one than block 0 it is a new one, as in Paddle.
    """
    program, block, known = forward.program, forward, set(forward.vars)
    ops = [op for each in reversed(_and_around(forward)) for op in each.ops]
    with all_or_nothing(program):
        program._appending_grad_times += 1
        if forward.idx != 0:
            block, known = program._create_block(forward.parent_idx), set()
            block.forward_block_idx = forward.idx
        with program_guard(program), world_guard("program"), program._role_guard(OpRole.BACKWARD):
            yield block, ops
    program._current_block_idx = forward.idx
    fresh = [name for name in block.vars if name not in known]
    # Paddle lists the new variables by name, after those that are computed again
    for name in sorted(fresh, key=lambda name: "" if ".subprog_" in name else name):
        block.vars[name] = block.vars.pop(name)


def _and_around(block: Block) -> list[Block]:
    """The block, and those around it, up to block 0."""
    found = [block]
    while found[-1].parent_idx >= 0:
        found.append(block.program.block(found[-1].parent_idx))
    return found


def _mark_gradients(block: Block, first: int, pairs: Iterable[tuple[Variable, Variable]]) -> None:
    """Notes in the op that makes a parameter's gradient which parameter that is."""
    makers = {name: op for op in block.ops[first:] for name in op.output_arg_names}
    for parameter, gradient in pairs:
        maker = makers[gradient.name]
        before = maker.attr("op_role_var") if maker.has_attr("op_role_var") else []
        maker._set_attr("op_role_var", [parameter.name, gradient.name, *before])


# -- what a user gives -------------------------------------------------------------------------


def _variables(who: str, what: str, given: Any) -> list[Variable]:
    """One Variable or several, as a list."""
    items = list(given) if isinstance(given, (list, tuple)) else [given]
    for item in items:
        advice = "Pass what the ops of the Program returned."
        require_type(who, f"{what} to hold Variables of a Program", item, Variable, advice)
    return items


def _where(who: str, what: str, *variables: Variable) -> tuple[Program, Block]:
    """The Program and the block of the Variables from which a backward starts."""
    block = variables[0].block
    for variable in variables:
        if variable.block is not block or block.vars.get(variable.name) is not variable:
            raise ValueError(
                f"{who}: expected {what} of one Program, but got {variable.name!r}, which is of "
                "another one. Pass Variables of one Program."
            )
        if not variable.dtype.is_floating:
            raise ValueError(
                f"{who}: expected {what} of a float dtype, but got {variable.name!r} of "
                f"{variable.dtype.name}. Only floats have gradients."
            )
    inside = any(each.runs_inside for each in _and_around(block))
    if inside or block.program.current_block() is not block:
        raise ValueError(
            f"{who}: expected a call outside of cond and while_loop, but got one in block "
            f"{block.program.current_block().idx}. Start from what they return."
        )
    return block.program, block
