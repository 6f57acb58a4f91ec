"""What grading one submission gives: plain data, from a Job.

    outcome = grader.grading.grade(Job(assignment, submission))

An Outcome knows no student: two students who hand in the same bytes get the same Outcome. Its `key`
is a hash of the submission, the assignment and the grader, so that a result can be stored once and
found again. `verdict.py` adds whose it is.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from grader.assignment import Assignment

Status = Literal["graded", "not gradable", "failed"]
GRADED: Status = "graded"
# The student has to hand in again: no work can be seen in the file. Counts as 0 points.
NOT_GRADABLE: Status = "not gradable"
# The grader could not do its work. No points are given or taken: it is tried again.
FAILED: Status = "failed"

# The modules of the grader that decide about points: a change in one of them is another grader.
DECIDES = (
    "assignment.py",
    "checks.py",
    "codec.py",
    "examiner.py",
    "grading.py",
    "link.py",
    "nursery.py",
    "outcome.py",
    "sandbox.py",
    "seccomp.py",
    "student.py",
    "submission.py",
    "warm.py",
)

# How a warm parent is told that its jobs want a sandbox, and that a line is no job.
SANDBOX = "sandbox"
ASSIGNMENT = "assignment "

BUBBLEWRAP = "bubblewrap"
NO_SANDBOX = "none"


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell_seconds: float = 30.0
    submission_seconds: float = 300.0
    memory_mib: int = 2048  # of all its processes together
    processes: int = 128  # threads count too
    file_mib: int = 64  # one file; and each of its temporary folders
    output_bytes: int = 5 * 2**20  # of all cells together


@dataclass(frozen=True)
class Job:
    """All that grading one submission needs."""

    assignment: Assignment
    submission: bytes
    limits: Limits = Limits()
    sandbox: bool = True

    @property
    def key(self) -> str:
        total = hashlib.sha256()
        parts = [self.assignment.digest(), repr(self.limits), repr(self.sandbox), grader_digest()]
        for part in [*(part.encode() for part in parts), self.submission]:
            total.update(f"{len(part)}\n".encode())
            total.update(part)
        return total.hexdigest()

    def to_line(self) -> str:
        """For a warm parent: without the assignment, which it is told before."""
        return json.dumps(
            {
                "submission": base64.b64encode(self.submission).decode(),
                "limits": vars(self.limits),
                "sandbox": self.sandbox,
            }
        )

    @classmethod
    def from_line(cls, assignment: Assignment, line: str) -> Job:
        content: dict[str, Any] = json.loads(line)
        submission = base64.b64decode(content["submission"])
        return cls(assignment, submission, Limits(**content["limits"]), content["sandbox"])


@dataclass
class CheckResult:
    """One line of a check cell: `name` of the idea; `message` is empty where it passed."""

    cell: str
    name: str
    passed: bool
    points: float
    max_points: float
    message: str = ""
    look: str = ""

    @property
    def hidden(self) -> bool:
        return self.cell.endswith("_hidden")


def looks_once(results: Iterable[CheckResult]) -> list[CheckResult]:
    """The same, but what several failed checks of a task say on where to look stands only at the
    first of them.
    """
    said: set[str] = set()
    found = []
    for result in results:
        again = not result.passed and result.look in said
        found.append(replace(result, look="") if again else result)
        said.update([] if result.passed else [result.look])
    return found


@dataclass
class Outcome:
    """The result of a Job.

    Attributes:
        score, max_score: None where status is "failed".
        cells: name of a check cell -> its points.
        checks: the single checks, in order. A cell that did not get to its checks has none.
        sandbox: "bubblewrap", or "none" where student code ran with the grader's rights.
        notebook: what ran, with outputs (nbformat 4, as JSON objects); None where nothing ran.
        seconds: wall time.
    """

    key: str
    status: Status
    reason: str = ""
    score: float | None = None
    max_score: float | None = None
    cells: dict[str, float] = field(default_factory=dict)
    checks: list[CheckResult] = field(default_factory=list)
    sandbox: str = BUBBLEWRAP
    seconds: float = 0.0
    notebook: dict[str, Any] | None = None

    def to_plain(self) -> dict[str, Any]:
        """As JSON objects."""
        return {**vars(self), "checks": [vars(check) for check in self.checks]}

    @classmethod
    def from_plain(cls, content: dict[str, Any]) -> Outcome:
        checks = [CheckResult(**check) for check in content.get("checks", [])]
        return cls(**{**content, "checks": checks})


@functools.cache
def grader_digest() -> str:
    """A hash of the code that decides about points: the grader, minipaddle, Python's version."""
    total = hashlib.sha256(sys.version.encode())
    here = Path(__file__).resolve().parent
    found = importlib.util.find_spec("minipaddle")  # not imported: it takes its time
    assert found is not None and found.origin is not None
    framework = Path(found.origin).resolve().parent
    for path in [*(here / name for name in DECIDES), *sorted(framework.rglob("*.py"))]:
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()
