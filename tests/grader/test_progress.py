"""What a learner has reached: remembered by the checks, shown on the home page."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from grader.checks import CheckFailed, Checks
from tests.grader.sample import FIXTURES
from tools import notebooks
from tools.workspace import lay_out

MODULE = "02_dygraph"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with the sample exercise as module 02, and without lessons."""
    module = tmp_path / "course" / MODULE
    module.mkdir(parents=True)
    shutil.copy(FIXTURES / "exercise.py", module)
    notebooks.write(notebooks.from_source(module / "exercise.py"), module / "exercise.ipynb")
    return tmp_path / "course"


@pytest.fixture
def workspace(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of a student 学生; the working folder is the module's, as in a kernel."""
    target = tmp_path / "学生 name" / "workspace"
    lay_out(course, target)
    monkeypatch.chdir(target / MODULE)
    return target


def run_check(task: str, *passed: bool, hidden: bool = False) -> None:
    try:
        with Checks(task, hidden=hidden) as check:
            for number, one in enumerate(passed):
                check.equal(f"check {number}", lambda one=one: one, True)
    except CheckFailed:
        pass


def home(workspace: Path) -> str:
    return (workspace / "Home.md").read_text(encoding="utf-8")


def test_points_so_far_what_is_done_and_what_is_next(workspace: Path) -> None:
    assert "**Next:** [task 1 · Which shape comes out?](02_dygraph/exercise.ipynb#cell-id=" in home(
        workspace
    )
    run_check("Task 1", True, False, False)
    assert "**0.67 of 4 points so far**" in home(workspace)
    assert "1. Which shape comes out? (1 of 3 checks)" in home(workspace)
    run_check("Task 1", True, True, True)
    assert "**2 of 4 points so far**" in home(workspace)
    assert "1. Which shape comes out? ✓<br>2. And back |" in home(workspace)
    assert "**Next:** [task 2 · And back]" in home(workspace)
    run_check("Task 2", True)
    assert "**4 of 4 points so far**" in home(workspace)
    assert "4 of 4, done ✓" in home(workspace)
    assert "**Next:** every check that you can see passes." in home(workspace)


def test_the_last_run_counts(workspace: Path) -> None:
    run_check("Task 1", True, True)
    run_check("Task 1", True, False)
    assert "**1 of 4 points so far**" in home(workspace)


def test_a_task_in_the_first_module_that_was_begun_is_next(course: Path, tmp_path: Path) -> None:
    shutil.copytree(course / MODULE, course / "01_program_block")
    target = tmp_path / "two"
    lay_out(course, target)
    assert "](01_program_block/exercise.ipynb#" in home(target).split("\n\n")[2]
    before = os.getcwd()
    os.chdir(target / MODULE)
    try:
        run_check("Task 1", True)
    finally:
        os.chdir(before)
    assert "[task 2 · And back](02_dygraph/exercise.ipynb#" in home(target)


def test_a_restart_keeps_what_was_reached(workspace: Path, course: Path) -> None:
    run_check("Task 1", True)
    assert lay_out(course, workspace) == []
    assert "**2 of 4 points so far**" in home(workspace)
    (workspace / "Home.md").unlink()
    lay_out(course, workspace)
    assert "**2 of 4 points so far**" in home(workspace)


def test_a_check_that_the_course_changed_has_to_run_again(workspace: Path, course: Path) -> None:
    run_check("Task 1", True)
    run_check("Task 2", True)
    path = course / MODULE / "exercise.ipynb"
    path.write_text(path.read_text().replace("Compare the shapes from the right.", "From right."))
    lay_out(course, workspace)
    assert "1. Which shape comes out?<br>2. And back ✓" in home(workspace)
    run_check("Task 1", True)
    assert "**4 of 4 points so far**" in home(workspace)


def test_hidden_checks_and_unknown_tasks_are_not_remembered(workspace: Path) -> None:
    run_check("Task 1", True, hidden=True)
    run_check("Task 7", True)
    run_check("Task 1")
    assert not (workspace / MODULE / ".progress.json").exists()
    assert "**0 of 4 points so far**" in home(workspace)


def test_nothing_is_written_outside_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / MODULE).mkdir()
    monkeypatch.chdir(tmp_path / MODULE)
    run_check("Task 1", True)
    assert list(tmp_path.rglob("*")) == [tmp_path / MODULE]


def test_a_copy_in_another_folder_is_no_progress(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "copy").mkdir()
    monkeypatch.chdir(workspace / "copy")
    run_check("Task 1", True)
    assert "**0 of 4 points so far**" in home(workspace)
    assert not list((workspace / "copy").iterdir())


@pytest.mark.parametrize("content", ["{", "[]", '{"task1": 3}', '{"task1": {"passed": "x"}}'])
def test_a_broken_file_of_results_is_no_result(workspace: Path, content: str) -> None:
    (workspace / MODULE / ".progress.json").write_text(content)
    run_check("Task 2", True)
    assert "**2 of 4 points so far**" in home(workspace)
    assert json.loads((workspace / MODULE / ".progress.json").read_text()).keys() == {"task2"}


@pytest.mark.parametrize("broken", [".course.json", "Home.md", f"{MODULE}/.progress.json"])
def test_a_check_answers_also_where_nothing_can_be_written(
    workspace: Path, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workspace / broken
    path.unlink(missing_ok=True)
    path.mkdir()  # neither readable nor replaceable, for root too
    run_check("Task 1", True)
    assert capsys.readouterr().out == "Task 1: all 1 checks passed\n  ok    check 0\n"
    assert not list(workspace.rglob("*.tmp"))
