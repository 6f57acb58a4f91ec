"""What is stored of a submission: once, whole, and without touching what a person gave.

All of it on SQLite and on a real PostgreSQL. Grading is not run here: the outcomes are made by
hand.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader import gradebook, store, verdict
from grader.assignment import Cell
from grader.course import Course
from grader.errors import GraderError
from grader.outcome import FAILED, NO_SANDBOX, NOT_GRADABLE, Outcome
from grader.store import Store
from grader.verdict import Verdict, load_all
from tests.grader.tiny import CELLS, MODULE, NOON, assignment, make_course, outcome


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture(params=["sqlite", "postgresql"])
def course(request: pytest.FixtureRequest, tmp_path: Path) -> Course:
    db = ""
    if request.param == "postgresql":
        db = request.getfixturevalue("postgres").new_database()
    return make_course(tmp_path / "root", db)


def save(
    course: Course,
    made: Outcome,
    *,
    student: str = "anna",
    digest: str = "one",
    when: datetime = NOON,
    cells: tuple[Cell, ...] = CELLS,
) -> Verdict:
    with Store(course) as open_store:
        return open_store.save(student, assignment(cells), made, digest=digest, handed_in=when)


def is_stored(course: Course, key: str, student: str = "anna") -> bool:
    with Store(course) as open_store:
        return open_store.is_stored(student, MODULE, key)


def points(course: Course, student: str = "anna") -> dict[str, float]:
    """Cell -> points, as nbgrader counts them."""
    with course.gradebook() as book:
        return {g.name: g.score for g in submitted(book, student).grades}


def submitted(book: Any, student: str = "anna") -> Any:
    return book.find_submission_notebook("exercise", MODULE, student)


def penalty(course: Course, student: str = "anna") -> float:
    with course.gradebook() as book:
        return submitted(book, student).late_submission_penalty or 0.0


def autograded(course: Course, student: str = "anna") -> Path:
    return course.step("autograded", student, MODULE) / "exercise.ipynb"


def test_points_notebook_and_verdict_are_stored(course: Course) -> None:
    made = outcome("k", 4.0, 1.5)
    made.sandbox = NO_SANDBOX
    save(course, made)
    assert points(course) == {"task1_check": 4.0, "task2_check": 1.5}
    with course.gradebook() as book:
        found = submitted(book)
        assert (found.score, found.max_score, found.needs_manual_grade) == (5.5, 8.0, False)
        assert found.assignment.timestamp == datetime(2026, 5, 4, 12)
        assert found.late_submission_penalty is None
    nb = nbformat.read(autograded(course), as_version=4)
    ids = [cell.metadata.nbgrader.grade_id for cell in nb.cells]
    assert ids == ["task1", "task1_check", "task2", "task2_check"]
    [found] = load_all(course)
    assert (found.student, found.module, found.status, found.key) == ("anna", MODULE, "graded", "k")
    assert (found.cells, found.score, found.max_score) == (made.cells, 5.5, 8.0)
    assert (found.checks, found.sandbox) == (made.checks, "none")
    assert is_stored(course, "k")
    assert not is_stored(course, "other key") and not is_stored(course, "k", "bo")


def test_what_a_person_gave_survives_a_regrade(course: Course) -> None:
    save(course, outcome("k", 4.0, 0.0))
    with course.gradebook() as book:  # as nbgrader's pages do it
        by_name = {g.name: g for g in submitted(book).grades}
        by_name["task1_check"].manual_score = 2.5
        by_name["task2_check"].extra_credit = 1.0
        comments = {c.name: c for c in submitted(book).comments}
        comments["task1"].manual_comment = "Nice. 很好"
        book.db.commit()
    save(course, outcome("k2", 0.0, 3.0), digest="two")
    assert points(course) == {"task1_check": 2.5, "task2_check": 4.0}
    with course.gradebook() as book:
        by_name = {g.name: g for g in submitted(book).grades}
        assert by_name["task1_check"].auto_score == 0.0
        assert not submitted(book).needs_manual_grade
        assert {c.name: c.comment for c in submitted(book).comments} == {
            "task1": "Nice. 很好",
            "task2": None,
        }


@pytest.mark.parametrize("place", ["gradebook", "exercise.ipynb", "timestamp.txt", "verdict"])
def test_a_crash_between_the_steps_is_repaired_by_the_next_run(
    course: Course, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    save(course, outcome("k", 1.0, 1.0))
    write_points, write_whole = gradebook.write_points, verdict.write_whole

    def crash_before_the_commit(*args: Any) -> Any:
        write_points(*args)
        raise Crash

    def crash_before_this_file(target: Path, text: str) -> None:
        if target.name == place or (place == "verdict" and target.suffix == ".json"):
            raise Crash
        write_whole(target, text)

    with monkeypatch.context() as patch:
        if place == "gradebook":
            patch.setattr(gradebook, "write_points", crash_before_the_commit)
        patch.setattr(store, "write_whole", crash_before_this_file)
        patch.setattr(verdict, "write_whole", crash_before_this_file)
        with pytest.raises(Crash):
            save(course, outcome("k2", 4.0, 3.0), digest="two")
    in_gradebook = {"task1_check": 1.0, "task2_check": 1.0}
    if place != "gradebook":
        in_gradebook = {"task1_check": 4.0, "task2_check": 3.0}
    assert points(course) == in_gradebook
    assert load_all(course)[0].key == "k"
    assert not is_stored(course, "k2"), "so the next run grades it again"
    save(course, outcome("k2", 4.0, 3.0), digest="two")
    assert points(course) == {"task1_check": 4.0, "task2_check": 3.0}
    assert is_stored(course, "k2") and load_all(course)[0].attempts == 2
    with course.gradebook() as book:
        assert len(book.assignment_submissions(MODULE)) == 1
        assert len(submitted(book).grades) == 2


def test_a_new_student_whose_transaction_did_not_end_is_not_there(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_points = gradebook.write_points

    def crash(*args: Any) -> Any:
        write_points(*args)
        raise Crash

    monkeypatch.setattr(gradebook, "write_points", crash)
    with pytest.raises(Crash):
        save(course, outcome("k"))
    with course.gradebook() as book:
        assert book.students == [] and book.assignment_submissions(MODULE) == []


def test_a_failed_outcome_takes_no_points_and_is_graded_again(course: Course) -> None:
    save(course, outcome("k", 4.0, 3.0))
    save(course, Outcome("k2", FAILED, "no memory"), digest="two")
    assert points(course) == {"task1_check": 4.0, "task2_check": 3.0}
    assert autograded(course).exists()
    [found] = load_all(course)
    assert (found.status, found.reason, found.score) == ("failed", "no memory", None)
    assert found.attempts == 1
    assert not is_stored(course, "k2")


def test_a_file_that_is_not_gradable_replaces_the_one_before(course: Course) -> None:
    save(course, outcome("k", 4.0, 3.0))
    empty = Outcome("k2", NOT_GRADABLE, "empty", score=0.0, max_score=8.0)
    save(course, empty, digest="two")
    assert points(course) == {"task1_check": 0.0, "task2_check": 0.0}
    assert not autograded(course).exists(), "the pages would show the work that doesn't count"
    assert is_stored(course, "k2")


def test_attempts_are_the_different_files_that_were_handed_in(course: Course) -> None:
    empty = Outcome("k2", NOT_GRADABLE, "empty", score=0.0, max_score=8.0)
    steps = [
        (outcome("k1"), "one", 1),
        (outcome("k1"), "one", 1),  # a regrade
        (outcome("k2"), "two", 2),
        (outcome("k1"), "one", 2),  # the first one once more
        (empty, "three", 3),
        (Outcome("k4", FAILED, "out of order"), "four", 3),  # not the student's doing
        (outcome("k4"), "four", 4),
    ]
    for made, digest, attempts in steps:
        assert save(course, made, digest=digest).attempts == attempts
    assert load_all(course)[0].attempts == 4


@pytest.mark.parametrize(
    "lose",
    [
        lambda course: autograded(course).unlink(),
        lambda course: verdict.path(course, "anna", MODULE).unlink(),
        lambda course: verdict.path(course, "anna", MODULE).write_text('{"student": "an'),
        lambda course: verdict.path(course, "anna", MODULE).write_text('{"points": 3}'),
        lambda course: forget_in_gradebook(course),
    ],
    ids=["notebook", "verdict", "half a verdict", "another verdict", "row"],
)
def test_what_got_lost_is_noticed_and_stored_again(
    course: Course, lose: Callable[[Course], None]
) -> None:
    save(course, outcome("k", 4.0, 3.0))
    lose(course)
    assert not is_stored(course, "k")
    save(course, outcome("k", 4.0, 3.0))
    assert is_stored(course, "k") and points(course) == {"task1_check": 4.0, "task2_check": 3.0}


def forget_in_gradebook(course: Course) -> None:
    with course.gradebook() as book:
        book.remove_submission(MODULE, "anna")


def test_points_changed_behind_our_back_are_noticed(course: Course) -> None:
    save(course, outcome("k", 4.0, 3.0))
    with course.gradebook() as book:
        submitted(book).grades[0].auto_score = 0.0  # nbgrader's own autograder, say
        book.db.commit()
    assert not is_stored(course, "k")


def test_an_exercise_that_changed_changes_the_gradebook(course: Course) -> None:
    save(course, outcome("k", 4.0, 3.0))
    cells = (
        Cell("task1", "answer", ""),
        Cell("task1_check", "check", "", 6.0),
        Cell("task3", "answer", ""),
        Cell("task3_check", "check", "", 2.0),
    )
    made = outcome("k2")
    made.cells = {"task1_check": 5.0, "task3_check": 2.0}
    save(course, made, cells=cells)
    assert points(course) == {"task1_check": 5.0, "task3_check": 2.0}
    with course.gradebook() as book:
        assert submitted(book).max_score == 8.0
        assert sorted(c.name for c in submitted(book).comments) == ["task1", "task3"]
    assert is_stored(course, "k2")


def test_text_that_no_file_can_hold_is_stored(course: Course) -> None:
    made = outcome("k")
    made.reason = "half a pair: \ud83d"
    assert made.notebook is not None
    made.notebook["cells"][0]["source"] = "'\udc80'"
    save(course, made)
    assert load_all(course)[0].reason == "half a pair: \ud83d"
    assert json.loads(autograded(course).read_text())["cells"][0]["source"] == ["'\udc80'"]


def test_a_second_grader_is_refused(course: Course) -> None:
    with Store(course), pytest.raises(GraderError, match="expected to be the only one"):
        save(course, outcome("k"))
    save(course, outcome("k"))


def test_a_folder_that_cannot_be_written_is_said(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    save(course, outcome("k"))
    with monkeypatch.context() as patch:
        patch.setattr("grader.verdict.os.replace", full)
        with pytest.raises(GraderError, match="No space left on device.*goes on where it ended"):
            save(course, outcome("k2", 1.0, 1.0))
    assert not list(course.work.rglob("*.tmp"))
    assert not is_stored(course, "k2")


# ---- due dates and late work

TOML = """
[due]
01_tiny = 2026-05-04T14:00:00+02:00
[late]
per_day = 0.1
at_most = 0.25
grace_minutes = 15
"""


@pytest.mark.parametrize(
    ("late", "lost"),
    [
        (timedelta(hours=-5), 0.0),
        (timedelta(0), 0.0),
        (timedelta(minutes=15), 0.0),
        (timedelta(minutes=15, seconds=1), 0.7),
        (timedelta(days=1, minutes=15), 0.7),
        (timedelta(days=1, minutes=16), 1.4),
        (timedelta(days=9), 1.75),
    ],
)
def test_late_work_loses_a_part_of_its_points(course: Course, late: timedelta, lost: float) -> None:
    (course.root / "grader.toml").write_text(TOML)
    save(course, outcome("k", 4.0, 3.0), when=NOON + late)
    assert penalty(course) == pytest.approx(lost)
    with course.gradebook() as book:
        found = submitted(book)
        assert (found.score, found.assignment.duedate) == (7.0, datetime(2026, 5, 4, 12))
        assert found.assignment.timestamp == (NOON + late).replace(tzinfo=None)


def test_a_changed_policy_counts_without_another_run(course: Course) -> None:
    (course.root / "grader.toml").write_text(TOML)
    save(course, outcome("k", 4.0, 3.0), when=NOON + timedelta(days=1))
    assert penalty(course) == pytest.approx(0.7)
    (course.root / "grader.toml").write_text(TOML.replace("05-04", "05-06"))
    assert is_stored(course, "k")
    assert penalty(course) == 0.0


def test_extensions_points_by_hand_and_due_dates_of_nbgraders_pages_count(course: Course) -> None:
    (course.root / "grader.toml").write_text(TOML)
    save(course, outcome("k", 4.0, 3.0), when=NOON + timedelta(days=1))
    with course.gradebook() as book:
        submitted(book).grades[0].manual_score = 0.0
        book.db.commit()
        rest = submitted(book).score
    assert is_stored(course, "k")
    assert penalty(course) == pytest.approx(rest * 0.1)
    with course.gradebook() as book:
        book.grant_extension(MODULE, "anna", days=2)
    assert is_stored(course, "k")
    assert penalty(course) == 0.0
    (course.root / "grader.toml").write_text("[late]\nper_day = 0.5\n")
    with course.gradebook() as book:
        book.grant_extension(MODULE, "anna")
        book.update_or_create_assignment(MODULE, duedate="2026-05-05 11:00:00 UTC")
    assert is_stored(course, "k")
    assert penalty(course) == pytest.approx(rest * 0.5)


def test_an_extension_without_a_due_date_is_no_error(course: Course) -> None:
    save(course, outcome("k", 4.0, 3.0))
    with course.gradebook() as book:
        book.grant_extension(MODULE, "anna", days=2)
    assert is_stored(course, "k")
    assert penalty(course) == 0.0


def test_the_gradebook_can_be_named_in_the_file(tmp_path: Path) -> None:
    course = make_course(tmp_path)
    (tmp_path / "grader.toml").write_text(f'db = "sqlite:///{tmp_path}/other.db"\n')
    save(course, outcome("k"))
    assert (tmp_path / "other.db").exists() and not (course.work / "gradebook.db").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[late", "expected TOML"),
        ("\udcff", "expected TOML"),
        ("[lat]", "expected one of db, due, late at the top, but got 'lat'"),
        ("late = 3", "expected a table \\[late\\], but got '3'"),
        ("db = 3", "expected db to be a text"),
        ("[late]\nper_days = 0.1", "expected one of per_day, at_most, grace_minutes in"),
        ("[late]\nper_day = 10", "expected per_day to be a number from 0 to 1, but got '10'"),
        ("[late]\nper_day = nan", "per_day to be a number"),
        ("[late]\nper_day = true", "per_day to be a number"),
        ("[late]\ngrace_minutes = -1", "grace_minutes to be a number of at least 0"),
        ("[due]\n01_tin = 2026-05-04T14:00:00Z", "one of 01_tiny in \\[due\\], but got '01_tin'"),
        ("[due]\n01_tiny = 2026-05-04T14:00:00", "with its offset.* for 01_tiny"),
        ("[due]\n01_tiny = 2026-05-04", "with its offset"),
        ("[due]\n01_tiny = 'tomorrow'", "with its offset.*but got 'tomorrow'"),
    ],
)
def test_what_cannot_be_meant_in_the_file_is_said(tmp_path: Path, text: str, message: str) -> None:
    course = make_course(tmp_path)
    (tmp_path / "grader.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(GraderError, match=f"{message}.*Mend .*grader.toml"):
        save(course, outcome("k"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "expected the URL of a gradebook.*got 'nonsense'"),
        ("nonesuch://user:secret@host/x", "nonesuch://user:\\*\\*\\*@host/x"),
        ("postgresql+psycopg://me:secret@127.0.0.1:1/x", "me:\\*\\*\\*@.*Is the database running"),
        ("sqlite:////no/such/folder/x.db", "unable to open database file"),
    ],
)
def test_a_gradebook_that_cannot_be_opened_is_said(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(GraderError, match=message) as caught:
        save(make_course(tmp_path, url), outcome("k"))
    assert "secret" not in str(caught.value)


def test_a_gradebook_that_another_program_writes_to_is_said(tmp_path: Path) -> None:
    file = tmp_path / "gradebook.db"
    course = make_course(tmp_path, f"sqlite:///{file}?timeout=0.1")
    with course.gradebook():
        pass
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GraderError, match="database is locked.* Another program writes to it"):
            course.gradebook()
