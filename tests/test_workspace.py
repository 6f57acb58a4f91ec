"""The learner's workspace: released exercises, a home page, and no work overwritten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.grader.sample import FIXTURES
from tools import notebooks
from tools.notebooks import ROOT
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
    kept = [f".course/{LESSON}", f".course/{EXERCISE}"]  # as delivered, to see what was changed
    assert files == [MANIFEST, *kept, LESSON, EXERCISE, f"{MODULE}/table.csv", "Home.md"]
    exercise = (target / EXERCISE).read_text()
    assert "YOUR CODE HERE" in exercise
    assert "BEGIN SOLUTION" not in exercise and "secret_grad" not in exercise
    lesson = (target / LESSON).read_text()
    assert "6 * 7" in lesson and "42" not in lesson  # a question comes before its answer
    home = (target / "Home.md").read_text()
    assert f"[1.1 What is a program?]({LESSON})" in home
    assert f"[Exercise]({EXERCISE})" in home
    assert f"**Next:** read [1.1 What is a program?]({LESSON}), then do [task 1 · " in home
    assert "**0 of 4 points so far**" in home and "up to 4 more when your work is graded" in home
    assert "1. Which shape comes out?<br>2. And back" in home
    assert home.count("not here yet") == 10  # five modules are not there


def test_a_second_start_changes_nothing_and_makes_nothing_again(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    before = {p: p.stat().st_mtime_ns for p in target.rglob("*")}
    monkeypatch.delattr("tools.workspace._files")  # what takes long: all notebooks are released
    assert lay_out(course, target) == []
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
    before = (target / EXERCISE).read_bytes()
    (target / MANIFEST).write_text("{")
    lay_out(course, target)
    assert (target / EXERCISE).read_bytes() == before
    (target / MANIFEST).write_text("{")
    shutil.rmtree(target / ".course")
    messages = lay_out(course, target)
    assert any("Yours is kept" in message for message in messages)
    assert (target / EXERCISE).read_bytes() == before


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


# ---- an update with the learner's work in it

HINT = "Which of the two shapes has fewer axes?"
CHECK = "Each of the 3 was used in 2 rows."
TASK2 = "In the forward pass a small array was repeated"
BACKUP = f"{MODULE}/exercise-before-update.ipynb"


def cells(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def add_note(path: Path, after: str, text: str) -> None:
    nb = nbformat.read(path, as_version=4)
    [place] = [i for i, cell in enumerate(nb.cells) if cell.id == after]
    note = nbformat.v4.new_markdown_cell(text)
    note.attachments = {"picture.png": {"image/png": "aGVsbG8="}}
    nb.cells.insert(place + 1, note)
    nbformat.write(nb, path)


def test_an_update_comes_with_the_learners_answers_and_notes_in_it(
    course: Path, tmp_path: Path
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    add_note(target / EXERCISE, "task1_check", "my note")
    before = (target / EXERCISE).read_bytes()
    edit_exercise(course, HINT, "Which shape is shorter?")
    edit_exercise(course, CHECK, "Each was used twice.")
    [message] = lay_out(course, target)
    assert message.startswith(f"{EXERCISE}: updated, with your work in it.")
    assert "exercise-before-update.ipynb" in message
    assert (target / BACKUP).read_bytes() == before

    fresh = tmp_path / "fresh"
    lay_out(course, fresh)
    expected = cells(fresh / EXERCISE)
    expected[expected.index(next(c for c in expected if "task1: write your" in c))] = "my work"
    place = next(i for i, c in enumerate(expected) if 'Checks("Task 1")' in c)
    expected.insert(place + 1, "my note")
    assert cells(target / EXERCISE) == expected
    assert "aGVsbG8=" in (target / EXERCISE).read_text()
    nbformat.validate(nbformat.read(target / EXERCISE, as_version=4))
    assert lay_out(course, target) == []


def test_each_update_keeps_its_own_backup(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    for old, new in ((HINT, "first"), ("first", "second"), ("second", "third")):
        work_in(target / EXERCISE, f"work before {new}")
        edit_exercise(course, old, new)
        lay_out(course, target)
        assert f"work before {new}" in cells(target / EXERCISE)
    names = ("before-update", "before-update-2", "before-update-3")
    for number, new in zip(names, ("first", "second", "third"), strict=True):
        assert f"work before {new}" in cells(target / MODULE / f"exercise-{number}.ipynb")


def test_an_open_task_that_changed_is_no_reason_to_keep_both(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")  # in task 1
    edit_exercise(course, TASK2, "Now the way back: a small array was repeated")
    lay_out(course, target)
    text = (target / EXERCISE).read_text()
    assert "my work" in text and "Now the way back" in text
    assert not list(target.rglob("*new-version*"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("An operation on `x` and `y` has to know", "An operation must know"),  # the task's text
        ("def broadcast_shape(x, y)", "def shape_of(x, y)"),  # the name, in the answer cell
        ('"grade_id": "task1', '"grade_id": "task9'),  # the answer cell is another one
    ],
)
def test_where_an_answered_task_changed_both_are_kept(
    course: Path, tmp_path: Path, old: str, new: str
) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    before = (target / EXERCISE).read_bytes()
    edit_exercise(course, old, new)
    [message] = lay_out(course, target)
    assert "Yours is kept as it is" in message
    assert (target / EXERCISE).read_bytes() == before
    assert (target / MODULE / "exercise-new-version.ipynb").exists()
    assert not (target / BACKUP).exists()


def test_notes_in_a_lesson_move_into_its_new_version(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    nb = nbformat.read(target / LESSON, as_version=4)
    nb.cells.append(nbformat.v4.new_code_cell("my_trial()", id="mine"))
    nbformat.write(nb, target / LESSON)
    write_lesson(course, "6 * 8")
    lay_out(course, target)
    assert cells(target / LESSON)[1:] == ["6 * 8", "my_trial()"]

    nb = nbformat.read(target / LESSON, as_version=4)
    next(cell for cell in nb.cells if cell.source == "6 * 8").source = "6 * 9"
    nbformat.write(nb, target / LESSON)
    write_lesson(course, "6 * 10")
    [message] = lay_out(course, target)
    assert "Yours is kept as it is" in message
    assert "6 * 9" in cells(target / LESSON)


def test_an_editor_that_drops_the_ids_loses_nothing(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "my work")
    add_note(target / EXERCISE, "task1", "my note")
    nb = json.loads((target / EXERCISE).read_text())
    nb["nbformat_minor"] = 4
    for cell in nb["cells"]:
        del cell["id"]
    (target / EXERCISE).write_text(json.dumps(nb))
    edit_exercise(course, CHECK, "Each was used twice.")
    lay_out(course, target)
    merged = cells(target / EXERCISE)
    assert merged.count("my work") == 1 and merged.count("my note") == 1
    fresh = tmp_path / "fresh"
    lay_out(course, fresh)
    assert len(merged) == len(cells(fresh / EXERCISE)) + 1


def test_a_cell_that_was_split_keeps_both_halves(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    work_in(target / EXERCISE, "first half")
    nb = nbformat.read(target / EXERCISE, as_version=4)
    place = next(i for i, cell in enumerate(nb.cells) if cell.source == "first half")
    second = nbformat.v4.new_code_cell("second half", metadata=nb.cells[place].metadata)
    nb.cells.insert(place + 1, second)
    nbformat.write(nb, target / EXERCISE)
    edit_exercise(course, CHECK, "Each was used twice.")
    lay_out(course, target)
    merged = nbformat.read(target / EXERCISE, as_version=4).cells
    [place] = [i for i, cell in enumerate(merged) if cell.source == "second half"]
    assert merged[place].metadata.nbgrader.grade_id == "task1"
    assert "first half" in [cell.source for cell in merged[:place]]
    names = [c.metadata.nbgrader.grade_id for c in merged if "nbgrader" in c.metadata]
    assert len(names) == len(set(names))


# ---- other places


def test_the_name_of_a_folder_may_have_letters_that_the_console_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows, where a log file has the letters of one language only."""
    copy = tmp_path / "学生 name"
    shutil.copytree(ROOT / "tools", copy / "tools")
    (copy / ".venv").symlink_to(sys.prefix)
    for name in ("grader", "course"):
        (copy / name).symlink_to(ROOT / name)
    code = "import lab, setup_env; lab.build_workspace(); setup_env.say(str(lab.WORKSPACE))"
    done = subprocess.run(
        [sys.executable, "-c", f"import setup_env\ndef main():\n    {code}\nsetup_env.run(main)"],
        cwd=copy / "tools",
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="cp1252",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (copy / "workspace" / "Home.md").exists()
    assert done.stdout.splitlines()[-1].endswith(r"\u5b66\u751f name/workspace")


# ---- the home page


def test_what_a_learner_writes_on_the_home_page_stays(course: Path, tmp_path: Path) -> None:
    target = tmp_path / "workspace"
    lay_out(course, target)
    home = target / "Home.md"
    home.write_bytes(home.read_bytes() + b"\r\nMy notes \xff\r\n")
    edit_exercise(course, "Which shape comes out?", "Which shape will come out?")
    lay_out(course, target)
    assert home.read_bytes().endswith(b"\r\nMy notes \xff\r\n")
    assert "1. Which shape will come out?" in home.read_text(errors="replace")
    assert not list(target.glob("Home-*"))
