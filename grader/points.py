"""The points that count, read from nbgrader's gradebook: with those given by hand, extra credit,
comments, and what is taken off for late work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from grader.course import Course, reason, shown
from grader.errors import GraderError
from grader.gradebook import settle_late
from grader.outcome import FAILED
from grader.verdict import Verdict


@dataclass
class Points:
    """Of one student and module. `score` is after `penalty`, and never below 0.

    Attributes:
        cells: check cell -> its points, with extra credit.
        by_hand: the check cells where a person gave points.
        comments: cell -> what a person wrote there.
    """

    score: float = 0.0
    penalty: float = 0.0
    cells: dict[str, float] = field(default_factory=dict)
    by_hand: set[str] = field(default_factory=set)
    comments: dict[str, str] = field(default_factory=dict)


def read_points(course: Course) -> dict[tuple[str, str], Points]:
    """(student, module) -> Points, of all that is in the gradebook. Raises GraderError where that
    goes away, or can only be read: late work is worked out in it.
    """
    try:
        return _read(course)
    except SQLAlchemyError as error:
        raise GraderError(
            f"grader: expected to read and write the gradebook at {shown(course.db_url)}, but got: "
            f"{reason(error)} Mend that, then run the same command again."
        ) from None


def _read(course: Course) -> dict[tuple[str, str], Points]:
    from nbgrader import api as nbgrader_api

    api: Any = nbgrader_api  # its columns, which the type checker takes for plain values
    found: dict[tuple[str, str], Points] = {}
    with course.gradebook() as gradebook:
        # What late work costs follows points given by hand, and grader.toml as it is now. Here it
        # is only worked out; `grader grade` stores it.
        database: Any = gradebook.db  # a scoped session, used as the session itself
        settle_late(database, course.settings)
        grade, comment = api.Grade, api.Comment
        rows: Any = database.execute(
            _of_students(api.BaseCell.name, grade.score, grade.manual_score, grade.extra_credit)
            .join(grade, grade.notebook_id == api.SubmittedNotebook.id)
            .join(api.BaseCell, api.BaseCell.id == grade.cell_id)
        )
        for student, module, cell, score, by_hand, extra in rows:
            points = found.setdefault((student, module), Points())
            points.cells[cell] = score
            if by_hand is not None or extra:
                points.by_hand.add(cell)
        rows = database.execute(
            _of_students(api.BaseCell.name, comment.manual_comment)
            .join(comment, comment.notebook_id == api.SubmittedNotebook.id)
            .join(api.BaseCell, api.BaseCell.id == comment.cell_id)
        )
        for student, module, cell, text in rows:
            if text and (student, module) in found:
                found[student, module].comments[cell] = text
        rows = database.execute(_of_students(api.SubmittedNotebook.late_submission_penalty))
        for student, module, penalty in rows:
            if (student, module) in found:
                found[student, module].penalty = penalty or 0.0
        database.rollback()
    for points in found.values():
        points.score = max(0.0, round(sum(points.cells.values()) - points.penalty, 4))
    return found


def points_of(course: Course, verdict: Verdict, points: dict[tuple[str, str], Points]) -> Points:
    """Those of a verdict, from `read_points`. One of a failed submission may have none.

    Raises:
        GraderError: the gradebook doesn't have them, so it is not the one they were stored in.
    """
    found = points.get((verdict.student, verdict.module))
    if found is None and verdict.status != FAILED:
        raise GraderError(
            f"grader: expected the points of {verdict.student} for {verdict.module} in the "
            f"gradebook at {shown(course.db_url)}, but got none. Pass the --db with which you "
            "graded, or run grader grade to fill this one."
        )
    return found or Points()


def _of_students(*columns: Any) -> Any:
    """Student, module and the columns, of every submitted notebook."""
    from nbgrader import api as nbgrader_api

    api: Any = nbgrader_api
    return (
        select(api.SubmittedAssignment.student_id, api.Assignment.name, *columns)
        .select_from(api.SubmittedNotebook)
        .join(
            api.SubmittedAssignment,
            api.SubmittedAssignment.id == api.SubmittedNotebook.assignment_id,
        )
        .join(api.Assignment, api.Assignment.id == api.SubmittedAssignment.assignment_id)
    )


def students(course: Course) -> list[str]:
    """Everybody in the gradebook, also who has not handed in anything."""
    from nbgrader import api

    with course.gradebook() as gradebook:
        return sorted(gradebook.db.scalars(select(api.Student.id)))
