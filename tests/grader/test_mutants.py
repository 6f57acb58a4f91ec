"""Plausible wrong solutions lose points: each file in course/<module>/mutants/ is one.

A mutant `task1_<what>.py` holds the text that replaces the reference between the solution marks of
task 1. The exercise's cells are run in a fresh Python, without a kernel; the grader itself is
tested elsewhere.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.notebooks import COURSE, from_source

MUTANTS = sorted(COURSE.glob("*/mutants/*.py"))
REQUIRED = 5  # mutants a module at least, over its tasks
MARKED = re.compile(r"### BEGIN SOLUTION\n.*?### END SOLUTION", re.DOTALL)

RUNNER = """
import contextlib, io, json, sys
cells, failed = json.load(sys.stdin), []
names = {"__name__": "__main__"}
for grade_id, source in cells:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, f"<{grade_id}>", "exec"), names)
    except BaseException:
        failed.append(grade_id)
json.dump(failed, sys.stdout)
"""


def run_exercise(module: str, replaced: dict[str, str]) -> set[str]:
    """Runs an exercise whose solutions are replaced; returns the ids of the cells that failed."""
    cells = []
    for cell in from_source(COURSE / module / "exercise.py").cells:
        if cell.cell_type != "code":
            continue
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "cell")
        source = cell.source
        if name in replaced:
            assert MARKED.search(source)
            source = MARKED.sub(lambda _, name=name: replaced[name].strip(), source)
        cells.append((name, source))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(json.loads(done.stdout))


def test_every_module_has_mutants_for_each_task():
    for source in COURSE.glob("*/exercise.py"):
        module = source.parent.name
        mutants = [path.name for path in MUTANTS if path.parent.parent.name == module]
        assert len(mutants) >= REQUIRED, f"{module} has {len(mutants)}"
        for task in ("task1", "task2"):
            assert any(name.startswith(f"{task}_") for name in mutants), (module, task)


@pytest.mark.parametrize(
    "module", sorted(path.parent.name for path in COURSE.glob("*/exercise.py"))
)
def test_the_reference_fails_nowhere(module: str):
    assert run_exercise(module, {}) == set()


@pytest.mark.parametrize("path", MUTANTS, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_mutant_loses_points(path: Path):
    task = path.name.partition("_")[0]
    failed = run_exercise(path.parent.parent.name, {task: path.read_text(encoding="utf-8")})
    assert failed & {f"{task}_check", f"{task}_hidden"}, "this wrong solution scores all points"
    assert task not in failed, "a mutant must be a plausible answer: its own cell has to run"
