"""Pictures that step: small, plain data in, a player out.

    from minipaddle import viz

    def picture(state):
        matmul = viz.node("mm", "matmul", "op", state=state)
        return viz.graph([viz.node("x", kind="data"), matmul], [("x", "mm")])

    viz.Player([
        viz.step("Before", picture("ready"), note="The input is there."),
        viz.step("After", picture("done")),
    ])

`frame.py` describes the data. The core here knows nothing about the framework; functions that turn
its structures into steps stand beside it.
"""

from .distributed import ring_steps
from .frame import (
    BAR_KINDS,
    KINDS,
    STATES,
    Bar,
    Cluster,
    Edge,
    GraphPane,
    Node,
    Pane,
    Step,
    TablePane,
    TextPane,
    TimelinePane,
    bar,
    check_steps,
    cluster,
    dumps,
    edge,
    graph,
    json_schema,
    loads,
    node,
    step,
    table,
    text,
    timeline,
)
from .grad_graph import grad_graph, grad_graph_steps
from .passes import dce_steps, fusion_steps
from .pir import ProgramFilm
from .player import Player
from .program import executor_steps
from .sot import bytecode_lines, sot_steps

__all__ = [
    "BAR_KINDS",
    "Bar",
    "KINDS",
    "STATES",
    "Cluster",
    "Edge",
    "GraphPane",
    "Node",
    "Pane",
    "Player",
    "ProgramFilm",
    "Step",
    "TablePane",
    "TextPane",
    "TimelinePane",
    "bar",
    "bytecode_lines",
    "check_steps",
    "cluster",
    "dce_steps",
    "dumps",
    "edge",
    "executor_steps",
    "fusion_steps",
    "grad_graph",
    "grad_graph_steps",
    "graph",
    "json_schema",
    "loads",
    "node",
    "ring_steps",
    "sot_steps",
    "step",
    "table",
    "text",
    "timeline",
]
