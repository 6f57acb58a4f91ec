"""Which instructions wait for which, and which could run at the same time.

    viz.dependency_steps(main, feed=["x"], fetch_list=[loss])

An arrow goes from an instruction to each that waits for it. With enough threads, and if all took
equally long, the run would go in rounds: a step for each.

Paddle has no counterpart: GLOG_v=6 logs the downstream map of its dependency builder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from minipaddle.base.executor import Executor
from minipaddle.base.framework import Program
from minipaddle.new_executor.scope import Scope

from .frame import edge, graph, node, step, table
from .player import Player
from .program_text import check_classic


def dependency_steps(
    program: Program,
    feed: Iterable[str] = (),
    fetch_list: Sequence[Any] = (),
    scope: Scope | None = None,
) -> Player:
    """The instructions of a classic Program, lowered for these feeds (names) and fetches.

    Nothing runs. An instruction with a block of its own, such as while, is one node.

    Raises:
        TypeError: it is no classic Program.
        What `Executor.run` raises: a feed is missing, a fetch is unknown.
    """
    check_classic("dependency_steps", program)
    names = tuple(sorted(feed))
    plan = Executor().interpreter(program, names, list(fetch_list), scope).plan
    waits = plan.dependencies()
    rounds = _rounds(waits)
    labels = [_label(instruction, plan.names) for instruction in plan.instructions]
    steps = []
    for now in range(1, max(rounds, default=0) + 1):
        nodes = []
        for number, (label, own) in enumerate(zip(labels, rounds, strict=True)):
            state = "done" if own < now else "now" if own == now else "waiting"
            nodes.append(node(str(number), label, "op", state=state))
        edges = [
            edge(str(other), str(number)) for number, found in enumerate(waits) for other in found
        ]
        rows = []
        for number, own in enumerate(rounds):
            others = ", ".join(str(other + 1) for other in waits[number])
            rows.append([number + 1, plan.instructions[number].op_type, others or "nobody", own])
        at_once = [number for number, own in enumerate(rounds) if own == now]
        waiting = table(
            ["instruction", "op", "waits for", "round"],
            rows,
            highlight=at_once,
            name="Instructions",
        )
        note = "One instruction alone: the others are done, or wait."
        if len(at_once) > 1:
            note = f"{len(at_once)} at the same time: all that they wait for is done."
        types = ", ".join(plan.instructions[number].op_type for number in at_once)
        steps.append(step(f"Round {now}: {types}", graph(nodes, edges), waiting, note=note))
    if not steps:
        steps.append(step("No instructions", table(["instruction"]), note="No fetch needs an op."))
    return Player(steps)


def _rounds(waits: Sequence[Sequence[int]]) -> list[int]:
    """In which round each instruction can run, from 1: one after the last that it waits for."""
    rounds: list[int] = []
    for others in waits:
        rounds.append(1 + max((rounds[other] for other in others), default=0))
    return rounds


def _label(instruction: Any, names: dict[str, str]) -> str:
    made = ", ".join(names[variable] for variable in instruction.writes())
    return f"{instruction.op_type}\n{made}" if made else instruction.op_type
