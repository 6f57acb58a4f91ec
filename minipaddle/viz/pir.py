"""A PIR program while it is edited: as a graph, as text, and as use lists.

    film = ProgramFilm(main)
    film.take("Before")
    a.replace_all_uses_with(b)
    film.take("All uses moved", note="Nobody reads a any more.")
    viz.Player(film.steps)

The picture marks what is different from the picture before: new and removed operations, operands
that read another value now. It reads the program's public structure only.

Paddle has no counterpart: print(program) is what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from minipaddle.pir.core.block import Program
from minipaddle.pir.core.ir_printer import type_text
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.value import Value

from .frame import (
    Edge,
    GraphPane,
    Node,
    Step,
    TablePane,
    TextPane,
    edge,
    graph,
    node,
    step,
    table,
    text,
)

KINDS = {
    "pd_op.data": "data",
    "builtin.parameter": "param",
    "pd_op.full": "const",
    "pd_op.full_int_array": "const",
}


@dataclass(frozen=True)
class _Drawn:
    """One operation as it was when the picture was taken."""

    id: str
    line: str
    label: str
    kind: str
    details: str
    reads: tuple[str, ...]  # ids of the operations that it reads, "" where an operand is missing


class ProgramFilm:
    """Takes pictures of a program between edits.

    A value keeps its number from the first picture to the last, so that it can be followed;
    `print(program)` counts anew each time. The text leaves out operand types, and all attributes
    but names and constants.

    `uses`: a table of use lists beside graph and text.
    """

    def __init__(self, program: Program, *, uses: bool = False) -> None:
        self.program = program
        self.uses = uses
        self.steps: list[Step] = []
        self._numbers: dict[Value, str] = {}
        self._ids: dict[Operation, str] = {}
        self._before: list[_Drawn] | None = None

    def take(
        self,
        title: str,
        note: str = "",
        states: Mapping[Operation, str] | None = None,
    ) -> Step:
        """Adds a picture of the program as it is now, and returns it.

        `states`: operation -> state of its node (see viz.STATES), where nothing else is to be said.
        """
        ops = self.program.global_block().ops
        now = [self._drawn(op) for op in ops]
        marks = {self._ids[op]: state for op, state in (states or {}).items() if op in self._ids}
        before = now if self._before is None else self._before
        panes: list[Any] = [_graph(before, now, marks), _text(before, now, marks)]
        if self.uses:
            panes.append(self._use_table(ops))
        self._before = now
        self.steps.append(step(title, *panes, note=note))
        return self.steps[-1]

    def number(self, value: Value) -> str:
        """The number that a value has in all pictures."""
        return self._numbers.setdefault(value, f"%{len(self._numbers)}")

    def _drawn(self, op: Operation) -> _Drawn:
        sources = op.operands_source()
        operands = ", ".join("<<NULL VALUE>>" if v is None else self.number(v) for v in sources)
        results = ", ".join(self.number(result) for result in op.results())
        types = ", ".join(type_text(result.type()) for result in op.results())
        return _Drawn(
            self._ids.setdefault(op, f"op{len(self._ids)}"),
            f'({results}) = "{op.name()}" ({operands}){_essential(op)} -> {types}',
            f"{_short(op)}\n{results}" if results else _short(op),
            KINDS.get(op.name(), "op"),
            "\n".join([op.name(), *(f"{k}: {v!r}" for k, v in sorted(op.attributes.items()))]),
            tuple("" if v is None else self._ids.get(v.get_defining_op(), "") for v in sources),
        )

    def _use_table(self, ops: list[Operation]) -> TablePane:
        rows = []
        for op in ops:
            for value in op.results():
                uses = ", ".join(f"{_short(u.owner())}[{u.index()}]" for u in value.uses())
                rows.append([self.number(value), _short(op), uses or "nobody"])
        return table(["value", "made by", "uses: reader[operand]"], rows, name="Use lists")


def _short(op: Operation) -> str:
    """`pd_op.add` as add; inputs and parameters by their names."""
    for key in ("parameter_name", "name"):
        if key in op.attributes and op.name() in ("pd_op.data", "builtin.parameter"):
            return str(op.attributes[key].value)
    short = op.name().partition(".")[2]
    value = op.attributes.get("value")
    return f"{short} {value!r}" if KINDS.get(op.name()) == "const" and value else short


def _essential(op: Operation) -> str:
    """The one attribute without which a line can't be understood: a name, or a constant's value."""
    if op.name() not in KINDS:
        return ""
    for key in ("parameter_name", "name", "value"):
        if key in op.attributes:
            return f" {{{key}:{op.attributes[key]!r}}}"
    return ""


def _graph(before: list[_Drawn], now: list[_Drawn], marks: Mapping[str, str]) -> GraphPane:
    """All operations of now, and those that have just gone, as they were."""
    old, new = {d.id: d for d in before}, {d.id: d for d in now}
    nodes: list[Node] = []
    edges: list[Edge] = []
    for drawn in [*now, *(d for d in before if d.id not in new)]:
        was = old.get(drawn.id)
        state = marks.get(drawn.id, "")
        if drawn.id not in new:
            state = "removed"
        elif was is None:
            state = "new"
        elif was.reads != drawn.reads:
            state = "changed"
        nodes.append(node(drawn.id, drawn.label, drawn.kind, state=state, details=drawn.details))
        for slot, source in enumerate(drawn.reads):
            if source not in new and source not in old:
                continue
            known = was is not None and slot < len(was.reads) and was.reads[slot] == source
            state = "removed" if drawn.id not in new else "" if known else "new"
            shown_slot = slot if len(drawn.reads) > 1 else None
            edges.append(edge(source, drawn.id, shown_slot, state=state))
    return graph(nodes, edges, name="Program as a graph")


def _text(before: list[_Drawn], now: list[_Drawn], marks: Mapping[str, str]) -> TextPane:
    """The lines of now; lines that have gone or were different stand above, marked."""
    new, old = {d.id for d in now}, {d.id: d.line for d in before}
    lines: list[str] = []
    added, removed, highlight = [], [], []

    def write(line: str, into: list[int] | None = None) -> None:
        lines.append(line)
        if into is not None:
            into.append(len(lines))

    order = {d.id: place for place, d in enumerate(before)}
    gone = [d for d in before if d.id not in new]
    following = len(before)  # place, in the order of before, of the next line that was there before
    places = []
    for drawn in reversed(now):
        following = order.get(drawn.id, following)
        places.append(following)
    for drawn, place in zip(now, reversed(places), strict=True):
        while gone and order[gone[0].id] < place:
            write(gone.pop(0).line, removed)
        was = old.get(drawn.id)
        if was is None:
            write(drawn.line, added)
        elif was != drawn.line:
            write(was, removed)
            write(drawn.line, added)
        else:
            write(drawn.line, highlight if marks.get(drawn.id) else None)
    for drawn in gone:
        write(drawn.line, removed)
    return text(
        lines, added=added, removed=removed, highlight=highlight, language="pir", name="IR text"
    )
