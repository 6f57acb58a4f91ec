"""Clusters in the layout: the lanes they stand in, the room their frames need, the frames.

What stands directly in a cluster has a *lane* of its own: a strip of the picture. Inner lanes come
to the right of what stands beside them in the same ranks; where nothing does, they move in below.
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


@dataclass
class Lanes:
    """Lane 0 holds what is in no cluster; an outer lane has a smaller number than its inner ones.

    `of`: vertex -> its lane; `name`: lane -> id of its cluster; `outer`: lane -> the lane around
    it; `span`: lane -> first and last rank of what is in its cluster (first > last: nothing).
    """

    of: dict[Vertex, int]
    name: list[str]
    outer: list[int]
    span: list[tuple[int, int]]

    def at(self, lane: int, rank: int) -> int:
        """The innermost lane around `lane` whose frame reaches over `rank`."""
        while lane and not self.span[lane][0] <= rank <= self.span[lane][1]:
            lane = self.outer[lane]
        return lane


def lanes_of(nodes: Sequence[str], clusters: Clusters, rank: Mapping[str, int]) -> Lanes:
    spans = spans_of(clusters, rank)
    number = {"": 0}
    lanes = Lanes(dict.fromkeys(nodes, 0), [""], [0], [(0, 0)])

    def walk(parent: str) -> None:
        for id_, outer, members in clusters:
            if outer == parent:
                number[id_] = len(number)
                lanes.name.append(id_)
                lanes.outer.append(number[outer])
                lanes.span.append(spans[id_])
                lanes.of.update(dict.fromkeys(members, number[id_]))
                walk(id_)

    walk("")
    return lanes


def spans_of(clusters: Clusters, rank: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """First and last rank of each cluster, with the clusters in it; (1, 0) if it is empty."""
    inside = members_of(clusters)
    reach = {id_: [rank[n] for n in inside[id_]] for id_ in inside}
    return {id_: (min(at), max(at)) if at else (1, 0) for id_, at in reach.items()}


def members_of(clusters: Clusters) -> dict[str, list[str]]:
    """The nodes of each cluster and of the clusters in it."""
    outer = {id_: parent for id_, parent, _ in clusters}
    inside: dict[str, list[str]] = {id_: [] for id_ in outer}
    for id_, _, members in clusters:
        around = id_
        while around:
            inside[around] += members
            around = outer[around]
    return inside


def limits_of(
    nodes: Sequence[str], edges: Sequence[tuple[str, str]], clusters: Clusters
) -> list[tuple[str, str]]:
    """Pairs (above, below) that put a cluster below all that stands in the cluster around it.

    What needs a result of the cluster can't stand above, and is left out.
    """
    out: dict[str, list[str]] = {n: [] for n in nodes}
    for src, dst in edges:
        out[src].append(dst)
    own = {id_: list(members) for id_, _, members in clusters}
    clustered = {n for members in own.values() for n in members}
    own[""] = [n for n in nodes if n not in clustered]
    limits: list[tuple[str, str]] = []
    inside = members_of(clusters)
    for id_, outer, _ in clusters:
        found = dict.fromkeys(inside[id_])
        fed = {dst for src, dst in edges if src in found}
        first = [n for n in found if n not in fed]
        stack = list(found)
        while stack:
            new = [n for n in out[stack.pop()] if n not in found]
            found.update(dict.fromkeys(new))
            stack += new
        above = {n for n in own[outer] if n not in found}
        last = [n for n in own[outer] if n in above and not above.intersection(out[n])]
        for upper in last:
            limits += [(upper, lower) for lower in first]
            out[upper] += first
    return limits


def rank_gaps(clusters: Clusters, rank: Mapping[str, int], gap: float, label: float) -> list[float]:
    """The gap above each rank: larger where frames begin or end, one inside the other."""
    spans = spans_of(clusters, rank)
    parents = {id_: outer for id_, outer, _ in clusters}
    gaps = [gap] * (max(rank.values(), default=0) + 2)
    begins, ends = [0] * len(gaps), [0] * len(gaps)
    for id_ in (id_ for id_, (first, last) in spans.items() if first <= last):
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


def frames_of(lanes: Lanes, boxes: Mapping[Vertex, Box], label_side: str) -> dict[str, Box]:
    """A frame around each cluster that isn't empty: around its boxes, its lines, its clusters."""
    left, top = (CLUSTER_LABEL, 0.0) if label_side == "left" else (0.0, CLUSTER_LABEL)
    parts: list[list[tuple[float, float, float, float]]] = [[] for _ in lanes.outer]
    for v, lane in lanes.of.items():
        b = boxes[v]
        sides = (b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2)
        parts[lane].append(sides)
    frames: dict[str, Box] = {}
    p = CLUSTER_PADDING
    for lane in range(len(parts) - 1, 0, -1):  # the inner ones first
        if parts[lane]:
            x1, y1, x2, y2 = zip(*parts[lane], strict=True)
            x, y, right, bottom = min(x1) - p - left, min(y1) - p - top, max(x2) + p, max(y2) + p
            parts[lanes.outer[lane]].append((x, y, right, bottom))
            frames[lanes.name[lane]] = Box((x + right) / 2, (y + bottom) / 2, right - x, bottom - y)
    return frames
