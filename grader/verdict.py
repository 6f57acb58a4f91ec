"""What came out for a student and a module: an Outcome, and whose it is. Kept as JSON, in
grader/verdicts/<student>/<module>.json.

The verdict is written last of all that is kept of a submission (see store.py). So where a verdict
is, everything is; a file that can't be read counts as none, and the submission is graded again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.collect import collected, digest
from grader.course import Course
from grader.outcome import (
    BUBBLEWRAP,
    FAILED,
    GRADED,
    NO_SANDBOX,
    NOT_GRADABLE,
    CheckResult,
    Outcome,
    Status,
)

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

__all__ = ["FAILED", "GRADED", "NOT_GRADABLE", "NO_SANDBOX", "Verdict", "load_all", "outdated"]


@dataclass
class Verdict:
    """The outcome for a student and a module.

    Attributes:
        score, max_score: the grader's own points. Those given by hand, and the penalty for late
            work, are in the gradebook. None where status is "failed".
        cells, checks, sandbox, seconds, key: as in Outcome.
        digest: of the submission that was graded, see `collect.digest`.
        attempts: how many different files this student has handed in so far, those that were not
            gradable too. One that the grader failed on doesn't count.
        seen: their digests.
    """

    student: str
    module: str
    status: Status
    reason: str = ""
    score: float | None = None
    max_score: float | None = None
    cells: dict[str, float] = field(default_factory=dict)
    checks: list[CheckResult] = field(default_factory=list)
    sandbox: str = BUBBLEWRAP
    seconds: float = 0.0
    key: str = ""
    digest: str = ""
    attempts: int = 0
    seen: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, student: str, module: str, outcome: Outcome, digest: str, before: Verdict | None
    ) -> Verdict:
        """`before`: the verdict that this one replaces."""
        content = outcome.to_plain()
        del content["notebook"]
        content["checks"] = outcome.checks
        seen = list(before.seen) if before else []
        if outcome.status != FAILED and digest not in seen:
            seen.append(digest)
        return cls(student, module, digest=digest, attempts=len(seen), seen=seen, **content)


def path(course: Course, student: str, module: str) -> Path:
    return course.work / "verdicts" / student / f"{module}.json"


def save(course: Course, verdict: Verdict) -> None:
    text = json.dumps(asdict(verdict), indent=1, ensure_ascii=False) + "\n"
    write_whole(path(course, verdict.student, verdict.module), text)


def write_whole(target: Path, text: str) -> None:
    """Leaves the old file or the new one, never half of one, also after a power cut. Half a
    surrogate pair, which no file can hold, is written as \\udxxx.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load(file: Path) -> Verdict | None:
    """None where the file is missing, broken, or from another version of the grader."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        checks = [CheckResult(**check) for check in content.pop("checks")]
        return Verdict(**content, checks=checks)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def load_all(course: Course, module: str | None = None) -> list[Verdict]:
    """All verdicts, by module and student."""
    files = (course.work / "verdicts").glob(f"*/{module or '*'}.json")
    verdicts = [verdict for file in files if (verdict := load(file))]
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

    for step in ("times", "autograded", "feedback"):
        shutil.rmtree(course.step(step, verdict.student, verdict.module), ignore_errors=True)
    with contextlib.suppress(MissingEntry):
        gradebook.remove_submission(verdict.module, verdict.student)
    path(course, verdict.student, verdict.module).unlink()
