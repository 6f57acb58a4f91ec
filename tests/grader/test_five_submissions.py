"""An instructor's walk: five students hand in the sample exercise, and each gets the score that the
work deserves.
"""

from __future__ import annotations

import csv
import dataclasses
import html
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli import main
from grader.course import Course
from grader.verdict import Verdict, load_all
from tests.grader.sample import KNOWS_THE_ANSWERS, MODULE, RIGHT, WRONG, answered, hand_in

SECRETS = ["secret_x", "secret_grad", "BEGIN HIDDEN", "[5, 1, 3]", "[5, 4, 3]", "array(276"]


def grader(root: Path, *args: str) -> Result:
    result = CliRunner().invoke(main, ["--root", str(root), *args])
    assert result.exit_code == 0, result.output
    return result


class Walk:
    """What the five commands left behind."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.output: dict[str, str] = {}
        self.output["release"] = grader(root, "release").output
        course = Course.at(root)
        hand_in(folder, "anna", answered(course, RIGHT))
        hand_in(folder, "bo", answered(course, WRONG))
        hand_in(folder, "chen", answered(course, {}))
        hand_in(folder, "dana", answered(course, {"task1": RIGHT["task1"]}))
        hand_in(folder, "emil", b'{"cells": [ {"cell_type": "co')
        hand_in(folder, "fay", answered(course, KNOWS_THE_ANSWERS))
        self.output["collect"] = grader(root, "collect", str(folder)).output
        self.output["grade"] = grader(root, "grade").output
        self.output["feedback"] = grader(root, "feedback").output
        self.output["export"] = grader(root, "export", "--to", str(root / "grades.csv")).output
        self.verdicts = {v.student: v for v in load_all(course)}

    def verdict(self, student: str) -> Verdict:
        return self.verdicts[student]

    def page(self, student: str) -> str:
        """The words of the feedback page: the code in it is full of tags for its colours."""
        path = self.root / "grader" / "feedback" / student / MODULE / "exercise.html"
        return html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def walk(sample_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    root = tmp_path_factory.mktemp("walk")
    shutil.copytree(sample_source, root / "course")
    return Walk(root, tmp_path_factory.mktemp("handed_in"))


@pytest.mark.parametrize(
    ("student", "score", "tasks"),
    [
        ("anna", 8, {"task1_check": 2, "task1_hidden": 2, "task2_check": 2, "task2_hidden": 2}),
        ("bo", 0, {"task1_check": 0, "task1_hidden": 0, "task2_check": 0, "task2_hidden": 0}),
        ("chen", 0, {"task1_check": 0, "task1_hidden": 0, "task2_check": 0, "task2_hidden": 0}),
        ("dana", 4, {"task1_check": 2, "task1_hidden": 2, "task2_check": 0, "task2_hidden": 0}),
        # A hidden failure leaves the visible points.
        ("fay", 2, {"task1_check": 2, "task1_hidden": 0, "task2_check": 0, "task2_hidden": 0}),
    ],
)
def test_each_gets_the_score_that_the_work_deserves(
    walk: Walk, student: str, score: float, tasks: dict[str, float]
) -> None:
    verdict = walk.verdict(student)
    assert (verdict.status, verdict.reason) == ("graded", "")
    assert (verdict.score, verdict.max_score, verdict.cells) == (score, 8, tasks)
    assert (verdict.attempts, verdict.sandbox) == (1, "bubblewrap")


def test_each_step_says_the_next_command(walk: Walk) -> None:
    last = {step: output.splitlines()[-1] for step, output in walk.output.items()}
    command = f"Next: grader --root {walk.root}"
    assert last["release"] == f"{command} collect FOLDER"
    assert last["collect"] == f"{command} grade {MODULE}"
    assert last["grade"] == f"{command} feedback {MODULE}"
    assert last["feedback"] == f"{command} export"


def test_broken_json_is_not_gradable_and_says_where_it_is_broken(walk: Walk) -> None:
    verdict = walk.verdict("emil")
    assert (verdict.status, verdict.score, verdict.max_score) == ("not gradable", 0, 8)
    assert "the file is broken in line 1, column " in verdict.reason
    assert "the file is broken" in walk.page("emil")
    assert "not gradable" in walk.output["grade"]


def test_the_csv_has_a_row_for_everybody(walk: Walk) -> None:
    with (walk.root / "grades.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["student"], r["score"], r["max_score"], r["status"]) for r in rows] == [
        ("anna", "8", "8", "graded"),
        ("bo", "0", "8", "graded"),
        ("chen", "0", "8", "graded"),
        ("dana", "4", "8", "graded"),
        ("emil", "0", "8", "not gradable"),
        ("fay", "2", "8", "graded"),
    ]
    assert all(row["module"] == MODULE for row in rows)
    assert "broken" in rows[4]["reason"] and not rows[0]["reason"]


def test_feedback_shows_points_and_messages(walk: Walk) -> None:
    page = walk.page("dana")
    assert "4 of 8 points" in page
    assert "nothing is written here yet" in page
    assert "all 3 checks passed" in page


@pytest.mark.parametrize("student", ["anna", "bo", "chen", "dana", "fay"])
def test_feedback_does_not_show_hidden_tests(walk: Walk, student: str) -> None:
    page = walk.page(student)
    assert "def broadcast_shape" in page  # so the search does see code
    assert [secret for secret in SECRETS if secret in page] == []


def test_a_regrade_gives_the_same(walk: Walk) -> None:
    def plain(verdicts: list[Verdict]) -> list[Verdict]:
        return [dataclasses.replace(v, seconds=0.0) for v in verdicts]

    before = plain(list(walk.verdicts.values()))
    grader(walk.root, "regrade", "01")
    assert plain(load_all(Course.at(walk.root))) == before
