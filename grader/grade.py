"""Grades what was collected, one submission after the other, in the same order every time.

Each submission: read it and match its cells to the assignment (submission.py), run it (execute.py)
by nbgrader's Autograde, which takes all checks from the gradebook, never from the file, and stores
the points there. What came out is a Verdict.

A file without readable work in it is *not gradable*: 0 points, and a reason for the student. If the
grader itself can't do its work, the verdict is *failed*: no points, grade again. Neither stops the
others.

There is no sandbox yet: a submission runs with the rights of whoever grades. Grade only what you
would run yourself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator

import nbformat
from nbformat import NotebookNode
from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from sqlalchemy.exc import SAWarning

from grader import verdict as verdicts
from grader.collect import FILE, REFUSED, collected, digest, read_regular_file
from grader.course import NOTEBOOK, Course
from grader.errors import GraderError, NotGradable
from grader.execute import ChecksPassOrFail, Execute
from grader.submission import answers_in
from grader.verdict import Verdict, drop_lost


def grade(
    course: Course,
    module: str | None = None,
    *,
    cell_seconds: int = 30,
    submission_seconds: int = 300,
    done: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Grades all collected submissions, or those of one module. `done` is told each verdict as it
    comes.
    """
    if module is not None:
        module = course.module(module)
    pairs = collected(course, module)
    if not pairs:
        raise GraderError(
            f"grader grade: expected submissions in {course.submitted}, but got none. Run grader "
            "collect FOLDER first."
        )
    for name in {name for _, name in pairs}:
        if not course.released(name).exists():
            raise GraderError(
                f"grader grade: expected module {name} to be released, but got no "
                f"{course.released(name)}. "
                f"Run grader release {name} first."
            )
    drop_lost(course)
    results = []
    with _private_runtime_folder(), warnings.catch_warnings():
        # nbgrader's own models, not ours to mend
        warnings.filterwarnings("ignore", category=SAWarning)
        for student, name in pairs:
            result = grade_one(course, student, name, cell_seconds, submission_seconds)
            verdicts.save(course, result)
            results.append(result)
            done(result)
    return results


def grade_one(
    course: Course, student: str, module: str, cell_seconds: int, submission_seconds: int
) -> Verdict:
    """Grades one submission and stores its points in the gradebook."""
    started = time.monotonic()
    handed_in = digest(course, student, module)
    released = nbformat.read(course.released(module), as_version=4)
    try:
        prepared = answers_in(released, _handed_in(course, student, module))
        problem = _autograde(course, student, module, prepared, cell_seconds, submission_seconds)
    except NotGradable as error:
        _store_zero(course, student, module)
        result = _from_gradebook(course, student, module)
        result.status, result.reason = verdicts.NOT_GRADABLE, str(error)
    else:
        if problem:
            result = Verdict(student, module, verdicts.FAILED, reason=problem)
        else:
            result = _from_gradebook(course, student, module)
            result.reason = _stopped(course, student, module)
    result.digest = handed_in
    result.seconds = round(time.monotonic() - started, 2)
    return result


def _handed_in(course: Course, student: str, module: str) -> bytes:
    folder = course.step("submitted", student, module)
    if not (folder / FILE).exists():
        raise NotGradable((folder / REFUSED).read_text(encoding="utf-8").strip())
    return read_regular_file(folder / FILE)


def _autograde(
    course: Course,
    student: str,
    module: str,
    prepared: NotebookNode,
    cell_seconds: int,
    submission_seconds: int,
) -> str:
    """Runs nbgrader's Autograde. Returns why it failed, or an empty text."""
    folder = course.step("prepared", student, module)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(prepared, folder / FILE)

    config = course.config()
    if sys.platform != "win32":
        config.KernelManager.transport = "ipc"  # a TCP port can be taken by others
        config.KernelManager.ip = os.path.join(os.environ["JUPYTER_RUNTIME_DIR"], "kernel")
    config.Execute.timeout = cell_seconds
    config.Execute.submission_seconds = submission_seconds
    log = course.log()
    directory = CourseDirectory(config=config, log=log)
    directory.assignment_id, directory.student_id = module, _no_pattern(student)
    directory.notebook_id = NOTEBOOK
    converter = Autograde(coursedir=directory, config=config, log=log)
    converter.force = True
    converter.sanitize_preprocessors = [OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    converter.autograde_preprocessors = [
        Execute,
        ChecksPassOrFail,
        LimitOutput,
        SaveAutoGrades,
        AssignLatePenalties,
        CheckCellMetadata,
    ]
    with _last_error(log) as lines:
        try:
            converter.start()
        except NbGraderException:
            why = lines[0] if lines else "nbgrader gave no reason"
            details = course.work / "nbgrader.log"
            return f"the grader could not run it ({why}). Grade again; details: {details}"
    return ""


def _stopped(course: Course, student: str, module: str) -> str:
    """Which cells did not come to their end, and why. A cell of the student's own is told by the
    cell of ours before it.
    """
    ran = nbformat.read(course.step("autograded", student, module) / FILE, as_version=4)
    found, name = [], "the first cell"
    for cell in ran.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", name)
        for output in cell.get("outputs", []):
            error = output.ename if output.output_type == "error" else ""
            # Only our own words: a student's exception may have these names too.
            if error == "CellTimeoutError" and (said := re.match(r"over \d+ s", output.evalue)):
                found.append(f"{name}: {said[0]}")
            elif error == "KernelDied":
                found.append(f"Python ended in {name}")
    return "; ".join(found)


def _from_gradebook(course: Course, student: str, module: str) -> Verdict:
    with course.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NOTEBOOK, module, student)
        return Verdict(
            student,
            module,
            verdicts.GRADED,
            score=notebook.score,
            max_score=notebook.max_score,
            tasks={
                grade.name: grade.score for grade in sorted(notebook.grades, key=lambda g: g.name)
            },
        )


def _store_zero(course: Course, student: str, module: str) -> None:
    """Not gradable: the gradebook shows the student with 0 points, as it does for a file that was
    never handed in.
    """
    with course.gradebook() as gradebook:
        try:
            gradebook.find_student(student)
        except MissingEntry:
            gradebook.add_student(student)
        gradebook.update_or_create_submission(module, student)
        for grade in gradebook.find_submission_notebook(NOTEBOOK, module, student).grades:
            grade.auto_score = 0
            grade.needs_manual_grade = False
        gradebook.db.commit()


def _no_pattern(name: str) -> str:
    """nbgrader takes ids as file patterns; collect lets no pattern through, and this is the second
    lock.
    """
    if any(mark in name for mark in "*?[]{}/\\"):
        raise GraderError(
            f"grader grade: expected a student's name without wildcards, but got {name!r}. Rename "
            "the folder."
        )
    return name


@contextlib.contextmanager
def _last_error(log: logging.Logger) -> Iterator[list[str]]:
    """Collects the last line of each traceback that nbgrader logs: it swallows the exceptions
    themselves.
    """
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if "Traceback" in text:
                lines.append(text.strip().splitlines()[-1][:300])

    handler = Keep(logging.ERROR)
    log.addHandler(handler)
    try:
        yield lines
    finally:
        log.removeHandler(handler)


@contextlib.contextmanager
def _private_runtime_folder() -> Iterator[None]:
    """Connection files and sockets of the kernels go into a folder of this run: private, and short
    enough for a socket.
    """
    before = os.environ.get("JUPYTER_RUNTIME_DIR")
    with tempfile.TemporaryDirectory(prefix="grader-") as folder:
        os.environ["JUPYTER_RUNTIME_DIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["JUPYTER_RUNTIME_DIR"]
            else:
                os.environ["JUPYTER_RUNTIME_DIR"] = before
