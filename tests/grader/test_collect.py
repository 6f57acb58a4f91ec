"""Collecting: the layouts that are taken, and the files that are not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from grader.cli import main
from grader.collect import Collected, collect, collected
from grader.course import Course
from grader.errors import GraderError
from grader.submission import MAX_BYTES
from tests.grader.sample import MODULE, RIGHT, answered, hand_in


def put(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def run(course: Course, *args: str) -> Result:
    return CliRunner().invoke(main, ["--root", str(course.root), *args])


def outcome(found: list[Collected]) -> dict[str, str]:
    return {c.student: c.status for c in found}


def test_a_folder_of_students_with_module_folders(course: Course, tmp_path: Path) -> None:
    put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    put(tmp_path / "in" / "张三" / MODULE / "exercise.ipynb", "B")
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "new", "张三": "new"}
    assert (course.step("submitted", "张三", MODULE) / "exercise.ipynb").read_text() == "B"


@pytest.mark.parametrize(
    "layout", ["anna/exercise.ipynb", "anna.ipynb", f"anna/{MODULE}/exercise.ipynb"]
)
def test_with_a_module_the_path_need_not_say_it(
    course: Course, tmp_path: Path, layout: str
) -> None:
    put(tmp_path / "in" / layout, "A")
    assert outcome(collect(course, tmp_path / "in", "01")) == {"anna": "new"}
    assert (course.step("submitted", "anna", MODULE) / "exercise.ipynb").read_text() == "A"


@pytest.mark.parametrize("layout", ["anna/exercise.ipynb", "anna.ipynb"])
def test_without_a_module_they_are_not_guessed(course: Course, tmp_path: Path, layout: str) -> None:
    put(tmp_path / "in" / layout)
    [found] = collect(course, tmp_path / "in")
    assert found.status == "ignored" and "--module" in found.reason


def test_the_file_collected_last_replaces_the_one_before(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "new"}
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "unchanged"}
    path.write_text("B")
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "updated"}
    assert (course.step("submitted", "anna", MODULE) / "exercise.ipynb").read_text() == "B"


def test_an_older_file_replaces_a_newer_one_and_is_said(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    os.utime(path, (2_000, 2_000))
    collect(course, tmp_path / "in")
    for text, seconds, reason in [("B", 1_000, "an older file!"), ("C", 1_500, "")]:
        path.write_text(text)
        os.utime(path, (seconds, seconds))
        [found] = collect(course, tmp_path / "in")
        assert (found.status, found.reason) == ("updated", reason)
        assert (course.step("submitted", "anna", MODULE) / "exercise.ipynb").read_text() == text


def test_links_and_devices_are_refused(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    source = course.source(MODULE)
    (folder / "file" / MODULE).mkdir(parents=True)
    (folder / "file" / MODULE / "exercise.ipynb").symlink_to(source)
    (folder / "module").mkdir()
    (folder / "module" / MODULE).symlink_to(source.parent)
    (folder / "student").symlink_to(source.parent.parent)
    (folder / "pipe" / MODULE).mkdir(parents=True)
    os.mkfifo(folder / "pipe" / MODULE / "exercise.ipynb")
    (folder / "folder" / MODULE / "exercise.ipynb").mkdir(parents=True)
    assert outcome(collect(course, folder, MODULE)) == dict.fromkeys(
        ["file", "folder", "module", "pipe", "student"], "refused"
    )
    assert not list(course.submitted.rglob("*.ipynb"))


def test_a_very_large_file_is_refused(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb")
    os.truncate(path, MAX_BYTES + 1)
    [found] = collect(course, tmp_path / "in")
    assert found.status == "refused" and "20 MiB that are allowed" in found.reason


def test_a_refused_file_does_not_replace_a_good_one(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    collect(course, tmp_path / "in")
    path.unlink()
    path.symlink_to("/etc/hostname")
    [found] = collect(course, tmp_path / "in")
    assert found.status == "refused" and "the earlier submission stays" in found.reason
    assert (course.step("submitted", "anna", MODULE) / "exercise.ipynb").read_text() == "A"


def test_another_modules_notebook_is_refused_and_the_earlier_one_stays(
    course: Course, tmp_path: Path
) -> None:
    """Nobody's work is lost, and the points stay."""
    mine = answered(course, RIGHT)
    good = hand_in(tmp_path / "in", "anna", mine).read_text(encoding="utf-8")
    collect(course, tmp_path / "in")
    other = nbformat.from_dict(json.loads(good))
    for cell in other.cells:
        cell.source = "# 2 · exercise: Another\n" if cell.cell_type == "markdown" else "x = 1"
    hand_in(tmp_path / "in", "anna", other)
    hand_in(tmp_path / "in", "bo", other)
    found = {c.student: c for c in collect(course, tmp_path / "in", MODULE)}
    assert {student: c.status for student, c in found.items()} == {
        "anna": "refused",
        "bo": "refused",
    }
    assert "but got '2 · exercise: Another'" in found["bo"].reason
    assert "the earlier submission stays" in found["anna"].reason
    kept = course.step("submitted", "anna", MODULE) / "exercise.ipynb"
    assert kept.read_text(encoding="utf-8") == good
    done = run(course, "collect", str(tmp_path / "in"))
    assert done.exit_code == 2 and "none that can be taken. The table says why;" in done.stderr


def test_a_wrong_module_in_the_command_gives_nobody_a_row(course: Course, tmp_path: Path) -> None:
    """The learner has done nothing wrong, so there is nothing to grade with 0 points."""
    other = answered(course, RIGHT)
    for cell in other.cells:
        cell.source = "# 2 · exercise: Another\n" if cell.cell_type == "markdown" else "x = 1"
    put(tmp_path / "in" / "anna.ipynb", nbformat.writes(other))
    put(tmp_path / "in" / "bo" / "exercise.ipynb", nbformat.writes(other))
    found = collect(course, tmp_path / "in", MODULE)
    assert outcome(found) == {"anna": "ignored", "bo": "ignored"}
    assert all("is --module wrong?" in c.reason for c in found)
    assert collected(course) == []


def test_two_files_for_one_student_are_refused(course: Course, tmp_path: Path) -> None:
    put(tmp_path / "in" / "anna.ipynb", "A")
    put(tmp_path / "in" / "anna" / "exercise.ipynb", "B")
    found = collect(course, tmp_path / "in", MODULE)
    assert [c.status for c in found] == ["refused", "refused"]
    assert not list(course.submitted.rglob("*.ipynb"))


@pytest.mark.parametrize("student", ["a*b", "a[b]", "{x}", "-rf", " anna", "an'na"])
def test_a_name_that_could_be_a_pattern_is_not_taken(
    course: Course, tmp_path: Path, student: str
) -> None:
    put(tmp_path / "in" / student / MODULE / "exercise.ipynb")
    [found] = collect(course, tmp_path / "in")
    assert found.status == "ignored" and "name" in found.reason


def test_a_student_without_the_module_is_ignored_and_gets_no_row(
    course: Course, tmp_path: Path
) -> None:
    put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    put(tmp_path / "in" / "bo" / "02_other" / "exercise.ipynb", "B")
    (tmp_path / "in" / "chen").mkdir()
    put(tmp_path / "in" / "dana" / "my exercise.ipynb", "D")  # this one did hand in something
    found = collect(course, tmp_path / "in", MODULE)
    assert outcome(found) == {
        "anna": "new",
        "bo": "ignored",
        "chen": "ignored",
        "dana": "refused",
    }
    assert collected(course) == [("anna", MODULE), ("dana", MODULE)]


@pytest.mark.parametrize("arguments", [[], ["--module", "01"]])
def test_one_students_folder_is_no_folder_of_students(
    course: Course, tmp_path: Path, arguments: list[str]
) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb").parents[1]
    result = run(course, "collect", str(path), *arguments)
    assert result.exit_code == 2
    assert "looks like one student's folder" in result.output
    assert "Pass the folder above it." in result.output


def test_the_course_is_no_submission(course: Course) -> None:
    with pytest.raises(GraderError, match="the course itself. Pass the folder of the submissions"):
        collect(course, course.sources)
    found = {c.student: c for c in collect(course, course.root)}
    assert found["course"].status == "ignored" and "the course itself" in found["course"].reason
    assert not course.submitted.exists()


def test_a_misspelled_module_folder_is_said(course: Course, tmp_path: Path) -> None:
    put(tmp_path / "in" / "zoe" / "01_sampl" / "exercise.ipynb")
    [found] = collect(course, tmp_path / "in")
    assert found.status == "ignored" and f"zoe/01_sampl: expected one of {MODULE}" in found.reason
    put(tmp_path / "in" / "zoe" / MODULE / "exercise.ipynb")  # beside a right one too
    assert [c.status for c in collect(course, tmp_path / "in")] == ["ignored", "new"]


@pytest.mark.parametrize("file", ["chen/notes.txt", "chen/my.ipynb"])
def test_where_nothing_is_collected_the_exit_code_is_2(
    course: Course, tmp_path: Path, file: str
) -> None:
    put(tmp_path / "in" / file)
    result = run(course, "collect", str(tmp_path / "in"), "--module", "01")
    assert result.exit_code == 2 and "expected submissions" in result.output
    put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb")
    assert run(course, "collect", str(tmp_path / "in"), "--module", "01").exit_code == 0


def test_a_missing_folder_is_said(course: Course, tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="expected a folder of submissions"):
        collect(course, tmp_path / "nothing")


def test_what_was_refused_and_is_mended_leaves_no_row(course: Course, tmp_path: Path) -> None:
    wrong = put(tmp_path / "in" / "dana" / "my exercise.ipynb")
    put(tmp_path / "other" / "eve" / "my exercise.ipynb")
    collect(course, tmp_path / "in", MODULE)
    collect(course, tmp_path / "other", MODULE)  # another folder: its rows are its own
    assert collected(course) == [("dana", MODULE), ("eve", MODULE)]
    wrong.parent.rename(tmp_path / "in" / "dana.smith")
    (tmp_path / "in" / "dana.smith" / wrong.name).rename(
        tmp_path / "in" / "dana.smith" / "exercise.ipynb"
    )
    collect(course, tmp_path / "in", MODULE)
    assert collected(course) == [("dana.smith", MODULE), ("eve", MODULE)]


def test_a_mended_row_leaves_the_earlier_submission(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    collect(course, tmp_path / "in")
    path.rename(path.with_name("mine.ipynb"))
    [found] = collect(course, tmp_path / "in")
    assert found.status == "refused"
    put(tmp_path / "in" / "bo" / MODULE / "exercise.ipynb", "B")
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.parent.rmdir()
    collect(course, tmp_path / "in")
    assert [p.name for p in course.step("submitted", "anna", MODULE).iterdir()] == [path.name]
