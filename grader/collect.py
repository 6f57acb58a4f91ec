"""Collects submissions into grader/submitted, as they are: from a folder, from a zip or tar.gz of
one (archives.py), or from the pull requests of a git repository (pull_requests.py).

Taken are, for a folder as learners or a learning platform hand it over:

    <student>/<module>/exercise.ipynb
    <student>/exercise.ipynb            with --module
    <student>.ipynb                     with --module

Only regular files are taken, and only by their name in the folder: a link could point to the
solutions. Another module's notebook is refused, once the module is released. When a file was handed
in is told by its own time, which is kept; for a pull request that is its last commit's.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grader.archives import unpacked
from grader.course import NOTEBOOK, Course
from grader.errors import GraderError, NotGradable
from grader.pull_requests import read_pull_requests
from grader.submission import MAX_BYTES, check_exercise

FILE = f"{NOTEBOOK}.ipynb"
REFUSED = "refused.txt"  # beside, or instead of, the submission: why the last file was not taken
REFUSED_FROM = "refused_from.txt"  # the folder, archive or repository that file was in
TAKEN = ("new", "updated", "unchanged")  # what became of an entry whose file is in grader/submitted


@dataclass
class Collected:
    """What became of one entry: new, updated, unchanged, refused (with a reason) or ignored (not a
    submission).
    """

    student: str
    module: str
    status: str
    reason: str = ""


def collect(
    course: Course, source: Path, module: str | None = None, *, pull_requests: bool = False
) -> list[Collected]:
    """Copies the submissions of `source`: a folder, an archive, or with `pull_requests` a git
    repository. Returns what became of each, by student and module.
    """
    if module is not None:
        module = course.module(module)
    origin = str(source.resolve())
    if pull_requests:
        with read_pull_requests(source) as (folder, notes):
            return _collect(course, folder, None, origin, notes)
    if source.is_file():
        with unpacked(source) as folder:
            return _collect(course, _students_folder(course, folder), module, origin, {})
    if not source.is_dir():
        raise GraderError(
            f"grader collect: expected a folder of submissions, or a zip or tar.gz of one, but got "
            f"{source}, which is not there. Check the path."
        )
    return _collect(course, source, module, origin, {})


def _collect(
    course: Course,
    folder: Path,
    module: str | None,
    origin: str,
    notes: dict[tuple[str, ...], str],
) -> list[Collected]:
    """`notes`: see `read_pull_requests`."""
    _check_level(course, folder, origin)
    found = list(_entries(course, folder, module))
    names = [(student, mod) for student, mod, _, _ in found]
    _forget_refused(course, origin, names, module)
    results = []
    for student, mod, path, reason in found:
        note = notes.get((student, mod), "")
        if note.startswith("!"):
            reason = note[1:]
        if names.count((student, mod)) > 1:
            reason = f"two files for {student} and {mod}; keep one of them"
        if not mod:
            results.append(Collected(student, "", "ignored", reason))
        elif reason:
            results.append(_refuse(course, student, mod, reason, origin))
        else:
            results.append(_take(course, student, mod, path, origin))
            results[-1].reason = ", ".join(filter(None, [results[-1].reason, note]))
    return sorted(results, key=lambda c: (c.student, c.module))


def _students_folder(course: Course, folder: Path) -> Path:
    """The folder in an unpacked archive that holds the students: often the only one at the top."""
    inside = list(folder.iterdir())
    if len(inside) != 1 or not inside[0].is_dir():
        return folder
    names = {path.name for path in inside[0].iterdir()}
    one_student = names & {FILE, *course.modules()}
    return folder if one_student or not names else inside[0]


def _forget_refused(
    course: Course, origin: str, names: list[tuple[str, str]], module: str | None
) -> None:
    """What was refused from this same place, and is no longer in it, was mended there."""
    for path in course.submitted.glob(f"*/*/{REFUSED_FROM}"):
        name, student = path.parent.name, path.parent.parent.name
        mine = path.read_text(encoding="utf-8").strip() == origin and module in (None, name)
        if mine and (student, name) not in names:
            _accept(path.parent)
            for folder in (path.parent, path.parent.parent):
                if not any(folder.iterdir()):
                    folder.rmdir()


def _accept(folder: Path) -> None:
    (folder / REFUSED).unlink(missing_ok=True)
    (folder / REFUSED_FROM).unlink(missing_ok=True)


def _check_level(course: Course, folder: Path, shown: str) -> None:
    """Entries that are modules are no students."""
    inside = sorted(path.name for path in folder.iterdir() if path.name in course.modules())
    if inside:
        itself = folder.resolve() == course.sources
        what = "the course itself" if itself else f"one student's folder ({inside[0]} is in it)"
        raise GraderError(
            f"grader collect: expected a folder of students' folders, but got {shown}: this looks "
            f"like {what}. Pass the folder {'of the submissions' if itself else 'above it'}."
        )


def _entries(
    course: Course, folder: Path, module: str | None
) -> Iterator[tuple[str, str, Path, str]]:
    """(student, module, file, reason to refuse). Without a module the entry is not a submission,
    for that reason.
    """
    modules = course.modules()
    for path in sorted(folder.iterdir()):
        name = path.name
        if name.startswith("."):
            continue
        student = path.stem if path.suffix == ".ipynb" else name
        if not re.fullmatch(r"\w[\w.@+ -]{0,80}(?<! )", student):
            yield student, "", path, "a student's name has letters, digits and . @ + - _ only"
        elif path.is_symlink():
            reason = "it is a link; hand in the file itself"
            yield student, module or "", path, reason
        elif path.is_dir() and path.resolve() == course.sources:
            yield name, "", path, "this is the course itself"
        elif path.is_dir():
            yield from _student_folder(path, student, modules, module)
        elif path.suffix == ".ipynb":
            yield (
                student,
                module or "",
                path,
                "" if module else "pass --module to say whose exercise it is",
            )
        else:
            yield name, "", path, "neither a notebook nor a student's folder"


def _student_folder(
    folder: Path, student: str, modules: list[str], module: str | None
) -> Iterator[tuple[str, str, Path, str]]:
    names = sorted(path.name for path in folder.iterdir())
    inside = [m for m in ([module] if module else modules) if m in names]
    for name in inside:
        path = folder / name
        if path.is_symlink() or not path.is_dir():
            yield (
                student,
                name,
                path,
                "it is a link or a file; hand in a folder with exercise.ipynb",
            )
            continue
        yield student, name, path / FILE, "" if os.path.lexists(path / FILE) else _missing(path)
    unknown = [name for name in names if name not in modules and _has_notebook(folder / name)]
    for name in unknown:
        reason = f"{student}/{name}: expected one of {', '.join(modules)}; rename the folder"
        yield student, "", folder / name, reason
    notebooks = any(folder.glob("*.ipynb"))
    if not inside and module and notebooks:
        yield student, module, folder / FILE, "" if FILE in names else _missing(folder)
    elif not inside:
        # Nothing was handed in for it, which is no bad submission: no row with 0 points for that.
        reason = (
            "pass --module to say whose exercise it is"
            if notebooks
            else f"no folder {module or 'of a module'} in it"
        )
        if notebooks or not unknown:
            yield student, "", folder, reason


def _has_notebook(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.is_symlink()
    return not hidden and path.is_dir() and any(path.glob("*.ipynb"))


def _missing(folder: Path) -> str:
    others = sorted(path.name for path in folder.glob("*.ipynb"))
    return f"no {FILE} in it" + (f", but {', '.join(others[:3])}; rename it" if others else "")


def _take(course: Course, student: str, module: str, path: Path, origin: str) -> Collected:
    try:
        data = read_regular_file(path)
    except NotGradable as error:
        return _refuse(course, student, module, str(error), origin)
    try:
        if course.released(module).exists():
            check_exercise(nbformat.read(course.released(module), as_version=4), data)
    except NotGradable as error:
        if path.parent.name == module:
            return _refuse(course, student, module, str(error), origin)
        # --module said whose it is, and may be wrong: that gives no learner a row with 0 points.
        return Collected(student, module, "ignored", f"{error} Or is --module wrong?")
    folder = course.step("submitted", student, module)
    folder.mkdir(parents=True, exist_ok=True)
    _accept(folder)
    target = folder / FILE
    changed = path.stat().st_mtime_ns
    before = target.read_bytes() if target.exists() else None
    if before == data:
        return Collected(student, module, "unchanged")
    older = before is not None and changed < target.stat().st_mtime_ns
    temporary = folder / f".{FILE}.tmp"
    temporary.write_bytes(data)
    os.utime(temporary, ns=(changed, changed))  # to be compared with the next one's
    os.replace(temporary, target)
    if older:
        return Collected(student, module, "updated", "an older file!")
    return Collected(student, module, "new" if before is None else "updated")


def _refuse(course: Course, student: str, module: str, reason: str, origin: str) -> Collected:
    """An earlier submission stays and counts. Without one, grading reports this student with the
    reason.
    """
    folder = course.step("submitted", student, module)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REFUSED).write_text(reason + "\n", encoding="utf-8")
    (folder / REFUSED_FROM).write_text(origin + "\n", encoding="utf-8")
    if (folder / FILE).exists():
        reason += " (the earlier submission stays)"
    return Collected(student, module, "refused", reason)


def collected(course: Course, module: str | None = None) -> list[tuple[str, str]]:
    """(student, module) of everything that was collected, by module and student."""
    found = sorted(
        (path.name, path.parent.name)
        for path in course.submitted.glob("*/*")
        if (path / FILE).exists() or (path / REFUSED).exists()
    )
    return [(student, name) for name, student in found if module in (None, name)]


def digest(course: Course, student: str, module: str) -> str:
    """Tells one version of a collected submission from the next."""
    folder = course.step("submitted", student, module)
    path = folder / FILE if (folder / FILE).exists() else folder / REFUSED
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_regular_file(path: Path) -> bytes:
    """The bytes of a regular file. Links, devices, pipes and very large files raise NotGradable."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            raise NotGradable("it is a link; hand in the file itself")
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise NotGradable(f"it can't be read ({error.strerror})") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotGradable("it is not a regular file; hand in the file itself")
        if status.st_size > MAX_BYTES:
            raise NotGradable(
                f"it is larger than the {MAX_BYTES // 2**20} MiB that are allowed; clear its "
                "outputs and hand it in again"
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES)
    finally:
        os.close(descriptor)
