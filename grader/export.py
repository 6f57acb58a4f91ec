"""Grades as CSV or JSON: a row for every student and module, those that could not be graded
included, with the reason.
"""

from __future__ import annotations

import csv
import io
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from grader.collect import collected
from grader.course import Course
from grader.errors import GraderError
from grader.outcome import FAILED
from grader.points import Points, points_of, read_points
from grader.verdict import Verdict, drop_lost, load_all

Format = Literal["csv", "json"]
COLUMNS: tuple[str, ...] = (
    "student",
    "module",
    "score",
    "max_score",
    "late_penalty",
    "status",
    "attempts",
    "sandbox",
    "reason",
)


def export(course: Course, to: Path, form: Format = "csv") -> list[dict[str, Any]]:
    """Writes the grades, and returns the rows. Points come from the gradebook, so those given by
    hand and late penalties count. JSON has the points of every check cell besides.
    """
    check_target("export", to)
    found = current_verdicts(course, "export")
    points = read_points(course)
    rows = [_row(verdict, points_of(course, verdict, points)) for verdict in found]
    rows.sort(key=lambda row: (row["student"], row["module"]))
    if form == "json":
        text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    else:
        file = io.StringIO()
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, **_numbers(row)} for row in rows)
        text = file.getvalue()
    write_result("export", to, text)
    return rows


def _row(verdict: Verdict, points: Points) -> dict[str, Any]:
    """A failed submission has no points: those of an earlier one are not for this file."""
    known = verdict.status != FAILED
    return {
        "student": verdict.student,
        "module": verdict.module,
        "score": points.score if known else None,
        "max_score": verdict.max_score if known else None,
        "late_penalty": points.penalty if known else None,
        "status": verdict.status,
        "attempts": verdict.attempts,
        "sandbox": verdict.sandbox,
        "reason": verdict.reason,
        "cells": points.cells if known else {},
    }


def _numbers(row: dict[str, Any]) -> dict[str, str]:
    return {
        name: "" if row[name] is None else f"{row[name]:g}"
        for name in ("score", "max_score", "late_penalty")
    }


def current_verdicts(course: Course, who: str) -> list[Verdict]:
    """The verdicts of all submissions that are still there; of the others everything is dropped.
    Raises GraderError where there is none.
    """
    if collected(course):  # with none at all the folder is missing: no reason to drop the points
        drop_lost(course)
        if found := load_all(course):
            return found
    raise GraderError(
        f"grader {who}: expected graded submissions in {course.work}, but got none. Run "
        "grader grade first."
    )


def check_target(who: str, to: Path) -> None:
    """Before any work: can `to` be written at all?"""
    if to.is_dir():
        raise GraderError(
            f"grader {who}: expected a file to write, but got the folder {to}. Pass --to "
            f"{to / 'grades.csv' if who == 'export' else to / f'{who}.html'}."
        )
    if not to.parent.is_dir():
        raise GraderError(
            f"grader {who}: expected a file in an existing folder, but got {to}. Make the folder "
            f"{to.parent} first."
        )


def write_result(who: str, to: Path, text: str) -> None:
    """The whole file or none."""
    temporary = to.with_name(f".{to.name}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        os.replace(temporary, to)
    except OSError as error:
        raise GraderError(
            f"grader {who}: expected to write {to}, but got: {error.strerror}. Pass another --to."
        ) from None
    finally:
        with suppress(OSError):  # on a disk that can't be written: then the error above is said
            temporary.unlink(missing_ok=True)
