"""Grades what was collected: makes a Job of every submission, has the jobs run (schedule.py), and
stores what comes out (store.py).

A submission whose outcome is stored is not run again, so a run that was cut off goes on where it
ended. The same bytes handed in by several students run once. Where the grader itself fails, the job
is given again, twice; then the verdict is *failed*: no points are given or taken, grade again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grader import grading, schedule
from grader import verdict as verdicts
from grader.assignment import Assignment
from grader.collect import FILE, REFUSED, collected, read_regular_file
from grader.course import Course
from grader.errors import GraderError, NotGradable
from grader.outcome import FAILED, NOT_GRADABLE, Job, Limits, Outcome
from grader.schedule import Work
from grader.tasks import load_assignment
from grader.verdict import Verdict

if TYPE_CHECKING:
    from grader.store import Store

PAUSES = (2.0, 10.0)  # seconds before a failed job is given again


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one module. `refused`: why there is nothing to run.
    `digest`: as `collect.digest`.
    """

    student: str
    module: str
    key: str
    digest: str
    handed_in: datetime
    refused: str = ""


@dataclass(frozen=True)
class Options:
    """How to grade. `again`: also what is stored. `scheduler`: of a Dask cluster; without one,
    `workers` submissions at a time are graded here, by default one for every core.
    """

    again: bool = False
    workers: int | None = None
    scheduler: str | None = None
    limits: Limits = Limits()
    sandbox: bool = True


def grade(
    course: Course,
    module: str | None = None,
    student: str | None = None,
    options: Options = Options(),
    *,
    done: Callable[[Verdict], None] = lambda verdict: None,
    say: Callable[[str], None] = lambda text: None,
    work: Work | None = None,
) -> list[Verdict]:
    """Grades all collected submissions, or those of one module or one student.

    `done` is told each verdict as it is stored, also those that were there before; `say`, a
    sentence on what holds the work up. `work` grades a job: grading.grade, or what a test puts
    there. Returns the verdicts, by module and student.
    """
    name = course.module(module) if module is not None else None
    pairs = [pair for pair in collected(course, name) if student in (None, pair[0])]
    if not pairs:
        whose = f" of {student}" if student else ""
        what = f" for {name}" if name else ""
        raise GraderError(
            f"grader grade: expected submissions{whose}{what} in {course.submitted}, but got none. "
            "Run grader collect FOLDER first."
        )
    run = _Run(course, options, work or grading.grade)
    if run.work is grading.grade and not options.scheduler:
        todo = [p for p in pairs if options.again or not verdicts.path(course, *p).exists()]
        grading.warm_up(min(run.workers, len(todo)), options.sandbox)
    from grader.store import Store  # it imports nbgrader for half a second, while they start

    found = [run.submission(*pair) for pair in pairs]
    verdicts.drop_lost(course)
    with Store(course, say) as store:
        rest: dict[str, list[Submission]] = {}
        for one in found:
            if not options.again and store.is_stored(one.student, one.module, one.key):
                done(store.verdict(one.student, one.module))
            elif one.refused:
                done(run.save(store, one, run.refused(one)))
            else:
                rest.setdefault(one.key, []).append(one)
        for pause in (*PAUSES, None):
            again: dict[str, list[Submission]] = {}
            for key, outcome in run.results(rest):
                if outcome.status == FAILED and pause is not None:
                    again[key] = rest[key]
                else:
                    for one in rest[key]:
                        done(run.save(store, one, outcome))
            if not again or pause is None:
                break
            many = f"{len(again)} submission{'s' * (len(again) != 1)}"
            say(f"The grader failed on {many}. Again in {pause:g} s.")
            time.sleep(pause)
            rest = again
        return [store.verdict(*pair) for pair in pairs]


class _Run:
    """What all submissions of one call share."""

    def __init__(self, course: Course, options: Options, work: Work) -> None:
        self.course = course
        self.options = options
        self.work = work
        self.workers = options.workers or os.cpu_count() or 1
        self.assignments: dict[str, Assignment] = {}

    def assignment(self, module: str) -> Assignment:
        if module not in self.assignments:
            self.assignments[module] = load_assignment(self.course, module)
        return self.assignments[module]

    def job(self, module: str, data: bytes) -> Job:
        return Job(self.assignment(module), data, self.options.limits, self.options.sandbox)

    def submission(self, student: str, module: str) -> Submission:
        folder = self.course.step("submitted", student, module)
        path = folder / FILE if (folder / FILE).exists() else folder / REFUSED
        when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        data, refused = b"", ""
        try:
            data = read_regular_file(path)
        except NotGradable as error:
            refused = str(error)
        digest = hashlib.sha256(data).hexdigest()
        if path.name == REFUSED:
            refused = data.decode("utf-8", "replace").strip()
        key = f"refused: {refused}" if refused else self.job(module, data).key
        return Submission(student, module, key, digest, when, refused)

    def refused(self, one: Submission) -> Outcome:
        most = self.assignment(one.module).max_score
        return Outcome(one.key, NOT_GRADABLE, one.refused, score=0.0, max_score=most)

    def results(self, rest: dict[str, list[Submission]]) -> schedule.Results:
        """The outcomes of these jobs. One that was made by another grader is a failure."""
        if not rest:
            return
        if self.options.scheduler:
            results = schedule.on_cluster(self.work, self._jobs(rest), self.options.scheduler)
        else:
            results = schedule.here(self.work, self._jobs(rest), self.workers)
        for key, outcome in results:
            if outcome.key != key:
                outcome = Outcome(
                    key,
                    FAILED,
                    "expected the submission, the grader and Python to be the same on the worker "
                    "as here, but got others. Install the same on all machines.",
                )
            yield key, outcome

    def _jobs(self, rest: dict[str, list[Submission]]) -> Iterator[tuple[str, Job]]:
        """Files are read again when their turn comes: all at once could be more than memory."""
        for key, (one, *_) in rest.items():
            data = b""  # of a file that is no longer there; `results` sees the difference
            with contextlib.suppress(NotGradable):
                folder = self.course.step("submitted", one.student, one.module)
                data = read_regular_file(folder / FILE)
            yield key, self.job(one.module, data)

    def save(self, store: Store, one: Submission, outcome: Outcome) -> Verdict:
        return store.save(
            one.student,
            self.assignment(one.module),
            outcome,
            digest=one.digest,
            handed_in=one.handed_in,
        )
