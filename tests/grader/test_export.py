"""The CSV: what is in it, and what is said where it can't be written or is behind."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.api import MissingEntry

from grader.cli import main
from grader.collect import collect
from grader.course import Course
from grader.errors import GraderError
from grader.export import export
from grader.feedback import feedback
from grader.grade import grade
from tests.grader.sample import MODULE, hand_in


@pytest.fixture
def graded(course: Course, tmp_path: Path) -> Course:
    """Two students graded, from files that need no kernel."""
    for student in ("anna", "bo"):
        hand_in(tmp_path / "in", student, b"not a notebook")
    collect(course, tmp_path / "in")
    grade(course)
    feedback(course)
    return course


def students(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["student"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("step", ["export", "grade"])
def test_a_submission_that_was_taken_away_is_dropped(
    graded: Course, tmp_path: Path, step: str
) -> None:
    shutil.rmtree(graded.submitted / "bo")
    if step == "grade":
        grade(graded)
    else:
        export(graded, tmp_path / "grades.csv")
        assert students(tmp_path / "grades.csv") == ["anna"]
    assert [path.parent.name for path in graded.work.glob("verdicts/*/*.json")] == ["anna"]
    assert [path.parents[1].name for path in graded.work.glob("feedback/*/*/*.html")] == ["anna"]
    with graded.gradebook() as gradebook:
        gradebook.find_submission(MODULE, "anna")
        with pytest.raises(MissingEntry):
            gradebook.find_submission(MODULE, "bo")


def test_without_any_submission_nothing_is_dropped(graded: Course, tmp_path: Path) -> None:
    shutil.rmtree(graded.submitted)
    with pytest.raises(GraderError, match="expected graded submissions"):
        export(graded, tmp_path / "grades.csv")
    assert len(list(graded.work.glob("verdicts/*/*.json"))) == 2


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("missing/grades.csv", "Make the folder"),
        ("out", "got the folder .* Pass --to .*grades.csv"),
    ],
)
def test_a_place_that_cannot_be_written_is_said_first(
    graded: Course, tmp_path: Path, to: str, message: str
) -> None:
    (tmp_path / "out").mkdir()
    shutil.rmtree(graded.submitted / "bo")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(GraderError, match=message):
        export(graded, tmp_path / to)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_write_that_fails_leaves_no_file_behind(
    graded: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out").mkdir()
    monkeypatch.setattr("grader.export.os.replace", full)
    with pytest.raises(GraderError, match="No space left"):
        export(graded, tmp_path / "out" / "grades.csv")
    assert not list((tmp_path / "out").iterdir())


def test_rows_older_than_their_submission_are_said(graded: Course, tmp_path: Path) -> None:
    def output() -> str:
        to = str(tmp_path / "grades.csv")
        result = CliRunner().invoke(main, ["--root", str(graded.root), "export", "--to", to])
        assert result.exit_code == 0, result.output
        return result.output

    assert "older than" not in output()
    hand_in(tmp_path / "in", "anna", b"still not a notebook")
    hand_in(tmp_path / "in", "chen", b"not a notebook")
    collect(graded, tmp_path / "in")
    assert "got 2 rows that are missing or older than their submission" in output()
    assert f"Run grader --root {graded.root} grade {MODULE}." in output()
    grade(graded, "1")  # 1 is short for 01, and that for 01_sample
    assert "older than" not in output()
