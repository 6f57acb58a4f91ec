"""Proves that the points of an exercise mean something. For each module:

    blank        the notebook as released scores 0
    reference    the solutions score all points, by visible and by hidden checks
    mutants      plausible wrong answers, course/<module>/mutants/<task>_<what>.py, lose points;
                 and so do answers that do nothing but return None
    checks       each task has visible and hidden ones
    imports      nothing is imported from a later module
    release      no solution and no hidden test in what learners get, nor in the feedback
    first task   the released notebook runs up to the first answer

A mutant is the text that stands for the solution, between the marks of its task.
"""

from __future__ import annotations

import ast
import copy
import html
import itertools
import re
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.assignment import Assignment, Cell, make_assignment
from grader.course import Course
from grader.grading import grade
from grader.outcome import GRADED, Job, Limits, Outcome
from grader.release import handed_out, leaks, released

MARKED = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?### END SOLUTION", re.DOTALL | re.MULTILINE)
REQUIRED = 5  # mutants for each task
KILLED = 0.95  # of the mutants of a module have to lose points
# A mutant that hangs must not hold up the audit; the reference is far quicker.
LIMITS = Limits(cell_seconds=8, submission_seconds=60)

# Packages that only a later module is about: module number -> what it may not import.
LATER = {
    1: ["pir", "transforms", "decomposition", "cinn", "jit", "distributed"],
    2: ["pir", "transforms", "decomposition", "cinn", "jit", "distributed"],
    3: ["transforms", "decomposition", "cinn", "jit", "distributed"],
    4: ["jit", "distributed"],
    5: ["distributed"],
}


@dataclass
class Report:
    """What the audit of a module found. `problems` is empty where all is well."""

    module: str
    problems: list[str] = field(default_factory=list)
    mutants: int = 0
    survivors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def killed(self) -> float:
        return 1.0 if not self.mutants else 1 - len(self.survivors) / self.mutants

    @property
    def too_few(self) -> bool:
        return self.killed < KILLED


def audit(
    course: Course,
    module: str,
    *,
    sandbox: bool = True,
    workers: int = 1,
    done: Callable[[str], None] = lambda what: None,
) -> Report:
    """`done` is told each submission that was graded; `steps` says how many there are."""
    started = time.monotonic()
    report = Report(module)
    source = nbformat.read(course.source(module), as_version=4)
    target = released(source)
    assignment = make_assignment(module, source, target, handed_out(course, module))
    wrong = mutants(course, module, source)
    rounds = _rounds(wrong) if _independent(assignment) else [[one] for one in wrong]
    lost: dict[str, bool] = {}  # which mutants have lost points

    def graded(name: str, notebook: NotebookNode) -> Outcome:
        outcome = grade(Job(assignment, nbformat.writes(notebook).encode(), LIMITS, sandbox))
        if outcome.status != GRADED:
            report.problems.append(f"{name}: {outcome.status} ({outcome.reason})")
        return outcome

    def try_out(ones: list[Mutant]) -> None:
        notebook = source
        for one in ones:
            notebook = mutant(notebook, one.task, one.text)
        outcome = graded(ones[0].name, notebook)
        # One that was stopped may have hurt the others: these are tried again without it.
        places = {said.partition(":")[0] for said in outcome.reason.split("; ")}
        tasks = {Cell(place, "check", "").task for place in places if outcome.reason}
        stopped = [one for one in ones if one.task in tasks]
        for one in stopped if outcome.reason and len(ones) > 1 else ones:
            lost[one.name] = outcome.status != GRADED or any(
                outcome.cells[cell.name] < cell.points
                for cell in assignment.checks
                if cell.task == one.task
            )
            done(one.name)
        rest = [one for one in ones if one.name not in lost]
        for some in [rest] * bool(rest) if len(rest) < len(ones) else [[one] for one in rest]:
            try_out(some)

    def all_right(which: tuple[str, NotebookNode]) -> Outcome:
        outcome = graded(*which)
        done(which[0])
        return outcome

    if workers == 1:
        outcomes = [all_right(which) for which in (("blank", target), ("reference", source))]
        for ones in rounds:
            try_out(ones)
    else:
        with ThreadPoolExecutor(workers) as pool:
            two = pool.map(all_right, (("blank", target), ("reference", source)))
            list(pool.map(try_out, rounds))
            outcomes = list(two)
    report.mutants = len(wrong)
    report.survivors = [one.name for one in wrong if not lost[one.name]]
    blank, reference = outcomes
    if blank.status == GRADED:
        report.problems += _blank(blank) + _first_task(assignment, blank)
    if reference.status == GRADED:
        report.problems += _reference(assignment, reference)
    report.problems += [f"release: it shows {what!r}" for what in leaks(source, target)]
    report.problems += _feedback(source, blank) + _imports(module, source)
    report.problems += _enough(course, module, assignment)
    if report.too_few:
        report.problems.append(
            f"mutants: expected {KILLED:.0%} to lose points, but got {report.killed:.0%}. "
            f"Not found: {', '.join(report.survivors)}. Add a check for each."
        )
    report.seconds = time.monotonic() - started
    return report


def steps(course: Course, module: str) -> int:
    """How many submissions `audit` grades."""
    source = nbformat.read(course.source(module), as_version=4)
    return 2 + len(mutants(course, module, source))


@dataclass(frozen=True)
class Mutant:
    """A wrong answer: `text` stands for the solution of `task`."""

    name: str
    task: str
    text: str


def mutants(course: Course, module: str, source: NotebookNode) -> list[Mutant]:
    """The files of a module, and "return None" for each task."""
    files = [
        Mutant(path.stem, path.stem.partition("_")[0], path.read_text(encoding="utf-8"))
        for path in _files(course, module)
    ]
    return files + [Mutant(f"{t}_returns_none", t, "return None") for t in _tasks(source)]


def _rounds(wrong: list[Mutant]) -> list[list[Mutant]]:
    """One mutant of each task in a round: they are graded in one notebook, each by its own task's
    checks. That takes a round's time for nine tasks instead of nine.
    """
    by_task: dict[str, list[Mutant]] = {}
    for one in wrong:
        by_task.setdefault(one.task, []).append(one)
    return [[one for one in ones if one] for ones in itertools.zip_longest(*by_task.values())]


def _independent(assignment: Assignment) -> bool:
    """No check of a task uses the answer of another: so a wrong answer costs its own task only."""
    whose = {
        name: cell.name for cell in assignment.cells if cell.kind == "answer" for name in cell.names
    }
    return not any(
        whose.get(node.id, cell.task) != cell.task
        for cell in assignment.checks
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Name)
    )


def mutant(source: NotebookNode, task: str, text: str) -> NotebookNode:
    """The reference with `text` in place of the solution of one task."""
    notebook = copy.deepcopy(source)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == task:
            mark = MARKED.search(cell.source)
            if mark is None:
                continue
            body = textwrap.indent(textwrap.dedent(text).strip("\n"), mark[1])
            cell.source = cell.source[: mark.start()] + body + cell.source[mark.end() :]
    return notebook


def _files(course: Course, module: str) -> list[Path]:
    return sorted((course.sources / module / "mutants").glob("*.py"))


def _tasks(source: NotebookNode) -> list[str]:
    return [
        cell.metadata.nbgrader.grade_id
        for cell in source.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    ]


def _blank(outcome: Outcome) -> list[str]:
    return [
        f"blank: expected 0 points, but got {points:g} in {cell}. Which check passes on nothing? "
        + ", ".join(check.name for check in outcome.checks if check.cell == cell and check.passed)
        for cell, points in outcome.cells.items()
        if points
    ]


def _reference(assignment: Assignment, outcome: Outcome) -> list[str]:
    named = Counter((check.cell, check.name) for check in outcome.checks)
    problems = [
        f"{cell}: expected a name for each check, but got {name!r} {times} times. "
        "Nobody could tell which one failed."
        for (cell, name), times in named.items()
        if times > 1
    ]
    failed = [f"{check.cell}: {check.name}" for check in outcome.checks if not check.passed]
    if outcome.score == assignment.max_score:
        return problems
    return [
        *problems,
        f"reference: expected {assignment.max_score:g} points, but got {outcome.score:g}. "
        f"Failed: {'; '.join(failed) or outcome.reason}",
    ]


def _first_task(assignment: Assignment, blank: Outcome) -> list[str]:
    answers = {cell.name for cell in assignment.cells if cell.kind == "answer"}
    for cell in (blank.notebook or {}).get("cells", []):
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in answers:
            return []
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                return [f"first task: a cell before it fails ({output['evalue']})"]
    return ["first task: expected an answer cell, but got none"]


def _feedback(source: NotebookNode, blank: Outcome) -> list[str]:
    """The page of the blank submission: its hidden checks have failed, which is told."""
    from grader.feedback import without_hidden
    from grader.inert import notebook_html

    if blank.notebook is None:
        return []
    notebook = without_hidden(nbformat.from_dict(blank.notebook))
    text = html.unescape(re.sub(r"<[^>]+>", "", notebook_html(notebook)))
    shown = {line.strip() for line in text.splitlines()}
    return [
        f"feedback: it shows the hidden line {line!r}"
        for line in sorted(_hidden_lines(source))
        if len(line) > 12 and line in shown
    ]


def _hidden_lines(source: NotebookNode) -> set[str]:
    """Lines that stand in hidden tests only."""
    hidden: set[str] = set()
    other: set[str] = set()
    for cell in source.cells:
        meta = cell.metadata.get("nbgrader", {})
        lines = {line.strip() for line in cell.source.splitlines()}
        (hidden if str(meta.get("grade_id", "")).endswith("_hidden") else other).update(lines)
    return hidden - other


def _imports(module: str, source: NotebookNode) -> list[str]:
    number = int(module[:2]) if module[:2].isdecimal() else 0
    problems = []
    for cell in source.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for name in names:
                part = name.split(".")[1] if name.startswith("minipaddle.") else ""
                if part in LATER.get(number, []):
                    problems.append(f"imports: {name} belongs to a later module")
    return problems


def _enough(course: Course, module: str, assignment: Assignment) -> list[str]:
    problems = []
    names = [path.stem for path in _files(course, module)]
    for cell in assignment.cells:
        if cell.kind != "answer":
            continue
        count = sum(name.startswith(f"{cell.name}_") for name in names)
        if count < REQUIRED:
            problems.append(
                f"mutants: expected {REQUIRED} for {cell.name}, but got {count}. Add wrong answers "
                f"to {course.sources / module / 'mutants'}."
            )
        kinds = {c.hidden for c in assignment.checks if c.task == cell.name}
        if kinds != {True, False}:
            problems.append(
                f"{cell.name}: expected visible and hidden checks, but got only one kind"
            )
    return problems
