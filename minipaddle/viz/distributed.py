"""Ranks that talk: the ring all-reduce, step by step.

    result = dist.spawn(all_reduce_something, nprocs=4)
    viz.Player(viz.ring_steps(result))

It is drawn from the messages that were really sent (`result.group.sorted_messages()`): who sent
which part to whom, and so whose numbers are in each part.

Paddle has no counterpart: NCCL_DEBUG=INFO logs the rings that NCCL makes.
"""

from __future__ import annotations

from collections.abc import Sequence

from minipaddle.distributed.collective.process_group import Message
from minipaddle.distributed.spawn import SpawnResult

from .frame import GraphPane, Step, TablePane, edge, graph, node, step, table

OPERATION = "all_reduce"


def ring_steps(result: SpawnResult) -> list[Step]:
    """The all-reduce of a `spawn`: a step before, one for each round of messages.

    Args:
        result: of a run in which the ranks called all_reduce once, with at least one number each.

    Raises:
        TypeError: it is no result of `spawn`.
        ValueError: there was no all_reduce, or more than one.
    """
    if not isinstance(result, SpawnResult):
        raise TypeError(
            f"viz.ring_steps: expected what spawn(...) answers, but got {type(result).__name__}. "
            "Pass the result of a spawn in which each rank calls all_reduce."
        )
    size = result.group.world_size
    messages = [m for m in result.group.sorted_messages() if m.operation == OPERATION]
    rounds = 2 * (size - 1)
    if not messages or len(messages) != rounds * size:
        raise ValueError(
            f"viz.ring_steps: expected one all_reduce of {size} ranks ({rounds * size} messages), "
            f"but got {len(messages)} messages. Spawn a function that calls all_reduce once, on 2 "
            "ranks or more."
        )
    holds = [[{rank} for _ in range(size)] for rank in range(size)]  # [rank][part]: whose numbers
    sent = [0] * size
    made = [
        step(
            "Before",
            _ring(size, [], sent),
            _parts(holds, []),
            note=f"The data of each rank is cut into {size} parts. So far each rank has only its "
            "own numbers.",
        )
    ]
    for number in range(rounds):
        now = [m for m in messages if m.step == number]
        adds = number < size - 1
        arrived = [(m.destination, _part(m), holds[m.source][_part(m)]) for m in now]
        for rank, part, coming in arrived:
            holds[rank][part] = holds[rank][part] | coming if adds else set(coming)
        for m in now:
            sent[m.source] += m.nbytes
        places = [(rank, part) for rank, part, _ in arrived]
        title = f"Round {number + 1} of {rounds}: {'add' if adds else 'copy'}"
        note = _note(now[0], adds, number + 1 == size - 1, number + 1 == rounds)
        made.append(step(title, _ring(size, now, sent), _parts(holds, places), note=note))
    return made


def _part(message: Message) -> int:
    return int(message.part.removeprefix("part "))


def _ring(size: int, now: Sequence[Message], sent: Sequence[int]) -> GraphPane:
    moving = {(m.source, m.destination): m.part for m in now}
    nodes = [
        node(
            rank,
            f"rank {rank}\nhas sent {sent[rank]} B",
            "comm",
            state="now" if now else "ready",
        )
        for rank in range(size)
    ]
    edges = [
        edge(
            rank,
            (rank + 1) % size,
            label=moving.get((rank, (rank + 1) % size), ""),
            state="now" if now else "",
        )
        for rank in range(size)
    ]
    return graph(nodes, edges, name="The ring")


def _parts(holds: Sequence[Sequence[set[int]]], changed: Sequence[tuple[int, int]]) -> TablePane:
    size = len(holds)
    rows = [[f"rank {rank}", *(_sum(ranks, size) for ranks in holds[rank])] for rank in range(size)]
    return table(
        ["", *(f"part {part}" for part in range(size))],
        rows,
        changed=[(rank, part + 1) for rank, part in changed],
        name="Whose numbers are in the sum",
    )


def _sum(ranks: set[int], size: int) -> str:
    return "all" if len(ranks) == size else "+".join(map(str, sorted(ranks)))


def _note(first: Message, adds: bool, half: bool, end: bool) -> str:
    what = f"Rank {first.source} sends {first.part} to rank {first.destination}, which "
    what += "adds its own numbers to it." if adds else "puts it in place of its own."
    if half:
        return f"{what} Now each rank has the whole sum of one part: half of the way."
    if end:
        return f"{what} All ranks have all sums."
    return f"{what} The others do the same with other parts, at the same time."
