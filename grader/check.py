"""Grades one file and says at once what came out: for a learner before handing in, and for the
continuous integration of a course. Nothing is stored.

Where the course was released here, the visible and the hidden checks run. Elsewhere there are only
the visible ones, and the points are counted among those.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.assignment import Assignment, make_assignment
from grader.collect import read_regular_file
from grader.course import Course
from grader.errors import GraderError, NotGradable
from grader.grading import grade
from grader.outcome import (
    FAILED,
    GRADED,
    NO_SANDBOX,
    NOT_GRADABLE,
    CheckResult,
    Job,
    Outcome,
    looks_once,
)
from grader.page import number
from grader.tasks import Task, load_assignment, tasks_of

PASSED, LOST, UNGRADABLE, GRADER_FAILED = 0, 1, 2, 3  # exit codes


@dataclass
class Checked:
    """What came out for `file`."""

    file: Path
    assignment: Assignment
    hidden: bool  # whether hidden checks were run
    outcome: Outcome

    @property
    def exit_code(self) -> int:
        if self.outcome.status == FAILED:
            return GRADER_FAILED
        if self.outcome.status == NOT_GRADABLE:
            return UNGRADABLE
        return PASSED if self.outcome.score == self.outcome.max_score else LOST

    @property
    def title(self) -> str:
        """One line: the module and its points."""
        module = self.assignment.module
        if self.outcome.status != GRADED:
            return f"{module}: {self.outcome.status}"
        score, most = self.outcome.score or 0.0, self.outcome.max_score or 0.0
        which = "visible and hidden checks" if self.hidden else "visible checks"
        loose = ", without a sandbox" if self.outcome.sandbox == NO_SANDBOX else ""
        return f"{module}: {number(score)} of {number(most)} points ({which}{loose})"

    def tasks(self) -> list[tuple[Task, float, list[CheckResult]]]:
        """Each task with its points and the checks that failed."""
        return [
            (
                task,
                sum(self.outcome.cells.get(cell.name, 0.0) for cell in task.checks),
                looks_once(
                    check
                    for check in self.outcome.checks
                    if not check.passed and check.cell in {cell.name for cell in task.checks}
                ),
            )
            for task in tasks_of(self.assignment)
        ]


def check(course: Course, file: Path, module: str, *, sandbox: bool) -> Checked:
    """Grades `file`. Raises NoSandbox where bubblewrap is wanted and missing."""
    assignment, hidden = assignment_for(course, module)
    try:
        job = Job(assignment, read_regular_file(file), sandbox=sandbox)
    except NotGradable as error:
        most = assignment.max_score
        outcome = Outcome("", NOT_GRADABLE, str(error), score=0.0, max_score=most)
    else:
        outcome = grade(job)
    for result in outcome.checks:
        if result.hidden:
            result.message = ""
    return Checked(file, assignment, hidden, outcome)


def module_of(course: Course, file: Path, module: str | None) -> str:
    """The module that was named, or else the folder in which the file lies. Raises GraderError
    where there is no such file or module.
    """
    missing = not file.exists() and not file.is_symlink()
    if missing or file.is_dir():
        what = "is not there" if missing else "is a folder"
        raise GraderError(
            f"grader check: expected a notebook, but got {file}, which {what}. Check the path."
        )
    if module is not None:
        return course.module(module)
    folder = file.absolute().parent.name
    if folder in course.modules():
        return folder
    raise GraderError(
        f"grader check: expected the file in a module's folder, but got {file}. Pass --module, one "
        f"of: {', '.join(course.modules())}."
    )


def assignment_for(course: Course, module: str) -> tuple[Assignment, bool]:
    """The assignment, and whether it has the hidden checks."""
    if course.assignment(module).exists():
        return load_assignment(course, module), True
    notebook = _released(course, module)
    whole = make_assignment(module, notebook, notebook, {})
    return replace(whole, cells=tuple(cell for cell in whole.cells if not cell.hidden)), False


def _released(course: Course, module: str) -> NotebookNode:
    if course.released(module).exists():
        return nbformat.read(course.released(module), as_version=4)
    from grader.release import released

    return released(nbformat.read(course.source(module), as_version=4))


def hint(assignment: Assignment, task_name: str, level: int) -> str:
    """Hint number `level` of a task, counted from 1."""
    tasks = {task.name: task for task in tasks_of(assignment)}
    if task_name not in tasks:
        raise GraderError(
            f"grader check: expected a task of {assignment.module}, but got {task_name!r}. Pass "
            f"one of: {', '.join(tasks)}."
        )
    task = tasks[task_name]
    if not 1 <= level <= len(task.hints):
        raise GraderError(
            f"grader check: expected a level from 1 to {len(task.hints)}, but got {level}. "
            f"{task_name} has {len(task.hints)} hints."
        )
    text = re.sub(r"<[^>]+>", "", task.hints[level - 1])
    more = (
        ""
        if level == len(task.hints)
        else f"\nThe next one: --hint {task_name} --level {level + 1}"
    )
    return f"{task.title}, hint {level} of {len(task.hints)}\n{text}{more}"


def as_text(checked: Checked) -> str:
    """For a terminal."""
    outcome = checked.outcome
    lines = [checked.title]
    lines += [f"  {outcome.reason}"] if outcome.reason else []
    if outcome.status == GRADED:
        for task, score, failed in checked.tasks():
            lines += ["", f"{task.title}: {number(score)} of {number(task.max_score)}"]
            for result in failed:
                lines.append(f"  ✗ {result.name}{' (hidden)' if result.hidden else ''}")
                lines += [f"      {line}" for line in result.message.splitlines()]
                lines += [f"      Look: {result.look}"] if result.look else []
            if score < task.max_score:
                if not failed:
                    lines.append("  The checks did not run to their end.")
                lines.append(f"  Stuck? Add --hint {task.name}")
    return "\n".join(visible(line) for line in lines)


def as_json(checked: Checked) -> str:
    content = asdict(replace(checked.outcome, notebook=None))
    del content["notebook"], content["key"]
    head = {"file": str(checked.file), "module": checked.assignment.module}
    return json.dumps(
        {**head, "hidden_checks": checked.hidden, **content}, indent=1, ensure_ascii=False
    )


def visible(text: str) -> str:
    """One line, without what would move a terminal's cursor or colour it: it can be a student's."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)
