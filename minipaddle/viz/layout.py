"""Where the boxes of a graph stand: a layered layout, without any dependency.

Same input, same picture.

It works in five steps:
1. layout_ranks.py: turn a few edges around (only while laying out), so that all edges can point the
   same way;
2. there too: every node gets a rank (a row), below all the nodes that it uses;
3. `_bends`: an edge that crosses several ranks gets an empty place in each of them, so that it
   never runs through a box; long edges from one node share these places;
4. layout_order.py: in each rank, put nodes near their neighbours, so that few edges cross;
5. layout_columns.py: move nodes towards their neighbours as far as the others in the rank allow.

Clusters (layout_clusters.py) stand beside what is around them, at the right; if the picture gets
wider than `WIDE`, below it. It all works on "down" pictures; "right" swaps x and y.

Why not Graphviz, whose `dot` follows the same idea (Sugiyama 1981)? On the training program of
ResNet-18 (394 operations, 780 edges) `dot` had no picture after 200 s, and with less effort after
9 s one that is 17,000 pixels wide; this takes 0.4 s and 3,300 pixels, and keeps the operations in
one column beside the long edges. On a pipeline of 4 stages `dot` has fewer crossings (34, here 41),
but it lets arrows run back in time, and a wheel with it brings 30 MB.
Left out: network simplex, ports, splines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from .layout_clusters import (
    CLUSTER_LABEL,
    Box,
    Clusters,
    Lanes,
    frames_of,
    lanes_of,
    limits_of,
    rank_gaps,
)
from .layout_columns import BEND_WIDTH, columns
from .layout_order import Bend, Vertex, order
from .layout_ranks import Edge, break_cycles, ranks

Point = tuple[float, float]

MARGIN = 14.0  # around the picture; a state's sign reaches out of its box
GAP_RANKS = 44.0
MOST_BENDS = 150_000  # half a minute; ResNet-50's training program has 60,000
WIDE = 900.0  # pixels; where side by side gets wider, inner clusters go below


@dataclass
class Placement:
    """The answer: boxes by node id, points by edge key, frames by cluster id."""

    width: float = 0.0
    height: float = 0.0
    boxes: dict[str, Box] = field(default_factory=dict)
    edges: dict[Hashable, list[Point]] = field(default_factory=dict)
    clusters: dict[str, Box] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    turned: set[Hashable] = field(
        default_factory=set
    )  # edges that point backwards, because they close a cycle


def place(
    sizes: Mapping[str, tuple[float, float]],
    edges: Sequence[Edge],
    clusters: Clusters = (),
    *,
    direction: str = "down",
    gap: float = GAP_RANKS,
    label_side: str = "top",
) -> Placement:
    """Lays a graph out.

    `sizes`: node id -> (width, height), in pixels; `clusters`: (id, parent id or "", node ids);
    `gap`: pixels between ranks; `label_side`: where a cluster's frame leaves room for its label
    ("left" only while a "right" picture lies on its side).
    An edge is a list of points: it curves through the gaps between ranks, and is straight where it
    passes through a rank. Raises ValueError if that would take long (`MOST_BENDS`).
    """
    if direction == "right":
        turned = place(
            {n: (h, w) for n, (w, h) in sizes.items()}, edges, clusters, gap=gap, label_side="left"
        )
        return _transpose(turned)
    beside = _place(sizes, edges, clusters, gap, label_side, below=False)
    if not clusters or label_side == "left" or beside.width <= WIDE:
        return beside
    below = _place(sizes, edges, clusters, gap, label_side, below=True)
    return below if below.width < beside.width else beside


def _place(
    sizes: Mapping[str, tuple[float, float]],
    edges: Sequence[Edge],
    clusters: Clusters,
    gap: float,
    label_side: str,
    *,
    below: bool,
) -> Placement:
    """`below`: a cluster stands below what is in the cluster around it; else beside it."""
    nodes = list(sizes)
    loops = [e for e in edges if e[1] == e[2]]
    forward, turned_keys = break_cycles(nodes, [e for e in edges if e[1] != e[2]])
    pairs = [(src, dst) for _, src, dst in forward]
    rank = ranks(nodes, forward, limits_of(nodes, pairs, clusters) if below else ())
    lanes = lanes_of(nodes, clusters, rank)
    rows = _bends(nodes, forward, rank, lanes, turned_keys)
    order(rows.layers, rows.up, rows.down, lanes.of)
    x = columns(
        rows.layers,
        rows.up,
        rows.down,
        rows.trunks,
        lanes,
        sizes,
        CLUSTER_LABEL if label_side == "left" else 0.0,
    )
    label = CLUSTER_LABEL if label_side == "top" else 0.0
    top, heights = _heights(rows.layers, sizes, rank_gaps(clusters, rank, gap, label))

    answer = Placement(ranks=rank, turned=turned_keys)
    for n in nodes:
        width, height = sizes[n]
        answer.boxes[n] = Box(
            round(x[n], 1), round(top[rank[n]] + heights[rank[n]] / 2, 1), width, height
        )
    chains = rows.chains
    first = [x[chain[0] if chain else e[2]] for chain, e in zip(chains, forward, strict=True)]
    last = [x[chain[-1] if chain else e[1]] for chain, e in zip(chains, forward, strict=True)]
    own = list(range(len(forward)))
    together = [chain[0] if chain else k for k, chain in zip(own, chains, strict=True)]
    ports_out = _ports(answer.boxes, [e[1] for e in forward], first, together)
    ports_in = _ports(answer.boxes, [e[2] for e in forward], last, own)
    _line_up(ports_out, ports_in, forward, chains)
    for number, (key, src, dst) in enumerate(forward):
        a, b = answer.boxes[src], answer.boxes[dst]
        points: list[Point] = []
        _extend(points, ports_out[number], a.y + a.height / 2)
        if a.height < heights[rank[src]]:  # leave the rank straight, past a taller neighbour
            _extend(points, ports_out[number], top[rank[src]] + heights[rank[src]])
        for bend in chains[number]:
            _extend(points, x[bend], top[bend.rank])
            _extend(points, x[bend], top[bend.rank] + heights[bend.rank])
        if b.height < heights[rank[dst]]:
            _extend(points, ports_in[number], top[rank[dst]])
        _extend(points, ports_in[number], b.y - b.height / 2)
        answer.edges[key] = points[::-1] if key in turned_keys else points
    for key, src, _ in loops:
        a = answer.boxes[src]
        side = a.x + a.width / 2
        answer.edges[key] = [
            (side, a.y - 6),
            (side + 24, a.y - 6),
            (side + 24, a.y + 6),
            (side, a.y + 6),
        ]
    bends = {
        bend: Box(x[bend], top[bend.rank] + heights[bend.rank] / 2, BEND_WIDTH, heights[bend.rank])
        for trunk in rows.trunks
        for bend in trunk
    }
    answer.clusters = frames_of(lanes, {**answer.boxes, **bends}, label_side)
    _shift_to_margin(answer)
    return answer


def _extend(points: list[Point], px: float, py: float) -> None:
    """Adds a point; what goes on straight down is one piece."""
    if len(points) > 1 and points[-1][0] == points[-2][0] == px:
        points.pop()
    points.append((px, py))


# ---- 3. bends


@dataclass
class _Rows:
    """All vertices, nodes and bends, by rank."""

    layers: list[list[Vertex]]
    up: dict[Vertex, list[Vertex]]
    down: dict[Vertex, list[Vertex]]
    chains: list[list[Bend]]  # for each edge: its bends
    trunks: list[list[Bend]]  # bends that stand below each other, in one lane


def _bends(
    nodes: Sequence[str],
    edges: Sequence[Edge],
    rank: Mapping[str, int],
    lanes: Lanes,
    turned: set[Hashable],
) -> _Rows:
    """Long edges from one node share a trunk: they run side by side until each turns off.

    So a parameter that is read in forward, backward and update takes one column, not three.
    """
    layers: list[list[Vertex]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
    for n in nodes:
        layers[rank[n]].append(n)
    up: dict[Vertex, list[Vertex]] = {n: [] for n in nodes}
    down: dict[Vertex, list[Vertex]] = {n: [] for n in nodes}
    chains: list[list[Bend]] = []
    trunks: dict[tuple[str, int, bool], list[Bend]] = {}
    bends = 0
    for key, src, dst in edges:
        length = rank[dst] - rank[src] - 1
        trunk = trunks.setdefault((src, lanes.of[dst], key in turned), [])
        bends += max(length - len(trunk), 0)
        if bends > MOST_BENDS:
            raise ValueError(
                f"viz layout: expected edges that cross at most {MOST_BENDS} rows of nodes in all, "
                "but got more. Show a part of the graph, or one node for each kind (viz.grouped)."
            )
        while len(trunk) < length:
            bend = Bend(rank[src] + 1 + len(trunk))
            above: Vertex = trunk[-1] if trunk else src
            layers[bend.rank].append(bend)
            lanes.of[bend] = lanes.at(lanes.of[dst], bend.rank)
            up[bend], down[bend] = [above], []
            down[above].append(bend)
            trunk.append(bend)
        chains.append(trunk[:length])
        last: Vertex = trunk[length - 1] if length else src
        down[last].append(dst)
        up[dst].append(last)
    straight = [list(run) for trunk in trunks.values() for _, run in groupby(trunk, lanes.of.get)]
    return _Rows(layers, up, down, chains, straight)


# ---- heights, ports


def _heights(layers, sizes, gaps) -> tuple[list[float], list[float]]:
    heights = [
        max((sizes[v][1] for v in layer if isinstance(v, str)), default=0.0) for layer in layers
    ]
    top, at = [], 0.0
    for r, height in enumerate(heights):
        if r:
            at += gaps[r]
        top.append(at)
        at += height
    return top, heights


def _ports(
    boxes: Mapping[str, Box],
    ends: Sequence[str],
    towards: Sequence[float],
    shared: Sequence[Hashable],
) -> list[float]:
    """Where each edge leaves or enters the box of its end: in the order of `towards`.

    Edges with the same `shared` use one port.
    """
    at: dict[str, dict[Hashable, list[int]]] = {}
    for number, (n, key) in enumerate(zip(ends, shared, strict=True)):
        at.setdefault(n, {}).setdefault(key, []).append(number)
    ports = [0.0] * len(ends)
    for n, groups in at.items():
        ordered = sorted(groups.values(), key=lambda numbers: (towards[numbers[0]], numbers[0]))
        room = max(boxes[n].width - 28, 0.0)
        space = min(18.0, room / max(len(ordered) - 1, 1))
        for i, numbers in enumerate(ordered):
            for k in numbers:
                ports[k] = boxes[n].x + (i - (len(ordered) - 1) / 2) * space
    return ports


def _line_up(
    ports_out: list[float],
    ports_in: list[float],
    edges: Sequence[Edge],
    chains: Sequence[Sequence[object]],
) -> None:
    """An almost straight edge becomes straight, where its box has no other edge on that side."""
    sources, targets = Counter(e[1] for e in edges), Counter(e[2] for e in edges)
    for number, (_, src, dst) in enumerate(edges):
        if chains[number] or abs(ports_out[number] - ports_in[number]) > 12:
            continue
        if targets[dst] == 1:
            ports_in[number] = ports_out[number]
        elif sources[src] == 1:
            ports_out[number] = ports_in[number]


def _shift_to_margin(answer: Placement) -> None:
    boxes = [*answer.boxes.values(), *answer.clusters.values()]
    xs = [b.x - b.width / 2 for b in boxes] + [
        p[0] for points in answer.edges.values() for p in points
    ]
    ys = [b.y - b.height / 2 for b in boxes] + [
        p[1] for points in answer.edges.values() for p in points
    ]
    right = [b.x + b.width / 2 for b in boxes] + [
        p[0] for points in answer.edges.values() for p in points
    ]
    bottom = [b.y + b.height / 2 for b in boxes] + [
        p[1] for points in answer.edges.values() for p in points
    ]
    dx, dy = MARGIN - min(xs, default=0.0), MARGIN - min(ys, default=0.0)

    def move(b: Box) -> Box:
        return Box(round(b.x + dx, 1), round(b.y + dy, 1), round(b.width, 1), round(b.height, 1))

    answer.boxes = {n: move(b) for n, b in answer.boxes.items()}
    answer.clusters = {n: move(b) for n, b in answer.clusters.items()}
    answer.edges = {
        k: [(round(px + dx, 1), round(py + dy, 1)) for px, py in points]
        for k, points in answer.edges.items()
    }
    answer.width = round(max(right, default=0.0) + dx + MARGIN, 1)
    answer.height = round(max(bottom, default=0.0) + dy + MARGIN, 1)


def _transpose(p: Placement) -> Placement:
    return Placement(
        width=p.height,
        height=p.width,
        boxes={n: Box(b.y, b.x, b.height, b.width) for n, b in p.boxes.items()},
        edges={k: [(y, x) for x, y in points] for k, points in p.edges.items()},
        clusters={n: Box(b.y, b.x, b.height, b.width) for n, b in p.clusters.items()},
        ranks=p.ranks,
        turned=p.turned,
    )
