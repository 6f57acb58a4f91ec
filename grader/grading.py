"""Grades one submission: a function from a Job to an Outcome, without a database or any state.

    outcome = grade(Job(assignment, submission))

It may be called from several threads and processes at once; each thread keeps a warm parent
(warm.py) for its next submission.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import psutil

from grader.assignment import Assignment
from grader.outcome import ASSIGNMENT, FAILED, SANDBOX, Job, Outcome
from grader.sandbox import check_sandbox

GRACE = 20.0  # seconds that an examiner may need beyond its two processes' time
_LOCAL = threading.local()
_STARTED: list[Examiner] = []  # by `warm_up`, and not yet at work


class Examiner:
    """A warm parent, and the one examiner that it has at work."""

    def __init__(self, sandbox: bool) -> None:
        self.assignment: Assignment | None = None  # the one that it knows
        # Killed, they can't delete what they have put there.
        self.temporary = tempfile.mkdtemp(prefix="grader-")
        environment = {
            **os.environ,
            "TMPDIR": self.temporary,
            "PYTHONHASHSEED": "0",
            "GLOG_minloglevel": "2",
            "PYTHONWARNINGS": "ignore",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            # Never the current folder (-P): a course's checkout may bring a `grader` of its own.
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grader.warm", self.temporary, *[SANDBOX] * sandbox],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the command, which ends us in order
        )
        self.lines: queue.Queue[str] = queue.Queue()
        stdout = self.process.stdout
        threading.Thread(target=_read, args=(stdout, self.lines), daemon=True).start()
        # when the thread that asks has ended, or Python ends
        self.close = weakref.finalize(self, _end, self.process, self.temporary)

    def grade(self, job: Job) -> Outcome:
        assert self.process.stdin is not None
        deadline = time.monotonic() + 2 * job.limits.submission_seconds + GRACE
        so_far: dict[str, Any] | None = None
        try:
            if job.assignment != self.assignment:
                line = json.dumps(job.assignment.to_json())
                self.process.stdin.write(f"{ASSIGNMENT}{line}\n")
                self.assignment = job.assignment
            self.process.stdin.write(job.to_line() + "\n")
            self.process.stdin.flush()
            while line := self.lines.get(timeout=max(0.1, deadline - time.monotonic())):
                message: dict[str, Any] = json.loads(line)
                if "done" in message:
                    return Outcome.from_plain(message["done"])
                if "so_far" not in message:
                    # It may say so of the job before: then this one's outcome is still to come,
                    # and no later job may get it.
                    self.close()
                    return Outcome(job.key, FAILED, f"the examiner ended ({message.get('ended')})")
                so_far = message["so_far"]
        except queue.Empty:
            # What the student sent keeps the examiner busy: what is proved so far counts.
            self.close()
            if so_far is not None:
                reason = f"over {job.limits.submission_seconds:g} s; what had passed counts"
                return Outcome.from_plain({**so_far, "reason": reason})
            return Outcome(job.key, FAILED, "the examiner gave no answer in time")
        except OSError as error:
            self.close()
            return Outcome(job.key, FAILED, f"the examiner could not be asked ({error})")
        except ValueError:  # half a line
            self.close()
            return Outcome(job.key, FAILED, "the examiner ended in the middle of an answer")
        self.close()
        return Outcome(job.key, FAILED, "the examiner ended without an answer")

    @property
    def alive(self) -> bool:
        return self.process.poll() is None


def _read(stdout: Any, lines: queue.Queue[str]) -> None:
    for line in stdout:
        lines.put(line)
    lines.put("")


def _end(process: subprocess.Popen[str], temporary: str) -> None:
    """Ends a parent, its examiner, and that one's student process. Deletes their files."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
    except psutil.Error:
        family = []
    for one in [*family, process]:
        with contextlib.suppress(psutil.Error, OSError):
            one.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    shutil.rmtree(temporary, ignore_errors=True)


def warm_up(workers: int, sandbox: bool) -> None:
    """Starts this many parents for the first threads that will grade: they import while the caller
    does something else.
    """
    _STARTED.extend(Examiner(sandbox) for _ in range(workers))


def grade(job: Job) -> Outcome:
    """Never raises for what a student did. Raises NoSandbox where there is none and the job wants
    one.
    """
    if job.sandbox:
        _check_once()
    examiner: Examiner | None = getattr(_LOCAL, "examiner", None)
    if examiner is None:
        with contextlib.suppress(IndexError):
            examiner = _STARTED.pop()
    if examiner is None or not examiner.alive:
        examiner = Examiner(job.sandbox)
    _LOCAL.examiner = examiner
    outcome = examiner.grade(job)
    if not hasattr(os, "fork"):
        examiner.close()
    return outcome


def _check_once() -> None:
    if not getattr(_check_once, "done", False):
        check_sandbox()
        _check_once.done = True  # pyright: ignore[reportFunctionMemberAccess]
