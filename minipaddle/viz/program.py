"""The Executor at work: one instruction after another, and the variables that live meanwhile.

    viz.executor_steps(main, feed={"x": array}, fetch_list=[loss])

The left pane is the Program, one short line per op; ops that the fetches don't need are marked as
removed. The right pane has a row for every variable: what it holds, and when it is freed.

Paddle has no counterpart: GLOG_v=4 logs the same story as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.base.executor import Executor
from minipaddle.base.framework import Operator, Program
from minipaddle.new_executor.instruction import Instruction, InstructionList
from minipaddle.new_executor.interpreter import int_array, scalar
from minipaddle.new_executor.scope import Scope, global_scope
from minipaddle.phi.core.attribute import IntArray

from .frame import Step, step, table, text
from .player import Player
from .program_text import check_classic, short_op

LONGEST_VALUE = 34  # letters of an array in the table


def executor_steps(
    program: Program,
    feed: dict[str, Any] | None = None,
    fetch_list: Sequence[Any] = (),
    scope: Scope | None = None,
) -> Player:
    """Runs a classic Program, one step per instruction and one per freeing, and shows it.

    The run works on copies: the scope stays as it is.

    Raises:
        TypeError: it is no classic Program of minipaddle. ValueError: it has blocks in blocks.
        What `Executor.run` raises: a feed is missing or does not fit, a fetch is unknown.
    """
    return Player(ExecutorFilm(program, dict(feed or {}), list(fetch_list), scope).steps)


@dataclass
class Life:
    """A variable's: its size, and the first instruction with it and the first without it.

    Instructions count from 1; 0 is before the first.
    """

    nbytes: int
    born: int
    freed: int


class ExecutorFilm:
    """One run. `held`: variable of the plan -> array; freed variables are not in it.

    `lines`: for each instruction the line of its op; `lives`: variable -> its life.
    """

    def __init__(
        self, program: Program, feed: dict[str, Any], fetch_list: list[Any], scope: Scope | None
    ) -> None:
        _check_one_block(program)
        scope = scope or global_scope()
        interpreter = Executor().interpreter(program, tuple(sorted(feed)), fetch_list, scope)
        self.plan: InstructionList = interpreter.plan
        self.block = program.global_block()
        self.held: dict[str, np.ndarray] = {}
        self.freed_after: dict[str, str] = {}
        self.most = 0
        self.steps: list[Step] = []
        self.lines = _lines_of(self.plan, self.block.ops)
        self.lives: dict[str, Life] = {}
        self._run(feed, scope)

    def _run(self, feed: dict[str, Any], scope: Scope) -> None:
        plan = self.plan
        for name, (variable, check) in plan.feeds.items():
            self.held[variable] = check(np.asarray(feed[name]))
        for name, variable in plan.scope_reads.items():
            self.held[variable] = np.array(scope.get(name))
        skipped = len(self.block.ops) - len(plan.instructions)
        self._live(self.held, 0)
        note = f"In memory: {self._memory()}."
        if skipped:
            note += f" {skipped} of {len(self.block.ops)} ops won't run: no fetch needs them."
        self._take("Before the first instruction: feeds and parameters are there", note)
        for number, (instruction, dead, line) in enumerate(
            zip(plan.instructions, plan.last_uses(), self.lines, strict=True), start=1
        ):
            self._execute(instruction)
            self._live(instruction.writes(), number)
            made = ", ".join(self.name(variable) for variable in instruction.writes())
            title = f"Line {line}: run {self.block.ops[line - 1].type}"
            note = f"{made} is written. In memory: {self._memory()}."
            self._take(title, note, line, instruction.writes())
            if dead:
                names = ", ".join(self.name(variable) for variable in dead)
                for variable in dead:
                    self.held.pop(variable)
                    self.lives[variable].freed = number + 1
                    self.freed_after[variable] = f"freed after line {line}"
                self._take(
                    f"Line {line}: free {names}",
                    f"No later instruction reads {'it' if len(dead) == 1 else 'them'}. "
                    f"In memory: {self._memory()}.",
                    line,
                    dead,
                )
        got = ", ".join(self.name(variable) for variable in plan.fetches) or "nothing"
        self._take(
            f"Done: you get {got}", f"At most {self.most} bytes were in memory at the same time."
        )

    def _live(self, variables: Iterable[str], number: int) -> None:
        """Notes variables that are there from instruction `number` on, until they are freed."""
        for variable in variables:
            if variable in self.held and variable not in self.lives:
                life = Life(self.held[variable].nbytes, number, len(self.lines) + 1)
                self.lives[variable] = life

    def _execute(self, instruction: Instruction) -> None:
        def read(item: Any) -> Any:
            return [self.held[i] for i in item] if isinstance(item, list) else self.held.get(item)

        kinds = {attr.name: attr.kind for attr in instruction.op.attrs}
        attrs = dict(instruction.attrs)
        for name, variable in instruction.attr_inputs.items():
            reader = int_array if kinds[name] == IntArray else scalar
            attrs[name] = reader(self.held[variable])
        results = instruction.op.run(np, *(read(item) for item in instruction.inputs), **attrs)
        several = len(instruction.op.outputs) > 1 or instruction.op.forward_op is not None
        for variable, value in zip(
            instruction.outputs, results if several else [results], strict=True
        ):
            if isinstance(variable, list):
                self.held.update(zip(variable, value))
            elif variable is not None:
                self.held[variable] = value

    def _take(
        self, title: str, note: str, line: int | None = None, touched: Sequence[str] = ()
    ) -> None:
        lines = [short_op(operator) for operator in self.block.ops]
        unused = [i for i in range(1, len(lines) + 1) if i not in self.lines]
        now = [] if line is None else line
        rows, highlight = [], []
        for variable in self._variables():
            if variable in touched:
                highlight.append(len(rows))
            rows.append([self.name(variable), self._shape(variable), self._held(variable)])
        self.steps.append(
            step(
                title,
                text(lines, highlight=now, removed=unused, language="program", name="Program"),
                table(["variable", "shape", "holds"], rows, highlight=highlight, name="Variables"),
                note=note,
            )
        )

    def _variables(self) -> list[str]:
        """All variables of the plan, in the order in which they come to be."""
        plan = self.plan
        names = [variable for variable, _ in plan.feeds.values()]
        names += plan.scope_reads.values()
        for instruction in plan.instructions:
            names += instruction.writes()
        return list(dict.fromkeys(names))

    def _shape(self, variable: str) -> str:
        """The shape, from InferMeta: it is known before the run."""
        return str(list(self.block.var(self.name(variable)).shape))

    def _held(self, variable: str) -> str:
        if variable in self.held:
            return _shown(self.held[variable])
        return self.freed_after.get(variable, "")

    def name(self, variable: str) -> str:
        return self.plan.names[variable]

    def _memory(self) -> str:
        total = sum(array.nbytes for array in self.held.values())
        self.most = max(self.most, total)
        count = len(self.held)
        return f"{count} variable{'' if count == 1 else 's'}, {total} bytes"


def _check_one_block(program: Any) -> None:
    check_classic("executor_steps", program)
    if program.num_blocks > 1:
        raise ValueError(
            f"viz.executor_steps: expected a Program of one block, but got {program.num_blocks} "
            "blocks. A program with if or while is not stepped; viz.program_graph draws it."
        )


def _lines_of(plan: InstructionList, ops: Sequence[Operator]) -> list[int]:
    """The line of each instruction's op in the Program, from 1. Both are in the same order."""
    lines, position = [], 0
    for instruction in plan.instructions:
        written = [plan.names[variable] for variable in instruction.writes()]
        while ops[position].phi_op is not instruction.op or not set(written) <= set(
            ops[position].output_arg_names
        ):
            position += 1
        position += 1
        lines.append(position)
    return lines


def _shown(array: np.ndarray) -> str:
    """An array in one line, cut where it gets long."""
    line = " ".join(np.array2string(array, precision=3, threshold=20, edgeitems=2).split())
    return line if len(line) <= LONGEST_VALUE else line[: LONGEST_VALUE - 2] + " …"
