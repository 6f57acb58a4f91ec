"""The course's notebooks: in step with their sources, the same outputs again, and nothing slow.

Each lesson runs twice. nbval compares what comes with what is stored; but it passes a cell with an
unknown magic, so a second pass with nbclient sees that everything runs, and how long it takes.
`-k <part of a lesson's name>` runs that lesson only.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest

from tools import notebooks
from tools.home import MODULES
from tools.notebooks import CELL_SECONDS, COURSE, LESSON_SECONDS, ROOT

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


# ---- the same outputs again (nbval)


@pytest.fixture(scope="module")
def nbval(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[ElementTree.Element]]:
    """One run of nbval over all lessons that are asked for: lesson -> its cells, as JUnit XML."""
    asked: set[Path] = {
        item.callspec.params["lesson"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "nbval" in item.fixturenames
    }
    return run_nbval(sorted(asked), tmp_path_factory.mktemp("nbval"))


def run_nbval(lessons: list[Path], folder: Path) -> dict[str, list[ElementTree.Element]]:
    """Runs nbval in a process of its own: the lessons' kernels need our environment."""
    paths = notebooks.machine_paths()
    (folder / "sanitize.cfg").write_text(
        "".join(
            f"[path{i}]\nregex: {pattern}\nreplace: {text}\n"
            for i, (pattern, text) in enumerate(paths)
        )
    )
    (folder / "pytest.ini").write_text("[pytest]\njunit_family = xunit1\n")  # xunit2 has no file
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-c", str(folder / "pytest.ini")]
    command += ["-p", "nbval.plugin", "-p", "no:cacheprovider", "--junitxml", str(report)]
    command += ["--nbval-sanitize-with", str(folder / "sanitize.cfg")]
    command += ["--nbval-cell-timeout", str(notebooks.BUILD_SECONDS)]
    command += [str(lesson.with_suffix(".ipynb")) for lesson in lessons]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**notebooks.kernel_environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=270,
    )
    assert report.exists(), done.stdout + done.stderr
    cells: dict[str, list[ElementTree.Element]] = {str(lesson): [] for lesson in lessons}
    for case in ElementTree.parse(report).iter("testcase"):
        notebook = (folder / case.attrib["file"]).resolve()
        cells[str(notebook.with_suffix(".py"))].append(case)
    return cells


@every_lesson
def test_the_outputs_are_the_stored_ones(
    lesson: Path, nbval: dict[str, list[ElementTree.Element]]
) -> None:
    cells = nbval[str(lesson)]
    nb = notebooks.from_source(lesson)
    assert len(cells) == sum(cell.cell_type == "code" for cell in nb.cells)
    problems = [c for cell in cells for c in cell if c.tag in ("failure", "error", "skipped")]
    text = "\n\n".join(f"{c.get('message')}\n{c.text}" for c in problems)
    assert not problems, re.sub(r"\x1b\[[0-9;]*m|#x1B\[[0-9;]*m", "", text)


def test_nbval_sees_another_output(tmp_path: Path) -> None:
    lesson = tmp_path / "01_module" / "01_lesson.py"
    lesson.parent.mkdir()
    lesson.write_text("# %% [markdown]\n# # Title\n\n# %%\nprint(1)\n\n# %%\nprint(2)\n")
    nb = notebooks.from_source(lesson)
    notebooks.execute(nb, tmp_path)
    nb.cells[2].outputs[0].text = "3\n"
    notebooks.write(nb, lesson.with_suffix(".ipynb"))
    [first, second] = run_nbval([lesson], tmp_path)[str(lesson)]
    assert [c.tag for c in first] == []
    assert [c.tag for c in second] == ["failure"]


# ---- runs clean (nbclient)


@every_source
def test_it_runs_clean_and_in_time(source: Path) -> None:
    nb = notebooks.from_source(source)
    seconds = notebooks.execute(nb, source.parent)  # raises where a cell fails
    slow = {i: f"{s:.1f} s" for i, s in enumerate(seconds) if s > CELL_SECONDS}
    assert not slow, f"cells over {CELL_SECONDS} s: {slow}"
    assert sum(seconds) <= LESSON_SECONDS


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
