"""A PIR program as a graph, as text, and as use lists; and while it is edited.

    viz.program_graph(main)                        one picture

    film = ProgramFilm(main)
    film.take("Before")
    a.replace_all_uses_with(b)
    film.take("All uses moved", note="Nobody reads a any more.")
    viz.Player(film.steps)

The picture marks what is different from the picture before: new and removed operations, operands
that read another value now. The regions of control flow are clusters. pir_reader.py reads the
program, minipaddle's or real Paddle's.

Paddle has no counterpart: print(program) is what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .frame import (
    Cluster,
    Edge,
    GraphPane,
    Node,
    Step,
    TablePane,
    TextPane,
    cluster,
    edge,
    graph,
    node,
    step,
    table,
    text,
)
from .pir_reader import Drawn, Reader, operation_key, short


class ProgramFilm:
    """Takes pictures of a program between edits.

    A value keeps its number from the first picture to the last, so that it can be followed;
    `print(program)` counts anew each time. The text leaves out operand types, and all attributes
    but names and constants.

    `program`: minipaddle's or real Paddle's. `uses`: a table of use lists beside graph and text.

    Raises:
        TypeError: it is no PIR program.
    """

    def __init__(self, program: Any, *, uses: bool = False) -> None:
        check_pir("ProgramFilm", program)
        self.program = program
        self.uses = uses
        self.steps: list[Step] = []
        self._reader = Reader()
        self._before: list[Drawn] | None = None

    def take(
        self,
        title: str,
        note: str = "",
        states: Mapping[Any, str] | None = None,
    ) -> Step:
        """Adds a picture of the program as it is now, and returns it.

        `states`: operation -> state of its node (see viz.STATES), where nothing else is to be said.
        """
        reader = self._reader
        now = reader.read(self.program)
        marks = {
            reader.ids[operation_key(op)]: state
            for op, state in (states or {}).items()
            if operation_key(op) in reader.ids
        }
        before = now if self._before is None else self._before
        panes: list[Any] = [_graph(before, now, marks), _text(before, now, marks)]
        if self.uses:
            panes.append(self._use_table())
        self._before = now
        self.steps.append(step(title, *panes, note=note))
        return self.steps[-1]

    def rewrite(self, run: Callable[[], Any], title: str) -> list[Step]:
        """Calls `run`, which changes the program, and adds two pictures: what it matched (what is
        gone afterwards, or else what is changed), and what it put in place.
        """
        reader = self._reader
        before = reader.read(self.program)
        run()
        after = {drawn.id: drawn for drawn in reader.read(self.program)}
        matched = {d.id: "matched" for d in before if d.id not in after}
        if not matched:
            matched = {d.id: "matched" for d in before if after[d.id] != d}
        panes = [_graph(before, before, matched), _text(before, before, matched)]
        count = len(matched)
        note = f"It matches {count} operation{'' if count == 1 else 's'}." if count else ""
        self.steps.append(step(f"{title}: match", *panes, note=note or "It matches nothing."))
        if not matched and len(after) == len(before):
            return self.steps[-1:]
        self._before = before
        gone = sum(d.id not in after for d in before)
        new = len(after.keys() - {d.id for d in before})
        note = f"{gone} gone, {new} new. Operations that read something else now are marked too."
        self.take(f"{title}: replace", note)
        return self.steps[-2:]

    def number(self, value: Any) -> str:
        """The number that a value has in all pictures."""
        return self._reader.number(value)

    def _use_table(self) -> TablePane:
        rows = []
        for op in self.program.global_block().ops:
            for value in op.results():
                uses = ", ".join(f"{short(u.owner())}[{u.index()}]" for u in value.uses())
                rows.append([self.number(value), short(op), uses or "nobody"])
        return table(["value", "made by", "uses: reader[operand]"], rows, name="Use lists")


def check_pir(who: str, program: Any) -> None:
    block = program.global_block() if hasattr(program, "global_block") else None
    if block is None or hasattr(block, "vars"):  # a classic block has variables
        what = "a classic Program" if block is not None else type(program).__name__
        raise TypeError(
            f"viz.{who}: expected a PIR program, but got {what}. "
            "Build it outside of paddle.pir_utils.OldIrGuard(); viz.program_graph draws both."
        )


def _graph(before: list[Drawn], now: list[Drawn], marks: Mapping[str, str]) -> GraphPane:
    """All operations of now, and those that have just gone, as they were."""
    old, new = {d.id: d for d in before}, {d.id: d for d in now}
    nodes: list[Node] = []
    edges: list[Edge] = []
    clusters: dict[str, Cluster] = {}
    shown = [*now, *(d for d in before if d.id not in new)]
    for drawn in shown:
        for id_, outer, label in drawn.regions:
            clusters.setdefault(id_, cluster(id_, [], label, parent=outer))
    for drawn in shown:
        if not drawn.label:
            continue  # only a line of text
        if drawn.home:
            clusters[drawn.home]["nodes"].append(drawn.id)
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
    return graph(nodes, edges, clusters.values(), name="Program as a graph")


def _text(before: list[Drawn], now: list[Drawn], marks: Mapping[str, str]) -> TextPane:
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
