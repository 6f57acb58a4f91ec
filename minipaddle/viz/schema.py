"""The form of the data that a player shows: every field, in one place.

    {"minipaddle.viz": 1, "steps": [{"title": "...", "note": "...", "panes": [...]}]}

is what `viz.dumps` writes and `viz.loads` reads. A step has one or several panes side by side; a
pane is a graph, a text, a table or a timeline, and says which in `type`. The classes below are the
description: all fields are always there. `json_schema()` says the same as a JSON schema, which
other programs can check files with.

Paddle has no counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

VERSION = 1  # of the JSON form; raise it when an old reader would draw a new file wrongly
MAX_NODES = 1000  # per graph: more can't be read, and slows the browser down
MAX_BARS = 2000  # per timeline
MAX_STEPS = 1000

# What a node is. Each has a shape of its own (see looks.py). Another word works too: it is written
# above the label.
KINDS = ("op", "data", "var", "param", "const", "grad", "leaf", "comm")
# What a bar of a timeline stands for. Another word works too.
BAR_KINDS = ("forward", "backward", "update", "comm", "memory", "wait")
# What a node, an edge or a bar is doing in this step. Each has a sign of its own.
STATES = ("", "now", "ready", "waiting", "done", "new", "changed", "removed", "matched")


class Node(TypedDict):
    id: str  # the same in all steps: then it is the same node, and moves
    label: str  # lines after the first are smaller
    kind: str
    state: str
    details: str  # shown when the node is chosen


class Edge(TypedDict):
    src: str  # id of a node
    dst: str
    slot: str  # which input of dst; "" if it doesn't matter
    label: str
    state: str


class Cluster(TypedDict):
    id: str
    label: str
    nodes: list[str]  # ids; those of inner clusters are not repeated
    parent: str  # id of the cluster around this one, "" at the top


class GraphPane(TypedDict):
    type: Literal["graph"]
    name: str
    direction: Literal["down", "right"]  # where the arrows go
    nodes: list[Node]
    edges: list[Edge]
    clusters: list[Cluster]


class TextPane(TypedDict):
    type: Literal["text"]
    name: str
    language: str  # "python", "program", "pir", "bytecode" are coloured
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
    # [row, column], from 0; None: found by comparing with the step before
    changed: list[list[int]] | None


class Bar(TypedDict):
    id: str  # the same in all steps
    lane: str  # one of the pane's lanes
    start: float  # in the pane's unit
    end: float
    label: str
    kind: str
    state: str
    height: float  # how much of its row it fills, from 0 to 1: 1 unless an amount is shown
    row: int  # from 0: bars of a lane that overlap in time stand below each other
    details: str  # shown when the bar is chosen


class TimelinePane(TypedDict):
    type: Literal["timeline"]
    name: str
    unit: str  # of the time axis: "ms", "step", ""
    lanes: list[str]  # from top to bottom
    bars: list[Bar]
    span: list[float]  # first and last time of the axis
    cursor: float | None  # a line at this time: now


Pane = GraphPane | TextPane | TablePane | TimelinePane


class Step(TypedDict):
    title: str
    note: str  # what to see, and why
    panes: list[Pane]


def json_schema() -> dict[str, Any]:
    """The JSON schema of what `viz.dumps` writes, made from the classes of this file."""
    steps = {"type": "array", "items": _schema(Step), "minItems": 1, "maxItems": MAX_STEPS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Steps of a minipaddle player",
        "type": "object",
        "properties": {"minipaddle.viz": {"const": VERSION}, "steps": steps},
        "required": ["minipaddle.viz", "steps"],
        "additionalProperties": False,
    }


_PLAIN = {str: "string", int: "integer", float: "number", NoneType: "null"}


def _schema(form: Any) -> dict[str, Any]:
    if is_typeddict(form):
        hints: Mapping[str, Any] = get_type_hints(form)
        fields = {name: _schema(hint) for name, hint in hints.items()}
        if "state" in fields:
            fields["state"] = {"enum": list(STATES)}
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
    if get_origin(form) is Literal:
        return {"enum": list(get_args(form))}
    if get_origin(form) is UnionType:
        return {"anyOf": [_schema(one) for one in get_args(form)]}
    if get_origin(form) is list:
        return {"type": "array", "items": _schema(get_args(form)[0])}
    return {"type": _PLAIN[form]}
