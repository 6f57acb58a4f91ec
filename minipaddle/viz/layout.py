"""Where the boxes of a graph stand: a layered layout, without any dependency.

Same input, same picture.

It works in five steps, each a function below:
1. `_break_cycles`: turn a few edges around (only while laying out), so that all edges can point the
   same way;
2. `_ranks`: every node gets a rank (a row), below all the nodes that it uses;
3. `_bends`: an edge that crosses several ranks gets an empty place in each of them, so that it
   never runs through a box;
4. `_order`: in each rank, put nodes near their neighbours, so that few edges cross;
5. `_coordinates`: move nodes towards their neighbours as far as their neighbours in the rank allow.

Clusters stand side by side: each has a *lane*, a strip of the picture of its own. It all works on
"down" pictures; "right" swaps x and y.

The idea is Sugiyama's (1981), the one that Graphviz's `dot` uses. Left out: network simplex, ports,
edges that bundle.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]
Edge = tuple[Hashable, str, str]  # key, from, to
Vertex = str | tuple[int, int]  # a node's id, or (edge number, rank) for a bend

MARGIN = 14.0  # around the picture; a state's sign reaches out of its box
GAP_NODES, GAP_BENDS = 26.0, 12.0  # between neighbours in a rank
GAP_RANKS = 44.0
GAP_LANES = 30.0
CLUSTER_PADDING, CLUSTER_LABEL = 14.0, 20.0


@dataclass(frozen=True)
class Box:
    """A rectangle by its centre."""

    x: float
    y: float
    width: float
    height: float


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
    clusters: Sequence[tuple[str, str, Sequence[str]]] = (),
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
    passes through a rank.
    """
    if direction == "right":
        turned = place(
            {n: (h, w) for n, (w, h) in sizes.items()}, edges, clusters, gap=gap, label_side="left"
        )
        return _transpose(turned)
    nodes = list(sizes)
    loops = [e for e in edges if e[1] == e[2]]
    forward, turned_keys = _break_cycles(nodes, [e for e in edges if e[1] != e[2]])
    rank = _ranks(nodes, forward)
    lane = _lanes(nodes, clusters)
    layers, up, down, chains = _bends(nodes, forward, rank, lane)
    _order(layers, up, down, lane)
    x = _coordinates(layers, up, down, chains, lane, sizes, _lane_gap(clusters, label_side))
    label = CLUSTER_LABEL if label_side == "top" else 0.0
    top, heights = _heights(layers, sizes, _rank_gaps(clusters, rank, gap, label))

    answer = Placement(ranks=rank, turned=turned_keys)
    for n in nodes:
        width, height = sizes[n]
        answer.boxes[n] = Box(
            round(x[n], 1), round(top[rank[n]] + heights[rank[n]] / 2, 1), width, height
        )
    first = [x[chain[0] if chain else e[2]] for chain, e in zip(chains, forward, strict=True)]
    last = [x[chain[-1] if chain else e[1]] for chain, e in zip(chains, forward, strict=True)]
    ports_out = _ports(answer.boxes, forward, 1, first)
    ports_in = _ports(answer.boxes, forward, 2, last)
    _line_up(ports_out, ports_in, forward, chains)
    for number, (key, src, dst) in enumerate(forward):
        a, b = answer.boxes[src], answer.boxes[dst]
        points = [(ports_out[number], a.y + a.height / 2)]
        if a.height < heights[rank[src]]:  # leave the rank straight, past a taller neighbour
            points.append((ports_out[number], top[rank[src]] + heights[rank[src]]))
        for bend in chains[number]:
            r = bend[1]
            points += [(x[bend], top[r]), (x[bend], top[r] + heights[r])]
        if b.height < heights[rank[dst]]:
            points.append((ports_in[number], top[rank[dst]]))
        points.append((ports_in[number], b.y - b.height / 2))
        points = [(round(px, 1), round(py, 1)) for px, py in points]
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
    answer.clusters = _frames(clusters, answer, label_side)
    _shift_to_margin(answer)
    return answer


# ---- 1. cycles


def _break_cycles(nodes: Sequence[str], edges: Sequence[Edge]) -> tuple[list[Edge], set[Hashable]]:
    """Depth first in the given order.

    An edge back to a node that is still open closes a cycle, and is turned.
    """
    successors: dict[str, list[tuple[str, Hashable]]] = {n: [] for n in nodes}
    for key, src, dst in edges:
        successors[src].append((dst, key))
    state: dict[str, str] = {}
    turned: set[Hashable] = set()
    has_input = {dst for _, _, dst in edges}
    for root in [n for n in nodes if n not in has_input] + list(nodes):
        if root in state:
            continue
        state[root] = "open"
        stack = [(root, iter(successors[root]))]
        while stack:
            here, rest = stack[-1]
            for dst, key in rest:
                if state.get(dst) == "open":
                    turned.add(key)
                elif dst not in state:
                    state[dst] = "open"
                    stack.append((dst, iter(successors[dst])))
                    break
            else:
                state[here] = "closed"
                stack.pop()
    return [(k, d, s) if k in turned else (k, s, d) for k, s, d in edges], turned


# ---- 2. ranks


def _ranks(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Longest path from the sources, then inputs come down to the first node that uses them."""
    into: dict[str, list[str]] = {n: [] for n in nodes}
    out: dict[str, list[str]] = {n: [] for n in nodes}
    for _, src, dst in edges:
        into[dst].append(src)
        out[src].append(dst)
    missing = {n: len(into[n]) for n in nodes}
    ready = [n for n in nodes if not missing[n]]
    rank = dict.fromkeys(nodes, 0)
    for n in ready:  # grows while it is walked: the order of Kahn
        for dst in out[n]:
            rank[dst] = max(rank[dst], rank[n] + 1)
            missing[dst] -= 1
            if not missing[dst]:
                ready.append(dst)
    for n in reversed(ready):
        if out[n] and len(out[n]) > len(into[n]):
            rank[n] = min(rank[dst] for dst in out[n]) - 1
    alone = [n for n in nodes if not into[n] and not out[n]]
    if len(alone) > 1:  # nodes without edges would make one very wide row
        counts = [0] * (max(rank.values()) + 1)
        for n in nodes:
            counts[rank[n]] += n not in alone
        row = max(6, *counts)
        for place_, n in enumerate(alone):
            rank[n] = place_ // row
    lowest = min(rank.values(), default=0)
    return {n: r - lowest for n, r in rank.items()}


# ---- lanes of clusters


def _lanes(
    nodes: Sequence[str], clusters: Sequence[tuple[str, str, Sequence[str]]]
) -> dict[Vertex, int]:
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


# ---- 3. bends


def _bends(
    nodes: Sequence[str], edges: Sequence[Edge], rank: Mapping[str, int], lane: dict[Vertex, int]
):
    layers: list[list[Vertex]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
    for n in nodes:
        layers[rank[n]].append(n)
    up: dict[Vertex, list[Vertex]] = {n: [] for n in nodes}
    down: dict[Vertex, list[Vertex]] = {n: [] for n in nodes}
    chains: list[list[tuple[int, int]]] = []
    for number, (_, src, dst) in enumerate(edges):
        chain = [(number, r) for r in range(rank[src] + 1, rank[dst])]
        chains.append(chain)
        for bend in chain:
            layers[bend[1]].append(bend)
            up[bend], down[bend] = [], []
            lane[bend] = lane[dst]
        path: list[Vertex] = [src, *chain, dst]
        for a, b in zip(path, path[1:], strict=False):
            down[a].append(b)
            up[b].append(a)
    return layers, up, down, chains


# ---- 4. order


def _order(
    layers: list[list[Vertex]],
    up: Mapping[Vertex, list[Vertex]],
    down: Mapping[Vertex, list[Vertex]],
    lane: Mapping[Vertex, int],
) -> None:
    """From three first orders, the one that ends with the fewest crossings; of equals the first.

    Walking up from the results comes first: it puts the inputs of a node side by side, in the order
    of their slots.
    """
    best, fewest = layers[:], -1
    for start in (
        _walk(layers, up, down),
        _walk(layers, down, up),
        [list(layer) for layer in layers],
    ):
        for layer in start:
            layer.sort(key=lambda v: lane[v])
        crossings = _reduce_crossings(start, up, down, lane)
        if fewest < 0 or crossings < fewest:
            best, fewest = start, crossings
        if not fewest or _effort(start, 12) < 12:
            break
    layers[:] = best


def _effort(layers, most: int) -> int:
    """How often to try to improve: less often in a very large graph, where it takes seconds."""
    size = sum(len(layer) for layer in layers)
    return most if size < 4_000 else max(most * 4_000 // size, 4)


def _walk(layers, along, back) -> list[list[Vertex]]:
    """Layers in the order of a depth-first walk along `along`, from the nodes without `back`."""
    rank = {v: r for r, layer in enumerate(layers) for v in layer}
    found: dict[Vertex, None] = {}
    stack = [v for layer in layers for v in layer if not back[v]][::-1]
    while stack:
        v = stack.pop()
        if v not in found:
            found[v] = None
            stack += reversed(along[v])
    ordered: list[list[Vertex]] = [[] for _ in layers]
    for v in found:
        ordered[rank[v]].append(v)
    return ordered


def _reduce_crossings(layers, up, down, lane) -> int:
    """Barycentres, downwards and upwards in turn.

    Keeps the best order and returns its crossings.
    """
    best, fewest = [list(layer) for layer in layers], _crossings(layers, down)
    for sweep in range(_effort(layers, 12)):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = up if downwards else down
        for r in range(1, len(layers)) if downwards else range(len(layers) - 2, -1, -1):
            position = {v: p for p, v in enumerate(layers[r - 1 if downwards else r + 1])}
            here = {v: p for p, v in enumerate(layers[r])}

            def wish(v: Vertex, near=neighbours, position=position, here=here):
                at = [position[n] for n in near[v]]
                return lane[v], sum(at) / len(at) if at else here[v], here[v]

            layers[r].sort(key=wish)
        _swap_neighbours(layers, up, down, lane)
        crossings = _crossings(layers, down)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best
    return fewest


def _swap_neighbours(layers, up, down, lane) -> None:
    """Swap two neighbours where that removes crossings.

    One pass, and only in small graphs: it is the slow part.
    """
    if sum(len(layer) for layer in layers) > 400:
        return
    for r, layer in enumerate(layers):
        above = {v: p for p, v in enumerate(layers[r - 1])} if r else {}
        below = {v: p for p, v in enumerate(layers[r + 1])} if r + 1 < len(layers) else {}
        for i in range(len(layer) - 1):
            a, b = layer[i], layer[i + 1]
            if lane[a] != lane[b]:
                continue
            now = turned = 0
            for side, at in ((up, above), (down, below)):
                for p in (at[n] for n in side[a]):
                    for q in (at[n] for n in side[b]):
                        now += p > q
                        turned += q > p
            if turned < now:
                layer[i], layer[i + 1] = b, a


def _crossings(layers: Sequence[Sequence[Vertex]], down: Mapping[Vertex, list[Vertex]]) -> int:
    total = 0
    for upper, lower in zip(layers, layers[1:], strict=False):
        position = {v: p for p, v in enumerate(lower)}
        seen: list[int] = []
        for v in upper:
            ends = sorted(position[n] for n in down[v])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# ---- 5. coordinates


def _coordinates(layers, up, down, chains, lane, sizes, gap) -> dict[Vertex, float]:
    """Each lane by itself, then the lanes side by side."""
    x: dict[Vertex, float] = {}
    left = 0.0
    for number in sorted(set(lane.values())):
        strip = [[v for v in layer if lane[v] == number] for layer in layers]
        inside = _one_lane(strip, up, down, chains, lane, sizes)
        edge_left = min(inside[v] - _width(v, sizes) / 2 for v in inside)
        edge_right = max(inside[v] + _width(v, sizes) / 2 for v in inside)
        for v in inside:
            x[v] = inside[v] - edge_left + left
        left += edge_right - edge_left + gap
    return x


def _one_lane(layers, up, down, chains, lane, sizes) -> dict[Vertex, float]:
    x: dict[Vertex, float] = {}
    gaps = []
    for layer in layers:
        gaps.append([_distance(a, b, sizes) for a, b in zip(layer, layer[1:], strict=False)])
        at = 0.0
        for v, gap in zip(layer, [*gaps[-1], 0.0], strict=False):
            x[v] = at
            at += gap
    number = {v: lane[v] for v in x}
    # A bend that stays under its bend makes a straight edge, so edges between bends pull hardest.
    strength = {
        (a, b): (4.0 if isinstance(a, tuple) and isinstance(b, tuple) else 1.0)
        / (1 if len(down[a]) < 2 else 1.5)
        for a in x
        for b in down[a]
        if b in number
    }
    sweeps = _effort(layers, 16)
    for sweep in range(sweeps):
        sides = ((True, False), (False, True), (True, True))[
            2 if sweep >= sweeps - 4 else sweep % 2
        ]
        for r in range(len(layers)) if sides[0] else range(len(layers) - 1, -1, -1):
            wish, weight = [], []
            for v in layers[r]:
                pulls = [(x[n], strength[n, v]) for n in up[v] if n in x] if sides[0] else []
                pulls += [(x[n], strength[v, n]) for n in down[v] if n in x] if sides[1] else []
                total = sum(w for _, w in pulls)
                wish.append(sum(p * w for p, w in pulls) / total if pulls else x[v])
                weight.append(total or 0.05)
            for v, at in zip(layers[r], _nearest(wish, weight, gaps[r]), strict=True):
                x[v] = at
    _straighten(layers, chains, x, sizes)
    return x


def _nearest(wish: list[float], weight: list[float], gaps: list[float]) -> list[float]:
    """The positions nearest to the wishes (least squares) that keep the order and the gaps.

    The method is called "pool adjacent violators": who pushes each other moves together.
    """
    offset = [0.0]
    for gap in gaps:
        offset.append(offset[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for w, k, o in zip(wish, weight, offset, strict=False):
        mean, total, count = w - o, k, 1
        while pools and pools[-1][0] > mean:
            before, k_before, n_before = pools.pop()
            mean = (before * k_before + mean * total) / (k_before + total)
            total, count = total + k_before, count + n_before
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [m + o for m, o in zip(means, offset, strict=False)]


def _straighten(layers, chains, x, sizes) -> None:
    """The bends of one edge go to one x, as far as their neighbours leave room."""
    index = {v: (r, i) for r, layer in enumerate(layers) for i, v in enumerate(layer)}

    def room(v: Vertex) -> tuple[float, float]:
        r, i = index[v]
        layer = layers[r]
        low = x[layer[i - 1]] + _distance(layer[i - 1], v, sizes) if i else -1e9
        high = x[layer[i + 1]] - _distance(v, layer[i + 1], sizes) if i + 1 < len(layer) else 1e9
        return low, high

    for chain in chains:
        run: list[Vertex] = []
        low, high = -1e9, 1e9
        for v in [*(v for v in chain if v in index), None]:
            if v is not None:
                new_low, new_high = room(v)
                if max(low, new_low) <= min(high, new_high):
                    run.append(v)
                    low, high = max(low, new_low), min(high, new_high)
                    continue
            if run:
                middle = sum(x[u] for u in run) / len(run)
                for u in run:
                    x[u] = min(max(middle, low), high)
            if v is not None:
                run, (low, high) = [v], room(v)


def _width(v: Vertex, sizes) -> float:
    return 2.0 if isinstance(v, tuple) else sizes[v][0]


def _distance(a: Vertex, b: Vertex, sizes) -> float:
    gap = GAP_BENDS if isinstance(a, tuple) and isinstance(b, tuple) else GAP_NODES
    return (_width(a, sizes) + _width(b, sizes)) / 2 + gap


# ---- heights, ports, frames


def _lane_gap(clusters, label_side: str) -> float:
    """Between two lanes: room for the frames that end and begin there."""
    parents = {id_: outer for id_, outer, _ in clusters}

    def depth(id_: str) -> int:
        return 1 + depth(parents[id_]) if id_ else 0

    deepest = max((depth(id_) for id_ in parents), default=0)
    return GAP_LANES + deepest * (
        2 * CLUSTER_PADDING + (CLUSTER_LABEL if label_side == "left" else 0.0)
    )


def _rank_gaps(clusters, rank: Mapping[str, int], gap: float, label: float) -> list[float]:
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
    boxes: Mapping[str, Box], edges: Sequence[Edge], end: int, towards: Sequence[float]
) -> list[float]:
    """Where each edge leaves (end=1) or enters (end=2) its box: in the order of `towards`."""
    at: dict[str, list[int]] = {}
    for number, e in enumerate(edges):
        at.setdefault(str(e[end]), []).append(number)
    ports = [0.0] * len(edges)
    for n, numbers in at.items():
        numbers.sort(key=lambda k: (towards[k], k))
        room = max(boxes[n].width - 28, 0.0)
        space = min(18.0, room / max(len(numbers) - 1, 1))
        for i, k in enumerate(numbers):
            ports[k] = boxes[n].x + (i - (len(numbers) - 1) / 2) * space
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


def _frames(clusters, placed: Placement, label_side: str) -> dict[str, Box]:
    sides: dict[str, tuple[float, float, float, float]] = {}

    def measure(id_: str, members: Sequence[str]) -> tuple[float, float, float, float] | None:
        boxes = [placed.boxes[n] for n in members]
        parts = [
            (b.x - b.width / 2, b.y - b.height / 2, b.x + b.width / 2, b.y + b.height / 2)
            for b in boxes
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
