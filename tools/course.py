"""The course's notebooks: built from their sources, checked, and laid out for a learner.

    python -m tools.course build [PATH ...]      run sources and write their notebooks
    python -m tools.course check                 are the notebooks in step with their sources?
    python -m tools.course workspace [--to DIR]  what a learner works in; never overwrites work

A source is a py:percent file, course/<module>/<name>.py; its notebook lies beside it, and both are
in git. `# %%` starts a code cell, `# %% [markdown]` a text cell. All notebooks get the same
metadata, so a source needs no header.

Add a lesson
1. Write course/<module>/NN_<slug>.py. Its first cell is markdown with one heading, `# 1.2 A
   question?` (the home page shows it). Don't print paths, times or addresses in memory.
2. python -m tools.course build course/<module>/NN_<slug>.py, and look at it in JupyterLab.
3. An output that can't be the same twice: tag the cell, `# %% tags=["nbval-ignore-output"]`, and
   say why in the cell, in a comment that starts with `# Varies:`. An error that the lesson shows
   on purpose: tag the cell "raises-exception".
4. The build tells a cell over 10 s, and a lesson over 60 s. pytest tests/test_course.py -k <slug>:
   every cell runs, and gives the same outputs again.
5. Commit the source and the notebook together.

Add an exercise, or a task to one
1. Write course/<module>/exercise.py. First a heading, `# 1 · exercise: ...`. Imports and givens go
   into a cell that is restored when graded: `# %% nbgrader={"grade_id": "setup"}`.
2. A task is a markdown cell that starts with `## Task 1 · ...` (the home page shows it) and has
   three hints, `<details><summary>Hint 1</summary>...</details>`; then three code cells:
       # %% nbgrader={"grade_id": "task1", "solution": true}
       The answer, between ### BEGIN SOLUTION and ### END SOLUTION.
       # %% nbgrader={"grade_id": "task1_check", "points": 2}
       Checks that the learner sees and runs: with Checks("Task 1") as check: ...
       # %% nbgrader={"grade_id": "task1_hidden", "points": 2}
       A comment for the learner; then the same idea on other inputs, between ### BEGIN HIDDEN
       TESTS and ### END HIDDEN TESTS: with Checks("Task 1", hidden=True) as check: ...
   The rest of nbgrader's metadata is filled in. grader/checks.py says what a check can ask.
3. python -m tools.course build course/<module>/exercise.py runs it with its solutions.
4. pytest tests/grader/test_exercises.py -k <module>: blank work scores 0, the reference all
   points, and no solution or hidden test is in the released notebook.
5. Commit the source and the notebook together.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tools import notebooks
from tools.notebooks import COURSE, ROOT, CourseError


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0 all well, 1 something is wrong with the course (it says what)."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.course",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="run sources and write their notebooks")
    build.add_argument(
        "paths", nargs="*", type=Path, help="sources or module folders (default: all)"
    )
    commands.add_parser("check", help="are the notebooks in step with their sources?")
    workspace = commands.add_parser("workspace", help="lay out what a learner works in")
    workspace.add_argument("--to", type=Path, default=ROOT / "workspace", metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        if options.command == "build":
            return _build(options.paths)
        if options.command == "check":
            return _check()
        return _workspace(options.to)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1


def _build(paths: list[Path]) -> int:
    os.environ["MINIPADDLE_RECORD"] = "1"  # real Paddle's answers are written down as lessons run
    for source in _chosen(paths):
        started = time.monotonic()
        seconds = notebooks.build(source)
        print(f"{notebooks.shown(source)}: built in {time.monotonic() - started:.1f} s", flush=True)
        for found in notebooks.slow(seconds):
            print(f"  slow: {found}", flush=True)
    return 0


def _chosen(paths: list[Path]) -> list[Path]:
    known = notebooks.sources()
    if not paths:
        return known
    chosen = []
    for path in paths:
        path = path.resolve().with_suffix(".py") if path.suffix == ".ipynb" else path.resolve()
        found = [source for source in known if source == path or source.parent == path]
        if not found:
            raise CourseError(
                f"course build: expected a source or a module of the course, but got {path}. "
                "Lessons are named NN_<slug>.py, exercises exercise.py."
            )
        chosen += [source for source in found if source not in chosen]
    return chosen


def _check() -> int:
    found = [problem for source in notebooks.sources() for problem in notebooks.problems(source)]
    found += notebooks.orphans()
    for problem in found:
        print(problem)
    if not found:
        print(f"{len(notebooks.sources())} notebooks are in step with their sources.")
    return 1 if found else 0


def _workspace(target: Path) -> int:
    from tools import workspace

    for message in workspace.lay_out(COURSE, target):
        print(message)
    return 0


if __name__ == "__main__":
    sys.exit(main())
