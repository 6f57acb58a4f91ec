"""Memory over time: from which instruction to which each variable lives.

    viz.memory_steps(main, feed={"x": array}, fetch_list=[loss])

The time is the number of the instruction. On top stands the sum; below a lane for every variable,
from the instruction that writes it to the one after which nobody reads it.

Paddle has no counterpart; FLAGS_benchmark logs how much is allocated after each op.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minipaddle.base.framework import Program
from minipaddle.new_executor.scope import Scope

from .frame import Bar, Step, bar, step, text, timeline
from .player import Player
from .program import ExecutorFilm
from .program_text import check_classic

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
        TypeError: it is no classic Program of minipaddle. ValueError: the picture needs more than
            2,000 bars: one for each instruction that runs, and for each time in a variable's life.
        What `Executor.run` raises: a feed is missing or does not fit, a fetch is unknown.
    """
    check_classic("memory_steps", program)
    film = ExecutorFilm(program, dict(feed or {}), list(fetch_list), scope, with_steps=False)
    sums = [sum(sizes.values()) for sizes in film.sizes]
    most = max(sums)
    lives = _lives(film.sizes)
    times = range(len(sums)) if len(sums) <= MOST_STEPS else [sums.index(most)]
    return Player([_step(film, lives, sums, most, at) for at in times])


@dataclass
class _Life:
    """A time in which a variable has one size: from instruction `born` until before `freed`."""

    variable: str
    nbytes: int
    born: int
    freed: int


def _lives(moments: Sequence[dict[str, int]]) -> list[_Life]:
    """In the order of birth. What a loop writes anew has several.

    `moments`: for each instruction, the bytes of each variable.
    """
    lives: list[_Life] = []
    going: dict[str, _Life] = {}
    for at, sizes in enumerate(moments):
        going = {name: life for name, life in going.items() if sizes.get(name) == life.nbytes}
        for name, nbytes in sizes.items():
            if nbytes and name not in going:
                going[name] = _Life(name, nbytes, at, at)
                lives.append(going[name])
        for life in going.values():
            life.freed = at + 1
    return lives


def _step(film: ExecutorFilm, lives: list[_Life], sums: Sequence[int], most: int, at: int) -> Step:
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
    sizes: dict[str, int] = {}
    for life in lives:
        sizes[life.variable] = max(life.nbytes, sizes.get(life.variable, 0))
    shown = sorted(sizes, key=lambda variable: -sizes[variable])[:MOST_LANES]
    bars: list[Bar] = []
    for life in lives:
        if life.variable in shown:
            state = "waiting" if life.born > at else "done" if life.freed <= at else "now"
            name = film.name(life.variable)
            bars.append(
                bar(
                    name,
                    life.born,
                    life.freed,
                    life.nbytes,
                    "memory",
                    state,
                    id=f"{life.variable} {life.born}",
                    details=f"{name}: {life.nbytes} bytes",
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
    unused = [line for line in range(1, len(film.ops) + 1) if line not in film.lines.values()]
    lines = text(
        film.texts,
        highlight=film.run[at] if at else (),
        removed=unused,
        language="program",
        name="Program",
    )
    title = f"Instruction {at}: {film.ops[film.run[at] - 1].type}" if at else "Before the first"
    note = f"{sums[at]} bytes in use"
    note += ", the most of the whole run." if sums[at] == most else f"; the most will be {most}."
    if most in sums[:at] and sums[at] != most:
        note = f"{sums[at]} bytes in use; the most was {most}."
    if len(sizes) > len(shown):
        note += f" The lanes are the {len(shown)} largest of {len(sizes)} variables."
    return step(title, lines, pane, note=note)
