"""The instructor's report. The outcomes here are made by hand; gradebook, verdicts and assignment
are real.
"""

from __future__ import annotations

import html
import re
import shutil
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nbgrader.api import Student

from grader.cli import main
from grader.course import Course
from grader.outcome import FAILED, GRADED, NOT_GRADABLE, CheckResult, Outcome
from grader.report import shares
from grader.store import Store
from grader.tasks import load_assignment
from tests.grader.sample import MODULE

WHEN = datetime(2026, 11, 1, tzinfo=UTC)


def outcome(failing: tuple[str, ...] = (), sandbox: str = "bubblewrap") -> Outcome:
    """Each check cell of the sample has two checks, "first" and "second", of one point each.
    `failing`: such as "task1_hidden second".
    """
    checks = []
    for cell in ("task1_check", "task1_hidden", "task2_check", "task2_hidden"):
        for name in ("first", "second"):
            passed = f"{cell} {name}" not in failing
            points = 1.0 if passed else 0.0
            message = "" if passed else "expected 276, but got 275."
            checks.append(CheckResult(cell, f"{cell} {name}", passed, points, 1.0, message))
    cells = {c.cell: sum(x.points for x in checks if x.cell == c.cell) for c in checks}
    return Outcome(
        "key",
        GRADED,
        score=sum(cells.values()),
        max_score=8.0,
        cells=cells,
        checks=checks,
        sandbox=sandbox,
        notebook={"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
    )


EVERYTHING = tuple(check.name for check in outcome().checks)


def store(course: Course, handed: dict[str, list[Outcome]]) -> None:
    """student -> the outcomes of one attempt after the other."""
    assignment = load_assignment(course, MODULE)
    with Store(course) as target:
        for student, outcomes in handed.items():
            hand_in(course, student)
            for number, one in enumerate(outcomes):
                target.save(student, assignment, one, digest=f"{number}", handed_in=WHEN)


def hand_in(course: Course, student: str) -> None:
    path = course.step("submitted", student, MODULE) / "exercise.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(student)


def run(course: Course, *words: str) -> Result:
    return CliRunner().invoke(main, ["--root", str(course.root), "report", *words])


def page_of(course: Course) -> str:
    to = course.root / "report.html"
    result = run(course, "--to", str(to))
    assert result.exit_code == 0, result.output
    return to.read_text(encoding="utf-8")


def words(page: str) -> str:
    body = re.sub(r"<svg.*?</svg>", " ", page.partition("<body>")[2], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture(scope="module")
def busy_course(released_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("report") / "root"
    course = Course.at(shutil.copytree(released_root, root))
    half = tuple(name for name in EVERYTHING if name.startswith("task2"))
    store(
        course,
        {
            "anna": [outcome()],
            "bo": [outcome(EVERYTHING), outcome(EVERYTHING), outcome(EVERYTHING[1:])],
            "chen": [outcome(EVERYTHING), outcome(EVERYTHING), outcome(half)],
            "dana": [outcome(("task1_hidden second",), sandbox="none")],
            "<i>emil": [Outcome("key", NOT_GRADABLE, "expected <b>work", 0.0, 8.0)],
            "fay": [Outcome("key", FAILED, "out of order")],
        },
    )
    hand_in(course, "gil")
    with course.gradebook() as gradebook:
        gradebook.add_student("hana")
    return course


@pytest.fixture(scope="module")
def page(busy_course: Course) -> str:
    return page_of(busy_course)


def test_points_checks_and_who_needs_help(page: str) -> None:
    text = words(page)
    assert "8 students, 1 module." in text and "4 of 8 are graded." in text
    assert "Task 1 · Which shape comes out? 3 of 4 2 of 4" in text
    assert "task1_hidden second (hidden) : 2 of 4" in text
    assert "Stuck: 1" in text and "bo: 1 of 8 points after 3 attempts" in text
    assert "Not handed in: 1 hana" in text
    assert "Handed in, not graded yet: 1 gil" in text
    assert "<i>emil: not gradable: expected <b>work" in text and "fay: failed: out of order" in text
    assert "Graded without a sandbox, so with less trust: dana." in text


def test_students_have_a_row_each(page: str) -> None:
    rows = re.findall(r"<tr><td>(.*?)</td>\s*(.*?)</tr>", page.split("<h2>Students")[1], re.DOTALL)
    assert {name: words(f"<body>{cells}") for name, cells in rows} == {
        "&lt;i&gt;emil": "0 not gradable 0 of 8",
        "anna": "8 8 of 8",
        "bo": "1 (3) 1 of 8",
        "chen": "4 (3) 4 of 8",
        "dana": "7 7 of 8",
        "fay": "– failed 0 of 8",
        "gil": "– 0 of 8",
        "hana": "– 0 of 8",
    }


def test_it_tells_no_values_and_nothing_of_it_runs_or_loads(page: str) -> None:
    assert "276" not in words(page)
    assert "<i>" not in page and "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#)', page.replace("xlink:href", "href"))


def test_the_picture_is_sound_and_always_the_same(busy_course: Course, page: str) -> None:
    [svg] = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    texts = [node.text for node in ElementTree.fromstring(svg).iter() if node.text]
    assert {"Task 1", "Task 2", "Attempts", "students", "≤1", "<4"} <= {t.strip() for t in texts}
    assert page_of(busy_course) == page


def test_points_by_hand_count(course: Course) -> None:
    store(course, {"bo": [outcome(EVERYTHING)]})
    with course.gradebook() as gradebook:
        gradebook.find_grade("task1_check", "exercise", MODULE, "bo").manual_score = 2.0
        gradebook.db.commit()
    text = words(page_of(course))
    assert "Task 1 · Which shape comes out? 2 of 4" in text and "bo 2 2 of 8" in text


def test_one_student_and_two_hundred(course: Course) -> None:
    store(course, {"only": [outcome()]})
    assert "1 student, 1 module." in words(page_of(course))
    # The other 199 have no notebooks: only rows and bars are made of them.
    with course.gradebook() as gradebook:
        gradebook.db.add_all(Student(id=f"student{number:03d}") for number in range(199))
        gradebook.db.commit()
    text = words(page_of(course))
    assert "200 students, 1 module." in text and "Not handed in: 199" in text


def test_a_course_where_everybody_failed_to_hand_in_a_notebook(course: Course) -> None:
    store(course, {"emil": [Outcome("key", NOT_GRADABLE, "empty", 0.0, 8.0)]})
    text = words(page_of(course))
    assert "0 of 1 are graded." in text and "Without points: 1" in text


@pytest.mark.parametrize(
    ("points", "counts"),
    [
        ([0, 0, 4], [2, 0, 0, 0, 0, 1]),
        ([0.01, 1, 1.01, 2, 2.5, 3, 3.99], [0, 2, 2, 2, 1, 0]),
        ([-1, 5], [1, 0, 0, 0, 0, 1]),
    ],
)
def test_shares(points: list[float], counts: list[int]) -> None:
    assert shares(points, 4.0) == (["0", "≤1", "≤2", "≤3", "<4", "4"], counts)


def test_wrong_use_is_said(course: Course, tmp_path: Path) -> None:
    assert "expected graded submissions" in run(course).output
    store(course, {"anna": [outcome()]})
    for words_, message in [
        (["9"], "expected a module of the course"),
        (["--to", str(tmp_path)], "Pass --to"),
        (["--to", str(tmp_path / "no" / "r.html")], "Make the folder"),
    ]:
        result = run(course, *words_)
        assert result.exit_code == 2 and message in result.output
