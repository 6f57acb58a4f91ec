"""The shape of an exercise: each task has an answer, a visible check, a hidden check and three
hints.

nbgrader would take other shapes too. This one keeps the visible points when a hidden check fails (a
cell scores all or nothing), and keeps a mistyped mark from showing a solution to the learners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode


class CourseError(Exception):
    """A mistake in a course source. Its text is meant for the author."""


def check_shape(nb: NotebookNode, where: str) -> None:
    """Raises CourseError if a task lacks a part. `where` names the exercise in the message."""
    graded = {}
    for cell in nb.cells:
        meta = cell.metadata.get("nbgrader")
        if meta is None:
            if "### BEGIN" in cell.source:
                raise CourseError(
                    f"{where}: expected nbgrader marks in graded cells only, but got "
                    f"{cell.source.splitlines()[0]!r}. Add nbgrader={{...}} to the cell's header."
                )
            continue
        if meta["grade_id"] in graded:
            raise CourseError(
                f"{where}: expected each grade_id once, but got {meta['grade_id']!r} twice. "
                "Rename one."
            )
        graded[meta["grade_id"]] = cell

    tasks = [name for name, cell in graded.items() if cell.metadata.nbgrader.solution]
    if not tasks:
        raise CourseError(
            f"{where}: expected at least one task, but got none. Mark an answer cell with "
            'nbgrader={"grade_id": "task1", "solution": true}.'
        )
    for task in tasks:
        visible = _check_cell(graded, f"{task}_check", where)
        hidden = _check_cell(graded, f"{task}_hidden", where)
        if "### BEGIN SOLUTION" not in graded[task].source:
            raise CourseError(
                f"{where}: expected ### BEGIN SOLUTION in the answer cell {task!r}, but got none. "
                "Put the marks around what the learner writes."
            )
        if "### BEGIN HIDDEN TESTS" in visible.source:
            raise CourseError(
                f"{where}: expected no hidden tests in {task}_check, but got some. A cell scores "
                "all or nothing: move them to "
                f"{task}_hidden, so that a hidden failure keeps the visible points."
            )
        if "### BEGIN HIDDEN TESTS" not in hidden.source:
            raise CourseError(
                f"{where}: expected ### BEGIN HIDDEN TESTS in {task}_hidden, but got none. "
                "Learners would see its tests."
            )
        if "Checks(" in hidden.source and "hidden=True" not in hidden.source:
            raise CourseError(
                f"{where}: expected Checks(..., hidden=True) in {task}_hidden, but got Checks "
                "without it. Its messages would tell the values that are tested."
            )
    hints = sum(cell.source.count("<details>") for cell in nb.cells if cell.cell_type == "markdown")
    if hints != 3 * len(tasks):
        raise CourseError(
            f"{where}: expected 3 hints for each of {len(tasks)} tasks, but got {hints} in all. "
            "A hint is <details><summary>Hint 1</summary> ... </details> in a markdown cell."
        )


def _check_cell(graded: dict[str, NotebookNode], name: str, where: str) -> NotebookNode:
    cell = graded.get(name)
    if cell is None or not cell.metadata.nbgrader.get("points", 0) > 0:
        raise CourseError(
            f"{where}: expected a check cell {name!r} with points, but got "
            f"{'none' if cell is None else 'no points'}. Give it the header "
            f'# %% nbgrader={{"grade_id": "{name}", "points": 2}}'
        )
    return cell
