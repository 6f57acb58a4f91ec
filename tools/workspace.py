"""The learner's workspace: lessons as built, exercises as released, and a home page.

A learner's work is never overwritten. `.course.json` remembers what was delivered; a file that
differs from that is the learner's. If the course has a newer version of such a file, it is put
beside it. A notebook counts as changed when its inputs differ: running a lesson is no change.

When nothing has changed on either side, `lay_out` only compares hashes (some 10 ms).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from tools.notebooks import ROOT, write_bytes

MANIFEST = ".course.json"
HOME = "Home.md"

# folder, title, the question that the module answers
MODULES = [
    ("01_program_block", "Program and Block", "How does a framework write a computation down?"),
    ("02_dygraph", "Dygraph", "How do gradients find their way back?"),
    ("03_pir", "PIR", "What does a better notation for programs look like?"),
    ("04_passes", "Passes", "How does a program make another program faster?"),
    ("05_sot", "SOT", "How does plain Python code become a graph?"),
    ("06_distributed", "Distributed", "How do several machines train one model?"),
]


def lay_out(course: Path, target: Path) -> list[str]:
    """Brings the workspace up to date. Returns messages for the learner: what is new, what was
    kept.
    """
    key = _key(course)
    manifest = _read_manifest(target)
    before: dict[str, dict[str, str]] = manifest.get("files", {})
    if manifest.get("key") == key and all((target / name).exists() for name in before):
        return []

    messages: list[str] = []
    now: dict[str, dict[str, str]] = {}
    for name, data in _files(course):
        now[name] = {"inputs": inputs(name, data), "bytes": _hash(data)}
        message = _deliver(target, name, data, before.get(name, {}), now[name])
        messages += [message] if message else []
    for name in sorted(set(before) - set(now)):
        old = target / name
        if old.exists() and inputs(name, old.read_bytes()) == before[name]["inputs"]:
            old.unlink()  # it left the course, and the learner has not touched it
    write_bytes(json.dumps({"key": key, "files": now}, indent=1).encode(), target / MANIFEST)
    return messages if before else [*messages, f"The workspace is in {target}. Start with {HOME}."]


def _deliver(
    target: Path, name: str, data: bytes, before: dict[str, str], now: dict[str, str]
) -> str:
    """Writes one file, or puts it beside the learner's. Returns what the learner should know."""
    path = target / name
    if not path.exists():
        write_bytes(data, path)
        return ""
    theirs = inputs(name, path.read_bytes())
    if theirs in (
        now["inputs"],
        before.get("inputs"),
    ):  # not worked in
        if now["bytes"] != before.get("bytes"):
            write_bytes(data, path)
        silent = theirs == now["inputs"] or name == HOME
        return "" if silent else f"{name}: updated. You had not changed it."
    if before.get("inputs") == now["inputs"]:
        return ""  # the learner's work, and the course asks what it asked before
    beside = _free_name(path, now["inputs"])
    write_bytes(data, beside)
    return (
        f"{name}: you have worked in it, and the course has a newer version. Yours is kept as it "
        "is; "
        f"the newer one is beside it: {beside.name}"
    )


def _free_name(path: Path, now: str) -> Path:
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        beside = path.with_name(f"{path.stem}-new-version{suffix}{path.suffix}")
        if not beside.exists() or inputs(beside.name, beside.read_bytes()) == now:
            return beside
        number += 1


def inputs(name: str, data: bytes) -> str:
    """A hash of what a learner changes: of a notebook the inputs, of other files the bytes."""
    if name.endswith(".ipynb"):
        try:
            cells = json.loads(data)["cells"]
            data = json.dumps([[c["cell_type"], "".join(c["source"])] for c in cells]).encode()
        except (ValueError, KeyError, TypeError):
            pass  # not a notebook any more: then every byte counts
    return _hash(data)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_manifest(target: Path) -> dict:
    try:
        return json.loads((target / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _key(course: Path) -> str:
    """A hash of all that the workspace is made of: the course, and the code that releases it."""
    makers = [Path(__file__), ROOT / "grader" / "release.py"]
    total = hashlib.sha256()
    for path in makers + [course / name for name in _names(course)]:
        data = path.read_bytes()
        total.update(f"{path.name} {len(data)}\n".encode())
        total.update(data)
    return total.hexdigest()


def _names(course: Path) -> list[str]:
    """What a learner gets of the module folders. The sources hold the solutions: not those."""
    return sorted(
        str(path.relative_to(course))
        for folder, _, _ in MODULES
        for path in (course / folder).rglob("*")
        if path.is_file()
        and path.suffix not in (".py", ".pyc")
        and not any(part.startswith((".", "__")) for part in path.relative_to(course).parts)
    )


def _files(course: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of all files of the workspace."""
    for name in _names(course):
        path = course / name
        if path.name == "exercise.ipynb":
            yield name, _released(path)
        elif path.suffix == ".ipynb":
            yield name, _without_outputs(path)
        else:
            yield name, path.read_bytes()
    yield HOME, home_page(course).encode("utf-8")


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


def home_page(course: Path) -> str:
    """A table of the modules: their lessons, their exercise, and what it asks."""
    rows = []
    for number, (folder, title, question) in enumerate(MODULES, 1):
        lessons = [
            f"[{_heading(path)}]({folder}/{path.name})"
            for path in sorted((course / folder).glob("[0-9][0-9]_*.ipynb"))
        ]
        exercise = course / folder / "exercise.ipynb"
        tasks = (
            f"[Exercise]({folder}/exercise.ipynb)<br>{_tasks(exercise)}"
            if exercise.exists()
            else ""
        )
        rows.append(
            f"| {number} | **{title}**<br>{question} | {'<br>'.join(lessons) or 'not here yet'} "
            f"| {tasks or 'not here yet'} |"
        )
    return _HOME.format(rows="\n".join(rows))


def _heading(path: Path) -> str:
    for line in _markdown(path):
        if line.startswith("# "):
            return line[2:].strip().replace("|", "\\|")
    return path.stem


def _tasks(path: Path) -> str:
    """The headings `## Task 1 · Which shape comes out?   (4 points)`, as a list of questions."""
    headings = (
        re.match(r"## Task \d+ · (.+?)\s*(\(.*points?\))?$", line) for line in _markdown(path)
    )
    return "<br>".join(
        f"{number}. {found[1]}".replace("|", "\\|")
        for number, found in enumerate((h for h in headings if h), 1)
    )


def _markdown(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return text.splitlines()


_HOME = """\
# How PaddlePaddle works inside

Each module has lessons, which you read and run, and an exercise, which you write. Run a cell with
**Shift+Enter**. An exercise has a check after each task that answers at once, and three hints.

| | Module | Lessons | Exercise |
|---|---|---|---|
{rows}

Your work in this folder stays yours: when the course is updated, a notebook that you have changed
is kept, and the new version is put beside it.
"""
