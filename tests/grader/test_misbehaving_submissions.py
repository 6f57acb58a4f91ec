"""Submissions that hang, crash, lie or are no notebooks cost themselves only.

Attacks on the machine are not here: there is no sandbox yet, as grader/grade.py says.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.collect import collect
from grader.course import Course
from grader.grade import grade
from grader.release import release
from grader.verdict import Verdict
from tests.grader.sample import MODULE, RIGHT, answered, hand_in

FULL: dict[str, float] = {"task1_check": 2, "task1_hidden": 2, "task2_check": 2, "task2_hidden": 2}
TASK1: dict[str, float] = {"task1_check": 2, "task1_hidden": 2, "task2_check": 0, "task2_hidden": 0}
NONE: dict[str, float] = dict.fromkeys(FULL, 0)

Change = Callable[[NotebookNode], NotebookNode | bytes | None]


def cell(nb: NotebookNode, name: str) -> NotebookNode:
    return next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def in_task2(code: str) -> Change:
    def change(nb: NotebookNode) -> None:
        cell(nb, "task2").source = code

    return change


def edit_checks(nb: NotebookNode) -> None:
    for name in FULL:
        cell(nb, name).source = "pass"
    in_task2("sum_to = None")(nb)


def edit_points(nb: NotebookNode) -> None:
    for name in FULL:
        cell(nb, name).metadata.nbgrader.points = 100
        cell(nb, name).metadata.nbgrader.grade = False
        cell(nb, name).metadata.nbgrader.solution = True


def delete_checks(nb: NotebookNode) -> None:
    nb.cells = [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in FULL]


def turn_cells_raw(nb: NotebookNode) -> bytes:
    content = json.loads(nbformat.writes(nb))
    for c in content["cells"]:
        c["cell_type"] = "raw"
    return json.dumps(content).encode()


def split_the_answer(nb: NotebookNode) -> None:
    index = nb.cells.index(cell(nb, "task2"))
    first = nbformat.from_dict(dict(nb.cells[index]))
    first.source, first.id = "import numpy as np\n\ndef axes(s):\n    return s", "split"
    nb.cells.insert(index, first)


def add_a_helper_cell(nb: NotebookNode) -> None:
    answer = cell(nb, "task2")
    helper = nbformat.v4.new_code_cell(answer.source.replace("sum_to", "helper"))
    nb.cells.insert(nb.cells.index(answer), helper)
    answer.source = "sum_to = helper"


def reorder(nb: NotebookNode) -> None:
    nb.cells.reverse()


def other_kernel(nb: NotebookNode) -> None:
    nb.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}


# name -> (what the student did to a right submission, status, points, a word of the reason)
CASES: dict[str, tuple[Change, str, dict[str, float], str]] = {
    "loops": (in_task2("while True:\n    pass"), "graded", TASK1, "task2: over 2 s"),
    "loops and ignores the interrupt": (
        in_task2("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
        "graded",
        TASK1,
        "task2: over 2 s",
    ),
    "loops in the check": (
        in_task2("def sum_to(grad, shape):\n    while True: pass"),
        "graded",
        TASK1,
        "task2_check: over 2 s; task2_hidden: over 2 s",
    ),
    "ends Python": (
        in_task2("import os\nos._exit(0)"),
        "graded",
        TASK1,
        "Python ended in task2",
    ),
    "pretends to be late": (
        in_task2("class CellTimeoutError(Exception): pass\nraise CellTimeoutError('=1+1')"),
        "graded",
        TASK1,
        "",
    ),
    "calls exit in the answer": (
        in_task2("def sum_to(grad, shape):\n    raise SystemExit(0)"),
        "graded",
        TASK1,
        "",
    ),
    "floods the output": (
        in_task2("for i in range(2000):\n    print('x' * 10_000)\n" + RIGHT["task2"]),
        "graded",
        FULL,
        "",
    ),
    "writes to stderr": (
        in_task2(
            "import sys\n" + RIGHT["task2"].replace("return", "print('w', file=sys.stderr); return")
        ),
        "graded",
        FULL,
        "",
    ),
    "asks for input": (in_task2("sum_to = input()"), "graded", TASK1, ""),
    "does not parse": (in_task2("def sum_to(grad, shape:"), "graded", TASK1, ""),
    "edits the checks": (edit_checks, "graded", TASK1, ""),
    "edits the points": (edit_points, "graded", FULL, ""),
    "deletes the checks": (delete_checks, "graded", FULL, ""),
    "turns cells raw": (turn_cells_raw, "graded", FULL, ""),
    "splits the answer": (split_the_answer, "graded", FULL, ""),
    "adds a cell": (add_a_helper_cell, "graded", FULL, ""),
    "reorders the cells": (reorder, "graded", FULL, ""),
    "says another kernel": (other_kernel, "graded", FULL, ""),
    "empty file": (lambda nb: b"", "not gradable", NONE, "empty"),
    "not JSON": (lambda nb: b"# my answer", "not gradable", NONE, "broken"),
    "not UTF-8": (lambda nb: b"\xff\xfe\x00", "not gradable", NONE, "UTF-8"),
    "a list": (lambda nb: b"[]", "not gradable", NONE, "another kind of JSON"),
    "deep JSON": (lambda nb: b"[" * 200_000, "not gradable", NONE, "JSON"),
    "old format": (lambda nb: b'{"worksheets": []}', "not gradable", NONE, "format 4"),
    "another notebook": (
        lambda nb: nbformat.writes(nbformat.v4.new_notebook()).encode(),
        "not gradable",
        NONE,
        "another notebook",
    ),
    "odd cells": (
        lambda nb: b'{"cells": [1, null, {"source": 3}, {"metadata": []}]}',
        "not gradable",
        NONE,
        "another notebook",
    ),
}


@pytest.fixture(scope="module")
def verdicts(released_root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """All cases in one batch, and a right submission at the end of it."""
    root = tmp_path_factory.mktemp("misbehaving")
    course = Course.at(root, released_root / "course")
    release(course)
    folder = tmp_path_factory.mktemp("handed_in")
    for name, (change, *_) in CASES.items():
        nb = answered(course, RIGHT)
        changed = change(nb)
        hand_in(folder, name, nb if changed is None else changed)
    hand_in(folder, "zoe", answered(course, RIGHT))
    collect(course, folder)
    started = time.monotonic()
    found = grade(course, cell_seconds=2, submission_seconds=20)
    assert time.monotonic() - started < 120
    return {v.student: v for v in found}


@pytest.mark.parametrize("name", CASES)
def test_a_misbehaving_submission_gets_what_it_deserves(
    verdicts: dict[str, Verdict], name: str
) -> None:
    _, status, points, reason = CASES[name]
    verdict = verdicts[name]
    assert (verdict.status, verdict.tasks) == (status, points)
    assert (verdict.score, verdict.max_score) == (sum(points.values()), 8)
    assert reason in verdict.reason and bool(reason) == bool(verdict.reason)


def test_the_last_of_the_batch_is_not_affected(verdicts: dict[str, Verdict]) -> None:
    assert list(verdicts)[-1] == "zoe"
    assert verdicts["zoe"].tasks == FULL


def test_the_time_of_a_submission_is_limited(course: Course, tmp_path: Path) -> None:
    slow = answered(course, RIGHT)
    slow.cells.insert(0, nbformat.v4.new_code_cell("import time; time.sleep(60)"))
    hand_in(tmp_path / "in", "slow", slow)
    collect(course, tmp_path / "in")
    [verdict] = grade(course, cell_seconds=30, submission_seconds=2)
    assert (verdict.status, verdict.score) == ("graded", 0)
    assert verdict.reason == "the first cell: over 2 s"
    page = course.step("autograded", "slow", MODULE) / "exercise.ipynb"
    assert "the 2 s for this notebook are used up" in page.read_text()


def test_where_the_grader_itself_fails_nobody_gets_a_zero(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_kernel(self: object, **kwargs: object) -> None:
        raise RuntimeError("no kernel today")

    hand_in(tmp_path / "in", "anna", answered(course, RIGHT))
    collect(course, tmp_path / "in")
    monkeypatch.setattr("grader.execute.Execute.start_new_kernel", no_kernel)
    [verdict] = grade(course)
    assert (verdict.status, verdict.score) == ("failed", None)
    assert "no kernel today" in verdict.reason
