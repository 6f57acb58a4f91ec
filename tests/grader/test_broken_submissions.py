"""Submissions that are broken by accident get what a fair human would give, with a reason that a
learner understands: all in one batch.
"""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest

from grader.collect import Collected, collect
from grader.course import Course
from grader.grade import Options, grade
from grader.outcome import Limits
from grader.release import release
from grader.verdict import Verdict
from tests.grader.broken import ALL, BROKEN, NOTHING
from tests.grader.exam import sandbox_missing
from tests.grader.sample import MODULE, RIGHT, answered, hand_in

# None of these runs without end. pip alone needs seconds to start where the processors are busy.
LIMITS = Limits(cell_seconds=120, submission_seconds=600)


@pytest.fixture(scope="module")
def verdicts(released_root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    course = Course.at(tmp_path_factory.mktemp("broken"), released_root / "course")
    release(course)
    folder = tmp_path_factory.mktemp("handed_in")
    for name, broken in BROKEN.items():
        nb = answered(course, {**RIGHT, "task1": f"# {name}\n{RIGHT['task1']}"})
        changed = broken.change(nb)
        data = changed if isinstance(changed, bytes) else nbformat.writes(changed or nb).encode()
        hand_in(folder, name, data)
    hand_in(folder, "zoe", answered(course, RIGHT))
    collect(course, folder)
    options = Options(workers=2, limits=LIMITS, sandbox=not sandbox_missing())
    return {verdict.student: verdict for verdict in grade(course, options=options)}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_submission_gets_what_is_fair(verdicts: dict[str, Verdict], name: str) -> None:
    verdict, broken = verdicts[name], BROKEN[name]
    cells = {**NOTHING, **verdict.cells}  # a file that was refused has none
    assert (verdict.status, cells) == (broken.status, broken.points), verdict.reason
    assert (verdict.score, verdict.max_score) == (sum(broken.points.values()), 8)


NO_PYTHON = (
    "syntax-error",
    "merge-conflict-in-the-code",
    "tabs-and-blanks",
    "a-blank-that-is-none",
)


@pytest.mark.parametrize("name", BROKEN)
def test_the_reason_is_said(verdicts: dict[str, Verdict], name: str) -> None:
    verdict, broken = verdicts[name], BROKEN[name]
    messages = [f"{check.message} {check.look}" for check in verdict.checks if not check.passed]
    assert broken.says in "\n".join([verdict.reason, *messages])
    if verdict.status == "not gradable":
        assert verdict.reason.startswith(("expected", "it is"))
        assert "hand it in again" in verdict.reason.lower() or verdict.reason.endswith("?")
    else:
        reason = "task2: no valid Python" if name in NO_PYTHON else ""
        assert verdict.reason == reason and bool(messages) == (broken.points != ALL)


def test_the_one_after_them_is_graded_right(verdicts: dict[str, Verdict]) -> None:
    assert verdicts["zoe"].cells == ALL


def refused(course: Course, folder: Path) -> dict[str, Collected]:
    return {found.student: found for found in collect(course, folder)}


def test_files_in_the_wrong_place_or_form_are_refused_with_a_reason(
    course: Course, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    right = answered(course, RIGHT)
    hand_in(folder, "blanks", right).rename(folder / "blanks" / MODULE / "exercise (1).ipynb")
    hand_in(folder, "folder", right).unlink()
    (folder / "folder" / MODULE / "exercise.ipynb").mkdir()
    hand_in(folder, "module", right, "01_sampel")
    hand_in(folder, "nothing", right).unlink()
    os.mkfifo(hand_in(folder, "pipe", right).with_name("pipe"))
    (folder / "pipe" / MODULE / "pipe").replace(folder / "pipe" / MODULE / "exercise.ipynb")
    source = course.source(MODULE)
    hand_in(folder, "link", right).unlink()
    (folder / "link" / MODULE / "exercise.ipynb").symlink_to(source)
    (folder / "linked-module").mkdir()
    (folder / "linked-module" / MODULE).symlink_to(source.parent)
    (folder / "linked-student").symlink_to(source.parents[1])
    (folder / "device").mkdir()
    (folder / "device" / MODULE).mkdir()
    (folder / "device" / MODULE / "exercise.ipynb").symlink_to("/dev/zero")
    found = refused(course, folder)
    expected = {
        "blanks": ("refused", "exercise (1).ipynb; rename it"),
        "folder": ("refused", "not a regular file"),
        "module": ("ignored", "rename the folder"),
        "nothing": ("refused", "no exercise.ipynb in it"),
        "pipe": ("refused", "not a regular file"),
        "link": ("refused", "it is a link"),
        "linked-module": ("refused", "it is a link"),
        "linked-student": ("ignored", "it is a link"),
        "device": ("refused", "it is a link"),
    }
    assert {s: f.status for s, f in found.items()} == {s: e[0] for s, e in expected.items()}
    for student, (_, words) in expected.items():
        assert words in found[student].reason


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_nobody_may_read_is_refused(course: Course, tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "shy", answered(course, RIGHT)).chmod(0)
    [found] = refused(course, tmp_path / "in").values()
    assert (found.status, found.reason) == ("refused", "it can't be read (Permission denied)")
