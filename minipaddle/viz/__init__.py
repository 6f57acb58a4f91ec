"""Pictures that step: small, plain data in, a player out.

    from minipaddle import viz

    def picture(state):
        matmul = viz.node("mm", "matmul", "op", state=state)
        return viz.graph([viz.node("x", kind="data"), matmul], [("x", "mm")])

    viz.Player([
        viz.step("Before", picture("ready"), note="The input is there."),
        viz.step("After", picture("done")),
    ])

schema.py describes the data, which `dumps` and `loads` write and read as JSON. A player has at most
1,000 steps, and a graph 1,000 nodes. In a graph of more than 150 nodes, a step that changes more
than 20 of them shows all its changes at once; else nodes move and arrows follow.

The core here knows nothing about the framework; functions that turn its structures into steps stand
beside it:

    a program, PIR or classic               program_graph, program_step
    a classic program while it is built     growth_steps
    a PIR program while it is edited        ProgramFilm
    pruning; programs before and after      prune_steps, rewrite_steps
    a run of the Executor, and its memory   executor_steps, memory_steps
    which instructions wait for which       dependency_steps
    GradNodes, as they are, as they grow    grad_graph, grad_graph_steps
    one backward; append_backward's walk    backward_steps, append_backward_steps
    passes                                  pass_steps, dce_steps, fusion_steps
    a symbolic run of bytecode (SOT)        sot_steps, bytecode_lines
    who does what when; a ring of ranks     schedule_steps, ring_steps

program_graph, append_backward_steps, ProgramFilm, pass_steps and grad_graph take what real Paddle
makes, too.
"""

from .append_backward import append_backward_steps
from .backward_run import backward_steps
from .dependencies import dependency_steps
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
from .frame_graph import grouped
from .grad_graph import grad_graph, grad_graph_steps
from .growth import growth_steps
from .memory import memory_steps
from .passes import dce_steps, fusion_steps, pass_steps
from .pir import ProgramFilm
from .player import Player
from .program import executor_steps
from .program_graph import program_graph, program_step
from .prune import prune_steps
from .rewrites import rewrite_steps
from .schedule import schedule_steps, schedule_timeline
from .sot import bytecode_lines, sot_steps

__all__ = [
    "BAR_KINDS",
    "Bar",
    "Cluster",
    "Edge",
    "GraphPane",
    "KINDS",
    "Node",
    "Pane",
    "Player",
    "ProgramFilm",
    "STATES",
    "Step",
    "TablePane",
    "TextPane",
    "TimelinePane",
    "append_backward_steps",
    "backward_steps",
    "bar",
    "bytecode_lines",
    "check_steps",
    "cluster",
    "dce_steps",
    "dependency_steps",
    "dumps",
    "edge",
    "executor_steps",
    "fusion_steps",
    "grad_graph",
    "grad_graph_steps",
    "graph",
    "grouped",
    "growth_steps",
    "json_schema",
    "loads",
    "memory_steps",
    "node",
    "pass_steps",
    "program_graph",
    "program_step",
    "prune_steps",
    "rewrite_steps",
    "ring_steps",
    "schedule_steps",
    "schedule_timeline",
    "sot_steps",
    "step",
    "table",
    "text",
    "timeline",
]
