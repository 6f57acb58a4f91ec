"""Steps 1 and 2 of the layout: edges that close a cycle are turned, and every node gets a rank."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

Edge = tuple[Hashable, str, str]  # key, from, to


def break_cycles(nodes: Sequence[str], edges: Sequence[Edge]) -> tuple[list[Edge], set[Hashable]]:
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


def ranks(
    nodes: Sequence[str], edges: Sequence[Edge], limits: Iterable[tuple[str, str]] = ()
) -> dict[str, int]:
    """Longest path from the sources, then inputs come down to the first node that uses them.

    `limits`: pairs (above, below) that are no edges, but hold for the ranks too.
    """
    into: dict[str, list[str]] = {n: [] for n in nodes}
    out: dict[str, list[str]] = {n: [] for n in nodes}
    for _, src, dst in edges:
        into[dst].append(src)
        out[src].append(dst)
    below: dict[str, list[str]] = {n: list(out[n]) for n in nodes}
    missing = {n: len(into[n]) for n in nodes}
    for upper, lower in limits:
        below[upper].append(lower)
        missing[lower] += 1
    ready = [n for n in nodes if not missing[n]]
    rank = dict.fromkeys(nodes, 0)
    for n in ready:  # grows while it is walked: the order of Kahn
        for dst in below[n]:
            rank[dst] = max(rank[dst], rank[n] + 1)
            missing[dst] -= 1
            if not missing[dst]:
                ready.append(dst)
    for n in reversed(ready):
        if out[n] and len(out[n]) > len(into[n]):
            rank[n] = min(rank[dst] for dst in below[n]) - 1
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
