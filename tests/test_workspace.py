"""The learner's workspace: released exercises, a home page, and no work overwritten."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import nbformat
import pytest

from tests.grader.sample import FIXTURES
from tools import notebooks
from tools.workspace import MANIFEST, lay_out

MODULE = "01_program_block"
EXERCISE = f"{MODULE}/exercise.ipynb"
LESSON = f"{MODULE}/01_what_is_a_program.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one module: a lesson with an output, the sample exercise, a table."""
    course = tmp_path / "course"
    module = course / MODULE
    module.mkdir(parents=True)
    shutil.copy(FIXTURES / "exercise.py", module)
    write_lesson(course, "6 * 7")
    nb = notebooks.from_source(module / "exercise.py")
    notebooks.write(nb, module / "exercise.ipynb")
    (module / "table.csv").write_text("a,b\n")
    return course


def write_lesson(course: Path, code: str) -> None:
    source = (course / LESSON).with_suffix(".py")
    source.write_text(f"# %% [markdown]\n# # 1.1 What is a program?\n\n# %%\n{code}\n")
    nb = notebooks.from_source(source)
    nb.cells[1].outputs = [nbformat.v4.new_output("stream", text="42\n")]
    notebooks.write(nb, course / LESSON)


def edit_exercise(course: Path, old: str, new: str) -> None:
    path = course / EXERCISE
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def work_in(path: Path, answer: str) -> None:
    nb = nbformat.read(path, as_version=4)
    task = next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("solution"))
    task.source = answer
    nbformat.write(nb, path)


def test_a_learner_gets_lessons_released_exercises_and_a_home_page(
    course: Path, tmp_path: Path
) -> None:
    target = tmp_path / "workspace"
    messages = lay_out(course, target)
    assert messages == [f"The workspace is in {target}. Start with Home.md."]
    files = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
    assert files == [MANIFEST, LESSON, EXERCISE, f"{MODULE}/table.csv", "Home.md"]
    exercise = (target / EXERCISE).read_text()
    assert "YOUR CODE HERE" in exercise
    assert "BEGIN SOLUTION" not in exercise and "secret_grad" not in exercise
    lesson = (target / LESSON).read_text()
    assert "6 * 7" in lesson and "42" not in lesson  # a question comes before its answer
    home = (target / "Home.md").read_text()
    assert f"[1.1 What is a program?]({LESSON})" in home
    assert f"[Exercise]({EXERCISE})" in home
    assert "1. Which shape comes out?<br>2. And back" in home
    assert home.count("not here yet") == 10  # five modules are not there


def test_a_second_start_changes_nothing_and_is_quick(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    before = {p: p.stat().st_mtime_ns for p in target.rglob("*")}
    started = time.monotonic()
    assert lay_out(course, target) == []
    assert time.monotonic() - started < 0.5
    assert {p: p.stat().st_mtime_ns for p in target.rglob("*")} == before


def test_a_learners_work_stays_when_the_course_has_nothing_new(
    course: Path, tmp_path: Path
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    write_lesson(course, "6 * 8")
    assert lay_out(course, target) == [f"{LESSON}: updated. You had not changed it."]
    assert "my work" in (target / EXERCISE).read_text()
    assert "6 * 8" in (target / LESSON).read_text()


def test_a_learners_work_stays_and_the_new_version_comes_beside_it(
    course: Path, tmp_path: Path
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    edit_exercise(course, "Which shape comes out?", "Which shape will come out?")
    [message] = lay_out(course, target)
    assert "Which shape will come out?" in (target / "Home.md").read_text()
    assert "Yours is kept as it is" in message and "exercise-new-version.ipynb" in message
    assert "my work" in (target / EXERCISE).read_text()
    beside = target / MODULE / "exercise-new-version.ipynb"
    assert "will come out" in beside.read_text() and "secret_grad" not in beside.read_text()
    assert lay_out(course, target) == []

    work_in(beside, "more work")
    edit_exercise(course, "Which shape will come out?", "Which shape?")
    lay_out(course, target)
    assert "my work" in (target / EXERCISE).read_text()
    assert "more work" in beside.read_text()
    assert "Which shape?" in (target / MODULE / "exercise-new-version-2.ipynb").read_text()


def test_running_a_lesson_is_no_change(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    nb = nbformat.read(target / LESSON, as_version=4)
    nb.cells[1].outputs, nb.cells[1].execution_count = [], 17
    nbformat.write(nb, target / LESSON)
    write_lesson(course, "6 * 8")
    assert lay_out(course, target) == [f"{LESSON}: updated. You had not changed it."]
    assert not list(target.rglob("*new-version*"))


def test_a_deleted_file_comes_back(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    (target / EXERCISE).unlink()
    assert lay_out(course, target) == []
    assert (target / EXERCISE).exists()


def test_a_lesson_that_left_the_course_goes_unless_it_was_worked_in(
    course: Path, tmp_path: Path
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    (course / LESSON).unlink()
    (course / EXERCISE).unlink()
    lay_out(course, target)
    assert not (target / LESSON).exists()
    assert "my work" in (target / EXERCISE).read_text()


def test_work_stays_when_the_manifest_is_lost(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    (target / MANIFEST).write_text("{")
    messages = lay_out(course, target)
    assert any("Yours is kept" in message for message in messages)
    assert "my work" in (target / EXERCISE).read_text()


def test_a_file_that_is_no_notebook_any_more_is_a_learners_work(
    course: Path, tmp_path: Path
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    (target / EXERCISE).write_text("broken by me")
    edit_exercise(course, "Which shape comes out?", "Which shape?")
    lay_out(course, target)
    assert (target / EXERCISE).read_text() == "broken by me"
    assert json.loads((target / MODULE / "exercise-new-version.ipynb").read_text())["cells"]
