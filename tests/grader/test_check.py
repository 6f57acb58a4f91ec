"""`grader check`: one file, graded at once, for a learner and for GitHub."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from grader import check, github
from grader.cli import main
from grader.course import Course
from grader.outcome import FAILED, GRADED, CheckResult, Outcome, looks_once
from tests.grader import tiny
from tests.grader.sample import KNOWS_THE_ANSWERS, MODULE, RIGHT, answered


def put(course: Course, answers: dict[str, str], folder: str = MODULE) -> Path:
    """A file as a learner has it, in a folder that is called after the module."""
    path = course.root / "mine" / folder / "exercise.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(answered(course, answers), path)
    return path


def run(course: Course, *words: str, env: dict[str, str] | None = None) -> Result:
    """Without a sandbox, so that these tests run everywhere; the files are our own."""
    words = ("--root", str(course.root), "check", "--no-sandbox", *words)
    return CliRunner().invoke(main, words, env={"GITHUB_STEP_SUMMARY": None, **(env or {})})


def test_all_points_exit_0(course: Course) -> None:
    result = run(course, str(put(course, RIGHT)))
    assert result.exit_code == 0, result.output
    assert f"{MODULE}: 8 of 8 points (visible and hidden checks, without a sandbox)" in (
        result.output
    )


def test_what_failed_is_said_and_the_hidden_values_are_not(course: Course) -> None:
    path = put(course, {**KNOWS_THE_ANSWERS, "task2": RIGHT["task2"]})
    result = run(course, str(path))
    assert result.exit_code == 1
    assert "✗ three axes against two (hidden)" in result.output
    assert "Add --hint task1" in result.output and "--hint task2" not in result.output
    assert "[5, 4, 3]" not in result.output
    content = json.loads(run(course, str(path), "--format", "json").output)
    assert content["score"] < content["max_score"] and content["sandbox"] == "none"
    assert [c["message"] for c in content["checks"] if c["cell"].endswith("_hidden")] == (
        [""] * sum(c["cell"].endswith("_hidden") for c in content["checks"])
    )


@pytest.mark.parametrize("kept", ["release", "course"])
def test_without_the_assignment_the_visible_checks_are_the_points(
    course: Course, kept: str
) -> None:
    """As on a learner's machine: nothing was released there, or only the released file is there."""
    path = put(course, RIGHT)
    shutil.rmtree(course.work / "assignments")
    if kept == "course":
        shutil.rmtree(course.work / "release")
    result = run(course, str(path))
    assert result.exit_code == 0, result.output
    assert "4 of 4 points (visible checks, without a sandbox)" in result.output


@pytest.mark.parametrize("data", [b"{", b"", b"\xff\xfe", b'{"cells": []}'])
def test_not_gradable_exits_2_with_the_reason(course: Course, data: bytes) -> None:
    path = put(course, RIGHT)
    path.write_bytes(data)
    result = run(course, str(path))
    assert result.exit_code == 2
    assert "not gradable" in result.output and "expected" in result.output


def test_a_link_is_not_followed(course: Course) -> None:
    path = put(course, RIGHT)
    path.unlink()
    path.symlink_to(course.source(MODULE))
    result = run(course, str(path))
    assert result.exit_code == 2 and "it is a link" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["FILE", "--module", "9"], "expected a module of the course"),
        (["gone.ipynb"], "which is not there"),
        (["."], "which is a folder"),
        (["OTHER"], f"Pass --module, one of: {MODULE}"),
        (["FILE", "--hint", "task7"], "Pass one of: task1, task2"),
        (["FILE", "--hint", "task1", "--level", "4"], "expected a level from 1 to 3, but got 4"),
        (["FILE", "--hint", "task1", "--level", "0"], "expected a level from 1 to 3, but got 0"),
        (["FILE", "--format", "xml"], "'xml' is not one of"),
    ],
)
def test_wrong_use_is_said(course: Course, words: list[str], message: str) -> None:
    files = {"FILE": put(course, {}), "OTHER": put(course, {}, folder="homework")}
    result = run(course, *(str(files.get(word, word)) for word in words))
    assert result.exit_code == 2 and message in result.output


def test_hints_one_after_the_other_and_nothing_is_run(course: Course) -> None:
    path = put(course, {"task1": "raise SystemExit"})
    found = [run(course, str(path), "--hint", "task2", "--level", str(n)).output for n in (1, 2, 3)]
    assert "hint 1 of 3\nWhich axes were repeated?" in found[0]
    assert found[0].endswith("The next one: --hint task2 --level 2\n")
    assert "keepdims=True" in found[2] and "The next one" not in found[2]


def test_a_missing_sandbox_says_what_to_do(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.shutil.which", lambda name: None)
    monkeypatch.setattr("grader.grading._check_once.done", False, raising=False)
    words = ["--root", str(course.root), "check", str(put(course, RIGHT))]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "expected bubblewrap" in result.output and "--no-sandbox" in result.output


def test_the_graders_own_failure_exits_3(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: object) -> Outcome:
        return Outcome("", FAILED, "out of memory")

    monkeypatch.setattr("grader.check.grade", broken)
    result = run(course, str(put(course, RIGHT)))
    assert result.exit_code == 3 and "failed" in result.output and "out of memory" in result.output


# ---- GitHub

NASTY = (
    "x\n::error::forged\r\n::add-mask::1\n##[error]forged\n[a](https://evil.example)"
    " ![p](//e/p.png)\n<script>alert(1)</script> @everyone #1 www.evil.example ``` | \u202e"
    " \x1b[31m % %0A::warning::w"
)


def checked(message: str, reason: str = "", file: str = "exercise.ipynb") -> check.Checked:
    result = CheckResult("task1_check", "the diamond", False, 0.0, 4.0, message, "Look again")
    outcome = Outcome("", GRADED, reason, 1.5, 8.0, {"task1_check": 0.0}, [result])
    return check.Checked(Path(file), tiny.assignment(), True, outcome)


def test_the_summary_goes_where_github_wants_it(course: Course, tmp_path: Path) -> None:
    path, target = put(course, {}), tmp_path / "summary.md"
    target.write_text("before\n")
    result = run(course, str(path), "--format", "github", env={"GITHUB_STEP_SUMMARY": str(target)})
    assert result.exit_code == 1
    assert target.read_text().startswith("before\n### ❌ ")
    lines = result.output.splitlines()
    assert len(lines) == 2 and all(line.startswith("::error file=") for line in lines)
    assert run(course, str(path), "--format", "github").output.startswith("### ❌ ")


def test_a_students_text_forges_no_command() -> None:
    lines = github.commands(checked(NASTY, file="a,b:c%\n::error::x.ipynb"))
    lines += github.commands(
        check.Checked(
            Path("x"), tiny.assignment(), True, Outcome("", "not gradable", NASTY, 0.0, 8.0)
        )
    )
    for line in lines:
        assert re.match(r"::error file=[^,:\r\n]*,title=[^,:\r\n]*::", line)
        assert not re.search(r"[\r\n]", line)


def test_a_students_text_is_only_text_in_the_summary() -> None:
    text = github.summary(checked(NASTY, reason=NASTY, file=NASTY.replace("/", "")))
    for forged in ("::", "##[", "](", "<script", "@", "www.", "://", "```", "\u202e", "\x1b"):
        assert forged not in text, forged
    assert "\r" not in text
    # As GitHub would show it: no link, no picture, no tag of the student's.
    from mistune import create_markdown

    page = create_markdown(escape=False, plugins=["table", "url", "strikethrough"])(text)
    assert isinstance(page, str)
    tags = set(re.findall(r"<(\w+)", page))
    assert tags <= {"h3", "p", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"} | {
        "strong",
        "ul",
        "li",
    }


def test_the_place_is_told_from_the_repositorys_root(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    file = tmp_path / "submissions" / "anna" / "exercise.ipynb"
    [line] = github.commands(checked("m", file=str(file)))[:1]
    assert line.startswith("::error file=submissions/anna/exercise.ipynb,title=")


def test_where_to_look_is_said_at_the_first_of_several_failed_checks() -> None:
    looks = ["Count.", "Count.", "Sort.", "Count."]
    results = [
        CheckResult("task1_check", f"{n}", n == 0, 0.0, 1.0, look=look)
        for n, look in enumerate(looks)
    ]
    assert [c.look for c in looks_once(results)] == ["Count.", "Count.", "Sort.", ""]


def test_a_terminal_gets_no_control_signs() -> None:
    text = check.as_text(checked(NASTY, reason=NASTY))
    assert not re.search(r"[\x1b\u202e\r]", text)
