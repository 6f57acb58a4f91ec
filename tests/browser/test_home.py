"""The home page as a learner meets it: it shows what a check said, and leads to the next task."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.browser.lab import HANGS, KERNEL_IS_IDLE, REPOSITORY, run_cell, start_lab
from tests.grader.sample import FIXTURES, RIGHT
from tools import notebooks
from tools.workspace import lay_out

pytestmark = pytest.mark.browser

MODULE = "02_dygraph"
ANSWER, CHECK = 3, 4  # the places of task 1's cells


@pytest.fixture
def home(page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The home page of a course with one exercise, in JupyterLab with `make lab`'s settings."""
    monkeypatch.syspath_prepend(str(REPOSITORY / "tools"))
    from tools import lab

    module = tmp_path / "course" / MODULE
    module.mkdir(parents=True)
    shutil.copy(FIXTURES / "exercise.py", module)
    notebooks.write(notebooks.from_source(module / "exercise.py"), module / "exercise.ipynb")
    workspace = tmp_path / "学生 name" / "workspace"
    lay_out(tmp_path / "course", workspace)

    for name, value in lab.lab_environment().items():
        monkeypatch.setenv(name, value)
    options = [option for option in lab.lab_command([]) if option.startswith("--LabApp")]
    with start_lab(tmp_path / "jupyter", workspace, *options) as running:
        page.goto(f"{running.url}/")  # its default page is the home page
        page.wait_for_selector(".jp-RenderedMarkdown h1", timeout=HANGS * 1000)
        yield page


def says(page, text: str) -> None:
    page.wait_for_selector(f".jp-RenderedMarkdown :text({text!r})", timeout=HANGS * 1000)


def show_tab(page, name: str) -> None:
    page.locator(".lm-DockPanel .lm-TabBar-tab", has_text=name).first.click()


def answer(page, source: str) -> str:
    """Writes the answer of task 1, runs it and its check; returns what the check says."""
    page.evaluate(
        """([index, source]) => window.jupyterapp.shell.currentWidget.content.widgets[index]
            .model.sharedModel.setSource(source)""",
        [ANSWER, source],
    )
    run_cell(page, ANSWER)
    return run_cell(page, CHECK)


def test_the_home_page_shows_what_a_check_said(home) -> None:
    says(home, "0 of 4 points so far")
    home.get_by_role("link", name="task 1 · Which shape comes out?").click()
    home.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=HANGS * 1000)
    home.wait_for_function(KERNEL_IS_IDLE, timeout=HANGS * 1000)
    run_cell(home, 1)

    wrong = "def broadcast_shape(x, y):\n    return [2, 3]"
    assert "1 of 3 checks passed" in answer(home, wrong)
    show_tab(home, "Home.md")
    says(home, "0.67 of 4 points so far")
    says(home, "(1 of 3 checks)")

    show_tab(home, "exercise.ipynb")
    assert "all 3 checks passed" in answer(home, RIGHT["task1"])
    show_tab(home, "Home.md")
    says(home, "2 of 4 points so far")
    bar = home.locator(".jp-RenderedMarkdown progress")
    assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("2", "4")

    home.get_by_role("link", name="task 2 · And back").click()
    heading = home.locator(".jp-NotebookPanel h2", has_text="Task 2")
    home.wait_for_function(
        "(heading) => heading.getBoundingClientRect().top < window.innerHeight / 2",
        arg=heading.element_handle(),
    )
    assert not home.errors
