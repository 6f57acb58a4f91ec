"""The grades as CSV and JSON: what is in them, and what is said where they can't be written or
are behind.
"""

from __future__ import annotations

import csv
import errno
import json
import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from nbgrader.api import MissingEntry
from sqlalchemy import text

from grader.cli import main
from grader.course import Course
from grader.errors import GraderError
from grader.export import export
from grader.feedback import feedback
from grader.grade import Options, grade
from tests.grader import tiny

pytestmark = pytest.mark.usefixtures("no_pause")


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.grade.PAUSES", ())


def grade_all(course: Course) -> None:
    """Stand-in for the examiner: the first number in a file is its points for task 1."""
    grade(course, options=Options(workers=1), work=tiny.cheap)


@pytest.fixture(scope="module")
def graded_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anna and bo, graded. Copied by `graded`: making a gradebook takes two seconds."""
    course = tiny.make_course(tmp_path_factory.mktemp("graded") / "root")
    for student in ("anna", "bo"):
        tiny.hand_in(course, student, "3")
    grade_all(course)
    feedback(course)
    return course.root


@pytest.fixture
def graded(graded_root: Path, tmp_path: Path) -> Course:
    return Course.at(shutil.copytree(graded_root, tmp_path / "root"))


def students(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["student"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("step", ["export", "grade"])
def test_a_submission_that_was_taken_away_is_dropped(
    graded: Course, tmp_path: Path, step: str
) -> None:
    shutil.rmtree(graded.submitted / "bo")
    if step == "grade":
        grade_all(graded)
    else:
        export(graded, tmp_path / "grades.csv")
        assert students(tmp_path / "grades.csv") == ["anna"]
    assert [path.parent.name for path in graded.work.glob("verdicts/*/*.json")] == ["anna"]
    assert [path.parents[1].name for path in graded.work.glob("feedback/*/*/*.html")] == ["anna"]
    with graded.gradebook() as gradebook:
        gradebook.find_submission(tiny.MODULE, "anna")
        with pytest.raises(MissingEntry):
            gradebook.find_submission(tiny.MODULE, "bo")


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
    tiny.hand_in(graded, "anna", "2")
    tiny.hand_in(graded, "chen", "1")
    assert "got 2 rows that are missing or older than their submission" in output()
    assert f"Run grader --root {graded.root} grade {tiny.MODULE}." in output()
    grade_all(graded)
    assert "older than" not in output()


@pytest.fixture
def stored(graded: Course) -> Course:
    """Anna has points by hand, and is late; bo handed in twice; on chen the grader failed."""
    tiny.hand_in(graded, "bo", "1")
    tiny.hand_in(graded, "chen", "fail")
    grade_all(graded)
    with graded.gradebook() as gradebook:
        gradebook.find_grade("task2_check", "exercise", tiny.MODULE, "anna").manual_score = 2.25
        gradebook.find_submission(tiny.MODULE, "anna").timestamp = datetime(2099, 1, 1)
        gradebook.db.commit()
    # a penalty that follows from the points by hand: a 21st part of 5.25
    late = f"[due]\n{tiny.MODULE} = 2098-12-31T00:00:00Z\n[late]\nper_day = 1.0\nat_most = {1 / 21}"
    (graded.root / "grader.toml").write_text(late)
    return Course.at(graded.root)


def test_points_by_hand_penalty_attempts_and_sandbox_are_in_the_csv(
    stored: Course, tmp_path: Path
) -> None:
    export(stored, tmp_path / "grades.csv")
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    names = ["score", "max_score", "late_penalty", "status", "attempts", "sandbox", "reason"]
    assert {student: [row[name] for name in names] for student, row in rows.items()} == {
        "anna": ["5", "8", "0.25", "graded", "1", "bubblewrap", ""],
        "bo": ["1.5", "8", "0", "graded", "2", "bubblewrap", ""],
        "chen": ["", "", "", "failed", "0", "bubblewrap", "out of order"],
    }


@pytest.mark.parametrize("command", ["export", "report", "feedback"])
def test_another_gradebook_is_no_source_of_points(
    stored: Course, tmp_path: Path, command: str
) -> None:
    """Points by hand would be missing, and nobody would see it."""
    other = f"sqlite:///{tmp_path / 'other.db'}"
    words = ["--root", str(stored.root), "--db", other, command]
    words += [] if command == "feedback" else ["--to", str(tmp_path / "out")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert "expected the points of anna for 01_tiny in the gradebook at sqlite:///" in done.stderr
    assert "Pass the --db with which you graded" in done.stderr


def test_json_has_the_points_of_every_check_cell_too(stored: Course, tmp_path: Path) -> None:
    words = ["--root", str(stored.root), "export", "--format", "json", "--to"]
    result = CliRunner().invoke(main, [*words, str(tmp_path / "grades.json")])
    assert result.exit_code == 0 and "3 rows in" in result.output
    rows = json.loads((tmp_path / "grades.json").read_text(encoding="utf-8"))
    assert [row["student"] for row in rows] == ["anna", "bo", "chen"]
    assert rows[0]["cells"] == {"task1_check": 3.0, "task2_check": 2.25}
    assert (rows[0]["score"], rows[0]["late_penalty"], rows[2]["score"]) == (5.0, 0.25, None)


@pytest.mark.parametrize(
    ("command", "what_to_do"),
    [
        ("export", "Pass another --to."),
        ("report", "Pass another --to."),
        ("feedback", "Mend that, then run the same command again."),
    ],
)
def test_a_disk_that_refuses_is_said_in_one_line(
    command: str, what_to_do: str, graded: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *args: object, **options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.chdir(graded.root)
    for name in ("unlink", "write_text", "write_bytes"):
        monkeypatch.setattr(Path, name, refuse)
    done = CliRunner().invoke(main, [command])
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit), "a traceback"
    [line] = done.stderr.splitlines()
    assert "Read-only file system" in line and line.endswith(what_to_do)


@pytest.mark.parametrize("command", ["grade", "regrade", "feedback", "report"])
def test_a_module_that_nobody_handed_in_is_named(command: str, graded: Course) -> None:
    shutil.copytree(graded.root / "course" / tiny.MODULE, graded.root / "course" / "02_other")
    done = CliRunner().invoke(main, ["--root", str(graded.root), command, "02"])
    assert done.exit_code == 2
    [line] = done.stderr.splitlines()
    assert re.search(r"expected (graded )?submissions (of|for) 02_other\b", line), line


@pytest.mark.parametrize("command", ["export", "report", "feedback"])
def test_a_gradebook_that_can_only_be_read_is_said_in_one_line(
    command: str, graded: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As another user's file is. Tests may run as root, who may write everything: so the database
    # is told to refuse.
    def read_only(database: Any, *_: object) -> None:
        database.execute(text("PRAGMA query_only = 1"))
        database.execute(text("UPDATE submitted_notebook SET late_submission_penalty = 1"))

    monkeypatch.setattr("grader.points.settle_late", read_only)
    monkeypatch.chdir(graded.root)
    done = CliRunner().invoke(main, [command])
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit), "a traceback"
    [line] = done.stderr.splitlines()
    assert "attempt to write a readonly database. Mend that" in line


def test_a_reader_that_went_away_is_no_broken_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("grader.cli.Course.at", gone)
    done = CliRunner().invoke(main, ["release"])
    assert done.exit_code == 1 and "Mend that" not in done.output
