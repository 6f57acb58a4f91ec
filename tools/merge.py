"""A newer version of a notebook with the learner's work in it.

Three notebooks: `base`, which the learner was given; `theirs`, what it has become; `new`, the newer
version. From `theirs` come the cells that the learner added and the text of those that the learner
changed; all else comes from `new`. Where the course has changed the same cell, or the task of an
answer, nobody can say what is right: then there is no merge.
"""

from __future__ import annotations

import copy
import re
import warnings

import nbformat
from nbformat import NotebookNode

_HINTS = re.compile(r"<details>.*?</details>", re.DOTALL)


class Conflict(Exception):
    """The learner and the course have changed the same thing, or a notebook can't be read."""


def merge(base: bytes, theirs: bytes, new: bytes) -> bytes:
    """Returns the merged notebook, without outputs in the course's cells. Raises Conflict."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cells without an id: other editors drop them
            given, worked, result = (
                nbformat.reads(data.decode("utf-8-sig"), as_version=4)
                for data in (base, theirs, new)
            )
            _put_in(given, worked, result)
            nbformat.validate(result)
            return (nbformat.writes(result).rstrip("\n") + "\n").encode("utf-8")
    except Conflict:
        raise
    except Exception as error:  # whatever is wrong with what once was a notebook
        raise Conflict(f"{type(error).__name__}: {error}") from error


def _put_in(base: NotebookNode, theirs: NotebookNode, new: NotebookNode) -> None:
    given = {_name(cell): cell for cell in base.cells}
    target = {_name(cell): cell for cell in new.cells}
    order, tasks_given, tasks_now = list(target), _tasks(base), _tasks(new)
    added: dict[str | None, list[NotebookNode]] = {None: []}
    after = None  # the cell of `new` behind which an added cell stands
    owned = _ours(theirs, {**target, **given})
    if not any(owned):
        raise Conflict("another notebook")
    for cell, name in zip(theirs.cells, owned, strict=True):
        if name is None:
            added.setdefault(after, []).append(_as_added(cell))
            continue
        mine, now = given.get(name), target.get(name)
        if cell.source not in [c.source for c in (mine, now) if c is not None]:
            if now is None or cell.cell_type != now.cell_type:
                raise Conflict(name)
            if mine is not None and (
                mine.source != now.source or tasks_given.get(name) != tasks_now.get(name)
            ):
                raise Conflict(name)
            now.source = cell.source
            if "attachments" in cell:
                now.attachments = cell.attachments
        if now is not None:
            after = name
        else:  # the course wrote it anew, or took it out
            place = order.index(after) + 1 if after else 0
            after = next((n for n in order[place : place + 1] if n not in given), after)

    cells = list(added[None])
    for name, cell in target.items():
        cells += [cell, *added.get(name, [])]
    used = {cell.id for cell in new.cells}
    for number, cell in enumerate(cell for some in added.values() for cell in some):
        if cell.get("id") in (None, *used):
            cell.id = f"added-{number}"
        used.add(cell.id)
    new.cells = cells


def _ours(notebook: NotebookNode, course: dict[str, NotebookNode]) -> list[str | None]:
    """For each cell the name of the course's cell that it is, or None: then the learner added it.

    Editors may drop ids: where no cell has a name, the text decides. A cell that was split or
    copied carries its name twice: the last one counts.
    """
    named = {_name(cell) for cell in notebook.cells}
    by_text = {(c.cell_type, c.source): name for name, c in course.items() if name not in named}
    names = [
        _name(cell) if _name(cell) in course else by_text.get((cell.cell_type, cell.source))
        for cell in notebook.cells
    ]
    last = {name: number for number, name in enumerate(names)}
    return [name if last[name] == number else None for number, name in enumerate(names)]


def _name(cell: NotebookNode) -> str:
    """An nbgrader cell keeps its grade_id, also where its text changes; others have their id."""
    return cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "")


def _tasks(notebook: NotebookNode) -> dict[str, str]:
    """answer cell -> the text that asks for it, without hints."""
    tasks, text = {}, ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = cell.source if cell.source.startswith("## ") else f"{text}\n{cell.source}"
        elif cell.metadata.get("nbgrader", {}).get("solution"):
            tasks[_name(cell)], text = " ".join(_HINTS.sub("", text).split()), ""
    return tasks


def _as_added(cell: NotebookNode) -> NotebookNode:
    cell = copy.deepcopy(cell)
    if cell.metadata.pop("nbgrader", None):  # a copy of one of our cells
        for lock in ("editable", "deletable"):
            cell.metadata.pop(lock, None)
    return cell
