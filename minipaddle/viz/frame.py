"""Frames: what a player shows, as plain data.

A player shows *steps*. A step has a title, an explanation (`note`) and one or several *panes* side
by side. A pane is a graph, a text or a table. Everything is made of dicts, lists, strings and ints,
so that steps can be compared in a test, saved as JSON, and played without the objects that they
came from. Use the constructors below: they fill in what you leave out and complain, at once, about
what can't be drawn.

    nodes = [node("x", kind="data"), node("w", kind="param"), node("mm", "matmul", state="now")]
    step("Run matmul",
         graph(nodes, [("x", "mm", 0), ("w", "mm", 1)], name="Program"),
         table(["variable", "value"], [["x", "[2, 3]"]], name="Scope"),
         note="Both inputs are in the scope.")

Between two steps, a node with the same id in the same pane *is* the same node: it moves, it isn't
redrawn. So give it one id in all steps, and change its label and its state.

Paddle has no counterpart: python/paddle/base/net_drawer.py drew one still picture with Graphviz.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal, TypedDict, cast

VERSION = 1  # of the JSON form; raise it when an old reader would draw a new file wrongly
MAX_NODES = 1000  # per graph: more can't be read, and slows the browser down
MAX_STEPS = 1000

# What a node is. Each has a shape of its own (see looks.py). Another word works too: it is written
# above the label.
KINDS = ("op", "data", "var", "param", "const", "grad", "leaf", "comm")
# What a node or an edge is doing in this step. Each has a sign of its own.
STATES = ("", "now", "ready", "waiting", "done", "new", "changed", "removed", "matched")


class Node(TypedDict):
    id: str
    label: str  # lines after the first are smaller
    kind: str
    state: str
    details: str  # shown when the node is chosen


class Edge(TypedDict):
    src: str
    dst: str
    slot: str  # which input of dst; "" if it doesn't matter
    label: str
    state: str


class Cluster(TypedDict):
    id: str
    label: str
    nodes: list[str]
    parent: str  # id of the cluster around this one, "" at the top


class GraphPane(TypedDict):
    type: Literal["graph"]
    name: str
    direction: str  # "down" or "right": where the arrows go
    nodes: list[Node]
    edges: list[Edge]
    clusters: list[Cluster]


class TextPane(TypedDict):
    type: Literal["text"]
    name: str
    language: str
    lines: list[str]
    first_line: int  # number of the first line
    highlight: list[int]  # line numbers, as shown
    added: list[int]
    removed: list[int]


class TablePane(TypedDict):
    type: Literal["table"]
    name: str
    columns: list[str]
    rows: list[list[str]]
    highlight: list[int]  # rows, from 0
    changed: (
        list[list[int]] | None
    )  # [row, column], from 0; None: found by comparing with the step before


Pane = GraphPane | TextPane | TablePane


class Step(TypedDict):
    title: str
    note: str
    panes: list[Pane]


# ---- graph


def node(
    id: str | int,
    label: object = None,
    kind: str = "",
    *,
    state: str = "",
    details: str | Mapping[str, object] = "",
) -> Node:
    """One node.

    `label` defaults to the id; `"x\\n[2, 3]"` gives a small second line. `details` may be a dict:
    one line for each key.
    """
    if state not in STATES:
        expected = ", ".join(repr(s) for s in STATES if s)
        raise ValueError(
            f"viz.node: expected state to be one of {expected} or '', "
            f"but got {state!r} at node {str(id)!r}. Choose one of them."
        )
    if isinstance(details, Mapping):
        details = "\n".join(f"{key}: {value}" for key, value in details.items())
    return {
        "id": str(id),
        "label": str(id if label is None else label),
        "kind": str(kind),
        "state": state,
        "details": str(details),
    }


def edge(
    src: str | int,
    dst: str | int,
    slot: str | int | None = None,
    label: object = "",
    *,
    state: str = "",
) -> Edge:
    """One arrow from `src` to `dst`.

    `slot` (the input's number or name) is written at its head, `label` at its middle.
    """
    if state not in STATES:
        expected = ", ".join(repr(s) for s in STATES if s)
        raise ValueError(
            f"viz.edge: expected state to be one of {expected} or '', but got {state!r} "
            f"at edge {str(src)!r} -> {str(dst)!r}. Choose one of them."
        )
    return {
        "src": str(src),
        "dst": str(dst),
        "slot": "" if slot is None else str(slot),
        "label": str(label),
        "state": state,
    }


def cluster(
    id: str | int, nodes: Iterable[str | int], label: object = None, *, parent: str | int = ""
) -> Cluster:
    """A frame around nodes: a block, a region, a rank.

    Clusters stand side by side; `parent` puts one into another.
    """
    return {
        "id": str(id),
        "label": str(id if label is None else label),
        "nodes": [str(n) for n in nodes],
        "parent": str(parent),
    }


def graph(
    nodes: Iterable[Node | Mapping[str, Any] | str],
    edges: Iterable[Edge | Mapping[str, Any] | Sequence[Any]] = (),
    clusters: Iterable[Cluster | Mapping[str, Any]] = (),
    *,
    name: str = "",
    direction: str = "down",
) -> GraphPane:
    """A graph.

    `"x"` is short for `node("x")`, `("x", "y")` and `("x", "y", slot)` for `edge(...)`.
    """
    who = f"viz.graph {name!r}" if name else "viz.graph"
    made_nodes: list[Node] = [_made(who, node, n) for n in nodes]
    made_edges: list[Edge] = [_made(who, edge, e) for e in edges]
    made_clusters: list[Cluster] = [_made(who, cluster, c) for c in clusters]
    if direction not in ("down", "right"):
        raise ValueError(
            f"{who}: expected direction 'down' or 'right', but got {direction!r}. "
            "Choose one of them."
        )
    if len(made_nodes) > MAX_NODES:
        raise ValueError(
            f"{who}: expected at most {MAX_NODES} nodes, but got {len(made_nodes)}. "
            "Show a part of the graph, or one node for each group."
        )
    ids: set[str] = set()
    for n in made_nodes:
        if n["id"] in ids:
            raise ValueError(
                f"{who}: expected every node id once, but got {n['id']!r} twice. "
                "Give each node an id of its own; labels may repeat."
            )
        ids.add(n["id"])
    for e in made_edges:
        for end in (e["src"], e["dst"]):
            if end not in ids:
                raise ValueError(
                    f"{who}: expected both ends of an edge to be nodes, "
                    f"but got {end!r} in {e['src']!r} -> {e['dst']!r}. "
                    f"Add that node, or use one of: {_some(ids)}."
                )
    _check_clusters(who, made_clusters, ids)
    return {
        "type": "graph",
        "name": name,
        "direction": direction,
        "nodes": made_nodes,
        "edges": made_edges,
        "clusters": made_clusters,
    }


def _made(who: str, constructor: Callable[..., Any], data: Any) -> Any:
    """A node, edge or cluster from what `graph` was given: its fields, or a short form."""
    if isinstance(data, Mapping):
        if not set(data) <= set(signature(constructor).parameters):
            fields = ", ".join(signature(constructor).parameters)
            raise TypeError(
                f"{who}: expected a {constructor.__name__} with the fields {fields}, "
                f"but got {', '.join(data)}. Make it with viz.{constructor.__name__}(...)."
            )
        return constructor(**data)
    return constructor(data) if isinstance(data, (str, int)) else constructor(*data)


def _check_clusters(who: str, clusters: list[Cluster], ids: set[str]) -> None:
    parents = {c["id"]: c["parent"] for c in clusters}
    home: dict[str, str] = {}
    if len(parents) != len(clusters):
        raise ValueError(
            f"{who}: expected every cluster id once, but got {[c['id'] for c in clusters]}. "
            "Give each cluster an id of its own."
        )
    for c in clusters:
        for n in c["nodes"]:
            if n not in ids:
                raise ValueError(
                    f"{who}: expected cluster {c['id']!r} to hold nodes of the graph, "
                    f"but got {n!r}. Add that node, or use one of: {_some(ids)}."
                )
            if n in home:
                raise ValueError(
                    f"{who}: expected node {n!r} in one cluster, but got {home[n]!r} and "
                    f"{c['id']!r}. "
                    "Name it in the inner one only, and use parent= to nest clusters."
                )
            home[n] = c["id"]
        seen, outer = {c["id"]}, c["parent"]
        while outer:
            if outer not in parents:
                raise ValueError(
                    f"{who}: expected parent of cluster {c['id']!r} to be a cluster, "
                    f"but got {outer!r}. Add it, or use one of: {_some(parents)}."
                )
            if outer in seen:
                raise ValueError(
                    f"{who}: expected clusters to be nested, but got {c['id']!r} inside itself. "
                    "Correct its parent."
                )
            seen.add(outer)
            outer = parents[outer]


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
    made = lines.split("\n") if isinstance(lines, str) else [str(line) for line in lines]
    if isinstance(lines, str) and made[-1] == "":
        made.pop()
    made = [line.expandtabs(4).rstrip() for line in made]
    marks = {}
    for key, numbers in (("highlight", highlight), ("added", added), ("removed", removed)):
        marks[key] = sorted({numbers} if isinstance(numbers, int) else set(numbers))
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


# ---- table


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
    made_columns = [str(c) for c in columns]
    made_rows = [["" if cell is None else str(cell) for cell in row] for row in rows]
    for number, row in enumerate(made_rows):
        if len(row) != len(made_columns):
            raise ValueError(
                f"{who}: expected {len(made_columns)} cells in each row "
                f"({', '.join(made_columns)}), "
                f"but got {len(row)} in row {number}: {row}. Add or drop cells."
            )
    made_highlight = sorted({highlight} if isinstance(highlight, int) else set(highlight))
    made_changed = None if changed is None else [[int(r), int(c)] for r, c in changed]
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
                f"viz.step {str(title)!r}: expected panes made by graph(), text() or table(), "
                f"but got {type(pane).__name__}. "
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
    return _CONSTRUCTORS[data["type"]](**fields)


_CONSTRUCTORS: dict[str, Any] = {"graph": graph, "text": text, "table": table}


def check_steps(steps: Step | Iterable[Step]) -> list[Step]:
    """The same steps, checked and complete.

    Raises ValueError or TypeError, and says which step is wrong.
    """
    if isinstance(steps, Mapping):
        steps = [cast(Step, steps)]  # one step is a picture that doesn't move
    made: list[Step] = []
    for number, one in enumerate(steps, start=1):
        if not isinstance(one, Mapping) or "title" not in one or "panes" not in one:
            got = (
                f"a dict with keys {list(one)}" if isinstance(one, Mapping) else type(one).__name__
            )
            raise TypeError(
                f"viz: expected step {number} to be made by step(), but got {got}. "
                "Write step(title, pane, ...) around the panes."
            )
        try:
            made.append(
                step(one["title"], *one["panes"], note=one.get("note", ""))
                | {"panes": [_pane(p) for p in one["panes"]]}  # type: ignore[operator]
            )
        except (ValueError, TypeError) as error:
            raise type(error)(f"{error} (step {number}: {one['title']!r})") from None
    if not made:
        raise ValueError("viz: expected at least one step, but got an empty list. Add a step().")
    if len(made) > MAX_STEPS:
        raise ValueError(
            f"viz: expected at most {MAX_STEPS} steps, but got {len(made)}. Show a part of them."
        )
    return made


def dumps(steps: Step | Iterable[Step]) -> str:
    """Steps as JSON text."""
    return json.dumps({"minipaddle.viz": VERSION, "steps": check_steps(steps)}, ensure_ascii=False)


def loads(data: str) -> list[Step]:
    """Steps from JSON text. Raises ValueError if it is of another version."""
    read = json.loads(data)
    version = read.get("minipaddle.viz") if isinstance(read, dict) else None
    if version != VERSION:
        raise ValueError(
            f'viz.loads: expected JSON with "minipaddle.viz": {VERSION}, but got {version!r}. '
            "Write it with viz.dumps(steps)."
        )
    return check_steps(read["steps"])


def _some(names: Iterable[str], limit: int = 8) -> str:
    ordered = sorted(names)
    return ", ".join(repr(n) for n in ordered[:limit]) + (", ..." if len(ordered) > limit else "")
