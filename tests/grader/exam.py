"""Small exercises and answers for the tests of the examiner, without a course around them."""

from __future__ import annotations

from collections.abc import Iterable

import nbformat.v4 as v4
import pytest
from nbformat import NotebookNode, writes

from grader.assignment import Assignment, make_assignment
from grader.grading import grade
from grader.outcome import Job, Limits, Outcome
from grader.release import released
from grader.sandbox import NoSandbox, check_sandbox

LIMITS = Limits(cell_seconds=60, submission_seconds=300)  # for what ends by itself


def sandbox_missing() -> str:
    """Why bubblewrap can't be used here, or an empty text."""
    try:
        check_sandbox()
    except NoSandbox as error:
        return str(error)
    return ""


needs_sandbox = pytest.mark.skipif(bool(sandbox_missing()), reason=sandbox_missing() or "-")


def code(name: str, source: str, **meta: object) -> NotebookNode:
    base = {"grade_id": name, "grade": False, "solution": False, "locked": False, "task": False}
    cell = v4.new_code_cell(source.strip())
    cell.metadata.nbgrader = {**base, "schema_version": 3, **meta}
    return cell


def exercise(
    visible: str,
    hidden: str = "",
    *,
    setup: str = "import numpy as np",
    answer: str = "def answer(n):\n    return n * n",
) -> NotebookNode:
    """An instructor's notebook with one task. `visible` and `hidden` are bodies of check cells."""
    head, _, body = answer.strip().partition("\n")
    marked = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    top = "from grader.checks import Checks, experiment\n"
    cells = [
        code("setup", setup, locked=True),
        code("task1", marked, solution=True),
        code("task1_check", top + visible, grade=True, points=2, locked=True),
    ]
    if hidden:
        text = f"# hidden\n### BEGIN HIDDEN TESTS\n{top}{hidden}\n### END HIDDEN TESTS"
        cells.append(code("task1_hidden", text, grade=True, points=2, locked=True))
    return v4.new_notebook(cells=cells)


def assignment_of(source: NotebookNode) -> Assignment:
    return make_assignment("01_exam", source, released(source), {})


def submission(source: NotebookNode, answer: str | None = None, added: Iterable[str] = ()) -> bytes:
    """What a student hands in: the reference, or another answer; `added` cells stand before it."""
    notebook = released(source)
    solutions = [
        number
        for number, cell in enumerate(source.cells)
        if cell.metadata.get("nbgrader", {}).get("solution")
    ]
    place, reference = solutions[0], source.cells[solutions[0]]
    notebook.cells[place].source = reference.source if answer is None else answer.strip()
    for number, text in enumerate(added):
        notebook.cells.insert(place + number, v4.new_code_cell(text))
    return writes(notebook).encode()


def graded(
    source: NotebookNode,
    answer: str | None = None,
    *,
    added: Iterable[str] = (),
    limits: Limits = LIMITS,
    sandbox: bool = False,
) -> Outcome:
    """One submission, graded. Without a sandbox, so that these tests run everywhere."""
    job = Job(assignment_of(source), submission(source, answer, added), limits, sandbox)
    return grade(job)


def output(outcome: Outcome, name: str) -> str:
    """What a cell of ours printed, and its error, as one text."""
    assert outcome.notebook is not None
    for cell in outcome.notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
            parts = [o.get("text", "") + o.get("evalue", "") for o in cell["outputs"]]
            return "\n".join(parts)
    raise KeyError(name)
