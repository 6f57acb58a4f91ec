"""Whatever a learner and the course do to a notebook: no word of the learner's is lost."""

from __future__ import annotations

import copy

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.merge import Conflict, merge

WORDS = st.sampled_from(["one", "two", "three", "four"])
# What is done, where (modulo the number of cells), and with which word.
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["add", "change", "delete", "copy", "move", "raw"]),
        st.integers(0, 20),
        WORDS,
    ),
    max_size=6,
)


def exercise() -> NotebookNode:
    cells = [new_markdown_cell("# Title", id="title")]
    for task in ("task1", "task2"):
        cells.append(new_markdown_cell(f"## {task}", id=f"text-{task}"))
        for name, solution in ((task, True), (f"{task}_check", False)):
            meta = {"nbgrader": {"grade_id": name, "solution": solution, "grade": not solution}}
            cells.append(new_code_cell(f"# {name}", id=name, metadata=meta))
    cells.append(new_code_cell("the_end()", id="end"))
    return new_notebook(cells=cells)


def edited(notebook: NotebookNode, edits: list[tuple[str, int, str]], who: str) -> NotebookNode:
    """As a person edits: ids and metadata stay, a copy has a new id."""
    result = copy.deepcopy(notebook)
    for number, (what, place, word) in enumerate(edits):
        place %= len(result.cells) or 1
        text = f"{who} {number} {word}"
        if what == "add" or not result.cells:
            result.cells.insert(place, new_markdown_cell(text, id=f"{who}{number}"))
        elif what == "change":
            result.cells[place].source += f"\n{text}"
        elif what == "delete":
            del result.cells[place]
        elif what == "copy":
            twin = copy.deepcopy(result.cells[place])
            twin.id = f"{who}{number}"
            result.cells.insert(place, twin)
        elif what == "move":
            result.cells.append(result.cells.pop(place))
        else:
            cell = result.cells[place]
            result.cells[place] = nbformat.v4.new_raw_cell(cell.source, id=cell.id)
    return result


def data(notebook: NotebookNode) -> bytes:
    return nbformat.writes(notebook).encode()


def texts(notebook: bytes | NotebookNode) -> list[str]:
    if isinstance(notebook, bytes):
        notebook = nbformat.reads(notebook.decode(), as_version=4)
    return [cell.source for cell in notebook.cells]


@settings(deadline=None, max_examples=60)  # no deadline: the machine may be busy
@given(mine=EDITS, course=EDITS)
def test_no_word_of_the_learners_is_lost(mine, course) -> None:
    base = exercise()
    theirs, new = edited(base, mine, "mine"), edited(base, course, "course")
    for number, cell in enumerate(new.cells):  # the course has each name once
        if cell.metadata.get("nbgrader") and cell.id != cell.metadata.nbgrader.grade_id:
            cell.metadata.nbgrader.grade_id = f"copy-{number}"
    try:
        merged = merge(data(base), data(theirs), data(new))
    except Conflict:
        return
    written = set(texts(theirs)) - set(texts(base))
    assert written <= set(texts(merged))
    told = [line for text in texts(merged) for line in text.splitlines()]
    assert {x for text in texts(new) for x in text.splitlines() if "course" in x} <= set(told)
    found = nbformat.reads(merged.decode(), as_version=4)
    nbformat.validate(found)
    assert len({cell.id for cell in found.cells}) == len(found.cells)
    assert merge(data(new), merged, data(new)) == merged
    # Cut off before the new version was noted as delivered, the same update comes again.
    assert written <= set(texts(merge(data(base), merged, data(new))))


@settings(deadline=None, max_examples=60)
@given(course=EDITS)
def test_without_work_the_new_version_comes_as_it_is(course) -> None:
    new = edited(exercise(), course, "course")
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") or cell.id for cell in new.cells]
    if len(set(names)) < len(names) or "raw" in {cell.cell_type for cell in new.cells}:
        return  # a copy of a graded cell: not a notebook of the course
    try:
        merged = merge(data(exercise()), data(exercise()), data(new))
    except Conflict:
        assert not {cell.id for cell in exercise().cells} & {cell.id for cell in new.cells}
        return
    assert texts(merged) == texts(new)


@pytest.mark.parametrize("theirs", [b"", b"{", b"[]", b'{"cells": 3}', b"\xff"])
def test_what_is_no_notebook_is_a_conflict(theirs: bytes) -> None:
    with pytest.raises(Conflict):
        merge(data(exercise()), theirs, data(exercise()))
