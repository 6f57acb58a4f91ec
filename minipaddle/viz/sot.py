"""Bytecode, and how the symbolic run (SOT) walks over it.

    print("\\n".join(viz.bytecode_lines(f)))        what Python runs, version by version the same
    viz.Player(viz.sot_steps(translated))          one step for each instruction

Python 3.11, 3.12 and 3.13 differ in names and in book-keeping (PRECALL, PUSH_NULL, TO_BOOL). Here
those are left out, and names are written as 3.13 has them, so that a lesson looks the same
everywhere. `dis.dis` shows everything.

Paddle has no counterpart: SOT_LOG_LEVEL=3 logs each instruction and its stack.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minipaddle.jit.sot.opcode_executor import Step as Run
from minipaddle.jit.sot.translate import CacheEntry, StaticFunction

from .frame import Step, TablePane, TextPane, step, table, text

HIDDEN = {  # they change nothing that can be seen here
    "CACHE",
    "COPY_FREE_VARS",
    "EXTENDED_ARG",
    "MAKE_CELL",
    "NOP",
    "PRECALL",
    "PUSH_NULL",
    "RESUME",
    "TO_BOOL",
}


class Line(NamedTuple):
    """One instruction as it is shown."""

    offset: int
    line: int | None  # in the source file
    opname: str
    argument: str


def bytecode_lines(function: Callable) -> list[str]:
    """The instructions of a function; on the left the line of its source, counted from `def`."""
    lines = _listing(function)
    return _written(lines, function.__code__.co_firstlineno)


def sot_steps(translated: StaticFunction, entry: int = -1) -> list[Step]:
    """One translation of a function, instruction by instruction: bytecode, stack, graph.

    A step shows everything as it is after its instruction.

    Args:
        entry: which of `translated.cache`.

    Raises:
        TypeError: it is no function made by to_static.
        ValueError: the function has not been translated yet.
    """
    if not isinstance(translated, StaticFunction):
        raise TypeError(
            f"viz.sot_steps: expected a function made by to_static, but got "
            f"{type(translated).__name__}. Pass what @to_static answers, and call it once before."
        )
    if not translated.cache:
        raise ValueError(
            f"viz.sot_steps: expected a translated function, but {translated.function.__name__} "
            "has no translation yet. Call it once."
        )
    chosen = translated.cache[entry]
    runs = chosen.steps
    listings = _listings(translated, runs)
    graph = _graph_lines(chosen)
    made = []
    for number, run in enumerate(runs):
        if run.opname in HIDDEN and run.opname != "RESUME":
            continue
        after = runs[number + 1] if number + 1 < len(runs) else None
        ops = after.graph_ops if after else len(graph) or run.graph_ops
        panes = (
            _bytecode_pane(run.function, listings[run.function], run.offset),
            _state_pane(after, run, stopped=bool(chosen.break_reason)),
            _graph_pane(graph, run.graph_ops, ops),
        )
        made.append(step(_title(run), *panes, note=_note(run, after, ops, chosen)))
    if chosen.break_reason:
        last = runs[-1]
        panes = (
            _bytecode_pane(last.function, listings[last.function], last.offset),
            _state_pane(None, last, stopped=True),
            table(["operations"], [["thrown away"]], name="Graph"),
        )
        reason = chosen.break_reason.removeprefix("graph break: ")
        # without the place: the bytecode shows it
        made.append(step("Graph break", *panes, note=re.sub(r" \([^()]*:\d+, \w+\)", "", reason)))
    return made


# ---- bytecode


def _listing(function: Callable) -> list[Line]:
    """All instructions of a function that are shown."""
    line: int | None = None
    lines, lines_at = [], {}
    for item in dis.get_instructions(function):
        line = (item.positions.lineno if item.positions else None) or line
        lines_at[item.offset] = line
        jumps = item.opcode in dis.hasjrel or item.opcode in dis.hasjabs
        argument = f"to {item.argval}" if jumps else item.argrepr
        lines.append(Line(item.offset, line, item.opname, argument))
    first = function.__code__.co_firstlineno  # type: ignore[attr-defined]
    return [_plain(item, lines_at, first) for item in lines if item.opname not in HIDDEN]


def _plain(item: Line, lines_at: dict[int, int | None], first: int) -> Line:
    """An instruction as Python 3.13 writes it, without NULLs, addresses and offsets."""
    opname = item.opname.replace("_FORWARD_", "_").replace("LOAD_METHOD", "LOAD_ATTR")
    argument = re.sub(r"NULL(\|self)? \+ | \+ NULL(\|self)?", "", item.argument)
    argument = re.sub(r"<(?:\w+\.)*(\w+) object at 0x\w+>", r"<\1>", argument)
    argument = re.sub(r"^bool\((.*)\)$", r"\1", argument)
    target = re.fullmatch(r"to (L?\d+)", argument)  # 3.13 writes labels, L1, unless told otherwise
    if target:
        line = lines_at.get(int(target[1])) if target[1].isdigit() else None
        argument = f"to line {line - first + 1}" if line else ""
    return Line(item.offset, item.line, opname, argument)


def _listings(translated: StaticFunction, runs: Sequence[Run]) -> dict[str, list[str | Line]]:
    """For each function by name: its lines. Of one that was inlined, what was run of it."""
    name = translated.function.__code__.co_name
    found: dict[str, dict[int, Line]] = {}
    for run in runs:
        if run.opname not in HIDDEN:
            line = Line(run.offset, run.line, run.opname, run.argument)
            found.setdefault(run.function, {}).setdefault(run.offset, _plain(line, {}, 1))
    listings: dict[str, Any] = {
        function: sorted(lines.values()) for function, lines in found.items()
    }
    listings[name] = _listing(translated.function)
    return listings


def _written(lines: Sequence[Line], first: int) -> list[str]:
    written, before = [], None
    for item in lines:
        number = item.line is not None and item.line != before and f"line {item.line - first + 1}"
        before = item.line
        written.append(f"{number or '':<7} {item.opname:<18} {item.argument}".rstrip())
    return written


def _bytecode_pane(function: str, lines: Sequence[Any], offset: int) -> TextPane:
    first = min((item.line for item in lines if item.line), default=1)
    now = [number for number, item in enumerate(lines, 1) if item.offset == offset]
    return text(
        _written(lines, first - 1),  # the def is the line before the first one
        highlight=now,
        language="bytecode",
        name=f"{function}: bytecode",
    )


# ---- stack, graph, words


def _state_pane(after: Run | None, run: Run, *, stopped: bool) -> TablePane:
    """Local variables, and the stack from its bottom to its top. A run that stopped has no state
    after its last instruction: the one before it is shown.
    """
    after = run if after is None and stopped else after
    if after is None:
        rows = [["result", run.stack[-1]]] if run.stack else []
    else:
        values = [value for value in after.stack if value != "NULL"]
        rows = [[name, value] for name, value in after.locals]
        rows += [[f"stack {number}", value] for number, value in enumerate(values)]
    return table(["place", "holds"], rows, name="Locals and stack")


def _graph_lines(entry: CacheEntry) -> list[str]:
    """The operations of the captured graph, in short."""
    if entry.graph is None:
        return []
    lines = [line.strip() for line in entry.graph.forward_text.splitlines()]
    return [_short(line) for line in lines if line.startswith("(")]


def _short(line: str) -> str:
    """Without attributes (but with the name or value that tells what it is)."""
    head, _, rest = line.partition(" {")
    attributes, _, types = rest.rpartition("} : ")
    told = re.findall(r'(?:^|,)(name:"[^"]*"|value:[^,}]+)', attributes)
    kept = f" {{{told[0]}}}" if told else ""
    return (
        f"{head.replace('pd_op.', '').replace(chr(34), '')}{kept} -> {types.rpartition('-> ')[2]}"
    )


def _graph_pane(lines: Sequence[str], before: int, now: int) -> TextPane | TablePane:
    """The first operations; only their number where the graph was not kept."""
    if not lines:
        return table(["operations"], [[f"{now} so far"]], name="Graph")
    added = range(before + 1, now + 1)
    return text(lines[:now], added=added, language="pir", name="Graph")


def _title(run: Run) -> str:
    item = _plain(Line(run.offset, run.line, run.opname, run.argument), {}, 1)
    if item.opname == "RESUME":
        return f"{run.function} starts"
    return f"{item.opname} {item.argument}".rstrip()


def _note(run: Run, after: Run | None, ops: int, entry: CacheEntry) -> str:
    name = _plain(Line(run.offset, run.line, run.opname, run.argument), {}, 1).argument
    grown = ops - run.graph_ops
    added = f"{grown} {'operation goes' if grown == 1 else 'operations go'} into the graph."
    if run.opname == "RESUME":
        return "The arguments are here as symbols: a Tensor is a shape and a dtype, no numbers."
    if after is None and entry.break_reason:
        return "Here the run needs something that a symbol can't give. The stack is the one before."
    if after is not None and after.opname == "RESUME":
        return (
            f"A function of yours is called: the run goes on inside {after.function} (inlining). "
            f"The locals shown now are those of {after.function}."
        )
    if run.opname.startswith("RETURN"):
        return "The function ends. What is on top of the stack is its result."
    if "_IF_" in run.opname:
        return f"The condition is {run.stack[-1]}: known now, so it leaves no trace in the graph."
    if grown:
        return f"A Tensor takes part: nothing is computed now, {added}"
    words = {
        "LOAD_FAST": f"Push what {name} holds.",
        "LOAD_CONST": f"Push the constant {name}.",
        "LOAD_GLOBAL": f"Push what the global name {name} stands for. A guard will ask for it.",
        "LOAD_ATTR": f"Replace the top by its attribute {name}.",
        "LOAD_METHOD": f"Replace the top by its attribute {name}.",
        "STORE_FAST": f"Pop the top into {name}.",
        "BINARY_OP": "Two plain objects: Python computes at once, the graph stays as it is.",
        "COMPARE_OP": "Two plain objects: Python compares at once, the graph stays as it is.",
    }
    return words.get(run.opname, "")
