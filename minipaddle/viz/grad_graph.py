"""The graph of GradNodes: as it is, and as it grows statement by statement.

    viz.grad_graph(loss, labels={"x": x, "loss": loss})       # one picture

    viz.grad_graph_steps('''
    x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    y = x * x           # a comment is shown as the step's explanation
    y.sum().backward()
    ''')                                                       # one step per statement

Arrows go where gradients will go: from an op's GradNode to the nodes of its inputs. Beside the
graph stands a table of the Tensors that have a name, with what their AutogradMeta says.
`viz.grad_graph` draws real Paddle's Tensors too; their nodes tell a name and the next nodes, no
slots and shapes.

Paddle has no counterpart: Tensor.grad_fn.next_functions is what there is.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import minipaddle
from minipaddle.eager.grad_node_info import GradNodeBase
from minipaddle.eager.tensor import Tensor

from .frame import MAX_NODES, GraphPane, Step, TablePane, edge, graph, node, step, table
from .frame_checks import listed
from .frame_graph import grouped
from .player import Player


def grad_graph(tensors: Any, labels: Mapping[str, Any] | None = None) -> Player:
    """The GradNodes that can be reached from `tensors`, as one picture.

    `tensors`: a Tensor or several, of minipaddle or of real Paddle. `labels`: names of Tensors;
    each is written into the node of its Tensor.

    Raises:
        TypeError: there is something else among them.
    """
    starts = (
        [tensors] if hasattr(tensors, "grad_fn") else listed("viz.grad_graph", "tensors", tensors)
    )
    for start in starts:
        if not hasattr(start, "grad_fn"):
            raise TypeError(
                f"viz.grad_graph: expected Tensors, but got {type(start).__name__}. "
                "Pass a Tensor, or a list of Tensors."
            )
    # a real Tensor that stops gradients answers with a node all the same
    roots = [tensor.grad_fn for tensor in starts if not tensor.stop_gradient]
    names = dict(labels or {})
    picture = NodeNumbers().graph([root for root in roots if root is not None], names, None)
    count = len(picture["nodes"])
    title = f"{count} node{'' if count == 1 else 's'}"
    note = "Arrows go where gradients will go."
    if not count:
        note = "Nothing was recorded, because all inputs stop gradients."
    return Player(step(title, picture, note=note))


def grad_graph_steps(code: str) -> Player:
    """Runs `code` statement by statement and shows graph and Tensors after each.

    In the code, `paddle` is minipaddle and `np` is numpy. A comment behind a statement is shown as
    its explanation. Only Tensors with a name are shown in the table.
    """
    source = textwrap.dedent(code).strip("\n")
    lines = source.split("\n")
    space: dict[str, Any] = {"paddle": minipaddle, "np": np}
    numbers = NodeNumbers()
    steps: list[Step] = []
    known: set[GradNodeBase] = set()
    for statement in ast.parse(source).body:
        program = ast.Module([statement], [])
        exec(compile(program, "<grad_graph_steps>", "exec"), space)
        tensors = {name: value for name, value in space.items() if isinstance(value, Tensor)}
        roots = [node for node in map(_node_of, tensors.values()) if node is not None]
        picture = numbers.graph(roots, tensors, known)
        added = [found for found in numbers.reached if found not in known]
        known.update(added)
        title = " ".join((ast.get_source_segment(source, statement) or "").split())
        note = " ".join(filter(None, [_comment(lines, statement), numbers.story(added)]))
        steps.append(step(title, picture, _table(tensors), note=note))
    return Player(steps)


class NodeNumbers:
    """Gives every node an id that stays, in the order in which nodes are found."""

    def __init__(self) -> None:
        self.ids: dict[Any, str] = {}
        self.reached: list[Any] = []  # by the last graph()
        self.names: dict[Any, str] = {}

    def graph(
        self,
        roots: Iterable[Any],
        tensors: Mapping[str, Any],
        known: set[GradNodeBase] | None,
        states: Mapping[Any, str] | None = None,
    ) -> GraphPane:
        """The picture. Nodes that are not in `known` are marked as new (None: no marks).

        `states`: marks of other nodes.
        """
        self.reached = _reachable(roots)
        self.names = _names(tensors)
        for found in self.reached:
            self.ids.setdefault(found, f"n{len(self.ids)}")
        nodes = [
            node(
                self.ids[found],
                self._label(found),
                "leaf" if is_leaf(found) else "grad",
                state=(states or {}).get(
                    found, "new" if known is not None and found not in known else ""
                ),
                details=self._details(found),
            )
            for found in self.reached
        ]
        edges = [
            edge(
                self.ids[found],
                self.ids[target],
                _slot(found, number),
                label=number if len(ends) > 1 else "",
            )
            for found in self.reached
            for ends in [next_nodes(found)]
            for number, target in enumerate(ends)
            if target is not None
        ]
        if len(nodes) > MAX_NODES:
            kinds = {found: found.name() for found in self.reached}
            reads = [(kinds[a], kinds[b]) for a in self.reached for b in next_nodes(a) if b]
            return grouped(kinds.values(), reads, name="Kinds of GradNodes")
        return graph(nodes, edges, name="GradNodes")

    def story(self, added: Iterable[GradNodeBase]) -> str:
        """In words: which nodes are new, and where their edges lead."""
        parts = []
        for found in added:
            if found.accumulates:
                parts.append(f"New: {found.name()}{self._of(found)}: gradients end here.")
                continue
            ends = [
                f"edge {number} " + (f"to {self._end(one.node)}" if one else "is None")
                for number, one in enumerate(found.edges)
            ]
            parts.append(f"New: {found.name()}{self._of(found)}: {', '.join(ends)}.")
        return " ".join(parts)

    def _end(self, target: GradNodeBase) -> str:
        name = self.names.get(target)
        return f"the node of {name}" if name else f"a {target.name()}"

    def _of(self, found: GradNodeBase) -> str:
        name = self.names.get(found)
        return f" of {name}" if name else ""

    def _label(self, found: Any) -> str:
        name = self.names.get(found)
        return found.name() + (f"\n{name}" if name else "")

    def _details(self, found: Any) -> dict[str, Any]:
        if not hasattr(found, "edges"):
            ends = [target.name() if target else "None" for target in next_nodes(found)]
            return {f"edge {number}": end for number, end in enumerate(ends)}
        details: dict[str, Any] = {
            "takes": ", ".join(
                f"gradient of shape {list(meta.shape)}" for meta in found.output_metas
            )
        }
        for number, one in enumerate(found.edges):
            details[f"edge {number}"] = f"{one.node.name()}, slot {one.slot}" if one else "None"
        if found.cleared:
            details["cleared"] = "what it had kept is gone: backward has run"
        return details


def is_leaf(found: Any) -> bool:
    """Does a gradient end here, in a Tensor's `.grad`?"""
    return found.name() == "GradNodeAccumulation"


def next_nodes(found: Any) -> list[Any]:
    """Where its results go: one node for each input of the op, None where no gradient is wanted."""
    return list(found.next_functions)


def _slot(found: Any, number: int) -> str | None:
    """Which output of the op at the edge's end it is for; None where that op has only one."""
    one = found.edges[number] if hasattr(found, "edges") else None
    return str(one.slot) if one and len(one.node.specs) > 1 else None


def _reachable(roots: Iterable[Any]) -> list[Any]:
    """Every node once; leaves and early ops last."""
    found = dict.fromkeys(roots)
    queue = list(found)
    for one in queue:  # grows as we go
        for target in next_nodes(one):
            if target is not None and target not in found:
                found[target] = None
                queue.append(target)
    return queue


def _node_of(tensor: Any) -> Any:
    """The node, without making one: `grad_fn` would give a leaf its node by being asked."""
    if not isinstance(tensor, Tensor):  # real Paddle's
        return None if tensor.stop_gradient else tensor.grad_fn
    meta = tensor.autograd_meta
    return None if meta is None or meta.stop_gradient else meta.grad_node


def _names(tensors: Mapping[str, Any]) -> dict[Any, str]:
    """Node -> the names of its Tensors."""
    names: dict[Any, str] = {}
    for name, tensor in tensors.items():
        found = _node_of(tensor)
        if found is not None:
            names[found] = f"{names[found]}, {name}" if found in names else name
    return names


def _table(tensors: Mapping[str, Tensor]) -> TablePane:
    rows = []
    for name, tensor in tensors.items():
        found = _node_of(tensor)
        grad = tensor.grad
        rows.append(
            [
                name,
                tensor.stop_gradient,
                tensor.is_leaf,
                "None" if found is None else found.name(),
                "None" if grad is None else _short(grad.numpy()),
            ]
        )
    return table(["Tensor", "stop_gradient", "leaf", "grad_fn", "grad"], rows, name="AutogradMeta")


def _short(array: np.ndarray) -> str:
    line = " ".join(np.array2string(array, precision=3, threshold=6, edgeitems=1).split())
    return line if len(line) <= 24 else line[:22] + " …"


def _comment(lines: list[str], statement: ast.stmt) -> str:
    """What stands behind `#` on the statement's last line."""
    last = lines[(statement.end_lineno or statement.lineno) - 1]
    comment = last[statement.end_col_offset :].partition("#")[2].strip()
    return comment if not comment or comment[-1] in ".?!:" else comment + "."
