"""A course of one module, in a temporary folder, with the sample exercise of `fixtures/`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course import Course
from grader.release import release
from tests.grader.postgres import HOW_TO_INSTALL, Server, find_postgres, start_postgres
from tests.grader.sample import FIXTURES, MODULE
from tools import notebooks


@pytest.fixture(scope="session")
def sample_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder (sources only) with the built sample exercise and a lesson, which is no
    assignment.
    """
    sources = tmp_path_factory.mktemp("sample") / "course"
    module = sources / MODULE
    module.mkdir(parents=True)
    shutil.copy(FIXTURES / "exercise.py", module)
    notebooks.write(notebooks.from_source(module / "exercise.py"), module / "exercise.ipynb")
    (module / "01_lesson.py").write_text("# %%\n1 + 1\n")
    notebooks.write(notebooks.from_source(module / "01_lesson.py"), module / "01_lesson.ipynb")
    (module / "table.csv").write_text("a,b\n")
    return sources


@pytest.fixture(scope="session")
def released_root(sample_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course root with the sample released once. Copied by `course`: making a gradebook takes two
    seconds.
    """
    root = tmp_path_factory.mktemp("released")
    shutil.copytree(sample_source, root / "course")
    release(Course.at(root))
    return root


@pytest.fixture
def course(released_root: Path, tmp_path: Path) -> Course:
    """A course of its own for one test, the sample released."""
    shutil.copytree(released_root, tmp_path / "root")
    return Course.at(tmp_path / "root")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server for all tests; take a database of your own with `new_database()`."""
    programs = find_postgres()
    if programs is None:
        pytest.skip(f"needs PostgreSQL. As root: {HOW_TO_INSTALL}")
    with start_postgres(programs) as server:
        yield server
