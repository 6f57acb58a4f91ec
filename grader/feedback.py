"""Feedback for learners: a page of HTML for every submission, with the points and checks of each
task, and the notebook as it ran.

The page is opened by others too, so nothing of a student's runs in it (inert.py). The code of the
hidden tests is not in it; the names of their checks are, and where to look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import nbformat
from markupsafe import Markup
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

from grader.assignment import Assignment
from grader.course import NOTEBOOK, Course
from grader.errors import GraderError
from grader.inert import notebook_html
from grader.outcome import CheckResult, looks_once
from grader.page import render
from grader.points import Points, points_of, read_points
from grader.tasks import load_assignment, tasks_of, title_of
from grader.verdict import GRADED, NOT_GRADABLE, Verdict, load_all, write_whole


@dataclass
class CellResult:
    """A check cell with what came out."""

    hidden: bool
    score: float
    max_score: float
    by_hand: bool
    checks: list[CheckResult]


@dataclass
class TaskResult:
    name: str
    title: str
    cells: list[CellResult]
    comments: list[str] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(cell.score for cell in self.cells)

    @property
    def max_score(self) -> float:
        return sum(cell.max_score for cell in self.cells)


def feedback(
    course: Course, module: str | None = None, done: Callable[[Verdict], None] = lambda v: None
) -> list[Verdict]:
    """Writes grader/feedback/<student>/<module>/exercise.html for every verdict but the failed
    ones. Returns those.
    """
    if module is not None:
        module = course.module(module)
    found = [v for v in load_all(course, module) if v.status in (GRADED, NOT_GRADABLE)]
    if not found:
        whose = f" of {module}" if module else ""
        raise GraderError(
            f"grader feedback: expected graded submissions{whose} in {course.work}, but got none. "
            f"Run grader grade{f' {module}' if module else ''} first."
        )
    points = read_points(course)
    for verdict in found:
        assignment = load_assignment(course, verdict.module)
        mine = points_of(course, verdict, points)
        target = course.step("feedback", verdict.student, verdict.module) / f"{NOTEBOOK}.html"
        write_whole(target, _page(course, verdict, assignment, mine))
        done(verdict)
    return found


def _page(course: Course, verdict: Verdict, assignment: Assignment, points: Points) -> str:
    ran = course.step("autograded", verdict.student, verdict.module) / f"{NOTEBOOK}.ipynb"
    notebook = ""
    if verdict.status == GRADED and ran.exists():
        notebook = notebook_html(without_hidden(nbformat.read(ran, as_version=4)))
    return render(
        "feedback.html.j2",
        student=verdict.student,
        title=title_of(assignment),
        verdict=verdict,
        points=points,
        tasks=_results(verdict, assignment, points) if verdict.status == GRADED else [],
        notebook=Markup(notebook),
        colours=Markup(HtmlFormatter(style="friendly").get_style_defs(".highlight")),
    )


def _results(verdict: Verdict, assignment: Assignment, points: Points) -> list[TaskResult]:
    results = []
    for task in tasks_of(assignment):
        checks = looks_once(
            c for c in verdict.checks if c.cell in {cell.name for cell in task.checks}
        )
        cells = [
            CellResult(
                cell.hidden,
                points.cells.get(cell.name, 0.0),
                cell.points,
                cell.name in points.by_hand,
                [check for check in checks if check.cell == cell.name],
            )
            for cell in task.checks
        ]
        names = [task.name, *(cell.name for cell in task.checks)]
        comments = [points.comments[name] for name in names if name in points.comments]
        results.append(TaskResult(task.name, task.title, cells, comments))
    return results


def without_hidden(notebook: NotebookNode) -> NotebookNode:
    """The cells under their names; of the hidden checks neither code nor messages."""
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name:
            cell.id = name
        if name.endswith("_hidden"):
            cell.source = "# Hidden checks: the list above says which passed."
            cell.outputs = [o for o in cell.get("outputs", []) if o.output_type == "stream"]
    return notebook
