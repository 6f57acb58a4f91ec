"""Reads what a student handed in, and puts the answers into the released notebook.

A submission is a file from a stranger. So the cells are matched to the assignment, not to what the
file claims: its metadata (points, locks, ids of our cells, kernel) is never used. From the file
come only the text of the answer cells, and cells that the student added, at the place where they
were added.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from nbformat import NotebookNode

from grader.assignment import defined_names
from grader.errors import NotGradable

MAX_BYTES = 20 * 2**20
MAX_CELLS = 1000


def answers_in(released: NotebookNode, data: bytes) -> NotebookNode:
    """The released notebook with the answers of the submission `data`. Raises NotGradable, saying
    what is wrong.
    """
    result = copy.deepcopy(released)
    ours = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in result.cells
        if "nbgrader" in cell.metadata
    }
    theirs = [(_grade_id(cell), _cell(cell)) for cell in _cells(data)]
    if not any(name in ours for name, _ in theirs):
        theirs = [(_recognised(cell, ours), cell) for _, cell in theirs]
    last = {name: number for number, (name, _) in enumerate(theirs) if name in ours}
    if not last:
        raise NotGradable(
            f"expected the cells of this exercise ({', '.join(list(ours)[:3])}, ...), but got a "
            "notebook with none of them. "
            "Was another notebook handed in?"
        )
    _check_exercise(released, [cell for _, cell in theirs])

    # What the student added follows the cell of ours after which it stands.
    added: dict[str | None, list[NotebookNode]] = {None: []}
    anchor = None
    for number, (name, cell) in enumerate(theirs):
        if name not in ours:
            added[anchor].append(cell)
        elif last[name] != number:
            # A cell that was split or copied carries the id twice: the last one is the answer.
            if _is_answer(ours[name]):
                added[anchor].append(cell)
        else:
            anchor = name
            added.setdefault(anchor, [])
            if _is_answer(ours[name]):
                ours[name].source = cell.source

    cells = list(added[None])
    for name, cell in ours.items():
        if _is_answer(cell) and name not in last:
            cell.source = ""  # deleted, maybe for a new cell with the answer
        cells += [cell, *added.get(name, [])]
    result.cells = cells
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return result


def check_exercise(released: NotebookNode, data: bytes) -> None:
    """Raises NotGradable where `data` is a notebook of another exercise. A file that can't be read
    passes: what is wrong with it is said when it is graded.
    """
    try:
        cells = [_cell(cell) for cell in _cells(data)]
    except NotGradable:
        return
    _check_exercise(released, cells)


def _check_exercise(released: NotebookNode, theirs: list[NotebookNode]) -> None:
    """All exercises name their cells alike (task1, ...). So one is told by its texts: another has
    another title, and none of our locked cells.
    """
    locked = {
        cell.source.strip()
        for cell in released.cells
        if "nbgrader" in cell.metadata and not _is_answer(cell)
    }
    mine, other = _title(released.cells), _title(theirs)
    if mine is None or other in (None, mine):
        return
    if not any(cell.source.strip() in locked for cell in theirs):
        raise NotGradable(
            f"expected the exercise {mine!r}, but got {other!r}. Was another notebook handed in?"
        )


def _title(cells: list[NotebookNode]) -> str | None:
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            return cell.source.splitlines()[0].removeprefix("# ").strip()
    return None


def _recognised(cell: NotebookNode, ours: dict[str, NotebookNode]) -> str | None:
    """Whose copy a cell is, where a program has dropped the names of all cells. An answer is known
    by what it defines, another cell by its text.
    """
    if cell.cell_type != "code":
        return None
    defined = _defined(cell.source)
    for name, mine in ours.items():
        if _is_answer(mine):
            if defined & _defined(mine.source):
                return name
        elif mine.source.strip() and mine.source.strip() == cell.source.strip():
            return name
    return None


def _defined(source: str) -> set[str]:
    try:
        return set(defined_names(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()


def _is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader.solution)


def _cells(data: bytes) -> list[dict[str, Any]]:
    if not data.strip():
        raise NotGradable("expected a notebook, but got an empty file. Hand it in again.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotGradable(
            f"expected a notebook in UTF-8, but byte {error.start} is not. Save it in JupyterLab "
            "and hand it in again."
        ) from None
    except json.JSONDecodeError as error:
        raise NotGradable(
            f"expected a notebook, but the file is broken in line {error.lineno}, column "
            f"{error.colno} ({error.msg}). Save it in JupyterLab and hand it in again."
        ) from None
    except (RecursionError, ValueError):
        raise NotGradable(
            "expected a notebook, but the file can't be read as JSON. Save it in JupyterLab and "
            "hand it in again."
        ) from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise NotGradable(
            "expected a notebook (format 4, with a list of cells), but got another kind of JSON. "
            "Save it in JupyterLab and hand it in again."
        )
    if len(cells) > MAX_CELLS:
        raise NotGradable(
            f"expected a notebook of at most {MAX_CELLS} cells, but got {len(cells)}. Delete those "
            "that you added and hand it in again."
        )
    return [cell for cell in cells if isinstance(cell, dict)]


def _grade_id(cell: dict[str, Any]) -> str | None:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else None


def _cell(cell: dict[str, Any]) -> NotebookNode:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        source = ""
    # JSON may hold half a surrogate pair, which no file can.
    source = source.encode("utf-8", "replace").decode("utf-8")
    kind = cell.get("cell_type")
    if kind not in ("markdown", "code"):
        kind = "raw"
    # what v4.new_code_cell makes, without the check against nbformat's schema: half the time
    node = NotebookNode(cell_type=kind, metadata=NotebookNode(), source=source)
    if kind == "code":
        node.update(execution_count=None, outputs=[])
    return node
