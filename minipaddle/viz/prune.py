"""Pruning: a search from what you want back to the ops that it needs.

    viz.prune_steps(main, [loss])

The rule is that of base/prune.py: ops are looked at from the last to the first, and one stays if
it writes a name that is needed. Then its inputs are needed, too.

Paddle has no counterpart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base.framework import Operator, Program, Variable

from .frame import Step, step, table, text
from .frame_checks import listed
from .player import Player
from .program_text import check_classic, short_op, sub_block


def prune_steps(
    program: Program, targets: Sequence[Variable | str], feeds: Sequence[str] = ()
) -> Player:
    """What `program._prune_with_input(feeds, targets)` keeps of block 0, and why: one step for each
    op, from the last to the first. The program stays as it is.

    Raises:
        TypeError: it is no classic Program. ValueError: a target is not in block 0.
    """
    check_classic("prune_steps", program)
    names = [getattr(item, "name", item) for item in listed("viz.prune_steps", "targets", targets)]
    program._prune_with_input(list(feeds), names)  # says what is wrong with them
    film = _Film(program, set(feeds))
    film.run(names)
    return Player(film.steps)


class _Film:
    """`needed`: name -> for what; `read`: those that ops which stay read; `verdicts`: whether an op
    stays, by line, as far as the search has come."""

    def __init__(self, program: Program, feeds: set[str]) -> None:
        self.program, self.feeds = program, feeds
        self.ops = program.global_block().ops
        self.lines = [short_op(op) for op in self.ops]
        self.needed: dict[str, str] = {}
        self.read: set[str] = set()
        self.verdicts: dict[int, bool] = {}
        self.steps: list[Step] = []

    def run(self, targets: list[str]) -> None:
        makers = self._makers(targets)
        self.needed = dict.fromkeys(targets, "you want it")
        self._take("Before the search", f"You want {', '.join(targets)}.", [])
        gone: list[int] = []
        for number in range(len(self.ops), 0, -1):
            op = self.ops[number - 1]
            written = dict.fromkeys(op.output_arg_names)
            why = [name for name in written if name in self.read or makers.get(name) == number]
            if why:
                self._goes(gone)
                self.verdicts[number] = True
                self._stays(number, op, why)
                gone = []
            else:
                gone.append(number)
        self._goes(gone)
        note = f"{sum(self.verdicts.values())} of {len(self.ops)} ops stay."
        self._take("After the search", note, [])

    def _goes(self, lines: list[int]) -> None:
        """One step for ops that go and stand together; `lines` from the last to the first."""
        if not lines:
            return
        for number in lines:
            self.verdicts[number] = False
        first, last = lines[-1], lines[0]
        if first == last:
            title = f"Line {first}, {self.ops[first - 1].type}, goes"
            names = ", ".join(self.ops[first - 1].output_arg_names)
            note = f"Nobody needs {names}."
        else:
            title = f"Lines {last} to {first} go"
            note = "Nobody needs what they write."
        self._take(title, note, lines[::-1])

    def _stays(self, number: int, op: Operator, why: list[str]) -> None:
        reads = self._reads(op)
        fed = [name for name in reads if name in self.feeds]
        fresh = [name for name in reads if name not in self.read and name not in self.feeds]
        self.read.update(fresh)
        for name in reads:
            self.needed.setdefault(name, f"line {number}, {op.type}")
        note = f"It writes {', '.join(why)}."
        note += f" So {', '.join(fresh)} {_is(fresh)} needed, too." if fresh else ""
        note += f" {', '.join(fed)} {_is(fed)} fed: no op has to write it." if fed else ""
        self._take(f"Line {number}, {op.type}, stays", note, [number])

    def _makers(self, targets: list[str]) -> dict[str, int]:
        """For each target: the line that writes it last, the optimizer's aside."""
        return {
            name: number
            for number, op in enumerate(self.ops, start=1)
            for name in op.output_arg_names
            if name in targets and not op._is_optimize_op()
        }

    def _reads(self, op: Operator) -> list[str]:
        """What an op reads, and its blocks from outside."""
        names = list(op.input_arg_names)
        inner = sub_block(op)
        if inner is not None:
            block = self.program.block(inner)
            for each in block.ops:
                names += [name for name in self._reads(each) if not block.has_var(name)]
        return list(dict.fromkeys(names))

    def _take(self, title: str, note: str, now: list[int]) -> None:
        program = text(
            self.lines,
            highlight=now,
            removed=[number for number, stays in self.verdicts.items() if not stays],
            language="program",
            name="Block 0",
        )
        rows = []
        for name, why in self.needed.items():
            written = [n for n, stays in self.verdicts.items() if stays and self._writes(n, name)]
            where = "fed" if name in self.feeds else ", ".join(f"line {n}" for n in sorted(written))
            rows.append([name, why, where])
        columns = ["needed", "for", "comes from"]
        self.steps.append(step(title, program, table(columns, rows, name="Needed"), note=note))

    def _writes(self, number: int, name: str) -> bool:
        return name in self.ops[number - 1].output_arg_names


def _is(names: Sequence[Any]) -> str:
    return "is" if len(names) == 1 else "are"
