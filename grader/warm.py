"""The warm parent: has imported everything, and forks a fresh examiner for each submission.

It reads lines of JSON from stdin: an Assignment, whose cells it compiles, and Jobs. For each Job it
forks, and the child writes lines of JSON to stdout: the outcome so far, and the outcome at the end
("done": true). The parent itself reads no student's text and runs no cell, so every examiner starts
from the same clean state, in a few milliseconds.

Where there is no fork (Windows), each submission gets a new process instead, see grading.py.
"""

from __future__ import annotations

import compileall
import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import sys
import traceback
from typing import Any

import psutil

from grader import sandbox
from grader.assignment import Assignment
from grader.outcome import ASSIGNMENT, FAILED, SANDBOX, Job, Limits, Outcome


def main() -> None:
    # Jobs and outcomes have these two pipes for themselves: nothing that is run may read or write
    # there by chance.
    # A student's text may hold half a surrogate pair, which no file can: here it becomes a "?".
    jobs = os.fdopen(os.dup(0), "r", encoding="utf-8")
    outcomes = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    folder = sys.argv[1] if len(sys.argv) > 1 else ""  # of our temporary files
    _end_with_parent(folder)
    gc.disable()  # what is imported is no garbage: nobody need look at it, in no examiner either
    try:
        if SANDBOX in sys.argv:
            sandbox.start_nursery()  # it imports, and so do we
        compile_library()
        from grader.examiner import prepare
    except Exception as error:  # half of an update, say
        jobs.readline()  # the assignment, and the job
        jobs.readline()
        _tell(outcomes, {"ended": f"it can't start: {type(error).__name__}: {error}"})
        return
    gc.freeze()
    gc.enable()
    assignment = None
    for line in jobs:
        if line.startswith(ASSIGNMENT):
            assignment = Assignment.from_json(json.loads(line.removeprefix(ASSIGNMENT)))
            prepare(assignment)
            continue
        assert assignment is not None, "a job came before its assignment"
        if '"sandbox": true' in line[-40:]:
            with contextlib.suppress(OSError):  # the examiner will see that too, and say it
                sandbox.nursery()  # for all examiners; before there is a student's text
        if not hasattr(os, "fork"):
            _grade(assignment, line, outcomes)
            return
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _grade(assignment, line, outcomes)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status != 0:
            _tell(outcomes, {"ended": f"code {os.waitstatus_to_exitcode(status)}"})
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _end_with_parent(folder: str) -> None:
    """The command ends its parents. Where it was killed, it can't: so each looks once a second
    whether it is still there, and if not, ends all that it has started. (Not on Windows.)
    """
    if not hasattr(signal, "setitimer"):
        return
    parent = os.getppid()

    def look(*_: Any) -> None:
        if os.getppid() == parent:
            return
        for one in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                one.kill()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)


def compile_library() -> None:
    """Students' processes see the library read-only, so they can't keep what they compile. And what
    is imported here need not be imported in every examiner.
    """
    for name, depth in (("minipaddle", 10), ("grader", 0)):
        folder = os.path.dirname(importlib.import_module(name).__file__ or "")
        compileall.compile_dir(folder, maxlevels=depth, quiet=2)
    importlib.import_module("minipaddle.viz")


def _grade(assignment: Assignment, line: str, outcomes: Any) -> None:
    from grader.examiner import examine

    job = Job.from_line(assignment, line)
    try:
        _limit(job.limits)
        outcome = examine(job, lambda so_far: _tell(outcomes, {"so_far": so_far.to_plain()}))
    except Exception:
        reason = traceback.format_exc().strip().splitlines()
        outcome = Outcome(job.key, FAILED, f"the grader itself failed: {reason[-1]} ({reason[-3]})")
    _tell(outcomes, {"done": outcome.to_plain()})


def _tell(outcomes: Any, message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody is left who wants to know
        outcomes.write(json.dumps(message, ensure_ascii=False) + "\n")
        outcomes.flush()


def _limit(limits: Limits) -> None:
    """An examiner reads what a student's process sends, and runs Programs that come from there."""
    if os.name != "posix":
        return
    import resource

    most = limits.memory_mib * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


if __name__ == "__main__":
    main()
