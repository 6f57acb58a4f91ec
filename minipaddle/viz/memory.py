"""Memory over time: from which instruction to which each variable lives.

    viz.memory_steps(main, feed={"x": array}, fetch_list=[loss])

The time is the number of the instruction. On top stands the sum; below a lane for every variable,
from the instruction that writes it to the one after which nobody reads it.

Paddle has no counterpart; FLAGS_benchmark logs how much is allocated after each op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base.framework import Program
from minipaddle.new_executor.scope import Scope

from .frame import Bar, Step, bar, step, text, timeline
from .player import Player
from .program import ExecutorFilm
from .program_text import short_op

MOST_LANES = 24  # the largest variables; the others are only in the sum
MOST_STEPS = 80


def memory_steps(
    program: Program,
    feed: dict[str, Any] | None = None,
    fetch_list: Sequence[Any] = (),
    scope: Scope | None = None,
) -> Player:
    """Runs a classic Program and shows how much memory its variables took: one step for each
    instruction. Of a program with more than 80 instructions, the one step with the most memory.

    The run works on copies: the scope stays as it is.

    Raises:
        TypeError: it is no classic Program of minipaddle. ValueError: it has blocks in blocks.
        What `Executor.run` raises: a feed is missing or does not fit, a fetch is unknown.
    """
    film = ExecutorFilm(program, dict(feed or {}), list(fetch_list), scope)
    sums = [0] * (len(film.lines) + 1)  # by instruction; the first: before all
    for life in film.lives.values():
        for at in range(life.born, life.freed):
            sums[at] += life.nbytes
    most = max(sums)
    times = range(len(sums)) if len(sums) <= MOST_STEPS else [sums.index(most)]
    return Player([_step(film, sums, most, at) for at in times])


def _step(film: ExecutorFilm, sums: Sequence[int], most: int, at: int) -> Step:
    total = [
        bar(
            "sum",
            number,
            number + 1,
            size,
            "memory",
            "now" if number == at else "done" if number < at else "waiting",
            id=f"sum {number}",
            height=size / (most or 1),
        )
        for number, size in enumerate(sums)
    ]
    largest = sorted(film.lives.items(), key=lambda item: -item[1].nbytes)[:MOST_LANES]
    shown = {variable for variable, _ in largest}
    bars: list[Bar] = []
    for variable, life in film.lives.items():
        if variable in shown:
            state = "waiting" if life.born > at else "done" if life.freed <= at else "now"
            name = film.name(variable)
            words = f"{name}: {life.nbytes} bytes"
            bars.append(
                bar(
                    name,
                    life.born,
                    life.freed,
                    life.nbytes,
                    "memory",
                    state,
                    id=variable,
                    details=words,
                )
            )
    lanes = ["sum", *(b["lane"] for b in bars)]
    pane = timeline(
        list(dict.fromkeys(lanes)),
        total + bars,
        unit="instruction",
        cursor=at + 0.5,
        span=(0, len(sums)),
        name="Memory (bytes)",
    )
    ops = film.block.ops
    now = film.lines[at - 1] if at else ()
    unused = [line for line in range(1, len(ops) + 1) if line not in film.lines]
    lines = text(
        [short_op(op) for op in ops],
        highlight=now,
        removed=unused,
        language="program",
        name="Program",
    )
    title = f"Instruction {at}: {ops[film.lines[at - 1] - 1].type}" if at else "Before the first"
    note = f"{sums[at]} bytes in use"
    note += ", the most of the whole run." if sums[at] == most else f"; the most will be {most}."
    if most in sums[:at] and sums[at] != most:
        note = f"{sums[at]} bytes in use; the most was {most}."
    if len(film.lives) > len(shown):
        note += f" The lanes are the {len(shown)} largest of {len(film.lives)} variables."
    return step(title, lines, pane, note=note)
