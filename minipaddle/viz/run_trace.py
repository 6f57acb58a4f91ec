"""Watches the function that the Executor has generated, line by line.

The function's text (`Interpreter.text`) is the run: a line for each instruction, `del` where a
variable is freed, Python's own `if`, `while` and `for` where blocks run. Python calls a trace
function before each line (sys.settrace); it sees the function's local variables, so what is shown
as alive is what is alive.

Paddle has no counterpart.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from minipaddle.new_executor.interpreter import Interpreter

HEAD = re.compile(r" *(if|while|for) .*:")


@dataclass(frozen=True)
class Moment:
    """After a line of the function.

    Attributes:
        text: the line, without its indentation.
        instruction: what the line carries out; None where it only keeps books.
        after: the instruction that it stands behind, if it carries out none; else the same.
        inside: the instructions in whose blocks it stands, the outermost first.
        turns: which turn each loop among `inside` is in, from 1.
        entered: of the head of a block: whether the block runs now.
        turn: of the head of a loop: which turn begins, or how many there were.
        held: the local variables.
    """

    text: str
    instruction: Any
    after: Any
    inside: tuple[Any, ...]
    turns: tuple[int, ...]
    entered: bool
    turn: int
    held: dict[str, Any]


def watch_run(
    interpreter: Interpreter, feeds: list[Any], parameters: list[Any], see: Callable[[Moment], None]
) -> None:
    """Runs the function, and calls `see` after each line.

    Raises:
        What the function or `see` raises.
    """
    watch = _Watch(interpreter, see)
    before = sys.gettrace()
    sys.settrace(watch.enter)
    try:
        interpreter.function(feeds, parameters)
    finally:
        sys.settrace(before)


class _Watch:
    """`heads`: for each line the heads of the blocks around it; `at`: the line that runs now."""

    def __init__(self, interpreter: Interpreter, see: Callable[[Moment], None]) -> None:
        self.code = interpreter.function.__code__
        self.instructions = interpreter.lines
        self.text = ["", *interpreter.text.splitlines()]  # lines are counted from 1
        self.see = see
        self.heads, self.other = _blocks(self.text)
        self.turns: dict[int, int] = {}
        self.at = 0

    def enter(self, frame: FrameType, event: str, _: Any) -> Any:
        return self.line if frame.f_code is self.code else None

    def line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "exception":
            self.at = 0  # it did not come to an end
        elif event in ("line", "return"):
            if self.at:
                self.finish(self.at, frame.f_lineno, dict(frame.f_locals))
            self.at = frame.f_lineno
        return self.line

    def finish(self, line: int, following: int, held: dict[str, Any]) -> None:
        entered, turn = False, 0
        if HEAD.fullmatch(self.text[line]):
            entered = line in self.heads[following] and following < self.other.get(
                line, following + 1
            )
            turn = self.turns.get(line, 0) + entered
            self.turns[line] = turn if entered else 0
        around = self.heads[line]
        self.see(
            Moment(
                self.text[line].strip(),
                self.instructions.get(line),
                self.after(line),
                tuple(self.instructions[head] for head in around),
                tuple(self.turns[head] for head in around if not _is_if(self.text[head])),
                entered,
                turn,
                held,
            )
        )

    def after(self, line: int) -> Any:
        """The instruction of a line, or of the last one before it in the same block."""
        while line and line not in self.instructions:
            around = self.heads[line]
            line -= 1
            while line and self.heads[line] != around and line not in around:
                line -= 1
        return self.instructions.get(line)


def _is_if(text: str) -> bool:
    return text.strip().startswith("if ")


def _blocks(text: list[str]) -> tuple[list[tuple[int, ...]], dict[int, int]]:
    """For each line the heads around it, and for each `if` the line of its `else`."""
    heads: list[tuple[int, ...]] = []
    other: dict[int, int] = {}
    around: list[tuple[int, int]] = []  # (indentation, line) of the blocks that are open
    for number, line in enumerate(text):
        indent = len(line) - len(line.lstrip())
        if line.strip() == "else:":
            (opened,) = (head for depth, head in around if depth == indent)
            other[opened] = number
        else:
            around = [(depth, head) for depth, head in around if depth < indent]
        heads.append(tuple(head for _, head in around))
        if HEAD.fullmatch(line):
            around.append((indent, number))
    return heads, other
