"""What came out for one submission: plain data, kept as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from grader.collect import collected, digest
from grader.course import Course

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

GRADED = "graded"
# The student has to hand in again: no work can be seen in the file. Counts as 0 points.
NOT_GRADABLE = "not gradable"
# The grader could not do its work. No points are given or taken: grade again.
FAILED = "failed"


@dataclass
class Verdict:
    """The outcome for a student and a module. `tasks`: the name of a check cell -> its points."""

    student: str
    module: str
    status: Literal["graded", "not gradable", "failed"]
    score: float | None = None
    max_score: float | None = None
    reason: str = ""
    tasks: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    digest: str = ""  # of the submission that was graded, see `collect.digest`


def save(course: Course, verdict: Verdict) -> None:
    path = course.work / "verdicts" / verdict.student / f"{verdict.module}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(
        json.dumps(asdict(verdict), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    os.replace(temporary, path)


def load_all(course: Course, module: str | None = None) -> list[Verdict]:
    """All verdicts, by module and student."""
    paths = (course.work / "verdicts").glob(f"*/{module or '*'}.json")
    verdicts = [Verdict(**json.loads(path.read_text(encoding="utf-8"))) for path in paths]
    return sorted(verdicts, key=lambda v: (v.module, v.student))


def outdated(course: Course) -> list[tuple[str, str]]:
    """(student, module) of what was collected since it was graded, or never graded."""
    graded = {(v.student, v.module): v.digest for v in load_all(course)}
    pairs = collected(course)
    return [pair for pair in pairs if graded.get(pair) != digest(course, *pair)]


def drop_lost(course: Course) -> list[Verdict]:
    """Drops what is kept of submissions that are no longer in grader/submitted: verdict, page,
    points. Returns those verdicts.
    """
    kept = set(collected(course))
    lost = [v for v in load_all(course) if (v.student, v.module) not in kept]
    if lost:
        with course.gradebook() as gradebook:
            for verdict in lost:
                _drop(course, gradebook, verdict)
    return lost


def _drop(course: Course, gradebook: Gradebook, verdict: Verdict) -> None:
    from nbgrader.api import MissingEntry

    for step in ("prepared", "autograded", "feedback"):
        shutil.rmtree(course.step(step, verdict.student, verdict.module), ignore_errors=True)
    with contextlib.suppress(MissingEntry):
        gradebook.remove_submission(verdict.module, verdict.student)
    (course.work / "verdicts" / verdict.student / f"{verdict.module}.json").unlink()
