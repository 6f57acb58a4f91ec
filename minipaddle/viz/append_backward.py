"""append_backward at work: it walks up the forward ops, and the program grows at its end.

    viz.append_backward_steps(main)

The program is a finished one, after append_backward or minimize. What happened is read off it:
gradient ops stand in the order in which they were appended, and a gradient op reads `out@GRAD` of
the forward op that wrote `out`.

Paddle has no counterpart: print(program) before and after tells the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from .frame import Step, TablePane, step, table, text
from .player import Player
from .program_text import short_op

BACKWARD, OPTIMIZE = 1, 2  # bits of an op's role
# `x@GRAD`, a piece of it (`x@GRAD@RENAME@block0@1`), and further ones of later walks (`x@GRAD_1`)
GRADIENT = re.compile(r"(?P<of>.+)@GRAD(_\d+)?(@RENAME@.*)?")


def append_backward_steps(program: Any) -> Player:
    """The walk of append_backward through block 0: one step for each forward op that got gradient
    ops, and one for each `sum` of pieces.

    `program`: a classic Program, of minipaddle or of real Paddle, that has gradient ops.

    Raises:
        TypeError: it is no classic Program.
        ValueError: it has no gradient ops, or gradients of gradients.
    """
    if not hasattr(program, "global_block") or not hasattr(program.global_block(), "vars"):
        raise TypeError(
            "viz.append_backward_steps: expected a classic Program, but got "
            f"{type(program).__name__}. Build it under paddle.pir_utils.OldIrGuard()."
        )
    film = _Film(program.global_block())
    film.run()
    return Player(film.steps)


@dataclass(frozen=True)
class _Why:
    """Why an op was appended: "start", "sum", "zeros", "again" or "grad"; and for which variable
    or for which op."""

    kind: str
    of: Any


@dataclass
class _Film:
    block: Any
    steps: list[Step] = field(default_factory=list)
    pieces: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    whole: dict[str, str] = field(default_factory=dict)  # variable -> its whole gradient

    def __post_init__(self) -> None:
        self.ops = list(self.block.ops)
        self.lines = [short_op(op) for op in self.ops]
        self.why = self._reasons()
        if not self.why:
            raise ValueError(
                "viz.append_backward_steps: expected a Program with gradient ops, but got one "
                "without. Call paddle.static.append_backward(loss) first."
            )
        names = [name for number in self.why for name in self.ops[number].output_arg_names]
        second = [of for of in _gradients(names) if "@GRAD" in of]
        if second:
            raise ValueError(
                "viz.append_backward_steps: expected gradients of forward variables only, but got "
                f"one of {second[0]!r}. Show the program before its second backward."
            )
        made = [n for n, why in self.why.items() if why.kind != "sum"]
        pieces = {name for number in made for name in self.ops[number].output_arg_names}
        self.expected = Counter(of for name in pieces for of in _gradients([name]))

    def run(self) -> None:
        first = min(self.why)
        walked = {why.of for why in self.why.values() if why.kind == "grad"}
        aside = [number + 1 for number in range(first) if number not in walked]
        note = f"{len(walked)} of {first} ops get gradient ops."
        if aside:
            one = len(aside) == 1
            lines = ", ".join(map(str, aside))
            note += f" Line{'' if one else 's'} {lines} {'gets' if one else 'get'} none: the loss "
            note += "doesn't depend on it, or no input of it needs a gradient."
        self._take("Before the walk: the forward ops", note, [], [], first)
        for why, group in groupby(sorted(self.why), key=lambda number: self.why[number]):
            self._step(why, list(group))
        written = {name for op in self.ops[:first] for name in op.output_arg_names}
        leaves = ", ".join(name for name in self.pieces if name not in written)
        rest = len(self.ops) - max(self.why) - 1
        note = f"What no op wrote has a gradient now, too: {leaves}."
        if rest:
            note += f" {rest} more op{'s follow' if rest > 1 else ' follows'}: the optimizer's."
        self._take("The walk has reached the first op", note, [], [], max(self.why) + 1)

    def _step(self, why: _Why, new: list[int]) -> None:
        names = [name for n in new for name in self.ops[n].output_arg_names]
        touched = _gradients(names)
        if why.kind != "sum":
            for name in names:
                for of in _gradients([name]):
                    if name not in self.pieces[of]:  # a loop's gradient op writes one anew
                        self.pieces[of].append(name)
                    if self.expected[of] == 1:
                        self.whole[of] = name
        title, note = self._words(why, new, touched)
        if why.kind == "sum":
            (self.whole[why.of],) = names
        now = [why.of] if why.kind == "grad" else []
        self._take(title, note, now, new, new[-1] + 1, touched)

    def _words(self, why: _Why, new: list[int], touched: list[str]) -> tuple[str, str]:
        types = ", ".join(self.ops[number].type for number in new)
        if why.kind == "start":
            return (
                f"Start: the gradient of {why.of} is given",
                "How much does the loss change when the loss changes? Exactly as much: 1.",
            )
        if why.kind == "zeros":
            return f"Nobody read {why.of}: zeros", "The next gradient op asks for it all the same."
        if why.kind == "again":
            return f"Compute {why.of} again", "It was not kept: recomputing costs time, not memory."
        if why.kind == "sum":
            count = len(self.pieces[why.of])
            return f"sum: {why.of} has all its {count} pieces", (
                f"{why.of} was read in {count} places. What comes next reads one gradient, so the "
                "pieces are added now."
            )
        forward = self.ops[why.of]
        title = f"Line {why.of + 1}, {forward.type}: append {types}"
        note = f"It gives the gradient of {', '.join(touched)}."
        stopped = [
            name
            for name in dict.fromkeys(forward.input_arg_names)
            if name not in touched and getattr(self.block.vars.get(name), "stop_gradient", False)
        ]
        if stopped:
            note += f" {', '.join(stopped)} stops gradients: none for it."
        waiting = [name for name in touched if len(self.pieces[name]) < self.expected[name]]
        if waiting:
            note += f" Of {', '.join(waiting)} more pieces will come."
        return title, note

    def _reasons(self) -> dict[int, _Why]:
        """For the number of each gradient op: why it is there."""
        reasons: dict[int, _Why] = {}
        writer: dict[str, int] = {}
        for number, op in enumerate(self.ops):
            role = int(op.attr("op_role")) if op.has_attr("op_role") else 0
            if role & BACKWARD and not role & OPTIMIZE:
                reasons[number] = self._reason(op, reasons, writer)
            writer.update(dict.fromkeys(op.output_arg_names, number))
        return reasons

    def _reason(self, op: Any, reasons: dict[int, _Why], writer: dict[str, int]) -> _Why:
        outputs = _gradients(op.output_arg_names)
        inputs = _gradients(op.input_arg_names)
        if op.type == "sum" and outputs and set(inputs) == set(outputs):
            return _Why("sum", outputs[0])
        for name in inputs:
            if name in writer:
                return _Why("grad", writer[name])
        for name in op.input_arg_names:  # a rule of several ops: the later ones read the earlier
            if writer.get(name) in reasons and reasons[writer[name]].kind == "grad":
                return reasons[writer[name]]
        if outputs:
            given = op.has_attr("value") and op.attr("value") == 0
            return _Why("zeros" if given else "start", outputs[0])
        return _Why(
            "again", ", ".join(name.partition(".subprog_")[0] for name in op.output_arg_names)
        )

    def _take(
        self,
        title: str,
        note: str,
        now: list[int],
        new: list[int],
        end: int,
        touched: list[str] | None = None,
    ) -> None:
        program = text(
            self.lines[:end],
            highlight=[number + 1 for number in now],
            added=[number + 1 for number in new],
            language="program",
            name="Block 0",
        )
        self.steps.append(step(title, program, self._table(touched or []), note=note))

    def _table(self, touched: list[str]) -> TablePane:
        rows, highlight = [], []
        for name, pieces in self.pieces.items():
            if name in touched:
                highlight.append(len(rows))
            come = f"{len(pieces)} of {self.expected[name]}"
            rows.append([name, come, self.whole.get(name, "")])
        return table(
            ["variable", "pieces", "gradient"], rows, highlight=highlight, name="Gradients"
        )


def _gradients(names: list[str]) -> list[str]:
    """The variables of which these are gradients, or pieces of gradients; each once."""
    found = [match["of"] for name in names if (match := GRADIENT.fullmatch(name))]
    return list(dict.fromkeys(found))
