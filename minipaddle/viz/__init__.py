"""Pictures that step: small, plain data in, a player out.

    from minipaddle import viz

    viz.Player([
        viz.step("Before", viz.graph(["x", viz.node("mm", "matmul", "op")], [("x", "mm")]), note="Nothing has run."),
        viz.step("After", viz.graph(["x", viz.node("mm", "matmul", "op", state="done")], [("x", "mm")])),
    ])

`frame.py` describes the data. The core here knows nothing about the framework; functions that turn its structures into steps stand beside it.
"""

from .frame import (
    KINDS,
    STATES,
    Cluster,
    Edge,
    GraphPane,
    Node,
    Pane,
    Step,
    TablePane,
    TextPane,
    check_steps,
    cluster,
    dumps,
    edge,
    graph,
    loads,
    node,
    step,
    table,
    text,
)
from .player import Player

__all__ = [
    "KINDS",
    "STATES",
    "Cluster",
    "Edge",
    "GraphPane",
    "Node",
    "Pane",
    "Player",
    "Step",
    "TablePane",
    "TextPane",
    "check_steps",
    "cluster",
    "dumps",
    "edge",
    "graph",
    "loads",
    "node",
    "step",
    "table",
    "text",
]
