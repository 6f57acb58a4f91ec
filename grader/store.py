"""The one writer: stores what came out of grading, once, and so that a crash loses nothing.

For each submission, in this order:

    1. the points, in nbgrader's gradebook, in one transaction
    2. grader/autograded/<student>/<module>/exercise.ipynb, the notebook that ran
    3. grader/times/<student>/<module>/timestamp.txt, when it was handed in
    4. grader/verdicts/<student>/<module>.json, the verdict

Each file is written whole or not at all. The verdict comes last and is the receipt: where it is
missing or older, or the gradebook doesn't agree with it, `is_stored` says no, the submission is
graded again, and every step writes the same once more.

Of nbgrader's gradebook only what the grader gives is written. Points, extra credit and comments
that were given by hand in nbgrader's pages stay, and count: that is nbgrader's own rule.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import nbformat
from sqlalchemy.exc import DBAPIError, OperationalError

from grader import gradebook as rows
from grader import verdict as verdicts
from grader.assignment import Assignment
from grader.collect import FILE
from grader.course import Course, reason, shown
from grader.errors import GraderError
from grader.outcome import FAILED, GRADED, Outcome
from grader.settings import Settings
from grader.verdict import Verdict, write_whole

# How long a database that doesn't answer is waited for, in seconds.
WAITS = (0.5, 1, 2, 4, 8, 16)


class Store:
    """Opens the gradebook for writing; use `with`. A second Store on the same course is refused.

    `say` is told what the instructor should know while it happens: that the database is away.
    """

    def __init__(self, course: Course, say: Callable[[str], None] = lambda text: None) -> None:
        self.course = course
        self.say = say
        self.settings: Settings = course.settings

    def __enter__(self) -> Store:
        self._lock = _only_writer(self.course)
        try:
            self._gradebook = self.course.gradebook()
            self._exercises: dict[str, rows.Exercise] = {}
            self._points = self._try(rows.read_points)
            self._try(rows.settle_late, self.settings)
        except BaseException:
            os.close(self._lock)
            raise
        self._verdicts = {(v.student, v.module): v for v in verdicts.load_all(self.course)}
        return self

    def __exit__(self, *error: object) -> None:
        self._gradebook.close()
        os.close(self._lock)

    def is_stored(self, student: str, module: str, key: str) -> bool:
        """Whether all that an Outcome with this key gives is stored. Failed ones never are."""
        verdict = self._verdicts.get((student, module))
        if verdict is None or verdict.key != key or verdict.status == FAILED:
            return False
        points = self._points.get((student, module), {})
        same = points == {name: verdict.cells.get(name, 0.0) for name in points}
        notebook = self.course.step("autograded", student, module) / FILE
        return bool(points) and same and notebook.exists() == (verdict.status == GRADED)

    def verdict(self, student: str, module: str) -> Verdict:
        return self._verdicts[student, module]

    def save(
        self,
        student: str,
        assignment: Assignment,
        outcome: Outcome,
        *,
        digest: str,
        handed_in: datetime,
    ) -> Verdict:
        """Stores the outcome of a submission. A failed one leaves points and notebook as they are.

        Args:
            digest: of the submission, see `collect.digest`.
            handed_in: when, with a time zone.

        Raises:
            GraderError: the gradebook doesn't answer, or a file can't be written. Nothing that was
                stored before is lost.
        """
        module = assignment.module
        before = self._verdicts.get((student, module))
        verdict = Verdict.of(student, module, outcome, digest, before)
        when = handed_in.astimezone(UTC).replace(microsecond=0, tzinfo=None)
        try:
            if outcome.status != FAILED:
                if module not in self._exercises:
                    self._exercises[module] = self._try(
                        rows.find_exercise, self.settings, assignment
                    )
                self._points[student, module] = self._try(
                    rows.write_points, self.settings, self._exercises[module], verdict, when
                )
                self._write_notebook(verdict, outcome)
                times = self.course.step("times", student, module) / "timestamp.txt"
                write_whole(times, f"{when.isoformat(' ')} UTC\n")
            verdicts.save(self.course, verdict)
        except OSError as error:
            raise _cannot_write(self.course, error) from None
        self._verdicts[student, module] = verdict
        return verdict

    def _write_notebook(self, verdict: Verdict, outcome: Outcome) -> None:
        target = self.course.step("autograded", verdict.student, verdict.module) / FILE
        if outcome.notebook is None:
            # nbgrader's pages take a submission with a folder for graded. The notebook would be an
            # earlier submission's, which no longer counts.
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
        else:
            text = nbformat.writes(nbformat.from_dict(outcome.notebook))
            write_whole(target, f"{text}\n")

    def _try(self, change: Callable[..., Any], *args: Any) -> Any:
        """A change of the gradebook, in one transaction. Tried again for a while where the database
        is away.
        """
        for wait in (*WAITS, None):
            try:
                with _to_its_end():
                    result = change(self._gradebook.db, *args)
                    self._gradebook.db.commit()
                return result
            except DBAPIError as error:
                self._gradebook.db.rollback()
                away = isinstance(error, OperationalError) or error.connection_invalidated
                place = shown(self.course.db_url)
                if not away or wait is None:
                    raise GraderError(
                        f"grader: expected the gradebook at {place} to answer, but got: "
                        f"{reason(error)} What was stored before is safe. Start the database, "
                        "then run the same command again: it goes on where it ended."
                    ) from None
                self.say(
                    f"The gradebook at {place} does not answer: {reason(error)} "
                    f"Trying again in {wait:g} s."
                )
                time.sleep(wait)
            except BaseException:
                self._gradebook.db.rollback()
                raise
        raise AssertionError("the loop returns or raises")


@contextlib.contextmanager
def _to_its_end() -> Iterator[None]:
    """Ctrl-C waits until what is in it is done: within a statement, the database's library would
    print a traceback. A second Ctrl-C does not wait.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # as of a run in the background
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []

    def later(number: int, frame: Any) -> None:
        waiting.append(number)
        if len(waiting) > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt


def _only_writer(course: Course) -> int:
    """Locks the course; the lock ends with the process. Returns the open file."""
    try:
        course.work.mkdir(parents=True, exist_ok=True)
        lock = os.open(course.work / "grading.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _cannot_write(course, error) from None
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass  # Windows: there, see to it yourself that only one grader runs
    except OSError:
        os.close(lock)
        raise GraderError(
            f"grader: expected to be the only one that grades in {course.work}, but got another "
            "grader at work there. Wait until it ends."
        ) from None
    return lock


def _cannot_write(course: Course, error: OSError) -> GraderError:
    return GraderError(
        f"grader: expected to write into {course.work}, but got: {error.strerror}. Mend that, then "
        "run the same command again: it goes on where it ended."
    )
