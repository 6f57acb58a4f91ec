"""docs/pull_requests/grade.yml: what it may do, and its script, run on a pull request made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course import Course
from tests.grader.exam import needs_sandbox
from tests.grader.sample import MODULE, RIGHT, WRONG, answered

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install -e '.[dev]'")
FILE = Path(__file__).resolve().parents[2] / "docs" / "pull_requests" / "grade.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return workflow["jobs"]["grade"]["steps"]


def test_it_can_only_read_and_has_no_secrets(workflow: dict[Any, Any]) -> None:
    assert list(workflow[True]) == ["pull_request"]  # YAML takes the word `on` for true
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["grade"]
    assert "secrets." not in FILE.read_text(encoding="utf-8")
    checkouts = [s for s in steps(workflow) if s.get("uses", "").startswith("actions/checkout@")]
    assert [s["with"]["persist-credentials"] for s in checkouts] == [False, False]


def test_no_text_of_a_pull_request_stands_in_a_script(workflow: dict[Any, Any]) -> None:
    scripts = [step["run"] for step in steps(workflow) if "run" in step]
    assert len(scripts) == 2 and not any("${{" in script for script in scripts)


def test_the_grader_comes_from_the_branch(workflow: dict[Any, Any]) -> None:
    first, second = (step["with"] for step in steps(workflow)[:2])
    assert first["ref"] == "${{ github.event.pull_request.base.sha }}" and "path" not in first
    assert second["path"] == "pr"
    assert all("working-directory" not in step for step in steps(workflow))


# ---- its script


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=S", "-c", "user.email=s@example.org", "-c", "commit.gpgsign=false"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *who, *words], cwd=folder, check=True, env=environment)


def run(workflow: dict[Any, Any], course: Course) -> tuple[int, str, str]:
    """Exit code, what was printed, and the summary."""
    [script] = [step["run"] for step in steps(workflow) if step.get("name") == "Grade"]
    summary = course.root.parent / "summary.md"
    summary.write_text("")
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=course.root,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(summary),
            "RUNNER_TEMP": str(course.root),
        },
        capture_output=True,
        text=True,
    )
    assert (course.root / "summary.md").read_text() == summary.read_text(), done.stderr
    return done.returncode, done.stdout, summary.read_text()


@pytest.fixture
def pull_request(course: Course) -> Path:
    """The folder `pr`, with the branch's first commit in it."""
    folder = course.root / "pr"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    put(course, "old", WRONG)
    commit(folder)
    return folder


def put(course: Course, student: str, answers: dict[str, str]) -> None:
    path = course.root / "pr" / "submissions" / student / MODULE / "exercise.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(answered(course, answers), path)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "work")


needs_programs = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("bash")), reason="needs git and bash on PATH"
)


@needs_sandbox
@needs_programs
def test_the_script_grades_what_the_pull_request_changes(
    workflow: dict[Any, Any], course: Course, pull_request: Path
) -> None:
    put(course, "anna", RIGHT)
    put(course, "bo $(touch hacked); -x", WRONG)
    # A grader of the pull request's own, and a link, which are not used.
    (pull_request / "grader").mkdir()
    (pull_request / "grader" / "__init__.py").write_text("raise SystemExit('a grader of its own')")
    link = pull_request / "submissions" / "mallory" / MODULE / "exercise.ipynb"
    link.parent.mkdir(parents=True)
    link.symlink_to("/etc/hostname")
    commit(pull_request)
    code, printed, summary = run(workflow, course)
    assert code == 2  # the worst of all: the link is not gradable
    assert summary.count("### ") == 3 and "8 of 8 points" in summary
    lines = printed.splitlines()
    assert lines and all(line.startswith("::error file=submissions/") for line in lines)
    assert not any("anna" in line or "old" in line for line in lines)
    assert not list(course.root.rglob("hacked"))
    assert "a grader of its own" not in printed + summary


@needs_programs
def test_a_pull_request_without_an_exercise_is_fine(
    workflow: dict[Any, Any], course: Course, pull_request: Path
) -> None:
    (pull_request / "submissions" / "readme.md").write_text("hello")
    commit(pull_request)
    assert run(workflow, course) == (0, "", "")
