"""Clusters in the layout: the lanes they stand in, the room their frames need, the frames.

Clusters stand side by side: each has a *lane*, a strip of the picture of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .layout_order import Vertex

GAP_LANES = 30.0
CLUSTER_PADDING, CLUSTER_LABEL = 14.0, 20.0

Clusters = Sequence[tuple[str, str, Sequence[str]]]  # id, parent id or "", node ids


@dataclass(frozen=True)
class Box:
    """A rectangle by its centre."""

    x: float
    y: float
    width: float
    height: float


def lanes_of(nodes: Sequence[str], clusters: Clusters) -> dict[Vertex, int]:
    """Which strip of the picture each node belongs to. Nodes without a cluster share the first."""
    number = {"": 0}

    def walk(parent: str) -> None:
        for id_, outer, _ in clusters:
            if outer == parent:
                number[id_] = len(number)
                walk(id_)

    walk("")
    lane: dict[Vertex, int] = dict.fromkeys(nodes, 0)
    for id_, _, members in clusters:
        for n in members:
            lane[n] = number[id_]
    return lane


def lane_gap(clusters: Clusters, label_side: str) -> float:
    """Between two lanes: room for the frames that end and begin there."""
    parents = {id_: outer for id_, outer, _ in clusters}

    def depth(id_: str) -> int:
        return 1 + depth(parents[id_]) if id_ else 0

    deepest = max((depth(id_) for id_ in parents), default=0)
    return GAP_LANES + deepest * (
        2 * CLUSTER_PADDING + (CLUSTER_LABEL if label_side == "left" else 0.0)
    )


def rank_gaps(clusters: Clusters, rank: Mapping[str, int], gap: float, label: float) -> list[float]:
    """The gap above each rank: larger where frames begin or end, one inside the other."""
    spans: dict[str, tuple[int, int]] = {}
    parents = {id_: outer for id_, outer, _ in clusters}

    def span(id_: str) -> tuple[int, int]:
        own = [rank[n] for i, _, members in clusters if i == id_ for n in members]
        inner = [span(i) for i, outer in parents.items() if outer == id_]
        reach = own + [r for pair in inner for r in pair if r >= 0]
        spans[id_] = (min(reach), max(reach)) if reach else (-1, -1)
        return spans[id_]

    for id_, outer in parents.items():
        if not outer:
            span(id_)
    gaps = [gap] * (max(rank.values(), default=0) + 2)
    begins, ends = [0] * len(gaps), [0] * len(gaps)
    for id_ in spans:
        chain = [id_]
        while parents[chain[-1]]:
            chain.append(parents[chain[-1]])
        first, last = spans[id_]
        begins[first] = max(begins[first], sum(spans[c][0] == first for c in chain))
        ends[last + 1] = max(ends[last + 1], sum(spans[c][1] == last for c in chain))
    for r in range(len(gaps)):
        frames = begins[r] * (CLUSTER_PADDING + label) + ends[r] * CLUSTER_PADDING
        gaps[r] = max(gap, frames + 20.0)
    return gaps


def frames_of(clusters: Clusters, boxes: Mapping[str, Box], label_side: str) -> dict[str, Box]:
    sides: dict[str, tuple[float, float, float, float]] = {}

    def measure(id_: str, members: Sequence[str]) -> tuple[float, float, float, float] | None:
        inside = [boxes[n] for n in members]
        parts = [
            (b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2)
            for b in inside
        ]
        parts += [p for c, outer, inner in clusters if outer == id_ and (p := measure(c, inner))]
        if not parts:
            return None
        p = CLUSTER_PADDING
        left, top = (CLUSTER_LABEL, 0.0) if label_side == "left" else (0.0, CLUSTER_LABEL)
        sides[id_] = (
            min(s[0] for s in parts) - p - left,
            min(s[1] for s in parts) - p - top,
            max(s[2] for s in parts) + p,
            max(s[3] for s in parts) + p,
        )
        return sides[id_]

    for id_, outer, members in clusters:
        if not outer:
            measure(id_, members)
    order = [id_ for id_, _, _ in clusters if id_ in sides]
    return {
        i: Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)
        for i in order
        for left, top, right, bottom in [sides[i]]
    }
