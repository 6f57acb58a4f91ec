"""Grades as CSV: a row for every student and module, those that could not be graded included, with
the reason.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from grader.collect import collected
from grader.course import NOTEBOOK, Course
from grader.errors import GraderError
from grader.verdict import GRADED, Verdict, drop_lost, load_all

COLUMNS = ["student", "module", "score", "max_score", "status", "reason"]


def export(course: Course, to: Path) -> list[Verdict]:
    """Writes the CSV. Points come from the gradebook, so manual points and late penalties count."""
    _check_target(to)
    if collected(course):  # with none at all the folder is missing: no reason to drop the points
        drop_lost(course)
    found = load_all(course) if collected(course) else []
    if not found:
        raise GraderError(
            f"grader export: expected graded submissions in {course.work}, but got none. Run "
            "grader grade first."
        )
    with course.gradebook() as gradebook:
        for verdict in found:
            if verdict.status == GRADED:
                verdict.score = _score(gradebook, verdict)
    _write(to, found)
    return found


def _check_target(to: Path) -> None:
    if to.is_dir():
        raise GraderError(
            f"grader export: expected a file to write, but got the folder {to}. Pass --to "
            f"{to / 'grades.csv'}."
        )
    if not to.parent.is_dir():
        raise GraderError(
            f"grader export: expected a file in an existing folder, but got {to}. Make the folder "
            f"{to.parent} first."
        )


def _write(to: Path, found: list[Verdict]) -> None:
    temporary = to.with_name(f".{to.name}.tmp")
    try:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for v in sorted(found, key=lambda v: (v.student, v.module)):
                score, max_score = _number(v.score), _number(v.max_score)
                writer.writerow([v.student, v.module, score, max_score, v.status, v.reason])
        os.replace(temporary, to)
    except OSError as error:
        raise GraderError(
            f"grader export: expected to write {to}, but got: {error.strerror}. Pass another --to."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def _score(gradebook: Gradebook, verdict: Verdict) -> float | None:
    try:
        notebook = gradebook.find_submission_notebook(NOTEBOOK, verdict.module, verdict.student)
    except MissingEntry:
        return verdict.score
    # nbgrader's columns, so that the type checker takes them for SQL
    score: Any = notebook.score
    penalty: Any = notebook.late_submission_penalty or 0.0
    return max(0.0, score - penalty)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
