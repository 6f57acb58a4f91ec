"""From steps to a scene: all that the browser, or the static picture, needs for drawing.

Positions, outlines and coloured lines are worked out here, once, in Python; web/ and svg.py
only draw them. What many steps share (a node as it looks, where the nodes stand, the lines of a
text, an outline) is kept once, in a list, and the steps hold its number.

    scene = {"version", "label", "steps": [...], "legend": [...], "nodes": [...], "edges": [...],
             "places": [...], "texts": [...], "shapes": [...]}
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any

from .bars import Room, draw_timeline
from .layout import GAP_RANKS, Placement, place
from .looks import (
    BARS,
    COLUMN,
    KINDS,
    OTHER,
    SMALL_SIZE,
    STATES,
    bar_outline,
    box_size,
    clean,
    columns,
    cut,
    edge_path,
    label_lines,
    outline,
)
from .schema import (
    VERSION,
    Edge,
    GraphPane,
    Pane,
    Step,
    TablePane,
    TextPane,
)
from .syntax import runs

Scene = dict[str, Any]
LONGEST_EDGE_LABEL = 18


def make_scene(steps: Sequence[Step], *, label: str = "", keep_places: bool | None = None) -> Scene:
    """Draws `steps` (checked ones) up.

    `keep_places`: a node keeps its place in all steps; False: each step is laid out anew, as small
    as it can be.
    """
    scene = _Builder(steps, keep_places)
    return {
        "version": VERSION,
        "label": clean(label or steps[0]["title"]),
        "steps": [
            {
                "title": clean(one["title"]),
                "note": clean(one["note"]),
                "panes": [
                    scene.pane(number, index, pane) for index, pane in enumerate(one["panes"])
                ],
            }
            for number, one in enumerate(steps)
        ],
        "nodes": scene.nodes.items,
        "edges": scene.edges.items,
        "places": scene.places.items,
        "texts": scene.texts.items,
        "shapes": scene.shapes.items,
        "legend": _legend(steps),
    }


class _Shared:
    """A list that holds equal things once."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._number: dict[str, int] = {}

    def number(self, item: Any) -> int:
        key = json.dumps(item)
        if key not in self._number:
            self._number[key] = len(self.items)
            self.items.append(item)
        return self._number[key]


class _Builder:
    def __init__(self, steps: Sequence[Step], keep_places: bool | None) -> None:
        self.steps = steps
        self.keep_places = keep_places
        self.nodes, self.edges = _Shared(), _Shared()
        self.places, self.texts, self.shapes = _Shared(), _Shared(), _Shared()
        self._common: dict[int, tuple[Placement, int] | None] = {}
        self._table_shapes: dict[str, dict[str, Any]] = {}
        self._rooms: dict[str, Room] = {}
        self._last: tuple[str, tuple[Placement, int]] | None = None

    def pane(self, number: int, index: int, pane: Pane) -> dict[str, Any]:
        if pane["type"] == "graph":
            return self._graph(index, pane)
        if pane["type"] == "text":
            return self._text(pane)
        if pane["type"] == "timeline":
            return draw_timeline(pane, self._room(index, pane["lanes"]))
        before = self.steps[number - 1]["panes"] if number else []
        before_here = before[index] if index < len(before) else None
        return _table(pane, before_here, self._table_shape(index, pane["columns"]))

    def _room(self, index: int, lanes: list[str]) -> Room:
        key = json.dumps([index, lanes])
        if key not in self._rooms:
            here = [p for s in self.steps for i, p in enumerate(s["panes"]) if i == index]
            same = [p for p in here if p["type"] == "timeline" and p["lanes"] == lanes]
            self._rooms[key] = Room.of(same)
        return self._rooms[key]

    def _table_shape(self, index: int, names: list[str]) -> dict[str, Any]:
        """Widths and alignment that hold for all steps, so that the table doesn't twitch."""
        key = json.dumps([index, names])
        if key not in self._table_shapes:
            same = [p for s in self.steps for i, p in enumerate(s["panes"]) if i == index]
            rows = [
                r for p in same if p["type"] == "table" and p["columns"] == names for r in p["rows"]
            ]
            cells = [[row[c] for row in rows] for c in range(len(names))]
            self._table_shapes[key] = {
                "numeric": [any(column) and all(map(_is_number, column)) for column in cells],
                "widths": [
                    max(columns(line) for cell in [name, *column] for line in cell.split("\n"))
                    for name, column in zip(names, cells, strict=True)
                ],
            }
        return self._table_shapes[key]

    # ---- graph

    def _graph(self, index: int, pane: GraphPane) -> dict[str, Any]:
        placed, place_number = self._placement(index, pane)
        nodes = []
        for n in pane["nodes"]:
            box = placed.boxes[n["id"]]
            look = KINDS.get(n["kind"], OTHER)
            drawn = {
                "id": n["id"],
                "lines": label_lines(n["label"], n["kind"]),
                "label": clean(n["label"]),
                "kind": n["kind"] if n["kind"] in KINDS else "",
                "word": look.word or clean(n["kind"]),
                "state": n["state"],
                "details": clean(n["details"]),
                "shape": self.shapes.number(outline(look.shape, box.width, box.height)),
            }
            nodes.append(self.nodes.number(drawn))
        return {
            "type": "graph",
            "name": clean(pane["name"]),
            "place": place_number,
            "nodes": nodes,
            "edges": [
                self.edges.number(
                    {
                        "key": key,
                        "state": e["state"],
                        "label": cut(e["label"], LONGEST_EDGE_LABEL) if e["label"] else "",
                    }
                )
                for key, e in _keys(pane["edges"])
            ],
            "clusters": {
                c["id"]: cut(c["label"], max(int(placed.clusters[c["id"]].width / 7), 4))
                for c in pane["clusters"]
                if c["id"] in placed.clusters
            },
        }

    def _placement(self, index: int, pane: GraphPane) -> tuple[Placement, int]:
        if self.keep_places is not False:
            if index not in self._common:
                self._common[index] = self._common_placement(index)
            common = self._common[index]
            if common is not None:
                return common
        structure = json.dumps([pane["nodes"], pane["edges"], pane["clusters"], pane["direction"]])
        if self._last is None or self._last[0] != structure:
            self._last = structure, self._lay_out([pane])
        return self._last[1]

    def _common_placement(self, index: int) -> tuple[Placement, int] | None:
        """One layout for the graphs of all steps, or None where together they make no sense."""
        panes = [
            p
            for s in self.steps
            for i, p in enumerate(s["panes"])
            if i == index and p["type"] == "graph"
        ]
        homes: dict[str, set[str]] = {}
        for p in panes:
            inside = {n: c["id"] for c in p["clusters"] for n in c["nodes"]}
            for n in p["nodes"]:
                homes.setdefault(n["id"], set()).add(inside.get(n["id"], ""))
        parents: dict[str, set[str]] = {}
        for p in panes:
            for c in p["clusters"]:
                parents.setdefault(c["id"], set()).add(c["parent"])
        if self.keep_places is None and len(homes) > max(len(p["nodes"]) for p in panes):
            return None  # nodes are replaced: together they would leave holes in every picture
        moves = any(len(found) > 1 for found in [*homes.values(), *parents.values()])
        if moves or len({p["direction"] for p in panes}) > 1 or len(homes) > 1000:
            return None
        together = self._lay_out(panes)
        if together[0].turned and not any(_place([p]).turned for p in panes):
            return None  # the steps point one way, but all of them together make a cycle
        return together

    def _lay_out(self, panes: Sequence[GraphPane]) -> tuple[Placement, int]:
        placed = _place(panes)
        down = panes[0]["direction"] == "down"
        edges: dict[str, Any] = {}
        for key, e in (pair for p in panes for pair in _keys(p["edges"])):
            if key in edges:  # an earlier step has it too
                continue
            points = placed.edges[key]
            edges[key] = {
                "d": edge_path(points, panes[0]["direction"]),
                "label": _label_place(points),
                "slot": _slot_label(e, points, down),
            }
        frames = [
            {"id": i, "x": b.x, "y": b.y, "w": b.width, "h": b.height}
            for i, b in placed.clusters.items()
        ]
        frames.sort(
            key=lambda f: -f["w"] * f["h"]
        )  # the outer ones first, so that the inner ones are drawn on them
        return placed, self.places.number(
            {
                "width": placed.width,
                "height": placed.height,
                "nodes": {n: [b.x, b.y, b.width, b.height] for n, b in placed.boxes.items()},
                "edges": edges,
                "clusters": frames,
            }
        )

    # ---- text

    def _text(self, pane: TextPane) -> dict[str, Any]:
        lines = [
            [list(run) for run in runs(clean(line), pane["language"])] for line in pane["lines"]
        ]
        return {
            "type": "text",
            "name": clean(_caption(pane)),
            "language": clean(pane["language"]),
            "text": self.texts.number(lines),
            "first_line": pane["first_line"],
            "highlight": pane["highlight"],
            "added": pane["added"],
            "removed": pane["removed"],
        }


def _caption(pane: TextPane) -> str:
    """The name and, if the name doesn't say it, the language."""
    if pane["language"].lower() in pane["name"].lower():
        return pane["name"]
    return f"{pane['name']} ({pane['language']})" if pane["name"] else pane["language"]


def _keys(edges: Sequence[Edge]) -> list[tuple[str, Edge]]:
    """A name for each edge that stays the same from step to step.

    The second of two equal edges gets another one.
    """
    seen: dict[str, int] = {}
    named = []
    for e in edges:
        key = json.dumps([e["src"], e["dst"], e["slot"]], ensure_ascii=False)
        seen[key] = seen.get(key, 0) + 1
        named.append((key if seen[key] == 1 else f"{key}*{seen[key]}", e))
    return named


def _place(panes: Sequence[GraphPane]) -> Placement:
    sizes: dict[str, tuple[float, float]] = {}
    edges: dict[str, tuple[Hashable, str, str]] = {}
    members: dict[str, list[str]] = {}
    parents: dict[str, str] = {}
    longest = 0
    for pane in panes:
        for n in pane["nodes"]:
            width, height = box_size(label_lines(n["label"], n["kind"]))
            before = sizes.get(n["id"], (0.0, 0.0))
            sizes[n["id"]] = max(width, before[0]), max(height, before[1])
        for key, e in _keys(pane["edges"]):
            edges[key] = (key, e["src"], e["dst"])
            longest = max(
                longest, columns(cut(e["label"], LONGEST_EDGE_LABEL)) if e["label"] else 0
            )
        for c in pane["clusters"]:
            parents[c["id"]] = c["parent"]
            inside = members.setdefault(c["id"], [])
            inside += [n for n in c["nodes"] if n not in inside]
    direction = panes[0]["direction"]
    gap = GAP_RANKS
    if longest:
        gap += 14 if direction == "down" else longest * SMALL_SIZE * COLUMN
    return place(
        sizes,
        list(edges.values()),
        [(c, parents[c], members[c]) for c in members],
        direction=direction,
        gap=gap,
    )


def _label_place(points: Sequence[tuple[float, float]]) -> list[float]:
    """Where an edge's label stands; what it says may change from step to step."""
    a, b = points[(len(points) - 1) // 2], points[(len(points) - 1) // 2 + 1]
    return [round((a[0] + b[0]) / 2, 1), round((a[1] + b[1]) / 2, 1)]


def _slot_label(e: Edge, points: Sequence[tuple[float, float]], down: bool) -> list[Any] | None:
    """Beside the arrow's head."""
    if not e["slot"]:
        return None
    (px, py), (x, y) = points[-2:]
    if down:
        return [cut(e["slot"], 8), x + 6, round(y + (-8 if py < y else 14), 1)]
    return [cut(e["slot"], 8), round(x - 7 - 6 * min(columns(e["slot"]), 8), 1), y - 5]


# ---- table


def _table(pane: TablePane, before: Pane | None, common: dict[str, Any]) -> dict[str, Any]:
    changed, fresh = pane["changed"], []
    if changed is None:
        changed, fresh = [], []
        if (
            before is not None
            and before["type"] == "table"
            and before["columns"] == pane["columns"]
        ):
            changed, fresh = _differences(before["rows"], pane["rows"])
    return {
        "type": "table",
        "name": clean(pane["name"]),
        "columns": [clean(c) for c in pane["columns"]],
        "rows": [[clean(cell) for cell in row] for row in pane["rows"]],
        "highlight": pane["highlight"],
        "changed": changed,
        "new": fresh,
        **common,
    }


def _differences(old: list[list[str]], new: list[list[str]]) -> tuple[list[list[int]], list[int]]:
    """Changed cells, and rows that weren't there before."""
    named = all(
        len({row[0] for row in rows}) == len(rows) for rows in (old, new) if rows and rows[0]
    )
    was = {row[0] if named and row else number: row for number, row in enumerate(old)}
    changed, fresh = [], []
    for number, row in enumerate(new):
        match = was.get(row[0] if named and row else number)
        if match is None:
            fresh.append(number)
        else:
            changed += [[number, c] for c, cell in enumerate(row) if cell != match[c]]
    return changed, fresh


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell in ("", "-")
    return True


# ---- legend


def _legend(steps: Sequence[Step]) -> list[dict[str, str]]:
    nodes = [n for s in steps for p in s["panes"] if p["type"] == "graph" for n in p["nodes"]]
    edges = [e for s in steps for p in s["panes"] if p["type"] == "graph" for e in p["edges"]]
    bars = [b for s in steps for p in s["panes"] if p["type"] == "timeline" for b in p["bars"]]
    kinds = {n["kind"] for n in nodes}
    bar_kinds = {b["kind"] for b in bars}
    states = {one["state"] for one in [*nodes, *edges, *bars]}
    made = [
        {
            "is": "kind",
            "name": name,
            "word": look.word,
            "d": outline(look.shape, 26, 14 if look.shape != "double" else 15),
        }
        for name, look in KINDS.items()
        if name in kinds
    ]
    made += [
        {"is": "bar", "name": name, "word": look.word, "d": bar_outline(look.shape, 26, 14)}
        for name, look in BARS.items()
        if name in bar_kinds
    ]
    made += [
        {"is": "state", "name": name, "word": s.word, "d": s.sign}
        for name, s in STATES.items()
        if name in states
    ]
    return made
