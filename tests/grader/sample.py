"""The sample exercise of `fixtures/`, and students' answers to it."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.course import Course

FIXTURES = Path(__file__).parent / "fixtures"
MODULE = "01_sample"

RIGHT = {
    "task1": """
def broadcast_shape(x, y):
    return list(np.broadcast_shapes(tuple(x), tuple(y)))
""",
    "task2": """
def sum_to(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad
""",
}
WRONG = {
    "task1": "def broadcast_shape(x, y):\n    return list(x)",
    "task2": "def sum_to(grad, shape):\n    return grad",
}
# Passes the visible checks of task 1 only: it knows their answers.
KNOWS_THE_ANSWERS = {
    "task1": """
def broadcast_shape(x, y):
    if x == [2] and y == [3]:
        raise ValueError("no")
    return [4, 5] if y == [1, 5] else [2] if y == [1] else [2, 3]
""",
}


def answered(course: Course, answers: dict[str, str]) -> NotebookNode:
    """The released notebook with the answer cells filled in, as a learner would save it."""
    nb = nbformat.read(course.released(MODULE), as_version=4)
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell.source = answers[name].strip()
    return nb


def hand_in(
    folder: Path, student: str, content: NotebookNode | bytes, module: str = MODULE
) -> Path:
    """Puts a submission where `grader collect` finds it."""
    path = folder / student / module / "exercise.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else nbformat.writes(content).encode()
    path.write_bytes(data)
    return path
