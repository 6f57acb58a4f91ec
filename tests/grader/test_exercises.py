"""Every exercise of the course, and the sample: blank work scores 0, the reference all points, and
what is released holds no solution and no hidden test.

Each exercise is graded twice by the real grader, about 1.5 s each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.collect import collect
from grader.course import Course
from grader.grade import grade
from grader.release import leaks, release, released
from grader.verdict import Verdict
from tests.grader.sample import MODULE as SAMPLE
from tests.grader.sample import hand_in
from tools.notebooks import COURSE, from_source

MODULES = [SAMPLE, *sorted(path.parent.name for path in COURSE.glob("*/exercise.py"))]


@dataclass
class Graded:
    """What the grader says about an exercise."""

    source: NotebookNode
    released: NotebookNode
    blank: Verdict
    blank_run: NotebookNode
    reference: Verdict


@pytest.fixture(scope="module")
def exercise(
    request: pytest.FixtureRequest, sample_source: Path, tmp_path_factory: pytest.TempPathFactory
) -> Graded:
    module = request.param
    root = tmp_path_factory.mktemp(module)
    course = Course.at(root, sample_source if module == SAMPLE else COURSE)
    release(course, [module])
    source = from_source(course.source(module).with_suffix(".py"))
    nb = nbformat.read(course.released(module), as_version=4)
    hand_in(root / "in", "blank", nb, module)
    hand_in(root / "in", "reference", source, module)
    collect(course, root / "in")
    blank, reference = grade(course, module)
    run = course.step("autograded", "blank", module) / "exercise.ipynb"
    return Graded(source, nb, blank, nbformat.read(run, as_version=4), reference)


every_exercise = pytest.mark.parametrize("exercise", MODULES, indirect=True)


@every_exercise
def test_blank_work_scores_nothing(exercise: Graded) -> None:
    assert (exercise.blank.status, exercise.blank.score) == ("graded", 0)
    assert set(exercise.blank.tasks.values()) == {0}


@every_exercise
def test_the_reference_scores_all_points(exercise: Graded) -> None:
    points = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for cell in exercise.source.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    assert exercise.reference.tasks == points
    assert exercise.reference.score == exercise.reference.max_score == sum(points.values())


@every_exercise
def test_the_released_notebook_shows_no_solution_and_no_hidden_test(exercise: Graded) -> None:
    assert leaks(exercise.source, exercise.source)  # so there is something to find
    assert leaks(exercise.source, exercise.released) == []


@every_exercise
def test_the_released_notebook_runs_up_to_the_first_task(exercise: Graded) -> None:
    for cell in exercise.blank_run.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            return
        errors = [o.evalue for o in cell.get("outputs", []) if o.output_type == "error"]
        assert errors == []
    pytest.fail("expected an answer cell, but got none")


@every_exercise
def test_the_workspace_gets_what_the_grader_releases(exercise: Graded) -> None:
    expected = [(c.cell_type, c.source, c.metadata) for c in exercise.released.cells]
    assert [
        (c.cell_type, c.source, c.metadata) for c in released(exercise.source).cells
    ] == expected
