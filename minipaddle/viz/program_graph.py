"""A program as a graph: PIR or classic, minipaddle's or real Paddle's.

    viz.program_graph(main)

An arrow goes from the operation that writes a variable to each that reads it. Blocks of a classic
program and regions of a PIR program are clusters; an operation that runs a block points to it.

Paddle: python/paddle/base/net_drawer.py drew classic programs with Graphviz.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .frame import Cluster, Edge, GraphPane, Node, Step, cluster, edge, graph, node, step, text
from .frame_graph import grouped
from .pir import ProgramFilm
from .player import Player
from .program_text import sub_block
from .schema import MAX_NODES

LONGEST_ATTRIBUTE = 60  # letters in the details
LONGEST_SLOT = 4  # letters at an arrow
HIDDEN = {"op_callstack", "op_role_var", "op_namescope", "op_device", "with_quant_attr"}


def program_graph(program: Any, title: str = "") -> Player:
    """One picture of a program: graph and text.

    Of more than viz.MAX_NODES operations, a summary is drawn: one node for each kind of operation.

    `program`: a PIR or classic Program, of minipaddle or of real Paddle.

    Raises:
        TypeError: it is no program.
    """
    return Player(program_step(program, title))


def program_step(program: Any, title: str = "", note: str = "") -> Step:
    """The same as one step, to be put among others."""
    if not hasattr(program, "global_block"):
        raise TypeError(
            f"viz.program_graph: expected a Program, but got {type(program).__name__}. "
            "Pass one made by paddle.static.Program()."
        )
    classic = hasattr(program.global_block(), "vars")
    count = sum(len(block.ops) for block in _blocks(program)) if classic else _size(program)
    title = title or f"{count} operation{'' if count == 1 else 's'}"
    if count == 0:
        empty = text(["no operations"], language="program", name="Program")
        return step(title, empty, note=note or "The program is empty.")
    if count > MAX_NODES:
        kinds, reads = _by_kind(program, classic)
        words = f"{count} operations are too many for a picture: one node for each kind."
        return step(title, grouped(kinds, reads, name="Kinds of operations"), note=note or words)
    if not classic:
        return ProgramFilm(program).take(title, note)
    lines = str(program).splitlines()
    return step(
        title, classic_graph(program), text(lines, language="program", name="Program"), note=note
    )


def classic_graph(program: Any) -> GraphPane:
    """The graph pane of a classic program: operations, and variables that nobody writes."""
    drawing = _Drawing(program)
    drawing.block(0, "", {}, "")
    clusters = drawing.clusters if len(drawing.clusters) > 1 else []
    return graph(drawing.nodes, drawing.edges, clusters, name="Program as a graph")


class _Drawing:
    """Blocks drawn so far. `writers`, name -> node, is what a block sees."""

    def __init__(self, program: Any) -> None:
        self.blocks = _blocks(program)
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.clusters: list[Cluster] = []
        self.drawn: set[int] = set()

    def block(self, index: int, parent: str, writers: dict[str, str], owner: str) -> None:
        """Draws a block, and behind each operation the block that it runs."""
        block = self.blocks[index]
        self.drawn.add(index)
        box = cluster(f"block {index}", [], parent=parent)
        self.clusters.append(box)
        for position, op in enumerate(block.ops):
            id_ = f"block {index} op {position}"
            if owner and position == 0:
                self.edges.append(edge(owner, id_, label="runs"))
            made = ", ".join(op.output_arg_names)
            label = f"{op.type}\n{made}" if made else op.type
            self.nodes.append(node(id_, label, "op", details=_details(op)))
            box["nodes"].append(id_)
            # long names of slots would be written over each other: the details have them
            show = len(op.input_arg_names) > 1 and max(map(len, op.input_names)) <= LONGEST_SLOT
            for slot in op.input_names:
                for name in op.input(slot):
                    if name not in writers:
                        writers[name] = self._variable(block, index, name, box)
                    self.edges.append(edge(writers[name], id_, slot if show else None))
            inner = sub_block(op)
            if inner is not None and inner not in self.drawn:
                self.block(inner, box["id"], dict(writers), id_)
            for name in op.output_arg_names:
                writers[name] = id_

    def _variable(self, block: Any, index: int, name: str, box: Cluster) -> str:
        id_ = f"block {index} var {name}"
        found = _find_var(self.blocks, block, name)
        stored = bool(getattr(found, "persistable", False))
        kind = "param" if stored else "data" if getattr(found, "is_data", not stored) else "var"
        details = "" if found is None else f"{name}: {_shape(found)}"
        self.nodes.append(node(id_, name, kind, details=details))
        box["nodes"].append(id_)
        return id_


def _blocks(program: Any) -> list[Any]:
    return [program.block(index) for index in range(program.num_blocks)]


def _find_var(blocks: list[Any], block: Any, name: str) -> Any:
    """A variable of the block or of one around it."""
    while name not in block.vars:
        if block.parent_idx < 0:
            return None
        block = blocks[block.parent_idx]
    return block.vars[name]


def _shape(variable: Any) -> str:
    try:
        return f"{list(variable.shape)} {str(variable.dtype).rpartition('.')[2]}"
    except (AttributeError, ValueError, RuntimeError):  # what is no Tensor has no shape
        return "no Tensor"


def _details(op: Any) -> str:
    lines = [op.type]
    lines += [f"{slot}: {', '.join(op.input(slot))}" for slot in op.input_names]
    lines += [f"-> {slot}: {', '.join(op.output(slot))}" for slot in op.output_names]
    for name in sorted(op.attr_names):
        if name not in HIDDEN and name != "sub_block":
            lines.append(f"{name} = {str(op.attr(name))[:LONGEST_ATTRIBUTE]}")
    return "\n".join(lines)


def _pir_ops(ops: Any) -> Iterator[Any]:
    for op in ops:
        yield op
        for block in op.blocks() if hasattr(op, "blocks") else ():
            yield from _pir_ops(block.ops)


def _size(program: Any) -> int:
    return sum(1 for _ in _pir_ops(program.global_block().ops))


def _by_kind(program: Any, classic: bool) -> tuple[list[str], list[tuple[str, str]]]:
    """The kind of each operation, and who reads whom."""
    kinds: list[str] = []
    reads: list[tuple[str, str]] = []
    if not classic:
        for op in _pir_ops(program.global_block().ops):
            kinds.append(op.name())
            makers = [v.get_defining_op() for v in op.operands_source() if v is not None]
            reads += [(maker.name(), op.name()) for maker in makers if maker is not None]
        return kinds, reads
    writers: dict[str, str] = {}
    for block in _blocks(program):
        for op in block.ops:
            kinds.append(op.type)
            reads += [(writers[n], op.type) for n in op.input_arg_names if n in writers]
            writers.update(dict.fromkeys(op.output_arg_names, op.type))
    return kinds, reads
