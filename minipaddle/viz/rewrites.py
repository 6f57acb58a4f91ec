"""A program and what was made of it: before and after, with the lines that differ marked.

    viz.rewrite_steps({"as written": main, "clone(for_test=True)": test, "pruned": pruned})

Ops come first. Variables are sorted by name: a clone has them in another order.

Paddle has no counterpart: print(program) before and after tells the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from minipaddle.base.framework import Program

from .frame import step, text
from .player import Player
from .program_text import check_classic, short_op, variable_line


def rewrite_steps(programs: Mapping[str, Program]) -> Player:
    """One step for each program but the first: on the left the one before it.

    `programs`: what was done -> the Program that came out.

    Raises:
        TypeError: one of them is no classic Program. ValueError: there are fewer than two.
    """
    for program in programs.values():
        check_classic("rewrite_steps", program)
    if len(programs) < 2:
        raise ValueError(
            f"viz.rewrite_steps: expected at least two programs, but got {len(programs)}. "
            "Pass the one before, too."
        )
    steps = []
    for (old, before), (new, after) in zip(
        list(programs.items())[:-1], list(programs.items())[1:], strict=True
    ):
        left, right = _lines(before), _lines(after)
        same = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
        kept_left = {line for block in same for line in range(block.a, block.a + block.size)}
        kept_right = {line for block in same for line in range(block.b, block.b + block.size)}
        steps.append(
            step(
                new,
                text(
                    left,
                    removed=[n + 1 for n in range(len(left)) if n not in kept_left],
                    language="program",
                    name=old,
                ),
                text(
                    right,
                    added=[n + 1 for n in range(len(right)) if n not in kept_right],
                    language="program",
                    name=new,
                ),
                note=f"{_size(before)} before, {_size(after)} after.",
            )
        )
    return Player(steps)


def _lines(program: Program) -> list[str]:
    lines = []
    for block in program.blocks:
        lines.append(f"block {block.idx}, ops")
        lines += [f"  {short_op(operator)}" for operator in block.ops]
        lines.append(f"block {block.idx}, variables")
        lines += sorted(f"  {variable_line(variable)}" for variable in block.vars.values())
    return lines


def _size(program: Program) -> str:
    ops = sum(len(block.ops) for block in program.blocks)
    variables = sum(len(block.vars) for block in program.blocks)
    return f"{ops} op{'' if ops == 1 else 's'} and {variables} variables"
