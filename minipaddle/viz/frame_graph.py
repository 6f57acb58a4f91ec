"""Graphs: nodes, edges, and clusters around nodes.

    nodes = [node("x", kind="data"), node("w", kind="param"), node("mm", "matmul", state="now")]
    graph(nodes, [("x", "mm", 0), ("w", "mm", 1)], [cluster("block 0", ["x", "w", "mm"])])

Paddle has no counterpart: python/paddle/base/net_drawer.py drew one still picture with Graphviz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .frame_checks import listed, made
from .schema import MAX_NODES, STATES, Cluster, Edge, GraphPane, Node


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
        "nodes": [str(n) for n in listed(f"viz.cluster {str(id)!r}", "nodes", nodes)],
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
    made_nodes: list[Node] = [made(who, node, n) for n in listed(who, "nodes", nodes)]
    made_edges: list[Edge] = [made(who, edge, e) for e in listed(who, "edges", edges)]
    made_clusters: list[Cluster] = [
        made(who, cluster, c) for c in listed(who, "clusters", clusters)
    ]
    if direction not in ("down", "right"):
        raise ValueError(
            f"{who}: expected direction 'down' or 'right', but got {direction!r}. "
            "Choose one of them."
        )
    if len(made_nodes) > MAX_NODES:
        raise ValueError(
            f"{who}: expected at most {MAX_NODES} nodes, but got {len(made_nodes)}. "
            "Show a part of the graph, or one node for each kind (viz.grouped)."
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


def grouped(kinds: Iterable[str], reads: Iterable[tuple[str, str]], *, name: str = "") -> GraphPane:
    """A summary of a graph that is too large to be drawn: one node for each kind of node.

    `kinds`: the kind of every node; `reads`: the kinds at both ends of every edge. Labels say how
    many nodes and edges there are.
    """
    counts, arrows = Counter(kinds), Counter(reads)
    nodes = [node(kind, f"{kind}\n× {count}", "op") for kind, count in counts.items()]
    edges = [edge(a, b, label=count) for (a, b), count in arrows.items() if a != b]
    return graph(nodes, edges, name=name)


def _some(names: Iterable[str], limit: int = 8) -> str:
    ordered = sorted(names)
    return ", ".join(repr(n) for n in ordered[:limit]) + (", ..." if len(ordered) > limit else "")
