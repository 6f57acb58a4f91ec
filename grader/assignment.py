"""What is graded: the cells of an exercise as they were released, and the checks with their hidden
tests.

An Assignment is plain data (JSON), written at release. Grading uses it and nothing else, so a
course that is changed later doesn't change what was asked of the learners.

The code cells of an exercise are of three kinds:

    set-up    locked, no points: runs in the student's process and in the examiner
    answer    what the student writes: runs in the student's process only
    check     has points: runs in the examiner only, with its hidden tests
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import nbformat
from nbformat import NotebookNode

Kind = Literal["set-up", "answer", "check"]


@dataclass(frozen=True)
class Cell:
    """A code cell of the exercise. `names`: what an answer cell defines. `points`: of a check."""

    name: str
    kind: Kind
    source: str
    points: float = 0.0
    names: tuple[str, ...] = ()

    @property
    def hidden(self) -> bool:
        return self.name.endswith("_hidden")

    @property
    def task(self) -> str:
        """The answer that a check is for: "task1" of "task1_check"."""
        return self.name.removesuffix("_check").removesuffix("_hidden")


@dataclass(frozen=True)
class Assignment:
    """`released`: the learner's notebook, as JSON text. `files`: what is handed out beside it, in
    base64.
    """

    module: str
    released: str
    cells: tuple[Cell, ...]
    files: dict[str, str] = field(default_factory=dict)

    @property
    def checks(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.kind == "check"]

    @property
    def max_score(self) -> float:
        return sum(cell.points for cell in self.checks)

    def cell(self, name: str) -> Cell:
        return next(cell for cell in self.cells if cell.name == name)

    def notebook(self) -> NotebookNode:
        return nbformat.reads(self.released, as_version=4)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Assignment:
        content = json.loads(text)
        cells = [Cell(**{**c, "names": tuple(c["names"])}) for c in content.pop("cells")]
        return cls(cells=tuple(cells), **content)

    def digest(self) -> str:
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def make_assignment(
    module: str, source: NotebookNode, released: NotebookNode, files: dict[str, Path]
) -> Assignment:
    """`source`: the instructor's notebook, with solutions and hidden tests."""
    cells = []
    for cell in source.cells:
        meta = cell.metadata.get("nbgrader")
        if meta is None or cell.cell_type != "code":
            continue
        if meta.get("solution"):
            names = tuple(defined_names(cell.source))
            cells.append(Cell(meta["grade_id"], "answer", "", names=names))
        elif meta.get("grade"):
            cells.append(Cell(meta["grade_id"], "check", cell.source, float(meta["points"])))
        else:
            cells.append(Cell(meta["grade_id"], "set-up", cell.source))
    text = nbformat.writes(released)
    data = {name: base64.b64encode(path.read_bytes()).decode() for name, path in files.items()}
    return Assignment(module, text if isinstance(text, str) else "", tuple(cells), data)


def defined_names(source: str) -> list[str]:
    """The names that a cell defines at its top level."""
    found: dict[str, None] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = None
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names = (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
                found.update(dict.fromkeys(names))
    return list(found)
