"""Frames: what a player shows, as plain data.

A player shows *steps*. A step has a title, an explanation (`note`) and one or several *panes* side
by side. A pane is a graph, a text, a table or a timeline. Everything is made of dicts, lists,
strings and numbers, so that steps can be compared in a test, saved as JSON, and played without the
objects that they came from. schema.py describes the fields. Use the constructors: they fill in what
you leave out and complain, at once, about what can't be drawn.

    nodes = [node("x", kind="data"), node("w", kind="param"), node("mm", "matmul", state="now")]
    step("Run matmul",
         graph(nodes, [("x", "mm", 0), ("w", "mm", 1)], name="Program"),
         table(["variable", "value"], [["x", "[2, 3]"]], name="Scope"),
         note="Both inputs are in the scope.")

Between two steps, a node with the same id in the same pane *is* the same node: it moves, it isn't
redrawn. So give it one id in all steps, and change its label and its state. The same holds for the
bars of a timeline.

Paddle has no counterpart: python/paddle/base/net_drawer.py drew one still picture with Graphviz.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from .frame_checks import listed, made, numbered, whole
from .frame_graph import cluster, edge, graph, node
from .frame_timeline import bar, timeline
from .schema import (
    BAR_KINDS,
    KINDS,
    MAX_BARS,
    MAX_NODES,
    MAX_STEPS,
    STATES,
    VERSION,
    Bar,
    Cluster,
    Edge,
    GraphPane,
    Node,
    Pane,
    Step,
    TablePane,
    TextPane,
    TimelinePane,
    json_schema,
)

__all__ = [
    "BAR_KINDS",
    "KINDS",
    "MAX_BARS",
    "MAX_NODES",
    "MAX_STEPS",
    "STATES",
    "VERSION",
    "Bar",
    "Cluster",
    "Edge",
    "GraphPane",
    "Node",
    "Pane",
    "Step",
    "TablePane",
    "TextPane",
    "TimelinePane",
    "bar",
    "check_steps",
    "cluster",
    "dumps",
    "edge",
    "graph",
    "json_schema",
    "loads",
    "node",
    "step",
    "table",
    "text",
    "timeline",
]

# ---- text


def text(
    lines: str | Iterable[str],
    *,
    highlight: int | Iterable[int] = (),
    added: int | Iterable[int] = (),
    removed: int | Iterable[int] = (),
    language: str = "",
    name: str = "",
    first_line: int = 1,
) -> TextPane:
    """Lines of a program, of source or of bytecode.

    Lines are counted from `first_line`, as an editor does.

    `language`: "python", "program", "pir", "bytecode" or any word; those four are coloured.
    """
    who = f"viz.text {name!r}" if name else "viz.text"
    if isinstance(lines, str):
        made = lines.split("\n")
    else:
        made = [str(line) for line in listed(who, "lines", lines)]
    first_line = whole(who, "first_line", first_line)
    if isinstance(lines, str) and made[-1] == "":
        made.pop()
    made = [line.expandtabs(4).rstrip() for line in made]
    marks = {}
    for key, numbers in (("highlight", highlight), ("added", added), ("removed", removed)):
        marks[key] = numbered(who, key, numbers)
        for number in marks[key]:
            if not first_line <= number < first_line + len(made):
                raise ValueError(
                    f"{who}: expected {key} to be line numbers from {first_line} to "
                    f"{first_line + len(made) - 1}, "
                    f"but got {number!r}. Lines are counted from first_line={first_line}."
                )
    return {
        "type": "text",
        "name": name,
        "language": language,
        "lines": made,
        "first_line": first_line,
        "highlight": marks["highlight"],
        "added": marks["added"],
        "removed": marks["removed"],
    }


def table(
    columns: Iterable[object],
    rows: Iterable[Iterable[object]] = (),
    *,
    highlight: int | Iterable[int] = (),
    changed: Iterable[Sequence[int]] | None = None,
    name: str = "",
) -> TablePane:
    """A table: a stack, a scope, a queue. Cells are shown as `str(cell)`, None as nothing.

    `highlight`: row numbers from 0. `changed`: pairs (row, column) from 0 that are marked as
    changed; leave it out, and the player compares with
    the step before: rows are matched by their first cell where that is unique.
    """
    who = f"viz.table {name!r}" if name else "viz.table"
    made_columns = [str(c) for c in listed(who, "columns", columns)]
    made_rows = [
        ["" if cell is None else str(cell) for cell in listed(who, "each row", row)]
        for row in listed(who, "rows", rows)
    ]
    for number, row in enumerate(made_rows):
        if len(row) != len(made_columns):
            raise ValueError(
                f"{who}: expected {len(made_columns)} cells in each row "
                f"({', '.join(made_columns)}), "
                f"but got {len(row)} in row {number}: {row}. Add or drop cells."
            )
    made_highlight = numbered(who, "highlight", highlight)
    made_changed = None
    if changed is not None:
        places = [listed(who, "each of changed", place) for place in changed]
        made_changed = [[whole(who, "changed", number) for number in place] for place in places]
        if any(len(place) != 2 for place in made_changed):
            raise ValueError(
                f"{who}: expected changed to be pairs (row, column), but got {made_changed}. "
                "Name both of each cell."
            )
    for r, c in [(r, 0) for r in made_highlight] + [(r, c) for r, c in made_changed or []]:
        if not (0 <= r < len(made_rows) and 0 <= c < len(made_columns)):
            raise ValueError(
                f"{who}: expected rows 0 to {len(made_rows) - 1} and columns 0 to "
                f"{len(made_columns) - 1}, "
                f"but got row {r}, column {c} in highlight or changed. "
                "Rows and columns are counted from 0."
            )
    return {
        "type": "table",
        "name": name,
        "columns": made_columns,
        "rows": made_rows,
        "highlight": made_highlight,
        "changed": made_changed,
    }


# ---- steps


def step(title: object, *panes: Pane, note: object = "") -> Step:
    """One step: its title, what is to be seen, and why (`note`)."""
    for pane in panes:
        if not isinstance(pane, Mapping) or pane.get("type") not in _CONSTRUCTORS:
            raise TypeError(
                f"viz.step {str(title)!r}: expected panes made by graph(), text(), table() or "
                f"timeline(), but got {type(pane).__name__}. "
                "Pass the panes one by one, not as a list."
            )
    if not panes:
        raise ValueError(
            f"viz.step {str(title)!r}: expected at least one pane, but got none. Add a graph(), "
            "text() or table()."
        )
    return {"title": str(title), "note": str(note), "panes": list(panes)}


def _pane(data: Mapping[str, Any]) -> Pane:
    fields = {key: value for key, value in data.items() if key != "type"}
    return made(f"viz.{data['type']}", _CONSTRUCTORS[data["type"]], fields)


_CONSTRUCTORS: dict[str, Any] = {
    "graph": graph,
    "text": text,
    "table": table,
    "timeline": timeline,
}


def check_steps(steps: Step | Iterable[Step]) -> list[Step]:
    """The same steps, checked and complete.

    Raises ValueError or TypeError, and says which step is wrong.
    """
    if isinstance(steps, Mapping):
        steps = [cast(Step, steps)]  # one step is a picture that doesn't move
    checked: list[Step] = []
    for number, one in enumerate(listed("viz", "steps", steps), start=1):
        if not isinstance(one, Mapping) or "title" not in one or "panes" not in one:
            got = (
                f"a dict with keys {list(one)}" if isinstance(one, Mapping) else type(one).__name__
            )
            raise TypeError(
                f"viz: expected step {number} to be made by step(), but got {got}. "
                "Write step(title, pane, ...) around the panes."
            )
        try:
            checked.append(
                step(one["title"], *listed("viz", "panes", one["panes"]), note=one.get("note", ""))
                | {"panes": [_pane(p) for p in one["panes"]]}  # type: ignore[operator]
            )
        except (ValueError, TypeError) as error:
            raise type(error)(f"{error} (step {number}: {one['title']!r})") from None
    if not checked:
        raise ValueError("viz: expected at least one step, but got an empty list. Add a step().")
    if len(checked) > MAX_STEPS:
        raise ValueError(
            f"viz: expected at most {MAX_STEPS} steps, but got {len(checked)}. Show a part of them."
        )
    return checked


def dumps(steps: Step | Iterable[Step]) -> str:
    """Steps as JSON text."""
    return json.dumps({"minipaddle.viz": VERSION, "steps": check_steps(steps)}, ensure_ascii=False)


def loads(data: str) -> list[Step]:
    """Steps from JSON text. Raises ValueError if it is of another version."""
    try:
        read = json.loads(data)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"viz.loads: expected JSON, but got something else ({error}). "
            "Write it with viz.dumps(steps)."
        ) from None
    version = read.get("minipaddle.viz") if isinstance(read, dict) else None
    if version != VERSION:
        raise ValueError(
            f'viz.loads: expected JSON with "minipaddle.viz": {VERSION}, but got {version!r}. '
            "Write it with viz.dumps(steps)."
        )
    return check_steps(read.get("steps", []))
