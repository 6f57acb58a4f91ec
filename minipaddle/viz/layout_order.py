"""Step 4 of the layout: the order of the boxes in each rank, so that few edges cross.

The barycentre method (Sugiyama 1981): every vertex goes to the mean place of its neighbours in the
rank before, up and down in turn; then neighbours are swapped where that removes a crossing.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence


class Bend:
    """An empty place in a rank, through which long edges pass."""

    __slots__ = ("rank",)

    def __init__(self, rank: int) -> None:
        self.rank = rank


Vertex = str | Bend  # a node's id, or a bend
Layers = list[list[Vertex]]
Neighbours = Mapping[Vertex, list[Vertex]]

SWEEPS = 12
SMALL = 400  # vertices: above, swapping neighbours takes too long


def order(layers: Layers, up: Neighbours, down: Neighbours, lane: Mapping[Vertex, int]) -> None:
    """From three first orders, the one that ends with the fewest crossings; of equals the first.

    Walking up from the results comes first: it puts the inputs of a node side by side, in the order
    of their slots.
    """
    best, fewest = [list(layer) for layer in layers], -1
    starts = (lambda: _walk(layers, up, down), lambda: _walk(layers, down, up), lambda: layers)
    for start in starts[: 3 if effort(layers, SWEEPS) == SWEEPS else 1]:
        tried = [sorted(layer, key=lambda v: lane[v]) for layer in start()]
        crossings = _reduce_crossings(tried, up, down, lane)
        if fewest < 0 or crossings < fewest:
            best, fewest = tried, crossings
        if not fewest:
            break
    layers[:] = best


def effort(layers: Layers, most: int) -> int:
    """How often to try to improve: less often in a large graph, where it takes long."""
    size = sum(len(layer) for layer in layers)
    return most if size < 2_000 else max(most * 2_000 // size, 4)


def _walk(layers: Layers, along: Neighbours, back: Neighbours) -> Layers:
    """Layers in the order of a depth-first walk along `along`, from the nodes without `back`."""
    rank = {v: r for r, layer in enumerate(layers) for v in layer}
    found: dict[Vertex, None] = {}
    stack = [v for layer in layers for v in layer if not back[v]][::-1]
    while stack:
        v = stack.pop()
        if v not in found:
            found[v] = None
            stack += reversed(along[v])
    ordered: Layers = [[] for _ in layers]
    for v in found:
        ordered[rank[v]].append(v)
    return ordered


def _reduce_crossings(
    layers: Layers, up: Neighbours, down: Neighbours, lane: Mapping[Vertex, int]
) -> int:
    """Barycentres, downwards and upwards in turn.

    Keeps the best order and returns its crossings.
    """
    best, fewest = [list(layer) for layer in layers], crossings_of(layers, down)
    idle = 0
    for sweep in range(effort(layers, SWEEPS)):
        if not fewest or idle == 4:
            break
        downwards = sweep % 2 == 0
        neighbours = up if downwards else down
        for r in range(1, len(layers)) if downwards else range(len(layers) - 2, -1, -1):
            position = {v: p for p, v in enumerate(layers[r - 1 if downwards else r + 1])}
            wishes = []
            for here, v in enumerate(layers[r]):
                near = neighbours[v]
                at = sum([position[n] for n in near]) / len(near) if near else here
                wishes.append((lane[v], at, here, v))
            wishes.sort(key=lambda wish: wish[:3])
            layers[r] = [wish[3] for wish in wishes]
        _swap_neighbours(layers, up, down, lane)
        crossings = crossings_of(layers, down)
        idle += 1
        if crossings < fewest:
            best, fewest, idle = [list(layer) for layer in layers], crossings, 0
    layers[:] = best
    return fewest


def _swap_neighbours(
    layers: Layers, up: Neighbours, down: Neighbours, lane: Mapping[Vertex, int]
) -> None:
    """Swap two neighbours where that removes crossings: one pass, and only in small graphs."""
    if sum(len(layer) for layer in layers) > SMALL:
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


def crossings_of(layers: Sequence[Sequence[Vertex]], down: Neighbours) -> int:
    """How many pairs of edges cross between ranks that follow each other."""
    total = 0
    for upper, lower in zip(layers, layers[1:], strict=False):
        position = {v: p for p, v in enumerate(lower)}
        seen: list[int] = []
        for v in upper:
            ends = sorted([position[n] for n in down[v]])
            for end in ends:
                total += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return total
