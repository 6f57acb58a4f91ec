"""From a Program to instructions: what is needed, and what comes from where. The blocks themselves
are lowered in block_lowering.py.

Paddle: paddle/fluid/framework/new_executor/interpreter/interpreter_util.cc (BuildOpFuncList).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base.block_lowering import BlockLowering, Lowering
from minipaddle.base.framework import Program, Variable
from minipaddle.common.errors import IRError
from minipaddle.new_executor.feed import feeds_and_reads, refuse_computed_feeds, refuse_extra_feeds
from minipaddle.new_executor.instruction import InstructionList, prune, reads_of, writes_of


def lower_program(
    program: Program, feed_names: Sequence[str], fetch_list: Sequence[Any]
) -> InstructionList:
    """Lowers block 0 of a Program.

    Raises:
        KeyError: the program needs a feed that is missing, or has an op that is not declared.
        ValueError: a fetch is not in the program.
        TypeError: a fetch is no Tensor, but something that ops of control flow use.
        IRError: an op of a block inside reads what nobody has written.
    """
    block = program.global_block()
    number = BlockLowering(block, Lowering(feed_names))
    instructions, names = number.instructions(), number.shared.names
    fetched = [_fetch_name(item, program) for item in fetch_list or fetch_targets(block)]
    written = {name for operator in block.ops for name in operator.output_arg_names}
    persistent = {name for name in written if block.has_var(name) and block.var(name).persistable}
    wanted = {number(name) for name in {*fetched, *persistent}}
    instructions = prune(instructions, wanted)
    from_outside = {names[variable]: None for variable in reads_of(instructions)}
    made = writes_of(instructions)
    from_outside.update((name, None) for name in fetched if number(name) not in made)

    inputs = []
    for name in from_outside:
        if not block.has_var(name):  # it is of a block inside
            raise IRError(
                f"Executor.run: expected {name!r} to be written before an op reads it, but got no "
                "op that does so. Put the ops into another order, or add the missing one."
            )
        inputs.append((number(name), block.var(name)))
    feeds, reads = feeds_and_reads(inputs, feed_names, lambda variable: variable.persistable)
    refuse_extra_feeds(feed_names, block.vars)
    refuse_computed_feeds(feed_names, written.difference(from_outside))
    writes = {name: number(name) for name in sorted(persistent) if number(name) in made}
    fetches = [number(name) for name in fetched]
    return InstructionList(instructions, feeds, reads, writes, fetches, names)


def fetch_targets(block: Any) -> list[str]:
    """What a program for inference gives if nobody says what to fetch."""
    ops = [operator for operator in block.ops if operator.type == "fetch"]
    return [operator.input("X")[0] for operator in sorted(ops, key=lambda op: op.attr("col"))]


def _fetch_name(item: Any, program: Program) -> str:
    name = item.name if isinstance(item, Variable) else item
    block = program.global_block()
    if isinstance(name, str) and block.has_var(name):
        block.var(name).meta()  # which refuses what is no Tensor
        return name
    inside = next((b.idx for b in program.blocks if isinstance(name, str) and b.has_var(name)), 0)
    if inside:
        raise ValueError(
            f"Executor.run: expected a variable of block 0 in fetch_list, but got {name!r}, which "
            f"lives in block {inside} only while that runs. Fetch what cond or while_loop returned."
        )
    raise ValueError(
        f"Executor.run: expected a variable of the program in fetch_list, but got {item!r}. "
        "Fetch a Variable, or the name of one."
    )
