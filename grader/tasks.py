"""The tasks of an exercise as its notebook tells them: title, hints, checks, released answer
cell.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from grader.assignment import Assignment, Cell
from grader.course import Course
from grader.errors import GraderError

_TITLE = re.compile(r"^#+ +(.+?)\s*(?:\(\d[^()]*points?\))?\s*$", re.MULTILINE)
_HINT = re.compile(r"<details>\s*<summary>.*?</summary>(.*?)</details>", re.DOTALL)


@dataclass(frozen=True)
class Task:
    """`name` is the answer cell's, such as task1; `given` is its text as released."""

    name: str
    title: str
    hints: tuple[str, ...]
    given: str
    checks: tuple[Cell, ...]

    @property
    def max_score(self) -> float:
        return sum(cell.points for cell in self.checks)


def load_assignment(course: Course, module: str) -> Assignment:
    """The assignment as it was released. Raises GraderError where it was not."""
    path = course.assignment(module)
    try:
        return Assignment.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError):
        raise GraderError(
            f"grader: expected module {module} to be released, but got no readable {path}. "
            f"Run grader release {module} first."
        ) from None


def tasks_of(assignment: Assignment) -> list[Task]:
    """In the order of the notebook. A task without a heading is called by its name."""
    found = []
    text = ""
    for cell in assignment.notebook().cells:
        if cell.cell_type == "markdown":
            text += f"\n{cell.source}"
        meta = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and meta.get("solution"):
            name = meta["grade_id"]
            titles = _TITLE.findall(text)
            hints = tuple(" ".join(html.unescape(hint).split()) for hint in _HINT.findall(text))
            checks = tuple(check for check in assignment.checks if check.task == name)
            found.append(Task(name, titles[-1] if titles else name, hints, cell.source, checks))
            text = ""
    return found


def title_of(assignment: Assignment) -> str:
    """The heading of the notebook, or the module's name."""
    for cell in assignment.notebook().cells:
        if cell.cell_type == "markdown" and (titles := _TITLE.findall(cell.source)):
            return titles[0]
    return assignment.module
