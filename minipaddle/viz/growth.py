"""A program as it grows: a function is run line by line, and each line's traces are shown.

    def build():
        x = paddle.static.data("x", [None, 3], "float32")
        return paddle.static.nn.fc(x, 2)

    viz.growth_steps(build, main, startup)

The function stands beside the startup program, and below them the main program: what the line has
just appended is marked.

How it is watched: Python calls a trace function before each line of the function (sys.settrace);
the programs are compared there.

Paddle has no counterpart: print(program) after each line tells the same.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from minipaddle.base.framework import Program
from minipaddle.static import program_guard

from .frame import Step, TextPane, step, text
from .player import Player
from .program_text import check_classic, program_lines

LONGEST_TITLE = 60  # letters


def growth_steps(build: Callable[[], Any], main: Program, startup: Program) -> Player:
    """Runs `build()` inside `program_guard(main, startup)`: one step for each line that changes a
    program. Afterwards the programs hold what it built.

    Raises:
        TypeError: build is no function written in Python without arguments, or main or startup is
            no classic Program.
        What `build` raises.
    """
    if not isinstance(build, FunctionType) or build.__code__.co_argcount:
        raise TypeError(
            "viz.growth_steps: expected build to be a function without arguments, but got "
            f"{getattr(build, '__name__', type(build).__name__)}. Put the lines that build the "
            "program into one."
        )
    for program in (main, startup):
        check_classic("growth_steps", program)
    film = _Film(build, main, startup)
    with program_guard(main, startup):
        film.run()
    return Player(film.steps)


class _Film:
    """`counts`: how many variables and ops each program has; `lines`: how it looked at the last
    step."""

    def __init__(self, build: FunctionType, main: Program, startup: Program) -> None:
        self.build = build
        self.programs = {"main": main, "startup": startup}
        self.source = textwrap.dedent(inspect.getsource(build)).splitlines()
        self.spans = _statements("\n".join(self.source))
        self.counts = {name: _count(program) for name, program in self.programs.items()}
        self.lines = {name: program_lines(program) for name, program in self.programs.items()}
        self.steps: list[Step] = []
        self.at: tuple[int, int] | None = None  # the lines that run now, counted from `def`

    def run(self) -> None:
        self._take("Before the first line", "", [])
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            self.build()
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        return self._line if frame.f_code is self.build.__code__ else None

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event in ("line", "return"):
            line = frame.f_lineno - self.build.__code__.co_firstlineno + 1
            here = self.spans.get(line, (line, line))
            if here != self.at or event == "return":  # else: another line of the same statement
                self._look()
                self.at = here
        return self._line

    def _look(self) -> None:
        """A step, if the line that ran until now has changed a program."""
        counts = {name: _count(program) for name, program in self.programs.items()}
        if self.at is None or counts == self.counts:
            return
        words = []
        for name, (variables, ops) in counts.items():
            had_variables, had_ops = self.counts[name]
            new = (variables - had_variables, ops - had_ops)
            gets = [f"{_number(new[0], 'variable')}"] * bool(new[0])
            gets += [f"{_number(new[1], 'op')}"] * bool(new[1])
            words.append(f"{name} gets {' and '.join(gets) or 'nothing'}")
        first, last = self.at
        title = " ".join(line.strip() for line in self.source[first - 1 : last])
        if len(title) > LONGEST_TITLE:
            title = title[: LONGEST_TITLE - 2] + " …"
        self.counts = counts
        self._take(title, "; ".join(words) + ".", list(range(first, last + 1)))

    def _take(self, title: str, note: str, now: list[int]) -> None:
        source = text(self.source, highlight=now, language="python", name="What you write")
        main, startup = (self._pane(name) for name in self.programs)
        self.steps.append(step(title, source, startup, main, note=note))

    def _pane(self, name: str) -> TextPane:
        lines = program_lines(self.programs[name])
        known = Counter(self.lines[name])
        fresh = []
        for number, line in enumerate(lines, start=1):
            if known[line]:
                known[line] -= 1
            else:
                fresh.append(number)
        self.lines[name] = lines
        return text(lines, added=fresh, language="program", name=f"{name} program")


def _count(program: Program) -> tuple[int, int]:
    return (
        sum(len(block.vars) for block in program.blocks),
        sum(len(block.ops) for block in program.blocks),
    )


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _statements(source: str) -> dict[int, tuple[int, int]]:
    """Line -> first and last line of its statement; of `with`, `for` and their like, the head."""
    spans = {}
    for found in ast.walk(ast.parse(source)):  # outer statements come before inner ones
        if isinstance(found, ast.stmt):
            last = found.end_lineno or found.lineno
            body = getattr(found, "body", None)
            if body:
                last = max(found.lineno, body[0].lineno - 1)
            spans.update(dict.fromkeys(range(found.lineno, last + 1), (found.lineno, last)))
    return spans
