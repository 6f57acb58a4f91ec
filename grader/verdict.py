"""What came out for one submission: plain data, kept as JSON."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Literal

from grader.course import Course

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
