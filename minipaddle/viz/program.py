"""The Executor at work: one instruction after another, and the variables that live meanwhile.

    viz.executor_steps(main, feed={"x": array}, fetch_list=[loss])

The left pane is the Program, one short line per op; a block that an op runs stands below the op,
indented. Ops that the fetches don't need are marked as removed. The right pane has a row for every
variable: what it holds, and when it is freed.

It is a real run: the function that the Executor generates is watched (see run_trace.py).

Paddle has no counterpart: GLOG_v=4 logs the same story as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minipaddle.base.executor import Executor
from minipaddle.base.framework import Program
from minipaddle.base.variable import DENSE_TENSOR
from minipaddle.new_executor.control_flow import WhileGradInstruction, WhileInstruction
from minipaddle.new_executor.interpreter import Interpreter
from minipaddle.new_executor.scope import Scope, global_scope

from .frame import Step, step, table, text
from .player import Player
from .program_text import check_classic, nested_ops, sub_block
from .run_trace import HEAD, Moment, watch_run
from .schema import MAX_STEPS

LONGEST_VALUE = 34  # letters of an array in the table
# names and lines of the generated function that belong to no instruction
START = re.compile(r"start_\d+_(\w+)")  # a variable as it was when the turn began
KEPT = re.compile(r"(\w+)(?:\.append\(\(.+\)\)| = \(.+\))")  # values that a gradient will read
ADDED = re.compile(r"(\w+) = add\(\1, \w+\)")  # the gradient of one turn, to those of the others


def executor_steps(
    program: Program,
    feed: dict[str, Any] | None = None,
    fetch_list: Sequence[Any] = (),
    scope: Scope | None = None,
) -> Player:
    """Runs a classic Program and shows it: one step per instruction and one per freeing.

    In a program with blocks in blocks there is a step for each decision, too (which branch runs,
    one more turn); what is freed is seen in the step after it.

    The run works on copies: the scope stays as it is.

    Raises:
        TypeError: it is no classic Program of minipaddle.
        ValueError: the run takes more than 1,000 steps.
        What `Executor.run` raises: a feed is missing or does not fit, a fetch is unknown.
    """
    check_classic("executor_steps", program)
    return Player(ExecutorFilm(program, dict(feed or {}), list(fetch_list), scope).steps)


class ExecutorFilm:
    """One run.

    Attributes:
        steps: what the player shows; none if not `with_steps`.
        texts: the ops of the program, one line for each.
        run: for each instruction that ran, in this order, its line in `texts` from 1; the first is
            0: before all.
        sizes: for each of `run`: variable of the plan -> its bytes, when the instruction has run.
    """

    def __init__(
        self,
        program: Program,
        feed: dict[str, Any],
        fetch_list: list[Any],
        scope: Scope | None,
        with_steps: bool = True,
    ) -> None:
        scope = scope or global_scope()
        self.program = program
        self.plan = Executor().interpreter(program, tuple(sorted(feed)), fetch_list, scope).plan
        nested = list(nested_ops(program))
        self.texts = [line for line, _ in nested]
        self.ops = [op for _, op in nested]
        self.lines: dict[int, int] = {}  # id of an instruction -> its line
        self.notes = _notes(self.plan.instructions)
        numbers = {id(op): line for line, op in enumerate(self.ops, start=1)}
        for instruction in _all(self.plan.instructions):
            block, position = instruction.place
            self.lines[id(instruction)] = numbers[id(program.block(block).ops[position])]
        self.held: dict[str, Any] = {}
        self.freed_after: dict[str, str] = {}
        self.keeping = ""
        self.most = 0
        self.with_steps = with_steps
        self.steps: list[Step] = []
        self.run: list[int] = []
        self.sizes: list[dict[str, int]] = []
        self._run(feed, scope)

    # -- the run ---------------------------------------------------------------------------------

    def _run(self, feed: dict[str, Any], scope: Scope) -> None:
        plan = self.plan
        feeds = [np.array(check(feed[name])) for name, (_, check) in plan.feeds.items()]
        parameters = [self._parameter(name, scope) for name in plan.scope_reads]
        names = [*(variable for variable, _ in plan.feeds.values()), *plan.scope_reads.values()]
        self.held = dict(zip(names, feeds + parameters, strict=True))
        # The function lets go of them after their last use; the Scope does not.
        self.in_scope = dict(zip(plan.scope_reads.values(), parameters, strict=True))
        self._count(0)
        skipped = len(self.ops) - len({*self.lines.values()})
        note = f"In memory: {self._memory()}."
        if skipped:
            note += f" {skipped} of {len(self.ops)} ops won't run: no fetch needs them."
        self._take("Before the first instruction: feeds and parameters are there", note)
        # one function for the whole run, also where the Executor would use several threads
        watch_run(Interpreter(plan), feeds, parameters, self._see)
        got = ", ".join(self.name(variable) for variable in plan.fetches) or "nothing"
        self._take(
            f"Done: you get {got}", f"At most {self.most} bytes were in memory at the same time."
        )

    def _parameter(self, name: str, scope: Scope) -> np.ndarray:
        if self.program.lr_scheduler is not None and name == self.program.lr_var.name:
            return np.asarray(self.program.lr_scheduler(), self.program.lr_var.dtype.numpy_dtype)
        return np.array(scope.get(name))

    def _see(self, moment: Moment) -> None:
        if len(self.steps) == MAX_STEPS - 1:
            raise ValueError(
                f"viz.executor_steps: expected a run of at most {MAX_STEPS} steps, but got more. "
                "Feed what makes fewer turns, or show a smaller program."
            )
        known = self.plan.names
        self.held = self.in_scope | {
            name: value
            for name, value in moment.held.items()
            if name in known or START.fullmatch(name)
        }
        for variable in self.held:
            self.freed_after.pop(variable, None)
        kept, added = KEPT.fullmatch(moment.text), ADDED.fullmatch(moment.text)
        if moment.text.startswith("del "):
            self._freed(moment, moment.text.removeprefix("del ").split(", "))
        elif HEAD.fullmatch(moment.text):
            self._decided(moment)
        elif moment.instruction is not None:
            if not moment.text.startswith("next("):  # it counts turns, so that none is endless
                self._ran(moment)
        elif kept:
            self.keeping = kept[1]  # the line after it drops their names
        elif added:
            note = f"Each turn has its piece. In memory: {self._memory()}."
            self._take(f"add to {self.name(added[1])}", note, moment, [added[1]])

    def _ran(self, moment: Moment) -> None:
        line = self.lines[id(moment.instruction)]
        self._count(line)
        made = moment.instruction.writes()
        names = ", ".join(self.name(variable) for variable in made)
        title = f"run {self.ops[line - 1].type}"
        note = f"{names} {'is' if len(made) == 1 else 'are'} written. In memory: {self._memory()}."
        self._take(title, note, moment, made)

    def _freed(self, moment: Moment, dead: list[str]) -> None:
        if self.keeping:
            note = f"The gradient will read {'it' if len(dead) == 1 else 'them'}. Kept in "
            note += f"{self.name(self.keeping)}. In memory: {self._memory()}."
            self._take(f"keep {self._names(dead)}", note, moment, [self.keeping])
            self.keeping = ""
            return
        dead = [name for name in dead if name not in {*self.in_scope, "_"}]
        for variable in dead:
            self.freed_after[variable] = f"freed after line {self.lines[id(moment.after)]}"
        if not dead or self.program.num_blocks > 1:
            return  # turns have many of these: the next step shows them
        note = f"No later instruction reads {'it' if len(dead) == 1 else 'them'}. "
        self._take(
            f"free {self._names(dead)}", note + f"In memory: {self._memory()}.", moment, dead
        )

    def _decided(self, moment: Moment) -> None:
        """A condition was read, or a loop over turns that are kept goes on."""
        op = self.ops[self.lines[id(moment.instruction)] - 1]
        block, turn = sub_block(op), moment.turn
        if isinstance(moment.instruction, WhileGradInstruction):
            left = len(self.held[moment.instruction.scope]) - turn + 1
            title = f"{op.type}: back through turn {left}" if moment.entered else f"{op.type}: done"
            note = (
                "The last turn comes first."
                if moment.entered
                else f"It went through {_turns(turn)}."
            )
        elif isinstance(moment.instruction, WhileInstruction):
            title = f"{op.type}: begin turn {turn}" if moment.entered else f"{op.type}: done"
            note = f"The condition is {moment.entered}: block {block} "
            note += "runs." if moment.entered else f"has run {_turns(turn)}."
        else:
            title = f"{op.type}: {'run' if moment.entered else 'pass by'} block {block}"
            note = f"The condition is {moment.entered}."
        self._take(title, note, moment)

    # -- what is seen ----------------------------------------------------------------------------

    def _take(
        self, title: str, note: str, moment: Moment | None = None, touched: Sequence[str] = ()
    ) -> None:
        if not self.with_steps:
            return
        now = []
        if moment is not None:
            now = [self.lines[id(item)] for item in moment.inside]
            if not self.keeping:  # it is the loop that keeps values, not the last op in it
                now.append(self.lines[id(moment.after)])
            title = f"{self._turn(moment)}{'line' if moment.turns else 'Line'} {now[-1]}: {title}"
        unused = [line for line in range(1, len(self.ops) + 1) if line not in self.lines.values()]
        program = text(
            self.texts, highlight=now, removed=unused, language="program", name="Program"
        )
        rows, highlight = [], []
        for variable in self._variables():
            if variable in touched:
                highlight.append(len(rows))
            rows.append([self.name(variable), self._shape(variable), self._held(variable)])
        columns = ["variable", "shape", "holds"]
        if self.program.num_blocks > 1:  # the program is wide: leave out what can be seen anyway
            columns, rows = columns[::2], [row[::2] for row in rows]
        variables = table(columns, rows, highlight=highlight, name="Variables")
        self.steps.append(step(title, program, variables, note=note))

    def _turn(self, moment: Moment) -> str:
        """`Turn 2, ` inside of a loop; of a loop in a loop both, the outer one first."""
        turns = []
        for loop, turn in zip(filter(_is_loop, moment.inside), moment.turns, strict=True):
            if isinstance(loop, WhileGradInstruction):
                turn = len(self.held[loop.scope]) - turn + 1
            turns.append(str(turn))
        return f"Turn {', '.join(turns)}, " if turns else ""

    def _variables(self) -> list[str]:
        """All variables of the plan, in the order in which they come to be."""
        names = [variable for variable, _ in self.plan.feeds.values()]
        names += self.plan.scope_reads.values()
        for instruction in _all(self.plan.instructions):
            names += getattr(instruction, "saved", {}).values()
            names += instruction.writes()
        return list(dict.fromkeys(names))

    def _shape(self, variable: str) -> str:
        """The shape, from InferMeta: it is known before the run."""
        for block in self.program.blocks:
            found = block.vars.get(self.plan.names.get(variable, ""))
            if found is not None and found.proto.type.type == DENSE_TENSOR:
                return str(list(found.shape))
        return ""

    def _held(self, variable: str) -> str:
        value = self.held.get(variable)
        if value is None:
            return self.freed_after.get(variable, "")
        if not _is_scope(value):
            return _shown(np.asarray(value))
        nbytes = sum(array.nbytes for array in _arrays(value))
        what = "this block" if isinstance(value, tuple) else _turns(len(value))
        return f"values of {what}: {nbytes} bytes"

    def _names(self, variables: list[str]) -> str:
        return ", ".join(self.name(variable) for variable in variables)

    def name(self, variable: str) -> str:
        """The variable's name in the Program."""
        began = START.fullmatch(variable)
        name = self.plan.names.get(began[1] if began else variable, variable)
        return f"{name} as the turn began" if began else name + self.notes.get(variable, "")

    def _count(self, line: int) -> None:
        """Notes which variables are there, and how large they are."""
        seen: set[int] = set()
        sizes = {}
        for variable, value in sorted(self.held.items(), key=lambda item: _is_scope(item[1])):
            fresh = [array for array in _arrays(value) if id(array) not in seen]
            seen.update(map(id, fresh))
            sizes[variable] = sum(array.nbytes for array in fresh)
        self.run.append(line)
        self.sizes.append(sizes)

    def _memory(self) -> str:
        arrays = {id(array): array for value in self.held.values() for array in _arrays(value)}
        total = sum(array.nbytes for array in arrays.values())
        self.most = max(self.most, total)
        count = sum(value is not None for value in self.held.values())
        return f"{count} variable{'' if count == 1 else 's'}, {total} bytes"


def _notes(instructions: Sequence[Any]) -> dict[str, str]:
    """Variables that share their name with another one: what to write behind it."""
    notes = {}
    for instruction in _all(instructions):
        notes |= dict.fromkeys(getattr(instruction, "saved", {}).values(), " (kept)")
        notes |= dict.fromkeys(getattr(instruction, "captured", {}), " (of this turn)")
    return notes


def _is_loop(instruction: Any) -> bool:
    return isinstance(instruction, (WhileInstruction, WhileGradInstruction))


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


def _is_scope(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _arrays(value: Any) -> list[np.ndarray]:
    """The arrays in a variable: one; those that are kept for a gradient; none."""
    if _is_scope(value):
        return [array for item in value for array in _arrays(item)]
    return [] if value is None else [value]


def _all(instructions: Sequence[Any]) -> Iterator[Any]:
    """The instructions, with those of their blocks before each."""
    for instruction in instructions:
        yield from _all(getattr(instruction, "block", ()))
        yield instruction


def _shown(array: np.ndarray) -> str:
    """An array in one line, cut where it gets long."""
    line = " ".join(np.array2string(array, precision=3, threshold=20, edgeitems=2).split())
    return line if len(line) <= LONGEST_VALUE else line[: LONGEST_VALUE - 2] + " …"
