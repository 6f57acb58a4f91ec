"""What the grader reads and writes in nbgrader's gradebook. Every function works in a transaction
that the caller ends.

The rows, from the top: an assignment (a module), its notebook, in it a grade cell for every check
and a solution cell for every answer. And for each student a submitted assignment, in it a submitted
notebook, with a grade for every grade cell and a comment for every solution cell.

nbgrader's Gradebook has methods for most of this. They commit after every step, so a crash would
leave half a submission; hence its tables are used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import nbgrader.api
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from grader.assignment import Assignment
from grader.course import COURSE_ID, NOTEBOOK
from grader.settings import Settings
from grader.verdict import Verdict

# A type checker takes the columns of these classes for SQL, where they are values too.
api: Any = nbgrader.api

Points = dict[str, float | None]  # name of a check cell -> the grader's points


def read_points(db: Session) -> dict[tuple[str, str], Points]:
    """The points of all submissions, by student and module."""
    ran, submitted = api.SubmittedNotebook, api.SubmittedAssignment
    query = (
        select(submitted.student_id, api.Assignment.name, api.BaseCell.name, api.Grade.auto_score)
        .select_from(api.Grade)
        .join(api.BaseCell, api.Grade.cell_id == api.BaseCell.id)
        .join(ran, api.Grade.notebook_id == ran.id)
        .join(submitted, ran.assignment_id == submitted.id)
        .join(api.Assignment, submitted.assignment_id == api.Assignment.id)
    )
    found: dict[tuple[str, str], Points] = {}
    for student, module, cell, points in db.execute(query):
        found.setdefault((student, module), {})[cell] = points
    return found


@dataclass(frozen=True)
class Exercise:
    """Ids of an exercise's rows; of the cells by their names."""

    assignment: str
    notebook: str
    checks: dict[str, str]
    answers: dict[str, str]


def find_exercise(db: Session, settings: Settings, assignment: Assignment) -> Exercise:
    """Makes the rows of an exercise what it is now: one for every check and every answer."""
    row = db.query(api.Assignment).filter_by(name=assignment.module).one_or_none()
    if row is None:
        row = api.Assignment(name=assignment.module, course_id=COURSE_ID)
        db.add(row)
    _set_due(row, settings)
    notebook = next((n for n in row.notebooks if n.name == NOTEBOOK), None)
    if notebook is None:
        notebook = api.Notebook(name=NOTEBOOK, assignment=row)
        db.add(notebook)
    checks = {cell.name: cell.points for cell in assignment.checks}
    answers = {cell.name for cell in assignment.cells if cell.kind == "answer"}
    for cell in notebook.grade_cells:
        if cell.name in checks:
            cell.max_score = checks.pop(cell.name)
        else:
            _remove(db, cell, cell.grades)
    for cell in notebook.solution_cells:
        if cell.name in answers:
            answers.remove(cell.name)
        else:
            _remove(db, cell, cell.comments)
    for name, points in checks.items():
        db.add(api.GradeCell(name=name, notebook=notebook, max_score=points, cell_type="code"))
    for name in sorted(answers):
        db.add(api.SolutionCell(name=name, notebook=notebook))
    db.flush()
    db.expire(notebook)
    return Exercise(
        row.id,
        notebook.id,
        {cell.name: cell.id for cell in notebook.grade_cells},
        {cell.name: cell.id for cell in notebook.solution_cells},
    )


def write_points(
    db: Session, settings: Settings, exercise: Exercise, verdict: Verdict, when: datetime
) -> Points:
    """The points of a submission, handed in at `when` (UTC, without a zone). What was given by hand
    stays.
    """
    if db.get(api.Student, verdict.student) is None:
        db.add(api.Student(id=verdict.student))
    whose = {"assignment_id": exercise.assignment, "student_id": verdict.student}
    submitted = db.query(api.SubmittedAssignment).filter_by(**whose).one_or_none()
    if submitted is None:
        submitted = api.SubmittedAssignment(**whose)
        db.add(submitted)
    submitted.timestamp = when
    ran = next((n for n in submitted.notebooks if n.notebook_id == exercise.notebook), None)
    if ran is None:
        ran = api.SubmittedNotebook(notebook_id=exercise.notebook, assignment=submitted)
        db.add(ran)
    points: Points = {name: verdict.cells.get(name, 0.0) for name in exercise.checks}
    grades = {grade.cell_id: grade for grade in ran.grades}
    for name, cell in exercise.checks.items():
        grade = grades.get(cell) or api.Grade(cell_id=cell, notebook=ran)
        db.add(grade)
        grade.auto_score = points[name]
        grade.needs_manual_grade = False
    commented = {comment.cell_id for comment in ran.comments}
    for cell in exercise.answers.values():  # nbgrader's pages take a comment where such a row is
        if cell not in commented:
            db.add(api.Comment(cell_id=cell, notebook=ran))
    db.flush()
    _set_penalty(ran, settings)
    return points


def settle_late(db: Session, settings: Settings) -> None:
    """Due dates and penalties as grader.toml has them now, for all that was graded before."""
    for row in db.query(api.Assignment):
        _set_due(row, settings)
    submitted = api.SubmittedNotebook.assignment
    query = db.query(api.SubmittedNotebook).options(
        selectinload(api.SubmittedNotebook.grades),
        joinedload(submitted).joinedload(api.SubmittedAssignment.assignment),
    )
    for ran in query:
        _set_penalty(ran, settings)


def _remove(db: Session, cell: Any, given: list[Any]) -> None:
    """A task that the exercise no longer has, with what students got for it."""
    for row in list(given):
        db.delete(row)
    db.delete(cell)


def _set_due(row: Any, settings: Settings) -> None:
    row.duedate = settings.due.get(row.name, row.duedate)


def _set_penalty(ran: Any, settings: Settings) -> None:
    submitted = ran.assignment
    # Without a due date nbgrader can't add an extension to it.
    late = submitted.total_seconds_late if submitted.assignment.duedate else 0
    points = sum(_points(grade) for grade in ran.grades)
    ran.late_submission_penalty = settings.penalty(points, late) or None


def _points(grade: Any) -> float:
    """nbgrader's rule: points given by hand go before the grader's, extra credit comes on top."""
    given = grade.auto_score if grade.manual_score is None else grade.manual_score
    return 0.0 if given is None else given + (grade.extra_credit or 0.0)
