"""Passes at work, step by step: dead-code elimination, and a fusion by pattern.

    viz.Player(viz.dce_steps(main))
    viz.Player(viz.fusion_steps(main, [context]))
    viz.Player(viz.pass_steps(main, ["dead_code_elimination_pass"]))     any passes, by name

They work on a copy: your program stays as it is.

Paddle has no counterpart: PassManager.enable_ir_printing prints the program before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.pir.core.block import Program
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.drr import DrrPatternContext, apply_patterns, find_matches
from minipaddle.pir.pass_manager import PassManager

from .frame import Step, edge, graph, node, step, table
from .pir import ProgramFilm, check_pir
from .pir_reader import KINDS, short


def dce_steps(program: Program) -> list[Step]:
    """Dead-code elimination, from the last operation to the first: one step for each, and one for
    inputs that stand together.

    Raises:
        TypeError: it is no PIR program.
    """
    check_pir("dce_steps", program)
    copy = program.clone()
    ops = list(copy.global_block().ops)
    verdicts: dict[Operation, str] = dict.fromkeys(ops, "")
    reads = {op: [v.get_defining_op() for v in op.operands_source() if v is not None] for op in ops}
    steps = [
        _dce_step(
            ops,
            reads,
            verdicts,
            None,
            "Before",
            "The walk starts at the last operation, so readers are judged before what they read.",
        )
    ]
    for number, op in reversed(list(enumerate(ops))):
        readers = _readers(op)
        name = short(op)
        if "SideEffect" in op.info.traits and op.num_operands() == 0:
            verdicts[op] = "stays: input"
            above = ops[number - 1] if number else None
            if above and "SideEffect" in above.info.traits and above.num_operands() == 0:
                continue  # inputs that stand together are one step
            title, note = "Inputs stay", "What is fed or stored under a name is not ours to remove."
        elif "SideEffect" in op.info.traits:
            verdicts[op] = "stays: side effect"
            title, note = f"{name} stays", "It has an effect outside, whether it is read or not."
        elif readers:
            verdicts[op] = "stays: is read"
            title, note = f"{name} stays", f"Still read by {', '.join(readers)}."
        else:
            verdicts[op] = "erased"
            title, note = f"{name} goes", "Nobody reads it."
            lost = list(dict.fromkeys(short(source) for source in reads[op]))
            if lost:
                note += f" With it goes one reader of {' and of '.join(lost)}."
            op.erase()
        steps.append(_dce_step(ops, reads, verdicts, op, title, note))
    kept = sum(verdict != "erased" for verdict in verdicts.values())
    end = f"{len(ops) - kept} operations erased, {kept} left. One walk was enough."
    return [*steps, _dce_step(ops, reads, verdicts, None, "After", end)]


def _readers(op: Operation) -> list[str]:
    users = [user for value in op.results() for user in value.all_used_ops()]
    return [short(user) for user in dict.fromkeys(users)]


def _dce_step(
    ops: Sequence[Operation],
    reads: dict[Operation, list[Operation]],
    verdicts: dict[Operation, str],
    now: Operation | None,
    title: str,
    note: str,
) -> Step:
    ids = {op: f"op{number}" for number, op in enumerate(ops)}

    def state(op: Operation) -> str:
        if verdicts[op] == "erased":
            return "removed"
        return "now" if op is now else "done" if verdicts[op] else "waiting"

    nodes = [
        node(ids[op], short(op), KINDS.get(op.name(), "op"), state=state(op), details=op.name())
        for op in ops
    ]
    edges = [
        edge(ids[source], ids[op], state="removed" if verdicts[op] == "erased" else "")
        for op in ops
        for source in reads[op]
    ]
    rows = [[short(op), ", ".join(_readers(op)) or "nobody", verdicts[op]] for op in ops]
    highlight = [] if now is None else [ops.index(now)]
    return step(
        title,
        graph(nodes, edges, name="Program as a graph"),
        table(
            ["operation", "read by", "verdict"],
            rows,
            highlight=highlight,
            name="Operations, in program order",
        ),
        note=note,
    )


def fusion_steps(program: Program, contexts: Sequence[DrrPatternContext]) -> list[Step]:
    """What DRR patterns find in a program, and what they make of it. Earlier patterns win.

    Raises:
        TypeError: it is no PIR program.
    """
    check_pir("fusion_steps", program)
    copy = program.clone()
    film = ProgramFilm(copy)
    film.take("Before", "The program as it was written.")
    taken: set[Operation] = set()
    matches = 0
    for context in contexts:
        for match in find_matches(copy, context):
            if taken.isdisjoint(match.ops):
                taken.update(match.ops)
                matches += 1
    note = f"{matches} found. Nothing is changed yet."
    film.take("Match the source pattern", note, dict.fromkeys(taken, "matched"))
    changed = apply_patterns(copy, contexts)
    film.take(
        "Put the result pattern in",
        f"{changed} replaced. New operations stand where the match ended; the old ones are erased.",
    )
    film.take("After", "What the executor gets.")
    return film.steps


def pass_steps(
    program: Any, passes: Sequence[str], manager: Callable[[], Any] = PassManager
) -> list[Step]:
    """Passes one after the other: what each matched, and what it put in its place.

    What a pass matched is found by comparing the program before and after, so this works for every
    pass, written in Python or in C++.

    Args:
        program: minipaddle's, or real Paddle's with `manager=paddle.pir.PassManager`.
        passes: their names.

    Raises:
        TypeError: it is no PIR program.
        ValueError: there is no pass of that name.
    """
    check_pir("pass_steps", program)
    copy = program.clone()
    film = ProgramFilm(copy)
    film.take("Before", "The program as it was written.")
    for name in passes:
        runner = manager()
        runner.add_pass(name, {})
        film.rewrite(lambda runner=runner: runner.run(copy), name)
    film.take("After", f"{len(copy.global_block().ops)} operations.")
    return film.steps
