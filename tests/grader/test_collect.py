"""Collecting: the layouts that are taken, and the files that are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.collect import Collected, collect, collected
from grader.course import Course
from grader.errors import GraderError
from grader.submission import MAX_BYTES
from tests.grader.sample import MODULE


def put(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


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


def test_a_newer_file_replaces_the_older_one(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "new"}
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "unchanged"}
    path.write_text("B")
    assert outcome(collect(course, tmp_path / "in")) == {"anna": "updated"}
    assert (course.step("submitted", "anna", MODULE) / "exercise.ipynb").read_text() == "B"


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
    assert found.status == "refused" and "20 are allowed" in found.reason


def test_a_refused_file_does_not_replace_a_good_one(course: Course, tmp_path: Path) -> None:
    path = put(tmp_path / "in" / "anna" / MODULE / "exercise.ipynb", "A")
    collect(course, tmp_path / "in")
    path.unlink()
    path.symlink_to("/etc/hostname")
    [found] = collect(course, tmp_path / "in")
    assert found.status == "refused" and "the earlier submission stays" in found.reason
    assert (course.step("submitted", "anna", MODULE) / "exercise.ipynb").read_text() == "A"


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


def test_a_missing_folder_is_said(course: Course, tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="expected a folder of submissions"):
        collect(course, tmp_path / "nothing")
