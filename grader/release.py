"""Releases exercises: solutions and hidden tests out, checksums and locks in.

nbgrader's own steps do the work. `released` is the pure version for one notebook (the learner's
workspace is built with it); `release` also writes the Assignment, which grading trusts instead of
what comes back, and the points into the gradebook.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    LockCells,
    SaveCells,
)
from nbgrader.preprocessors import ClearSolutions as NbgraderClearSolutions
from nbgrader.utils import is_solution

from grader.assignment import make_assignment
from grader.course import NOTEBOOK, Course
from grader.errors import GraderError


class ClearSolutions(NbgraderClearSolutions):
    """As nbgrader's, but the hole says whose it is: NotImplementedError("task1: ...")."""

    def preprocess_cell(self, cell, resources, cell_index):
        if is_solution(cell):
            task = cell.metadata.nbgrader["grade_id"]
            hole = f'raise NotImplementedError("{task}: write your answer here")'
            self.code_stub = {"python": f"# YOUR CODE HERE\n{hole}"}
        return super().preprocess_cell(cell, resources, cell_index)


# The gradebook (SaveCells) must see the hidden tests, the learner must not: hence before and after.
BEFORE_SAVING = [LockCells, ClearSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums]
AFTER_SAVING = [ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata]


def released(nb: NotebookNode) -> NotebookNode:
    """The learner's version of an exercise. `nb` stays as it is."""
    nb = copy.deepcopy(nb)
    for step in BEFORE_SAVING + AFTER_SAVING:
        nb, _ = step().preprocess(nb, {})
    return nb


def secret_lines(nb: NotebookNode) -> set[str]:
    """The lines of an instructor's notebook that stand only inside solutions or hidden tests."""
    inside: set[str] = set()
    outside: set[str] = set()
    for cell in nb.cells:
        secret = False
        for line in cell.source.splitlines():
            if "BEGIN SOLUTION" in line or "BEGIN HIDDEN TESTS" in line:
                secret = True
            elif "END SOLUTION" in line or "END HIDDEN TESTS" in line:
                secret = False
            else:
                (inside if secret else outside).add(line.strip())
    return inside - outside - {""}


def leaks(source: NotebookNode, target: NotebookNode) -> list[str]:
    """Lines of solutions or hidden tests, and their marks, that a released notebook still shows."""
    text = "\n".join(cell.source for cell in target.cells)
    lines = {line.strip() for line in text.splitlines()}
    found = sorted(secret_lines(source) & lines)
    marks = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN", "END HIDDEN")
    found += [mark for mark in marks if mark in text]
    found += ["an output"] * any(cell.get("outputs") for cell in target.cells)
    return found


def release(
    course: Course,
    modules: Iterable[str] | None = None,
    done: Callable[[str], None] = lambda m: None,
) -> list[str]:
    """Releases the modules (all by default) into grader/release. Returns their names; `done` is
    told each.
    """
    names = course.modules() if modules is None else [course.module(m) for m in modules]
    if not names:
        raise GraderError(
            f"grader release: expected {NOTEBOOK}.ipynb in the module folders of {course.sources}, "
            "but got none. "
            "Build the course first."
        )
    for module in names:
        _release_one(course, module)
        done(module)
    return names


def _release_one(course: Course, module: str) -> None:
    course.gradebook().close()
    config = course.config()
    log = course.log()
    directory = CourseDirectory(config=config, log=log)
    directory.assignment_id = module
    directory.notebook_id = NOTEBOOK
    converter = GenerateAssignment(coursedir=directory, config=config, log=log)
    converter.force = True
    converter.preprocessors = [*BEFORE_SAVING, SaveCells, *AFTER_SAVING]
    try:
        converter.start()
    except NbGraderException:
        raise GraderError(
            f"grader release: expected {module} to be released, but nbgrader refused. If tasks "
            "were added or removed after "
            "submissions had been graded, grade those in a copy of the course. Details: "
            f"{course.work / 'nbgrader.log'}"
        ) from None
    target = course.released(module)
    source, learners = (
        nbformat.read(path, as_version=4) for path in (course.source(module), target)
    )
    found = leaks(source, learners)
    if found:
        target.unlink()
        raise GraderError(
            f"grader release: expected no solution and no hidden test in {module}, but got "
            f"{found[0]!r}. "
            "Nothing was released. Put it between ### BEGIN ... and ### END ... marks."
        )
    assignment = make_assignment(module, source, learners, handed_out(course, module))
    path = course.assignment(module)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(assignment.to_json(), encoding="utf-8")
    os.replace(temporary, path)


def handed_out(course: Course, module: str) -> dict[str, Path]:
    """The files that learners get beside the exercise: data, no notebooks and no sources."""
    folder = course.sources / module
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.suffix not in (".py", ".pyc", ".ipynb")
        and not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
    }
