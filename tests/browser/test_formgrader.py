"""nbgrader's own pages, in JupyterLab's server, on a course that our grader graded."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from grader.cli import main
from grader.course import Course
from grader.release import release
from tests.browser.lab import LOCAL, REPOSITORY, new_context, start_lab
from tests.grader.sample import FIXTURES, MODULE, RIGHT, WRONG, answered, hand_in
from tools import notebooks

pytestmark = pytest.mark.browser


SCRIPT = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    "<b onclick='window.hacked = 1'>b</b><iframe srcdoc='<script>top.hacked = 1</script>'></iframe>"
)


def grader(root: Path, *args: str) -> None:
    result = CliRunner().invoke(main, ["--root", str(root), *args])
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Anna has all points, Bo has none, Chen has those of task 1, and Emil's file is broken."""
    root = tmp_path_factory.mktemp("graded")
    source = root / "course" / MODULE
    source.mkdir(parents=True)
    shutil.copy(FIXTURES / "exercise.py", source)
    notebooks.write(notebooks.from_source(source / "exercise.py"), source / "exercise.ipynb")
    shutil.copy(REPOSITORY / "nbgrader_config.py", root)
    course = Course.at(root)
    release(course)
    folder = tmp_path_factory.mktemp("handed_in")
    (root / "grader.toml").write_text(f"[due]\n{MODULE} = 2026-05-04T12:00:00Z\n")
    full = answered(course, RIGHT)
    full.cells.insert(1, nbformat.v4.new_markdown_cell(f"Mallory was here {SCRIPT}"))
    show = f"from IPython.display import HTML\nHTML({'<p>Mallory was here</p>' + SCRIPT!r})"
    full.cells.insert(2, nbformat.v4.new_code_cell(show))
    anna = hand_in(folder, "anna", full)
    os.utime(anna, (1_777_888_800, 1_777_888_800))  # 2026-05-04 10:00:00 UTC
    hand_in(folder, "bo", answered(course, WRONG))
    hand_in(folder, "chen", answered(course, {"task1": RIGHT["task1"]}))
    hand_in(folder, "emil", b"{")
    grader(root, "collect", str(folder))
    grader(root, "grade")
    return course


@pytest.fixture
def page(chromium):
    """A page of its own: nbgrader's page of manual grading asks the web for MathJax, which can't be
    had in a test. Formulas stay as they were written.
    """
    context = new_context(chromium)
    outside: list[str] = []
    context.on("request", lambda r: outside.append(r.url) if not LOCAL.match(r.url) else None)
    yield context.new_page()
    context.close()
    assert [url for url in outside if "/mathjax/" not in url] == []


@pytest.fixture(scope="module")
def pages(course: Course, tmp_path_factory: pytest.TempPathFactory):
    """The address of nbgrader's pages."""
    with start_lab(tmp_path_factory.mktemp("jupyter"), course.root) as lab:
        yield f"{lab.url}/formgrader"


def table(page, address: str) -> list[list[str]]:
    """The rows of a page's table, once nbgrader has filled it."""
    page.goto(address)
    page.wait_for_selector("table tbody tr td a")
    return [row.split("\t") for row in page.locator("table tbody").inner_text().splitlines()]


def open_submission(page, pages: str, number: int) -> None:
    """Opens a page of manual grading, and waits until it shows the points."""
    page.goto(f"{pages}/gradebook/{MODULE}/exercise")
    page.get_by_role("link", name=f"Submission #{number}").click()
    page.wait_for_function("() => document.querySelector('#task2_check')?.placeholder")


def find_submission(page, pages: str, score: str) -> int:
    """The number of the submission with this score: the pages don't show names here."""
    found = table(page, f"{pages}/gradebook/{MODULE}/exercise")
    [row] = [row for row in found if row[2] == score]
    return int(row[1].removeprefix("Submission #"))


def test_scores_due_date_and_time_are_shown(page, pages) -> None:
    [module] = table(page, f"{pages}/manage_assignments")
    assert module[:2] == [MODULE, "2026-05-04 12:00:00 UTC"] and "4" in module
    found = table(page, f"{pages}/manage_submissions/{MODULE}")
    assert [(row[1], row[3], row[4]) for row in found] == [
        ("anna", "graded", "8 / 8"),
        ("bo", "graded", "0 / 8"),
        ("chen", "graded", "4 / 8"),
        ("emil", "graded", "0 / 8"),
    ]
    assert found[0][2] == "2026-05-04 10:00:00 UTC"
    [row] = table(page, f"{pages}/manage_students/chen")
    assert row[:2] == [MODULE, "4 / 8"]
    scores = sorted(row[2] for row in table(page, f"{pages}/gradebook/{MODULE}/exercise"))
    assert scores == ["0 / 8", "4 / 8", "8 / 8"], "Emil's has nothing to be graded by hand"


def test_points_by_hand_survive_a_regrade(page, pages, course) -> None:
    open_submission(page, pages, find_submission(page, pages, "4 / 8"))
    assert "np.broadcast_shapes" in page.locator("#notebook-container").first.inner_text()
    assert "nothing is written here yet" in page.locator("#notebook-container").first.inner_text()
    points, extra = page.locator("#task2_check"), page.locator("#task1_check_extra_credit")
    comment = page.locator("#task2-comment")
    assert page.locator("#task1_check").get_attribute("placeholder") == "2"
    assert points.get_attribute("placeholder") == "0"
    for field, text in [(points, "1.5"), (extra, "0.5"), (comment, "A good start.")]:
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            field.fill(text)
            field.blur()
    grader(course.root, "regrade", "--student", "chen")
    open_submission(page, pages, find_submission(page, pages, "6 / 8"))
    assert points.input_value() == "1.5" and points.get_attribute("placeholder") == "0"
    assert (extra.input_value(), comment.input_value()) == ("0.5", "A good start.")
    [row] = table(page, f"{pages}/manage_students/chen")
    assert row[1] == "6 / 8"


def test_the_button_for_autograding_finds_nothing(page, pages, course) -> None:
    """It would run student code in the server, without a sandbox."""
    notebook = course.step("autograded", "bo", MODULE) / "exercise.ipynb"
    before = notebook.read_bytes()
    page.goto(f"{pages}/manage_submissions/{MODULE}")
    page.locator("tr", has_text="bo").locator("td.autograde a").click()
    page.get_by_text("There was an error autograding").wait_for()
    assert "No notebooks were matched" in page.locator(".modal-body").inner_text()
    assert notebook.read_bytes() == before
    [row] = table(page, f"{pages}/manage_students/bo")
    assert row[1] == "0 / 8"


def test_a_students_scripts_do_not_run_in_the_page(page, pages) -> None:
    open_submission(page, pages, find_submission(page, pages, "8 / 8"))
    assert page.get_by_text("Mallory was here").count() == 3, "Markdown, code, output are shown"
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("#notebook-container [onclick], #notebook-container iframe").count() == 0
