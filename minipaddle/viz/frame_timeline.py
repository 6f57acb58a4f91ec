"""Bars on a time axis: pipelines, buckets, memory over time.

    timeline(
        ["stage 0", "stage 1"],
        [("stage 0", 0, 1, "F0", "forward"), ("stage 1", 1, 2, "F0", "forward", "now")],
        unit="ms", cursor=1.5, name="Pipeline")

A lane is a row of the picture: a rank, a stream, a variable. Bars of one lane that overlap in time
stand below each other.

Paddle's counterpart is the Chrome trace that paddle.profiler writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from .frame_checks import listed
from .schema import MAX_BARS, STATES, Bar, TimelinePane


def bar(
    lane: str | int,
    start: float,
    end: float,
    label: object = "",
    kind: str = "",
    state: str = "",
    *,
    id: str | int | None = None,
    height: float = 1.0,
    row: int | None = None,
    details: str | Mapping[str, object] = "",
) -> Bar:
    """One bar, from `start` to `end` in its lane.

    `id` tells in the next step that it is the same bar; left out, lane, label and start do.
    `height`, from 0 to 1, is for bars that show an amount: how much of their row they fill.
    `row` is worked out by `timeline` if you leave it out.
    """
    where = f"at bar {str(label or id or '')!r} of lane {str(lane)!r}"
    start, end = _number(start, "start", where), _number(end, "end", where)
    height = _number(height, "height", where)
    if start > end:
        raise ValueError(
            f"viz.bar: expected start <= end, but got {start:g} and {end:g} {where}. Swap them."
        )
    if not 0 <= height <= 1:
        raise ValueError(
            f"viz.bar: expected height from 0 to 1, but got {height:g} {where}. "
            "Divide by the largest amount."
        )
    if state not in STATES:
        expected = ", ".join(repr(s) for s in STATES if s)
        raise ValueError(
            f"viz.bar: expected state to be one of {expected} or '', but got {state!r} {where}. "
            "Choose one of them."
        )
    if isinstance(details, Mapping):
        details = "\n".join(f"{key}: {value}" for key, value in details.items())
    return {
        "id": f"{lane}|{label}|{start:g}" if id is None else str(id),
        "lane": str(lane),
        "start": start,
        "end": end,
        "label": str(label),
        "kind": str(kind),
        "state": state,
        "height": height,
        "row": -1 if row is None else int(row),
        "details": str(details),
    }


def timeline(
    lanes: Iterable[str | int],
    bars: Iterable[Bar | Mapping[str, Any] | Sequence[Any]] = (),
    *,
    unit: str = "",
    cursor: float | None = None,
    span: Sequence[float] | None = None,
    name: str = "",
) -> TimelinePane:
    """Bars in lanes, the first lane on top.

    `("lane", start, end, label, kind, state)` is short for `bar(...)`; the last three may be left
    out. `unit`: of the time axis. `cursor`: a line at this time. `span`: first and last time of the
    axis; give the same one in all steps, so that the axis stands still.
    """
    who = f"viz.timeline {name!r}" if name else "viz.timeline"
    made_lanes = [str(lane) for lane in listed(who, "lanes", lanes)]
    if not made_lanes or len(set(made_lanes)) != len(made_lanes):
        raise ValueError(
            f"{who}: expected at least one lane and each once, but got {made_lanes}. "
            "Give each lane a name of its own."
        )
    made = [_bar(who, b) for b in listed(who, "bars", bars)]
    if len(made) > MAX_BARS:
        raise ValueError(
            f"{who}: expected at most {MAX_BARS} bars, but got {len(made)}. "
            "Show a part of the time, or one bar for each group."
        )
    ids: set[str] = set()
    for one in made:
        if one["lane"] not in made_lanes:
            raise ValueError(
                f"{who}: expected every bar in one of the lanes {made_lanes}, "
                f"but got lane {one['lane']!r} at bar {one['id']!r}. Add that lane."
            )
        if one["id"] in ids:
            raise ValueError(
                f"{who}: expected every bar id once, but got {one['id']!r} twice. "
                "Pass id= to bar(): one for each bar, the same in all steps."
            )
        ids.add(one["id"])
    _rows(made)
    times = [t for one in made for t in (one["start"], one["end"])]
    where = "in the timeline"
    made_cursor = None if cursor is None else _number(cursor, "cursor", where)
    if span is None:
        times += [] if made_cursor is None else [made_cursor]
        span = [min(times, default=0.0), max(times, default=1.0)]
    reach = [_number(t, "span", where) for t in listed(who, "span", span)]
    if (
        len(reach) != 2
        or reach[0] > min(times, default=reach[0])
        or reach[1] < max(times, default=reach[1])
    ):
        raise ValueError(
            f"{who}: expected span to reach from {min(times, default=0):g} or earlier to "
            f"{max(times, default=0):g} or later, but got {list(span)}. Make it longer."
        )
    return {
        "type": "timeline",
        "name": name,
        "unit": str(unit),
        "lanes": made_lanes,
        "bars": made,
        "span": reach,
        "cursor": made_cursor,
    }


def _bar(who: str, data: Any) -> Bar:
    if isinstance(data, Mapping):
        if not set(data) <= set(Bar.__annotations__):
            raise TypeError(
                f"{who}: expected a bar with the fields {', '.join(Bar.__annotations__)}, "
                f"but got {', '.join(map(str, data))}. Make it with viz.bar(...)."
            )
        return bar(**data)
    if not isinstance(data, Sequence) or isinstance(data, str) or not 3 <= len(data) <= 6:
        raise TypeError(
            f"{who}: expected bars as (lane, start, end, label, kind, state), but got {data!r}. "
            "Make it with viz.bar(...)."
        )
    return bar(*data)


def _number(value: Any, what: str, where: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(
            f"viz.bar: expected {what} to be a number, but got {value!r} {where}. Pass a number."
        )
    if not math.isfinite(value):
        raise ValueError(
            f"viz.bar: expected {what} to be finite, but got {value!r} {where}. Pass a time."
        )
    return float(value)


def _rows(bars: list[Bar]) -> None:
    """Bars of a lane that overlap get rows of their own: the first row that is free again."""
    free: dict[str, list[float]] = {}
    for one in sorted(bars, key=lambda b: b["start"]):
        if one["row"] >= 0:
            continue
        ends = free.setdefault(one["lane"], [])
        number = next((n for n, end in enumerate(ends) if end <= one["start"]), len(ends))
        ends[number:] = [one["end"], *ends[number + 1 :]]
        one["row"] = number
