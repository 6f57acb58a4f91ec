"""The learner's home page: the modules of the course, their lessons and tasks, and what is done.

`modules` describes the course as plain data, which the workspace keeps; `grader/progress.py` makes
the part of the page that changes when a check has run.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from grader.progress import BEGIN, END

# folder, title, the question that the module answers
MODULES = [
    ("01_program_block", "Program and Block", "How does a framework write a computation down?"),
    ("02_dygraph", "Dygraph", "How do gradients find their way back?"),
    ("03_pir", "PIR", "What does a better notation for programs look like?"),
    ("04_passes", "Passes", "How does a program make another program faster?"),
    ("05_sot", "SOT", "How does plain Python code become a graph?"),
    ("06_distributed", "Distributed", "How do several machines train one model?"),
]

HOME_PAGE = f"""\
# How PaddlePaddle works inside

Each module has lessons, which you read and run, and an exercise, which you write. Run a cell with
**Shift+Enter**. An exercise has a check after each task that answers at once, and three hints.

{BEGIN}
{END}

Your work in this folder stays yours. When the course is updated, a notebook that you have worked in
gets the new version with your answers in it, and your old one is kept beside it. Where a task that
you have answered has changed, yours stays as it is, and the new version is put beside it.
"""


def modules(course: Path) -> list[dict[str, Any]]:
    """The modules in order: folder, title, question, lessons (title, place) and tasks."""
    return [
        {
            "folder": folder,
            "title": title,
            "question": question,
            "lessons": [
                (_heading(path), f"{folder}/{path.name}")
                for path in sorted((course / folder).glob("[0-9][0-9]_*.ipynb"))
            ],
            "tasks": _tasks(course / folder / "exercise.ipynb"),
        }
        for folder, title, question in MODULES
    ]


def _heading(path: Path) -> str:
    for cell in _cells(path):
        found = re.search(r"^# (.+)$", _text(cell), re.MULTILINE)
        if cell["cell_type"] == "markdown" and found:
            return _in_table(found[1])
    return path.stem


def _tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of an exercise.

    name: of the answer cell. title: from the heading `## Task 1 · Which shape?   (4 points)`.
    cell: the id of the heading's cell. points, hidden: of the visible check, of the hidden one.
    check: a hash of the visible check.
    """
    tasks: list[dict[str, Any]] = []
    cells = _cells(path) if path.exists() else []
    graded = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if _is_graded(cell)}
    heading, place = "", ""
    for cell in cells:
        found = re.match(r"## Task \d+ · (.+?)\s*(\(.*points?\))?$", _text(cell), re.MULTILINE)
        if found and cell["cell_type"] == "markdown":
            heading, place = _in_table(found[1]), cell["id"]
        if _is_graded(cell) and cell["metadata"]["nbgrader"]["solution"]:
            name = cell["metadata"]["nbgrader"]["grade_id"]
            visible, hidden = graded[f"{name}_check"], graded[f"{name}_hidden"]
            task = {"name": name, "title": heading or name, "cell": place or cell["id"]}
            task["points"] = visible["metadata"]["nbgrader"]["points"]
            task["hidden"] = hidden["metadata"]["nbgrader"]["points"]
            task["check"] = hashlib.sha256(_text(visible).encode()).hexdigest()[:16]
            tasks.append(task)
    return tasks


def _cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def _is_graded(cell: dict[str, Any]) -> bool:
    return "nbgrader" in cell["metadata"]


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _in_table(text: str) -> str:
    return text.strip().replace("|", "\\|")
