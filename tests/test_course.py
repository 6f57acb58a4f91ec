"""The course's notebooks: in step with their sources, every cell runs, the same outputs again.

How long a cell takes is told by `tools.course build`, not tested: another machine may be slow.
`-k <part of a lesson's name>` runs that lesson only.
"""

from __future__ import annotations

import copy
import difflib
import json
import re
import tempfile
from pathlib import Path

import nbformat
import pytest

from tools import notebooks
from tools.home import MODULES
from tools.notebooks import COURSE, ROOT

SOURCES = notebooks.sources()
LESSONS = [path for path in SOURCES if not notebooks.is_exercise(path)]


def name(path: Path) -> str:
    return str(path.relative_to(COURSE).with_suffix(""))


every_source = pytest.mark.parametrize("source", SOURCES, ids=name)
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=name)


@pytest.mark.parametrize("module", [folder for folder, _, _ in MODULES])
def test_a_module_has_a_lesson_and_an_exercise(module: str) -> None:
    found = [source for source in SOURCES if source.parent.name == module]
    assert any(notebooks.is_exercise(source) for source in found)
    assert any(not notebooks.is_exercise(source) for source in found)


@every_source
def test_the_notebook_is_in_step_with_its_source(source: Path) -> None:
    assert notebooks.problems(source) == []


def test_no_notebook_is_without_a_source() -> None:
    assert notebooks.orphans() == []


@every_source
def test_a_notebook_starts_with_its_heading(source: Path) -> None:
    first = notebooks.from_source(source).cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")


@every_lesson
def test_outputs_that_are_not_compared_say_why(lesson: Path) -> None:
    for cell in notebooks.from_source(lesson).cells:
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            assert re.search(r"^# Varies: \w", cell.source, re.MULTILINE), cell.source


@every_lesson
def test_stored_outputs_do_not_show_the_machine(lesson: Path) -> None:
    nb = nbformat.read(lesson.with_suffix(".ipynb"), as_version=4)
    shown = "\n".join(str(cell.get("outputs", "")) for cell in nb.cells)
    found = [
        path for path in (str(ROOT), str(Path.home()) + "/", "/site-packages/") if path in shown
    ]
    found += re.findall(r"\b0x[0-9a-f]{8,}\b|/tmp/\S+", shown)
    assert found == []


# ---- runs clean, and gives the same outputs again


def compared(cell: nbformat.NotebookNode) -> list[dict]:
    """What has to be the same in a cell's outputs. What it wrote to stdout and to stderr comes in
    two streams, and which one arrives first is chance; they stand before the rest. The bytes of a
    picture depend on fonts. A traceback shows lines of files that change.
    """
    streams, rest = [], []
    for output in cell.outputs:
        kept = {k: v for k, v in output.items() if k not in NOT_COMPARED}
        if "data" in kept:
            kept["data"] = {k: v for k, v in kept["data"].items() if not k.startswith("image/")}
        (streams if output.output_type == "stream" else rest).append(kept)
    return sorted(streams, key=lambda kept: kept["name"]) + rest


NOT_COMPARED = ("execution_count", "metadata", "traceback")


def differences(stored: nbformat.NotebookNode, fresh: nbformat.NotebookNode) -> str:
    """The outputs of two runs as a diff; "" if they are the same."""
    found = []
    for number, (old, new) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        if old.cell_type != "code" or "nbval-ignore-output" in old.metadata.get("tags", []):
            continue
        if compared(old) != compared(new):
            texts = [json.dumps(compared(c), indent=1, ensure_ascii=False) for c in (old, new)]
            lines = [text.replace("\\n", "\n").splitlines() for text in texts]
            found += [f"cell {number}:\n{new.source}", *difflib.unified_diff(*lines, lineterm="")]
    return "\n".join(found)


def run_again(source: Path) -> nbformat.NotebookNode:
    """A fresh run of a source, read back as if it had been stored. Raises where a cell fails."""
    nb = notebooks.from_source(source)
    notebooks.execute(nb, source.parent)
    notebooks.clean(nb)
    return nbformat.reads(nbformat.writes(nb), as_version=4)


@every_source
def test_it_runs_clean_and_gives_the_stored_outputs(source: Path) -> None:
    fresh = run_again(source)
    if not notebooks.is_exercise(source):  # those are stored without outputs
        found = differences(nbformat.read(source.with_suffix(".ipynb"), as_version=4), fresh)
        assert not found, found


def test_another_output_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "01_lesson.py"
    source.write_text(
        "# %%\nimport sys\nprint(1), print(2, file=sys.stderr)\n\n# %%\n3\n\n"
        '# %% tags=["raises-exception"]\n1 / 0\n\n'
        '# %% tags=["nbval-ignore-output"]\nimport time\ntime.time_ns()\n'
    )
    notebooks.build(source)
    stored = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert differences(stored, run_again(source)) == ""
    for number, field, other in [
        (0, "text", "4\n"),
        (1, "data", {"text/plain": "4"}),
        (2, "ename", "ValueError"),
    ]:
        changed = copy.deepcopy(stored)
        changed.cells[number].outputs[0][field] = other
        found = differences(stored, changed)
        assert found.startswith(f"cell {number}:\n") and "+" in found
        changed.cells[number].outputs = []
        assert differences(stored, changed).startswith(f"cell {number}:\n")


def test_running_clean_sees_an_unknown_magic(tmp_path: Path) -> None:
    source = tmp_path / "01_lesson.py"
    source.write_text("# %%\nget_ipython().run_line_magic('no_such_magic', '')\n1 / 0\n")
    with pytest.raises(notebooks.CourseError, match="no_such_magic|ZeroDivisionError"):
        notebooks.build(source)
    assert not source.with_suffix(".ipynb").exists()


# ---- the builder


def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "01_lesson.py"
    source.write_text(
        "# %%\nimport os, sys\nprint(os.__file__)\nprint({'a', 'b', 'c'})\n"
        "print('to stderr', file=sys.stderr)\n\n"
        '# %% tags=["raises-exception"]\nopen("nothing")\n'
    )
    notebooks.build(source)
    first = source.with_suffix(".ipynb").read_bytes()
    notebooks.build(source)
    assert source.with_suffix(".ipynb").read_bytes() == first
    text = first.decode()
    assert "python/os.py" in text and "FileNotFoundError" in text
    assert str(Path.home()) + "/" not in text and tempfile.gettempdir() + "/" not in text
    assert '"version": "3.' not in text and 'execution":' not in text


def test_a_changed_source_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "01_lesson.py"
    source.write_text("# %%\n1 + 1\n")
    notebooks.build(source)
    assert notebooks.problems(source) == []
    source.write_text("# %%\n1 + 2\n")
    [problem] = notebooks.problems(source)
    assert "expected the inputs of 01_lesson.py" in problem


def test_an_error_in_a_notebook_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "01_lesson.py"
    source.write_text('# %% tags=["raises-exception"]\n1 / 0\n')
    notebooks.build(source)
    assert notebooks.problems(source) == []
    nb = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    source.write_text("# %%\n1 / 0\n")
    nb.cells[0].metadata = {}
    notebooks.write(nb, source.with_suffix(".ipynb"))
    [problem] = notebooks.problems(source)
    assert "expected no errors, but got ZeroDivisionError in cell 0" in problem


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("### BEGIN SOLUTION", "### BEGIN SOLUTON", "expected ### BEGIN SOLUTION in the answer"),
        ("### BEGIN HIDDEN TESTS", "### HIDDEN", "expected ### BEGIN HIDDEN TESTS in task1_hidden"),
        ('"grade_id": "task2_check"', '"grade_id": "task1_check"', "each grade_id once"),
        ('"task1_check", "points": 2', '"task1_check"', "'task1_check' with points"),
        (", hidden=True", "", "expected Checks(..., hidden=True) in task1_hidden"),
        ("<details><summary>Hint 1", "<summary>Hint 1", "expected 3 hints for each of 2 tasks"),
    ],
)
def test_a_misshapen_exercise_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    sample = ROOT / "tests" / "grader" / "fixtures" / "exercise.py"
    source = tmp_path / "exercise.py"
    source.write_text(sample.read_text().replace(old, new))
    with pytest.raises(notebooks.CourseError, match=re.escape(message)):
        notebooks.from_source(source)
