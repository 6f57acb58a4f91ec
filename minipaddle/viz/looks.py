"""How things look: shapes and colours of kinds, signs of states, how wide a label is.

Used by the player and by the static picture.

Colour never stands alone: each kind has a shape or a border, each state a sign, and both are named
in the legend.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# Short, because a picture repeats them; for Chinese every browser finds a font by itself.
FONT = "ui-monospace,Menlo,Consolas,monospace"
UI_FONT = "system-ui,sans-serif"
FONT_SIZE, SMALL_SIZE = 12.5, 10.5
COLUMN = 0.605  # width of a letter in a monospaced font, in font sizes
LONGEST_LABEL = 26  # columns; the details keep the rest
MOST_LINES = 3
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Kind:
    word: str  # for the legend
    shape: str
    fill: str  # the light theme; the dark one is in web/player.css
    line: str


KINDS = {
    "op": Kind("op", "box", "#dbeafe", "#2563eb"),
    "data": Kind("data fed in", "slanted", "#e2e8f0", "#475569"),
    "var": Kind("variable", "pill", "#f8fafc", "#475569"),
    "param": Kind("parameter", "double", "#ede9fe", "#7c3aed"),
    "const": Kind("constant", "hexagon", "#fef3c7", "#b45309"),
    "grad": Kind("GradNode", "cut", "#ffedd5", "#c2410c"),
    "leaf": Kind("leaf", "house", "#dcfce7", "#15803d"),
    "comm": Kind("communication", "arrow", "#ccfbf1", "#0f766e"),
}
OTHER = Kind("", "box", "#f1f5f9", "#475569")

# Bars of a timeline: the ends differ, so that they can be told apart without colour.
BARS = {
    "forward": Kind("forward", "right", "#dbeafe", "#2563eb"),
    "backward": Kind("backward", "left", "#ffedd5", "#c2410c"),
    "update": Kind("update", "both", "#dcfce7", "#15803d"),
    "comm": Kind("communication", "slanted", "#ccfbf1", "#0f766e"),
    "memory": Kind("memory", "box", "#ede9fe", "#7c3aed"),
    "wait": Kind("waiting time", "hollow", "none", "#64748b"),
}
OTHER_BAR = Kind("", "round", "#e2e8f0", "#475569")


@dataclass(frozen=True)
class State:
    word: str
    sign: str  # a path around (0, 0), 8 pixels wide
    filled: bool
    colour: str


STATES = {
    "now": State("now", "M-2.5,-4L4,0L-2.5,4Z", True, "#c026d3"),
    "ready": State("ready", "M0,-4A4,4 0 1 1 -0.01,-4Z", True, "#2563eb"),
    "waiting": State("waiting", "M-2,-3.5V3.5M2,-3.5V3.5", False, "#64748b"),
    "done": State("done", "M-4,0.5L-1,3.5L4,-3", False, "#15803d"),
    "new": State("new", "M0,-4V4M-4,0H4", False, "#15803d"),
    "changed": State("changed", "M0,-4L4,3.5H-4Z", True, "#b45309"),
    "removed": State("removed", "M-4,0H4", False, "#b91c1c"),
    "matched": State("matched", "M0,-4.5L4.5,0L0,4.5L-4.5,0Z", False, "#c026d3"),
}


# ---- labels


def columns(label: str) -> int:
    """Width in letters.

    A Chinese character is as wide as two; an accent that sits on another letter has no width.
    """
    total = 0
    for letter in label:
        if unicodedata.combining(letter):
            continue
        total += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return total


def cut(label: str, limit: int) -> str:
    """`label`, at most `limit` columns wide; what is cut off is shown by an ellipsis."""
    label = clean(label)
    if columns(label) <= limit:
        return label
    kept = ""
    for letter in label:
        if columns(kept + letter) > limit - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def clean(label: str) -> str:
    """Without what XML forbids: control characters and half surrogates."""
    return _FORBIDDEN.sub("\ufffd", label)


def label_lines(label: str, kind: str) -> list[str]:
    """What is written into the box. An unknown kind is named above the label."""
    return list(_label_lines(label, kind))


@lru_cache(maxsize=4096)  # the same labels come again in every step
def _label_lines(label: str, kind: str) -> tuple[str, ...]:
    lines = [cut(line, LONGEST_LABEL) for line in label.split("\n")]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], "…"]
    if kind and kind not in KINDS:
        lines.append("«" + cut(kind, LONGEST_LABEL - 2) + "»")
    return tuple(lines)


def box_size(lines: list[str]) -> tuple[float, float]:
    """Width and height of the box for these lines.

    The first in FONT_SIZE, the others in SMALL_SIZE.
    """
    wide = max(
        columns(lines[0]) * FONT_SIZE * COLUMN,
        *(columns(line) * SMALL_SIZE * COLUMN for line in lines[1:]),
        0.0,
    )
    return max(round(wide) + 28.0, 58.0), 32.0 + 14.0 * (len(lines) - 1)


def baselines(count: int) -> list[float]:
    """y of each line of a label, around the centre of its box."""
    top = -7.0 * (count - 1)
    return [top + 4.4] + [top + 4.4 + 14.0 * i for i in range(1, count)]


# ---- shapes


def outline(shape: str, width: float, height: float) -> str:
    """The path of a shape around (0, 0)."""
    x, y = width / 2, height / 2
    if shape in ("pill", "double"):
        r = min(y, 16.0)
        path = _rounded(x, y, r)
        return path + (_rounded(x - 3.5, y - 3.5, r - 3.5) if shape == "double" else "")
    points = {
        "slanted": [(-x + 6, -y), (x, -y), (x - 6, y), (-x, y)],
        "hexagon": [(-x + 9, -y), (x - 9, -y), (x, 0), (x - 9, y), (-x + 9, y), (-x, 0)],
        "cut": [(-x + 8, -y), (x, -y), (x, y - 8), (x - 8, y), (-x, y), (-x, -y + 8)],
        "house": [(-x, -y), (x, -y), (x, y - 8), (0, y), (-x, y - 8)],
        "arrow": [(-x, -y), (x - 9, -y), (x, 0), (x - 9, y), (-x, y), (-x + 6, 0)],
    }.get(shape)
    if points is None:
        return _rounded(x, y, 5.0)
    return "M" + "L".join(f"{_n(px)},{_n(py)}" for px, py in points) + "Z"


def bar_outline(shape: str, width: float, height: float) -> str:
    """The path of a bar from (0, 0); the browser has the same function, since it stretches bars."""
    w, h = max(width, 1.0), height
    tip = min(6.0, w / 3) if shape in ("right", "left", "both", "slanted") else 0.0
    points = {
        "right": [(0, 0), (w - tip, 0), (w, h / 2), (w - tip, h), (0, h)],
        "left": [(tip, 0), (w, 0), (w, h), (tip, h), (0, h / 2)],
        "both": [(tip, 0), (w - tip, 0), (w, h / 2), (w - tip, h), (tip, h), (0, h / 2)],
        "slanted": [(tip, 0), (w, 0), (w - tip, h), (0, h)],
    }.get(shape, [(0, 0), (w, 0), (w, h), (0, h)])
    return "M" + "L".join(f"{_n(px)},{_n(py)}" for px, py in points) + "Z"


def _rounded(x: float, y: float, r: float) -> str:
    x, y, r = float(x), float(y), float(r)
    a = f"A{_n(r)},{_n(r)} 0 0 1 "
    return (
        f"M{_n(-x + r)},{_n(-y)}H{_n(x - r)}{a}{_n(x)},{_n(-y + r)}"
        f"V{_n(y - r)}{a}{_n(x - r)},{_n(y)}H{_n(-x + r)}"
        f"{a}{_n(-x)},{_n(y - r)}V{_n(-y + r)}{a}{_n(-x + r)},{_n(-y)}Z"
    )


def edge_path(points: list[tuple[float, float]], direction: str) -> str:
    """A line through the points, and an arrow head at the last.

    It leaves and enters every point along `direction`.
    """
    start = points[0]
    path = f"M{_n(start[0])},{_n(start[1])}"
    down = direction == "down"
    for (ax, ay), (bx, by) in zip(points, points[1:], strict=False):
        if ax == bx or ay == by:
            path += f"L{_n(bx)},{_n(by)}"
        elif down:
            middle = (ay + by) / 2
            path += f"C{_n(ax)},{_n(middle)} {_n(bx)},{_n(middle)} {_n(bx)},{_n(by)}"
        else:
            middle = (ax + bx) / 2
            path += f"C{_n(middle)},{_n(ay)} {_n(middle)},{_n(by)} {_n(bx)},{_n(by)}"
    (px, py), (x, y) = points[-2:]
    if px == x or (down and py != y):  # arrives upright
        back = -6 if y > py else 6
        path += f"M{_n(x - 4)},{_n(y + back)}L{_n(x)},{_n(y)}L{_n(x + 4)},{_n(y + back)}"
    else:
        back = -6 if x > px else 6
        path += f"M{_n(x + back)},{_n(y - 4)}L{_n(x)},{_n(y)}L{_n(x + back)},{_n(y + 4)}"
    return path


def _n(value: float) -> str:
    """A number for SVG: at most one digit after the point, the same on every machine."""
    return f"{round(value, 1) + 0.0:g}"  # + 0.0 turns -0.0 into 0.0
