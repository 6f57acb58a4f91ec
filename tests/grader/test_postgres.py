"""The gradebook on PostgreSQL: a server that dies in the middle loses nothing that was stored.

The server is real and is killed with SIGKILL. The work is a stand-in (tiny.cheap). What is stored
of one submission is tested in test_store.py, on PostgreSQL too.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course import Course
from grader.errors import GraderError
from grader.grade import Options, grade
from grader.outcome import Job, Outcome
from grader.verdict import Verdict, load_all
from tests.grader import tiny
from tests.grader.postgres import Server
from tests.grader.tiny import MODULE, cheap, make_course

STUDENTS = [f"s{number:02}" for number in range(30)]


@pytest.fixture
def course(postgres: Server, tmp_path: Path) -> Iterator[Course]:
    """Thirty submissions, their gradebook named in grader.toml. The server runs afterwards."""
    course = make_course(tmp_path)
    (tmp_path / "grader.toml").write_text(f'db = "{postgres.new_database()}"\n')
    for number, student in enumerate(STUDENTS):
        tiny.hand_in(course, student, f"{number % 5} {number}")
    yield course
    if not postgres.runs:  # a test failed in the middle
        postgres.start()


def in_gradebook(course: Course) -> dict[str, float]:
    with course.gradebook() as book:
        return {s.student_id: s.score for s in book.assignment_submissions(MODULE)}


def check_all_is_there(course: Course, told: Counter[str]) -> None:
    expected = {student: number % 5 + 0.5 for number, student in enumerate(STUDENTS)}
    assert in_gradebook(course) == expected
    assert [v.student for v in load_all(course)] == STUDENTS
    assert told == dict.fromkeys(STUDENTS, 1)


def test_a_server_that_comes_back_is_waited_for(course: Course, postgres: Server) -> None:
    told: Counter[str] = Counter()
    said: list[str] = []

    def done(verdict: Verdict) -> None:
        told[verdict.student] += 1
        if told.total() == 10:
            postgres.kill()
            threading.Timer(1.0, postgres.start).start()

    found = grade(course, options=Options(workers=2), work=cheap, done=done, say=said.append)
    assert {v.status for v in found} == {"graded"}
    check_all_is_there(course, told)
    assert said and all("does not answer" in text and "Trying again in" in text for text in said)
    assert "grader@" in said[0]


def test_a_server_that_stays_away_ends_the_run_and_the_next_one_goes_on(
    course: Course, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.store.WAITS", (0.01, 0.01))
    told: Counter[str] = Counter()
    ran: list[str] = []

    def work(job: Job) -> Outcome:
        ran.append(job.submission.decode())
        return cheap(job)

    def done(verdict: Verdict) -> None:
        told[verdict.student] += 1
        if told.total() == 10:
            postgres.kill()

    with pytest.raises(GraderError) as caught:
        grade(course, options=Options(workers=1), work=work, done=done)
    assert "expected the gradebook at postgresql" in str(caught.value)
    assert "What was stored before is safe. Start the database" in str(caught.value)
    assert told.total() == 10
    acknowledged = [v.student for v in load_all(course)]
    assert sorted(told) == acknowledged

    with pytest.raises(GraderError, match="Is the database running"):
        grade(course, work=work)
    postgres.start()
    assert set(in_gradebook(course)) == set(acknowledged), "nothing acknowledged is lost"
    ran.clear()
    grade(course, options=Options(workers=1), work=work, done=lambda v: told.update([v.student]))
    assert len(ran) == 20
    for student in acknowledged:
        told[student] -= 1  # the second run told of those too, as they were
    check_all_is_there(course, told)


def test_the_password_is_in_no_message(course: Course, postgres: Server) -> None:
    url = postgres.url("nosuch").replace("grader@", "grader:secret@")
    with pytest.raises(GraderError, match="does not exist") as caught:
        grade(Course.at(course.root, db=url), work=cheap)
    assert "secret" not in str(caught.value) and "grader:***@" in str(caught.value)
