"""`grader audit`: passes over the whole course, and finds each kind of fault that is planted."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat import NotebookNode

from grader.audit import audit, mutant, mutants, steps
from grader.cli import main
from grader.course import Course
from tests.grader.exam import exercise, sandbox_missing
from tools.notebooks import COURSE

MODULES = sorted(path.parent.name for path in COURSE.glob("*/exercise.ipynb"))
SANDBOX = not sandbox_missing()


@pytest.mark.parametrize("module", MODULES)
def test_the_course(module: str, tmp_path: Path) -> None:
    course = Course.at(tmp_path, COURSE)
    report = audit(course, module, sandbox=SANDBOX, workers=os.cpu_count() or 1)
    assert report.problems == []
    assert report.mutants >= 12 and report.killed >= 0.95


VISIBLE = """
with Checks("Task 1") as check:
    check.equal("two", lambda: answer(2), 4)
"""
HIDDEN = """
with Checks("Task 1", hidden=True) as check:
    check.equal("five", lambda: answer(2 + 3), 25)
"""
TWICE = "task1_check: expected a name for each check, but got 'two' 3 times"
WRONG = {
    "task1_adds": "return n + 2",
    "task1_knows": "return 4",
    "task1_cubes": "return n**3",
    "task1_doubles": "return 2 * n",
    "task1_negative": "return -n * n",
}


def course_of(
    folder: Path, source: NotebookNode, wrong: dict[str, str], module: str = "01_exam"
) -> Course:
    place = folder / "course" / module
    (place / "mutants").mkdir(parents=True)
    nbformat.write(source, place / "exercise.ipynb")
    for name, text in wrong.items():
        (place / "mutants" / f"{name}.py").write_text(text)
    return Course.at(folder)


def problems(folder: Path, source: NotebookNode, wrong: dict[str, str] | None = None) -> list[str]:
    course = course_of(folder, source, WRONG if wrong is None else wrong)
    return audit(course, "01_exam", sandbox=False).problems


def test_a_sound_exercise_has_no_problem(tmp_path: Path) -> None:
    told: list[str] = []
    course = course_of(tmp_path, exercise(VISIBLE, HIDDEN), WRONG)
    report = audit(course, "01_exam", sandbox=False, workers=2, done=told.append)
    assert report.problems == report.survivors == []
    assert report.mutants == 6  # the five, and the one that returns None
    assert len(told) == steps(course, "01_exam") == 8


@pytest.mark.parametrize(
    ("visible", "hidden", "answer", "message"),
    [
        (VISIBLE + "    check.equal('free', lambda: 1, 1)", HIDDEN, "", "blank: expected 0 points"),
        (VISIBLE, HIDDEN, "def answer(n):\n    return n + 2", "reference: expected 4 points"),
        (VISIBLE, "", "", "task1: expected visible and hidden checks"),
        (VISIBLE + "import minipaddle.jit", HIDDEN, "", "imports: minipaddle.jit belongs to"),
        (
            "from minipaddle.distributed import spawn\n" + VISIBLE,
            HIDDEN,
            "",
            "imports: minipaddle.distributed belongs to",
        ),
        (VISIBLE + 2 * "    check.equal('two', lambda: answer(2), 4)\n", HIDDEN, "", TWICE),
        ("1 / 0\n" + VISIBLE, HIDDEN, "", "reference: failed (task1_check: the check cell itself"),
    ],
)
def test_a_fault_is_found(
    visible: str, hidden: str, answer: str, message: str, tmp_path: Path
) -> None:
    source = exercise(visible, hidden, answer=answer or "def answer(n):\n    return n * n")
    assert any(line.startswith(message) for line in problems(tmp_path, source))


def test_a_first_cell_that_fails_is_found(tmp_path: Path) -> None:
    source = exercise(
        VISIBLE, HIDDEN, setup="import os\nif os.environ['HOME']: raise OSError('no')"
    )
    found = problems(tmp_path, source)
    assert any("set-up cell fails" in line for line in found)


def test_wrong_answers_that_nobody_finds_are_listed(tmp_path: Path) -> None:
    found = problems(tmp_path, exercise(VISIBLE, HIDDEN), {**WRONG, "task1_right": "return n**2"})
    assert found == [
        "mutants: expected 95% to lose points, but got 86%. Not found: task1_right. "
        "Add a check for each."
    ]


def test_too_few_wrong_answers_are_told(tmp_path: Path) -> None:
    [found] = problems(tmp_path, exercise(VISIBLE, HIDDEN), {"task1_adds": "return n + 2"})
    assert found.startswith("mutants: expected 5 for task1, but got 1.")


def test_hidden_lines_in_the_feedback_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.feedback.without_hidden", lambda notebook: notebook)
    found = problems(tmp_path, exercise(VISIBLE, HIDDEN))
    shown = 'check.equal("five", lambda: answer(2 + 3), 25)'
    assert f"feedback: it shows the hidden line {shown!r}" in found


def test_a_mutant_stands_where_the_solution_stood(tmp_path: Path) -> None:
    changed = mutant(exercise(VISIBLE), "task1", "if n:\n    return 1\nreturn 2\n")
    assert changed.cells[1].source == "def answer(n):\n    if n:\n        return 1\n    return 2"
    course = course_of(tmp_path, exercise(VISIBLE), WRONG)
    names = [one.name for one in mutants(course, "01_exam", exercise(VISIBLE))]
    assert names == [*sorted(WRONG), "task1_returns_none"]


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    course_of(tmp_path, exercise(VISIBLE, HIDDEN), {"task1_adds": "return n + 2"})
    done = CliRunner().invoke(main, ["--root", str(tmp_path), "audit", "--no-sandbox"])
    assert done.exit_code == 1
    assert "01_exam: mutants: expected 5 for task1" in done.output


def test_a_wrong_answer_that_has_to_be_found_is_not_called_allowed(tmp_path: Path) -> None:
    course_of(tmp_path, exercise(VISIBLE, HIDDEN), {**WRONG, "task1_right": "return n**2"})
    done = CliRunner().invoke(main, ["--root", str(tmp_path), "audit", "--no-sandbox"])
    assert done.exit_code == 1
    assert "Not found: task1_right. Add a check for each." in done.output
    assert "allowed" not in done.output
