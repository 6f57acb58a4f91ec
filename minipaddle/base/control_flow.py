"""Ops that run a block of their own: conditional_block and while.

    with conditional_block(pred):       # a new block is the current one
        paddle.assign(x * 2.0, y)       # ops land in it
                                        # at the end the parent gets the op conditional_block

The op lists what its block reads of the variables outside (Input, X) and what it writes of them
(Out). A value leaves the block only by being assigned to a variable outside.

Paddle: ConditionalBlock and While in python/paddle/static/nn/control_flow.py.
Left out: arrays of Tensors, conditions of more than one element.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from minipaddle.base.backward_plan import read_by_gradient
from minipaddle.base.framework import (
    Block,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
)
from minipaddle.base.layer_helper import append_named
from minipaddle.base.variable import STEP_SCOPES
from minipaddle.common import unique_name
from minipaddle.new_executor.instruction import reads_of

# the ops that run a block
CONTROL_FLOW = ("conditional_block", "while", "conditional_block_grad", "while_grad")


@contextlib.contextmanager
def conditional_block(condition: Variable) -> Iterator[Block]:
    """Inside, ops are run only if `condition` is true."""
    with _new_block(condition.block.program) as block:
        yield block
        parent, reads, writes, scope = _leave(block)
        parent.append_op(
            "conditional_block",
            {"Cond": condition, "Input": reads},
            {"Out": writes, "Scope": scope},
            {"sub_block": block, "is_scalar_condition": True},
        )


@contextlib.contextmanager
def while_block(condition: Variable, is_test: bool = False) -> Iterator[Block]:
    """Inside, ops are run again and again while `condition` is true; they have to change it."""
    with _new_block(condition.block.program) as block:
        yield block
        parent, reads, writes, steps = _leave(block)
        # what is written may also stay as it was, if there is no turn: so it is an input, too
        inputs = [n for n in dict.fromkeys([*reads, *writes]) if n != condition.name]
        parent.append_op(
            "while",
            {"X": inputs, "Condition": condition},
            {"Out": list(dict.fromkeys([condition.name, *writes])), "StepScopes": steps},
            {"sub_block": block, "is_test": is_test},
        )


@contextlib.contextmanager
def _new_block(program: Program) -> Iterator[Block]:
    with all_or_nothing(program):
        block = program._create_block()
        block.runs_inside = True
        yield block


def _leave(block: Block) -> tuple[Block, list[str], list[str], Variable]:
    """The parent, which is the current block again; what the block reads and writes of the
    variables outside; and the variable of the parent that will hold the block's scopes.
    """
    block.program._rollback()
    parent = block.program.block(block.parent_idx)
    return parent, *outside_names(block), parent.create_var(type=STEP_SCOPES)


def outside_names(block: Block) -> tuple[list[str], list[str]]:
    """(what the block reads, what it writes) of the variables of the blocks around it."""
    parent = block.program.block(block.parent_idx)

    def outside(names: Iterable[str]) -> list[str]:
        own = block.vars
        return [n for n in names if n not in own and parent._find_var_recursive(n) is not None]

    written = dict.fromkeys(name for operator in block.ops for name in operator.output_arg_names)
    return outside(reads_of(block.ops)), outside(written)


def copied(variable: Variable) -> Variable:
    """A new variable of the current block with the same value."""
    return append_named("assign", [variable], unique_name.generate("_generated_var"))


def returned(variable: Variable) -> Variable:
    """Called in a block: a new variable of its parent, to which the block assigns `variable`."""
    program = default_main_program()
    parent = program.block(program.current_block().parent_idx)
    target = parent.create_var(
        shape=variable.shape, dtype=variable.dtype, stop_gradient=variable.stop_gradient
    )
    return target._assign_from(variable)


def select_input(false: Variable, true: Variable, mask: Variable) -> Variable:
    """What the branch that ran has returned. `mask`: int32, 1 for true."""
    out = unique_name.generate("_generated_var")
    return append_named("select_input", [[false, true], mask], out)


def must_be_copied(variable: Variable) -> bool:
    """True if a loop must not write into this variable, but into a copy.

    A loop writes its results into the variables that it is given. That would change what others
    see: a block outside, the next run (a parameter), or the gradient of an op that has read it.
    Paddle copies none of them, and its gradients are then wrong.
    """
    block = default_main_program().current_block()
    if variable.block is not block or variable.persistable or isinstance(variable, Parameter):
        return True
    return not variable.stop_gradient and any(
        _gradient_needs(operator, variable.name) for operator in block.ops
    )


def _gradient_needs(operator: Operator, name: str) -> bool:
    """True if the op's gradient reads the value of a variable."""
    if operator.type in CONTROL_FLOW:
        return name in operator.input_arg_names and name not in operator.output_arg_names
    return any(name in names for names in read_by_gradient(operator))


def let_gradients_pass(block: Block) -> bool:
    """Variables of a loop that were constants at first, and then depend on something that has a
    gradient, have one themselves. (In Paddle they have none, and the gradient is lost.)

    Returns:
        Whether anything changed.
    """
    changed = False
    for operator in block.ops:
        if operator.type in CONTROL_FLOW:
            changed |= let_gradients_pass(operator._block_attr("sub_block"))
            continue
        op, inputs = operator.declaration, map(block._var_recursive, operator.input_arg_names)
        if op is None or op.ends_gradient or all(variable.stop_gradient for variable in inputs):
            continue
        for variable in map(block._var_recursive, operator.output_arg_names):
            if variable.stop_gradient and variable.dtype.is_floating:
                variable.stop_gradient, changed = False, True
    if changed:  # a loop's first ops may read what its last ones write
        let_gradients_pass(block)
    return changed


@contextlib.contextmanager
def all_or_nothing(program: Program) -> Iterator[None]:
    """If what happens inside fails, the Program is again as it was."""
    block = program.current_block()
    ops, variables, blocks = len(block.ops), set(block.vars), len(program.blocks)
    backwards = program._appending_grad_times
    try:
        yield
    except BaseException:
        del block.ops[ops:], program.blocks[blocks:]
        for name in set(block.vars) - variables:
            del block.vars[name]
        program._current_block_idx, program._appending_grad_times = block.idx, backwards
        program._changed()
        raise
