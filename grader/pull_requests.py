"""Reads submissions out of a git repository: its branch, and its pull requests.

Every contributor adds `submissions/<student>/<module>/exercise.ipynb` in a pull request. Taken is
what the checked-out branch holds there, and over that what each pull request changes. Pull requests
are refs that end in pull/<n>/head, pull/<n>, pr/<n> or merge-requests/<n>/head; they are brought by

    git fetch origin '+refs/pull/*/head:refs/pull/*/head'

Files are read from git's objects: nothing is checked out, and no hook or filter of the repository
runs.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.errors import GraderError
from grader.submission import MAX_BYTES

SUBMISSIONS = "submissions"
_PULL = re.compile(r"(?:^|/)(?:pull|pr|merge-requests)/(\d+)(?:/head)?$")
_ENTRY = re.compile(r"(\d{6}) blob ([0-9a-f]+)\t(.*)", re.DOTALL)
_CHANGE = re.compile(r":\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) [AMT]")


@dataclass(frozen=True)
class File:
    """A file under submissions/: `path` without that folder, `mode` and `blob` as git has them."""

    path: str
    mode: str
    blob: str
    commit: str
    origin: str

    @property
    def owner(self) -> tuple[str, ...]:
        """(student, module), or fewer names where the file lies higher up."""
        return tuple(self.path.split("/")[:-1][:2])


@contextmanager
def read_pull_requests(repository: Path) -> Iterator[tuple[Path, dict[tuple[str, ...], str]]]:
    """A temporary folder of students' folders, and notes: (student, module) -> where the file is
    from. A note that starts with "!" is a reason to refuse it.
    """
    git = _Git(repository)
    head = git("rev-parse", "--verify", "--end-of-options", "HEAD^{commit}").strip()
    files = {file.path: file for file in _of_branch(git, head)}
    merged = _merged(git, head)
    notes: dict[tuple[str, ...], str] = {}
    changed: dict[tuple[str, ...], str] = {}
    for number, commit in _pull_requests(git):
        theirs = [
            file
            for file in _of_pull_request(git, head, number, commit)
            if (file.path, file.blob) not in merged
        ]
        students = sorted({file.owner[0] for file in theirs if file.owner})
        for file in theirs:
            before = changed.get(file.owner)
            if len(students) > 1:
                notes[file.owner] = (
                    f"!{file.origin} changes files of {len(students)} students: "
                    f"{', '.join(students[:3])}"
                )
            elif before and before != file.origin and files[file.path].blob != file.blob:
                notes[file.owner] = f"!{before} and {file.origin} both change it; keep one of them"
            else:
                notes.setdefault(file.owner, file.origin)
            changed[file.owner] = file.origin
            files[file.path] = file
    if not files:
        raise GraderError(
            f"grader collect: expected {SUBMISSIONS}/<student>/<module>/exercise.ipynb in the "
            f"branch or the pull requests of {repository}, but got none. Bring the pull requests "
            "with: git fetch origin '+refs/pull/*/head:refs/pull/*/head'"
        )
    with TemporaryDirectory(prefix="grader-") as temporary:
        for file in files.values():
            _write(git, file, Path(temporary))
        yield Path(temporary), notes


def _of_branch(git: _Git, commit: str) -> Iterator[File]:
    listed = git("ls-tree", "-r", "-z", "--full-tree", commit, f"{SUBMISSIONS}/")
    for line in listed.split("\0"):
        if (found := _ENTRY.fullmatch(line)) and (path := _inside(found[3])):
            yield File(path, found[1], found[2], commit, "the branch")


def _merged(git: _Git, commit: str) -> set[tuple[str, str]]:
    """(path, blob) of all that the branch ever held: a squashed pull request is known by that."""
    log = ["log", "--no-show-signature", "-m", "--first-parent", "--format="]
    return {(path, blob) for path, _, blob in _changes(git, *log, commit)}


def _pull_requests(git: _Git) -> list[tuple[int, str]]:
    """(number, commit), by number."""
    listed = git("for-each-ref", "--format=%(objectname) %(objecttype) %(refname)")
    found = {}
    for line in listed.splitlines():
        commit, kind, name = line.split(" ", 2)
        if kind == "commit" and (match := _PULL.search(name)):
            found[int(match[1])] = commit
    return sorted(found.items())


def _of_pull_request(git: _Git, head: str, number: int, commit: str) -> list[File]:
    """What a pull request adds or changes under submissions/, since it left the branch."""
    base = git("merge-base", head, commit, fails="").strip()
    if not base:
        return []  # it shares no history with the branch: nothing that could be merged
    author = git("log", "-1", "--no-show-signature", "--format=%an", commit).strip()[:40]
    origin = f"pull request {number} by {author}"
    return [
        File(path, mode, blob, commit, origin)
        for path, mode, blob in _changes(git, "diff-tree", "-r", base, commit)
    ]


def _changes(git: _Git, *words: str) -> Iterator[tuple[str, str, str]]:
    """(path, mode, blob) of all notebooks that were added or changed under submissions/."""
    flags = ["--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"]
    parts = iter(git(*words, *flags, "--diff-filter=AMT", "--", f"{SUBMISSIONS}/").split("\0"))
    for part in parts:
        if found := _CHANGE.fullmatch(part.strip()):
            path = _inside(next(parts))
            if path:
                yield path, found[1], found[2]


def _inside(name: str) -> str:
    """The path in submissions/ of a notebook; empty for another file, and for a path that leads
    elsewhere.
    """
    parts = name.split("/")[1:]
    bad = any(part in ("", ".", "..") or re.search(r'[\\:"<>|?*\0]', part) for part in parts)
    return "" if bad or not name.endswith(".ipynb") else "/".join(parts)


def _write(git: _Git, file: File, folder: Path) -> None:
    target = folder.joinpath(*file.path.split("/"))
    if not file.mode.startswith("100"):  # a link or a submodule
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if int(git("cat-file", "-s", file.blob)) > MAX_BYTES:
        with target.open("wb") as empty:
            empty.truncate(MAX_BYTES + 1)  # collect refuses it for its size
    else:
        target.write_bytes(git.bytes("cat-file", "blob", file.blob))
    seconds = int(git("log", "-1", "--no-show-signature", "--format=%ct", file.commit))
    os.utime(target, (seconds, seconds))


class _Git:
    """Git for reading: what could run a program of the repository, or reach the network, is off."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository

    def __call__(self, *words: str, fails: str | None = None) -> str:
        return self.bytes(*words, fails=fails).decode("utf-8", "replace")

    def bytes(self, *words: str, fails: str | None = None) -> bytes:
        off = ["core.fsmonitor=false", f"core.hooksPath={os.devnull}", "protocol.allow=never"]
        command = ["git", "-C", str(self.repository), "--no-pager", "--literal-pathspecs"]
        command += [part for setting in off for part in ("-c", setting)]
        environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("GIT_")},
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        try:
            done = subprocess.run(
                [*command, *words], capture_output=True, env=environment, timeout=300
            )
        except FileNotFoundError:
            raise GraderError(
                "grader collect: expected git on PATH, but got none. Install git."
            ) from None
        if done.returncode == 0:
            return done.stdout
        if fails is not None:
            return fails.encode()
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GraderError(
            f"grader collect: expected a git repository with a commit in {self.repository}, but "
            f"git says: {reason[-1] if reason else 'nothing'}. Clone the course's repository."
        )
