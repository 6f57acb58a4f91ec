"""Who does what when: a schedule as bars, with the time running through it.

    viz.schedule_steps([(0, "F0", 0, 1), (0, "F1", 1, 2), (1, "F0", 1, 2), (1, "B0", 2, 4)])

It knows nothing of where the schedule comes from: a pipeline, buckets that are reduced while
backward goes on, streams of a device.

Paddle's counterpart: the Chrome trace that paddle.profiler writes, and the logs of its pipeline
schedules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .frame import Bar, Step, TimelinePane, bar, step, table, timeline
from .frame_checks import listed
from .player import Player

KINDS = {"F": "forward", "B": "backward", "W": "update"}


def schedule_timeline(
    schedule: Iterable[Sequence[Any]], *, unit: str = "", name: str = "Schedule"
) -> TimelinePane:
    """The whole schedule as one timeline, to be put among other panes.

    `schedule`: (rank, op, start, end) or (rank, op, start, end, kind). A rank is a number or a
    name; F0, B0, W0 are taken for forward, backward and update of micro-batch 0.

    Raises:
        ValueError: it is empty, or a start is after its end.
    """
    bars = _bars(schedule)
    return timeline(_lanes(bars), bars, unit=unit, name=name)


def schedule_steps(
    schedule: Iterable[Sequence[Any]], *, unit: str = "", name: str = "Schedule"
) -> Player:
    """One step for each moment at which something starts or ends.

    Beside the bars stands a table: how long each rank has worked, and how long it has waited.

    Raises:
        ValueError: it is empty, or a start is after its end.
    """
    bars = _bars(schedule)
    lanes = _lanes(bars)
    first, last = min(b["start"] for b in bars), max(b["end"] for b in bars)
    steps = [
        _step(bars, lanes, moment, (first, last), unit, name)
        for moment in sorted({t for b in bars for t in (b["start"], b["end"])})
    ]
    return Player(steps)


def _bars(schedule: Iterable[Sequence[Any]]) -> list[Bar]:
    bars, seen = [], {}
    for item in listed("viz.schedule_steps", "schedule", schedule):
        if isinstance(item, str) or not 4 <= len(item) <= 5:
            raise ValueError(
                f"viz.schedule_steps: expected (rank, op, start, end) or (rank, op, start, end, "
                f"kind), but got {item!r}. Give each op its rank and its times."
            )
        rank, op, start, end, *kind = item
        lane = f"rank {rank}" if isinstance(rank, int) else str(rank)
        known = re.fullmatch(r"([FBW])\d+.*", str(op))
        word = kind[0] if kind else KINDS[known[1]] if known else ""
        seen[lane, op] = seen.get((lane, op), 0) + 1
        id_ = f"{lane}|{op}|{seen[lane, op]}"
        bars.append(bar(lane, start, end, op, word, id=id_))
    if not bars:
        raise ValueError(
            "viz.schedule_steps: expected at least one (rank, op, start, end), but got none. "
            "Pass a schedule."
        )
    return bars


def _lanes(bars: Sequence[Bar]) -> list[str]:
    """Ranks in the order of their numbers; other lanes as they come."""

    def place(lane: str) -> int:
        number = re.fullmatch(r"rank (\d+)", lane)
        return int(number[1]) if number else -1

    return sorted(dict.fromkeys(b["lane"] for b in bars), key=place)


def _step(
    bars: Sequence[Bar],
    lanes: Sequence[str],
    moment: float,
    span: tuple[float, float],
    unit: str,
    name: str,
) -> Step:
    made: list[Bar] = []
    for b in bars:
        state = "done" if b["end"] <= moment else "now" if b["start"] <= moment else "waiting"
        made.append({**b, "state": state})
    pane = timeline(lanes, made, unit=unit, cursor=moment, span=span, name=name)
    rows, busy_now, idle_now = [], [], []
    for lane in lanes:
        own = [b for b in made if b["lane"] == lane]
        busy = _covered([(b["start"], min(b["end"], moment)) for b in own if b["start"] < moment])
        now = [b["label"] for b in own if b["state"] == "now"]
        (busy_now if now else idle_now).append(f"{lane}: {', '.join(now)}" if now else lane)
        rows.append([lane, ", ".join(now) or "-", f"{busy:g}", f"{moment - span[0] - busy:g}"])
    unit_word = f" {unit}" if unit else ""
    columns = ["lane", "now", f"worked{unit_word}", f"waited{unit_word}"]
    if moment >= span[1]:
        total = sum(float(row[3]) for row in rows)
        share = total / ((span[1] - span[0]) * len(lanes) or 1)
        note = f"All is done after {span[1] - span[0]:g}{unit_word}; {share:.0%} of it was waiting."
    else:
        note = "; ".join(busy_now) + "."
        note += f" Waiting: {', '.join(idle_now)}." if idle_now else ""
    return step(f"Time {moment:g}{unit_word}", pane, table(columns, rows, name="So far"), note=note)


def _covered(pieces: Iterable[tuple[float, float]]) -> float:
    """How long at least one of them lasts: two at the same time count once."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(pieces):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
