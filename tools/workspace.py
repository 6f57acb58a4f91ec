"""The learner's workspace: lessons as built, exercises as released, and a home page.

A learner's work is never overwritten. `.course.json` remembers what was delivered, and `.course/`
keeps the notebooks as they were delivered; a file that differs from that is the learner's. If the
course has a newer version of such a notebook, the work is put into it (`merge.py`) and the old file
kept beside it; where that is not safe, the newer version is put beside the learner's. A notebook
counts as changed when its inputs differ: running a lesson is no change.

When nothing has changed on either side, `lay_out` only compares hashes (some 10 ms).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from grader.progress import HOME, MANIFEST, progress_page, refresh, with_progress
from tools.home import HOME_PAGE, MODULES, modules
from tools.merge import Conflict, merge
from tools.notebooks import ROOT, write_bytes

DELIVERED = ".course"


def lay_out(course: Path, target: Path) -> list[str]:
    """Brings the workspace up to date. Returns messages for the learner: what is new, what was
    kept.
    """
    key = _key(course)
    manifest = _read_manifest(target)
    before: dict[str, dict[str, str]] = manifest.get("files", {})
    if manifest.get("key") == key and all((target / name).exists() for name in before):
        refresh(target)
        return []

    messages: list[str] = []
    now: dict[str, dict[str, str]] = {}
    for name, data in _files(course, target):
        now[name] = {"inputs": inputs(name, data), "bytes": _hash(data)}
        message = _deliver(target, name, data, before.get(name, {}), now[name])
        messages += [message] if message else []
    for name in sorted(set(before) - set(now)):
        old = target / name
        if old.exists() and inputs(name, old.read_bytes()) == before[name]["inputs"]:
            old.unlink()  # it left the course, and the learner has not touched it
            (target / DELIVERED / name).unlink(missing_ok=True)
    content = {"key": key, "files": now, "modules": modules(course)}
    write_bytes(json.dumps(content, indent=1).encode(), target / MANIFEST)
    refresh(target)
    return messages if before else [*messages, f"The workspace is in {target}. Start with {HOME}."]


def _deliver(
    target: Path, name: str, data: bytes, before: dict[str, str], now: dict[str, str]
) -> str:
    """Brings one file up to date. Returns what the learner should know."""
    path = target / name
    if not path.exists():
        _write(target, name, data)
        return ""
    work = path.read_bytes()
    theirs = inputs(name, work)
    if theirs in (now["inputs"], before.get("inputs")):  # not worked in
        if now["bytes"] != before.get("bytes"):
            _write(target, name, data)
        silent = theirs == now["inputs"] or name == HOME
        return "" if silent else f"{name}: updated. You had not changed it."
    if before.get("inputs") == now["inputs"]:
        return ""  # the learner's work, and the course asks what it asked before
    delivered = target / DELIVERED / name
    if delivered.exists():
        try:
            merged = merge(delivered.read_bytes(), work, data)
        except Conflict:
            pass
        else:
            if inputs(name, merged) == theirs:
                return ""
            backup = _free_name(path, "before-update", theirs)
            write_bytes(work, backup)
            write_bytes(merged, path)
            write_bytes(data, delivered)
            return (
                f"{name}: updated, with your work in it. Run its cells again. Your notebook as it "
                f"was is beside it: {backup.name}"
            )
    beside = _free_name(path, "new-version", now["inputs"])
    write_bytes(data, beside)
    return (
        f"{name}: you have worked in it, and the course has a newer version. Yours is kept as it "
        f"is; the newer one is beside it: {beside.name}"
    )


def _write(target: Path, name: str, data: bytes) -> None:
    """Writes a file of the course, and for a notebook what it was, so that work in it shows."""
    if name.endswith(".ipynb"):
        write_bytes(data, target / DELIVERED / name)
    write_bytes(data, target / name)


def _free_name(path: Path, what: str, now: str) -> Path:
    """A name beside `path` that is free, or whose file has the inputs `now` already."""
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        beside = path.with_name(f"{path.stem}-{what}{suffix}{path.suffix}")
        if not beside.exists() or inputs(beside.name, beside.read_bytes()) == now:
            return beside
        number += 1


def inputs(name: str, data: bytes) -> str:
    """A hash of what a learner changes: of a notebook the inputs, of the home page what is outside
    the course's marks, of other files the bytes.
    """
    if name == HOME:
        data = with_progress(data.decode("utf-8", "replace"), "").encode()
    if name.endswith(".ipynb"):
        try:
            cells = json.loads(data)["cells"]
            data = json.dumps([[c["cell_type"], "".join(c["source"])] for c in cells]).encode()
        except (ValueError, KeyError, TypeError):
            pass  # not a notebook any more: then every byte counts
    return _hash(data)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# The code that makes the workspace: where it changes, the workspace is made again.
_MAKERS = ["tools/workspace.py", "tools/home.py", "tools/merge.py"]
_MAKERS += ["grader/release.py", "grader/progress.py"]


def _read_manifest(target: Path) -> dict:
    try:
        return json.loads((target / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _key(course: Path) -> str:
    """A hash of all that the workspace is made of: the course, and the code that releases it."""
    makers = [ROOT / name for name in _MAKERS]
    total = hashlib.sha256()
    for path in makers + [course / name for name in _names(course)]:
        data = path.read_bytes()
        total.update(f"{path.name} {len(data)}\n".encode())
        total.update(data)
    return total.hexdigest()


def _names(course: Path) -> list[str]:
    """What a learner gets of the module folders. The sources hold the solutions: not those."""
    return sorted(
        path.relative_to(course).as_posix()
        for folder, _, _ in MODULES
        for path in (course / folder).rglob("*")
        if path.is_file()
        and path.suffix not in (".py", ".pyc")
        and not any(part.startswith((".", "__")) for part in path.relative_to(course).parts)
    )


def _files(course: Path, target: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of all files of the workspace."""
    for name in _names(course):
        path = course / name
        if path.name == "exercise.ipynb":
            yield name, _released(path)
        elif path.suffix == ".ipynb":
            yield name, _without_outputs(path)
        else:
            yield name, path.read_bytes()
    page = with_progress(HOME_PAGE, progress_page(modules(course), target))
    yield HOME, page.encode("utf-8")


def _released(path: Path) -> bytes:
    import nbformat

    from grader.release import released

    nb = released(nbformat.read(path, as_version=4))
    return (nbformat.writes(nb) + "\n").encode("utf-8")


def _without_outputs(path: Path) -> bytes:
    """A lesson as it is read first: its questions come before its answers."""
    import nbformat

    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return (nbformat.writes(nb) + "\n").encode("utf-8")
