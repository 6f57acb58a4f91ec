"""Step 5 of the layout: where in its rank each box stands.

Every vertex is pulled towards its neighbours in the ranks above and below, as far as its own
neighbours in the rank leave room. The bends of a long edge are pulled hardest, and then put on one
line: a long edge that runs straight is easy to follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .layout_clusters import CLUSTER_PADDING, GAP_LANES, Lanes
from .layout_order import Bend, Layers, Neighbours, Vertex, effort

GAP_NODES, GAP_BENDS = 26.0, 12.0  # between neighbours in a rank
SWEEPS = 16
BEND_WIDTH = 2.0


def columns(
    layers: Layers,
    up: Neighbours,
    down: Neighbours,
    trunks: Sequence[Sequence[Vertex]],
    lanes: Lanes,
    sizes: Mapping[str, tuple[float, float]],
    label: float,
) -> dict[Vertex, float]:
    """x of every vertex. `label`: the room that a frame leaves at its left, besides the padding."""
    width = {v: BEND_WIDTH if isinstance(v, Bend) else sizes[v][0] for row in layers for v in row}

    def block(lane: int) -> tuple[dict[Vertex, float], float]:
        """A lane with its inner lanes: x of the vertices, from 0 on, and the width of it all."""
        strip = [[v for v in layer if lanes.of[v] == lane] for layer in layers]
        own = [trunk for trunk in trunks if lanes.of[trunk[0]] == lane]
        x = _one_lane(strip, up, down, own, width)
        left = min((x[v] - width[v] / 2 for v in x), default=0.0)
        x = {v: at - left for v, at in x.items()}
        reach = {r: max(x[v] + width[v] / 2 for v in row) for r, row in enumerate(strip) if row}
        for inner in range(lane + 1, len(lanes.outer)):
            first, last = lanes.span[inner]
            if lanes.outer[inner] != lane or first > last:
                continue
            inside, wide = block(inner)
            beside = [reach[r] for r in range(first, last + 1) if r in reach]
            lowest = max(beside) + GAP_LANES if beside else 0.0
            # under what points to it, as far as that doesn't make the picture wider
            wishes = [x[n] - inside[v] for v in inside for n in up[v] if n in x]
            wish = sum(wishes) / len(wishes) if wishes else 0.0
            at = max(lowest, min(wish, max(reach.values(), default=0.0) - wide))
            x.update((v, inside[v] + at) for v in inside)
            reach.update(dict.fromkeys(range(first, last + 1), at + wide))
        around = max(reach.values(), default=0.0)
        if not lane:
            return x, around
        shift = CLUSTER_PADDING + label
        return {v: at + shift for v, at in x.items()}, around + shift + CLUSTER_PADDING

    return block(0)[0]


def _one_lane(
    layers: Layers,
    up: Neighbours,
    down: Neighbours,
    trunks: Sequence[Sequence[Vertex]],
    width: Mapping[Vertex, float],
) -> dict[Vertex, float]:
    x: dict[Vertex, float] = {}
    gaps: list[list[float]] = []
    for layer in layers:
        gaps.append([_distance(a, b, width) for a, b in zip(layer, layer[1:], strict=False)])
        at = 0.0
        for v, gap in zip(layer, [*gaps[-1], 0.0], strict=False):
            x[v] = at
            at += gap

    def strength(a: Vertex, b: Vertex) -> float:
        # A bend that stays under its bend makes a straight edge: these pull hardest.
        pull = 4.0 if isinstance(a, Bend) and isinstance(b, Bend) else 1.0
        if not up[a]:
            pull /= 100  # an input stands beside the path of the operations, and doesn't bend it
        return pull if len(down[a]) < 2 else pull / 1.5

    above = {v: [(n, strength(n, v)) for n in up[v] if n in x] for v in x}
    below = {v: [(n, strength(v, n)) for n in down[v] if n in x] for v in x}
    both = {v: above[v] + below[v] for v in x}
    sweeps = effort(layers, SWEEPS)
    for sweep in range(sweeps):
        near = both if sweep >= sweeps - 4 else (above, below)[sweep % 2]
        for r in range(len(layers)) if near is not below else range(len(layers) - 1, -1, -1):
            wish, weight = [], []
            for v in layers[r]:
                moment = total = 0.0
                for n, pull in near[v]:
                    moment += x[n] * pull
                    total += pull
                wish.append(moment / total if total else x[v])
                weight.append(total or 0.05)
            for v, at in zip(layers[r], _nearest(wish, weight, gaps[r]), strict=True):
                x[v] = at
    _straighten(layers, trunks, x, width)
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


def _straighten(
    layers: Layers,
    trunks: Sequence[Sequence[Vertex]],
    x: dict[Vertex, float],
    width: Mapping[Vertex, float],
) -> None:
    """The bends of one trunk go to one x, as far as their neighbours leave room."""
    left: dict[Vertex, tuple[Vertex, float]] = {}
    right: dict[Vertex, tuple[Vertex, float]] = {}
    for layer in layers:
        for a, b in zip(layer, layer[1:], strict=False):
            apart = _distance(a, b, width)
            left[b], right[a] = (a, apart), (b, apart)

    def room(v: Vertex) -> tuple[float, float]:
        low, high = -1e9, 1e9
        if v in left:
            low = x[left[v][0]] + left[v][1]
        if v in right:
            high = x[right[v][0]] - right[v][1]
        return low, high

    for trunk in trunks:
        run: list[Vertex] = []
        low, high = -1e9, 1e9
        for v in [*trunk, None]:
            new_low, new_high = room(v) if v is not None else (1e9, -1e9)
            if v is not None and max(low, new_low) <= min(high, new_high):
                run.append(v)
                low, high = max(low, new_low), min(high, new_high)
                continue
            middle = sum(x[u] for u in run) / len(run) if run else 0.0
            for u in run:
                x[u] = min(max(middle, low), high)
            if v is not None:
                run, (low, high) = [v], room(v)


def _distance(a: Vertex, b: Vertex, width: Mapping[Vertex, float]) -> float:
    gap = GAP_BENDS if isinstance(a, Bend) and isinstance(b, Bend) else GAP_NODES
    return (width[a] + width[b]) / 2 + gap
