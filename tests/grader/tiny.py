"""A course that is made in milliseconds, and a stand-in for grading that costs nothing.

What is real in tests that use it: files, gradebook, verdicts, scheduling. What is a stand-in: the
exercise (two tasks, nobody runs it) and the work, `cheap`, which takes the points from the first
bytes of the submission.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import nbformat
import nbformat.v4 as v4

from grader.assignment import Assignment, Cell
from grader.course import Course
from grader.outcome import BUBBLEWRAP, FAILED, GRADED, CheckResult, Job, Outcome

MODULE = "01_tiny"
CELLS = (
    Cell("task1", "answer", "", names=("f",)),
    Cell("task1_check", "check", "check", 4.0),
    Cell("task2", "answer", "", names=("g",)),
    Cell("task2_check", "check", "check", 4.0),
)
NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def notebook(cells: tuple[Cell, ...] = CELLS) -> nbformat.NotebookNode:
    nb = v4.new_notebook()
    for cell in cells:
        made = v4.new_code_cell(cell.source, id=cell.name)
        check = cell.kind == "check"
        made.metadata["nbgrader"] = {
            "grade_id": cell.name,
            "grade": check,
            "solution": not check,
            "locked": check,
            "task": False,
            "schema_version": 3,
            **({"points": cell.points} if check else {}),
        }
        nb.cells.append(made)
    return nb


def assignment(cells: tuple[Cell, ...] = CELLS) -> Assignment:
    return Assignment(MODULE, nbformat.writes(notebook(cells)), cells)


def make_course(root: Path, db: str = "") -> Course:
    """A course with one module, released."""
    source = root / "course" / MODULE / "exercise.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(notebook(), source)
    course = Course.at(root, db=db)
    course.assignment(MODULE).parent.mkdir(parents=True)
    course.assignment(MODULE).write_text(assignment().to_json())
    return course


def hand_in(course: Course, student: str, text: str, module: str = MODULE) -> Path:
    """Puts a submission where `grader collect` would."""
    path = course.step("submitted", student, module) / "exercise.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def outcome(key: str, first: float = 4.0, second: float = 1.5) -> Outcome:
    """A graded one, with points for task 1 and task 2."""
    return Outcome(
        key,
        GRADED,
        score=first + second,
        max_score=8.0,
        cells={"task1_check": first, "task2_check": second},
        checks=[CheckResult("task1_check", "the diamond", first == 4, first, 4.0)],
        sandbox=BUBBLEWRAP,
        notebook=dict(notebook()),
    )


def cheap(job: Job) -> Outcome:
    """The stand-in. "3 ..." gets 3 points for task 1; "fail ..." is the grader's own failure."""
    text = job.submission.decode()
    if text.startswith("fail"):
        return Outcome(job.key, FAILED, "out of order")
    return outcome(job.key, float(text.split()[0]), 0.5)
