"""Every exercise of the course, as learners have it.

What its points mean is the audit's (test_audit.py). That its solutions pass in one process too is
seen by test_course.py, which runs the whole notebook in a kernel.
"""

from __future__ import annotations

import json
import subprocess
import sys

import nbformat
import pytest

from grader.release import leaks, released
from tools.notebooks import COURSE, from_source

MODULES = sorted(path.parent.name for path in COURSE.glob("*/exercise.py"))

RUNNER = """
import contextlib, io, json, sys
cells, failed = json.load(sys.stdin), {}
names = {"__name__": "__main__"}
for grade_id, source in cells:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, f"<{grade_id}>", "exec"), names)
    except BaseException as error:
        failed[grade_id] = f"{type(error).__name__}: {error}"
json.dump(failed, sys.stdout)
"""


def run_in_one_process(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Runs the code cells as a learner's kernel does; returns the errors by grade_id."""
    cells = [
        (cell.metadata.get("nbgrader", {}).get("grade_id", "cell"), cell.source)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("module", MODULES)
def test_a_learner_is_told_what_is_not_written_yet(module: str) -> None:
    notebook = released(from_source(COURSE / module / "exercise.py"))
    failed = run_in_one_process(notebook)
    visible = [
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("points") and "Hidden checks" not in cell.source
    ]
    assert visible and set(visible) <= set(failed)
    for name in visible:
        assert failed[name].startswith("CheckFailed: Task"), failed[name]


@pytest.mark.parametrize("module", MODULES)
def test_the_release_shows_no_solution_and_no_hidden_test(module: str) -> None:
    source = from_source(COURSE / module / "exercise.py")
    assert leaks(source, source)  # so there is something to find
    assert leaks(source, released(source)) == []
