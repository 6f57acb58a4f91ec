"""From a timeline to a scene: where its bars, lanes and ticks stand.

Heights are worked out here. Widths follow the time: the browser may stretch the axis, so a bar
keeps its start and end, and `Axis` turns a time into a place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .looks import BARS, COLUMN, OTHER_BAR, SMALL_SIZE, clean, columns, cut
from .schema import Bar, TimelinePane

ROW, GAP_ROWS, PADDING, AXIS = 22.0, 3.0, 5.0, 26.0  # heights, in pixels
NARROWEST, WIDEST = 300.0, 1400.0  # of the time axis
LONGEST_LANE = 22  # columns


@dataclass(frozen=True)
class Axis:
    """Time to pixels: `first` is at 0, `last` at `width`."""

    first: float
    last: float
    width: float

    def x(self, time: float) -> float:
        return (time - self.first) / ((self.last - self.first) or 1.0) * self.width

    def ticks(self) -> list[tuple[float, str]]:
        """Round times, at least 64 pixels apart."""
        reach = (self.last - self.first) or 1.0
        rough = reach / max(self.width / 64, 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
        number = math.ceil(self.first / step - 1e-9)
        made = []
        while number * step <= self.last + 1e-9 * reach:
            made.append((self.x(number * step), f"{round(number * step, 9) + 0.0:g}"))
            number += 1
        return made


@dataclass(frozen=True)
class Room:
    """What the timelines of all steps need together, so that lanes and axis stand still."""

    rows: dict[str, int]  # by lane
    width: float

    @classmethod
    def of(cls, panes: Sequence[TimelinePane]) -> Room:
        rows: dict[str, int] = {}
        for pane in panes:
            for b in pane["bars"]:
                rows[b["lane"]] = max(rows.get(b["lane"], 1), b["row"] + 1)
        return cls(rows, max(_width(pane) for pane in panes))


def draw_timeline(pane: TimelinePane, room: Room) -> dict[str, Any]:
    tops: dict[str, float] = {}
    y = 0.0
    lanes = []
    for lane in pane["lanes"]:
        height = room.rows.get(lane, 1) * (ROW + GAP_ROWS) - GAP_ROWS + 2 * PADDING
        tops[lane] = y + PADDING
        lanes.append({"label": cut(lane, LONGEST_LANE), "whole": clean(lane), "y": y, "h": height})
        y += height
    widest = max(columns(lane["label"]) for lane in lanes)
    return {
        "type": "timeline",
        "name": clean(pane["name"]),
        "unit": clean(pane["unit"]),
        "span": pane["span"],
        "cursor": pane["cursor"],
        "lanes": lanes,
        "gutter": round(widest * SMALL_SIZE * COLUMN) + 18.0,
        "width": room.width,
        "height": y,
        "bars": [_draw_bar(b, tops[b["lane"]]) for b in pane["bars"]],
    }


def _draw_bar(b: Bar, top: float) -> dict[str, Any]:
    look = BARS.get(b["kind"], OTHER_BAR)
    height = max(round(ROW * b["height"], 1), 2.0)
    return {
        "id": b["id"],
        "lane": clean(b["lane"]),
        "label": clean(b["label"]),
        "kind": b["kind"] if b["kind"] in BARS else "",
        "word": look.word or clean(b["kind"]),
        "shape": look.shape,
        "state": b["state"],
        "details": clean(b["details"]),
        "start": b["start"],
        "end": b["end"],
        "y": round(top + b["row"] * (ROW + GAP_ROWS) + ROW - height, 1),
        "h": height,
    }


def _width(pane: TimelinePane) -> float:
    """So wide that three of four labels fit into their bars."""
    wanted = sorted(
        (columns(b["label"]) * SMALL_SIZE * COLUMN + 14) / (b["end"] - b["start"])
        for b in pane["bars"]
        if b["end"] > b["start"]
    )
    if not wanted:
        return NARROWEST
    per_unit = wanted[(len(wanted) - 1) * 3 // 4]
    return round(min(max(per_unit * (pane["span"][1] - pane["span"][0]), NARROWEST), WIDEST))
