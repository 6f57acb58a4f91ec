"""Collecting from the branch and the pull requests of a git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import main
from grader.collect import FILE, Collected, collect
from grader.course import Course
from grader.errors import GraderError
from tests.grader.sample import MODULE

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git on PATH")


class Repository:
    """A clone of a course's repository, with the refs of its pull requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.commit("main", {"README.md": "A course"})

    def git(self, *words: str) -> str:
        who = [
            "-c",
            "user.name=Somebody",
            "-c",
            "user.email=s@example.org",
            "-c",
            "commit.gpgsign=false",
        ]
        environment = {
            **os.environ,
            "GIT_COMMITTER_DATE": "2026-03-01T12:00:00+0000",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        return subprocess.run(
            ["git", *who, *words],
            cwd=self.folder,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def commit(self, author: str, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", f"--author={author} <a@example.org>", "-m", "work")

    def pull_request(self, number: int, author: str, files: dict[str, str]) -> None:
        self.git("checkout", "-q", "-b", f"topic{number}", "main")
        self.commit(author, files)
        self.git("update-ref", f"refs/pull/{number}/head", "HEAD")
        self.git("checkout", "-q", "main")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "clone"
    folder.mkdir()
    return Repository(folder)


def handed(student: str) -> str:
    return f"submissions/{student}/{MODULE}/{FILE}"


def run(course: Course, repository: Repository) -> dict[str, Collected]:
    found = collect(course, repository.folder, pull_requests=True)
    return {c.student: c for c in found}


def text(course: Course, student: str) -> str:
    return (course.step("submitted", student, MODULE) / FILE).read_text()


def test_branch_and_pull_requests_are_taken(course: Course, repository: Repository) -> None:
    repository.commit("main", {handed("anna"): "A1", handed("dana"): "D"})
    repository.pull_request(1, "Anna", {handed("anna"): "A2", "course/x.py": "not ours"})
    repository.pull_request(2, "Bo", {handed("bo"): "B"})
    repository.git("update-ref", "refs/remotes/origin/pr/11", "topic2")  # the same, fetched again
    repository.git("update-ref", "-d", "refs/pull/2/head")
    found = run(course, repository)
    assert {name: c.status for name, c in found.items()} == dict.fromkeys(
        ["anna", "bo", "dana"], "new"
    )
    assert [text(course, name) for name in ("anna", "bo", "dana")] == ["A2", "B", "D"]
    assert found["bo"].reason == "pull request 11 by Bo"
    # The time of its last commit is the time of hand-in.
    path = course.step("submitted", "bo", MODULE) / FILE
    assert path.stat().st_mtime == 1772366400


def test_a_pull_request_does_not_bring_back_what_was_merged_before(
    course: Course, repository: Repository
) -> None:
    repository.pull_request(1, "Anna", {handed("anna"): "first"})
    repository.commit("squashed", {handed("anna"): "first"})
    repository.pull_request(2, "Anna", {handed("anna"): "second"})
    repository.git("merge", "-q", "--no-ff", "-m", "merged", "topic2")
    run(course, repository)
    assert text(course, "anna") == "second"


def test_an_old_branch_does_not_take_others_work_back(
    course: Course, repository: Repository
) -> None:
    repository.commit("main", {handed("anna"): "A1"})
    repository.pull_request(1, "Bo", {handed("bo"): "B"})  # anna's first version is in it
    repository.commit("main", {handed("anna"): "A2"})
    run(course, repository)
    assert (text(course, "anna"), text(course, "bo")) == ("A2", "B")


def test_two_pull_requests_for_one_file_are_refused(course: Course, repository: Repository) -> None:
    repository.pull_request(3, "Anna", {handed("anna"): "A"})
    repository.pull_request(7, "Mallory", {handed("anna"): "M"})
    found = run(course, repository)["anna"]
    assert found.status == "refused"
    assert "pull request 3 by Anna and pull request 7 by Mallory both change it" in found.reason


def test_a_pull_request_with_files_of_two_students_is_refused(
    course: Course, repository: Repository
) -> None:
    repository.pull_request(7, "Mallory", {handed("anna"): "M", handed("mallory"): "M"})
    found = run(course, repository)
    assert {c.status for c in found.values()} == {"refused"}
    assert "changes files of 2 students: anna, mallory" in found["anna"].reason


def test_links_and_submodules_are_refused_and_nothing_is_followed(
    course: Course, repository: Repository
) -> None:
    path = repository.folder / handed("anna")
    path.parent.mkdir(parents=True)
    path.symlink_to("/etc/hostname")
    (repository.folder / "submissions" / "bo").symlink_to("/etc")
    repository.commit("main", {})
    commit = repository.git("rev-parse", "HEAD").strip()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{handed('chen')}")
    repository.git("commit", "-q", "-m", "submodule")
    repository.pull_request(1, "D", {handed("dana"): "D"})
    found = run(course, repository)
    assert found["anna"].status == "refused" and found["dana"].status == "new"
    assert [p.parents[1].name for p in course.submitted.rglob(FILE)] == ["dana"]


def test_nothing_of_the_repository_runs(course: Course, repository: Repository) -> None:
    marker = repository.folder.parent / "ran"
    script = f"#!/bin/sh\ntouch '{marker}'\n"
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        path = repository.folder / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
    repository.commit("main", {".gitattributes": "*.ipynb filter=evil diff=evil\n"})
    repository.pull_request(1, "Anna", {handed("anna"): "A"})
    for name in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.command", "core.fsmonitor"):
        repository.git("config", name, f"touch '{marker}'")
    repository.git("config", "diff.evil.textconv", f"touch '{marker}'; cat")
    for path in (repository.folder / ".git" / "hooks").iterdir():
        path.chmod(0o755)
    marker.unlink(missing_ok=True)
    assert run(course, repository)["anna"].status == "new"
    assert not marker.exists()


@pytest.mark.parametrize("name", ["../evil", "a*b", "-rf", "a:b", "nul\\x"])
def test_a_bad_name_goes_nowhere(course: Course, repository: Repository, name: str) -> None:
    """Git's own commands refuse `..`; a tree can be made by hand."""
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=repository.folder,
        input="E",
        text=True,
        capture_output=True,
        check=True,
    ).stdout.strip()

    def tree(entry: str) -> str:
        return subprocess.run(
            ["git", "mktree", "-z"],
            cwd=repository.folder,
            input=entry + "\0",
            text=True,
            capture_output=True,
            check=True,
        ).stdout.strip()

    inner = tree(f"100644 blob {blob}\t{FILE}")
    for part in reversed(["submissions", *name.split("/"), MODULE]):
        inner = tree(f"040000 tree {inner}\t{part}")
    commit = repository.git("commit-tree", inner, "-p", "HEAD", "-m", "evil").strip()
    repository.git("update-ref", "refs/pull/1/head", commit)
    repository.pull_request(2, "Bo", {handed("bo"): "B"})
    found = run(course, repository)
    assert found["bo"].status == "new"
    assert {c.status for c in found.values() if c.student != "bo"} <= {"ignored"}
    assert [p.parents[1].name for p in course.submitted.rglob(FILE)] == ["bo"]


def test_wrong_use_is_said(course: Course, repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="Bring the pull requests with: git fetch"):
        collect(course, repository.folder, pull_requests=True)
    (tmp_path / "plain").mkdir()
    with pytest.raises(GraderError, match="expected a git repository"):
        collect(course, tmp_path / "plain", pull_requests=True)
    words = ["--root", str(course.root), "collect", "--pull-requests", "--module", "01", "."]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2 and "the paths say it" in result.output
