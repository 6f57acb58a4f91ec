"""Feedback pages only show: what a student puts into one does not run when it is opened."""

from __future__ import annotations

import base64
import html
import re
import shutil
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import nbformat.v4 as v4
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from grader.collect import collect
from grader.course import Course
from grader.feedback import feedback
from grader.grade import Options, grade
from grader.inert import notebook_html
from tests.grader.exam import sandbox_missing
from tests.grader.sample import MODULE, RIGHT, WRONG, answered, hand_in

MARKDOWN = """
<script>alert('m1')</script> <img src=x onerror="alert('m2')"> <iframe src="https://example.org">
[link](javascript:alert('m3')) <svg onload="alert('m4')"></svg> <style>* { display: none }</style>
"""
CODE = """
from IPython.display import HTML, SVG, Javascript, Markdown, display
display(HTML("<script>alert('c1')</script><b onclick='alert(1)'>b</b><img src=x onerror=alert(2)>"))
display(Javascript("alert('c2')"))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>'))
display(Markdown("<script>alert('c3')</script>"))
display({"text/latex": "<script>alert('c4')</script>"}, raw=True)
print("<script>alert('c5')</script>")
display({"text/html": "<img src='x'>", "image/svg+xml": "<svg xmlns='a'/>"}, raw=True)
raise ValueError("<script>alert('c6')</script>")
"""


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def pages(course: Course, folder: Path, handed: dict[str, NotebookNode | bytes]) -> dict[str, str]:
    """Each student's page, after real grading."""
    for student, content in handed.items():
        hand_in(folder, student, content)
    collect(course, folder)
    grade(course, options=Options(sandbox=not sandbox_missing()))
    feedback(course)
    return {student: page_of(course, student) for student in handed}


def page_of(course: Course, student: str) -> str:
    path = course.step("feedback", student, MODULE) / "exercise.html"
    return path.read_text(encoding="utf-8")


def words(page: str) -> str:
    """What a reader sees, without the tags, on one line."""
    body = page.partition("<body>")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture(scope="module")
def mallorys(released_root: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("mallory")
    shutil.copytree(released_root, root, dirs_exist_ok=True)
    course = Course.at(root)
    nb = answered(course, RIGHT)
    nb.cells.insert(0, v4.new_markdown_cell(MARKDOWN))
    nb.cells.insert(0, v4.new_code_cell(CODE))
    nb.cells.insert(0, v4.new_raw_cell(MARKDOWN))
    page = pages(course, root / "in", {"mallory": nb})["mallory"]
    assert "8 of 8 points" in page
    return page


def test_nothing_of_a_students_runs_in_the_page(mallorys: str) -> None:
    assert "alert" in mallorys  # it is shown as text
    for tag, attributes in Tags(mallorys).found:
        assert tag not in ("script", "iframe", "object", "embed", "form", "base", "link")
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            value = attributes.get(name) or "#"
            assert re.match(r"#|data:image/" if name == "src" else r"#|https?:", value), value


def test_the_page_loads_nothing_and_allows_no_script(mallorys: str) -> None:
    policies = [
        a.get("content") for t, a in Tags(mallorys).found if t == "meta" and a.get("http-equiv")
    ]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_a_picture_that_is_svg_and_html_is_shown(mallorys: str) -> None:
    images = [a.get("src") or "" for tag, a in Tags(mallorys).found if tag == "img"]
    svgs = [src for src in images if src.startswith("data:image/svg+xml;base64,")]
    assert "<svg xmlns='a'/>" in [base64.b64decode(src.split(",")[1]).decode() for src in svgs]


def test_hints_and_tables_survive(mallorys: str) -> None:
    tags = [tag for tag, _ in Tags(mallorys).found]
    assert tags.count("details") == 6 and "table" in tags


def test_links_are_called_after_the_tasks_and_lead_somewhere(mallorys: str) -> None:
    links = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', mallorys)
    assert [text for _, text in links if text.startswith("Task")] == [
        "Task 1 · Which shape comes out?",
        "Task 2 · And back",
    ]
    ids = [a.get("id") for _, a in Tags(mallorys).found]
    assert [target for target, _ in links if ids.count(target) != 1] == []


def test_messages_of_visible_checks_and_names_of_hidden_ones(
    course: Course, tmp_path: Path
) -> None:
    handed = {"bo": answered(course, WRONG), "emil": b"{", "chen": answered(course, {})}
    found = {student: words(page) for student, page in pages(course, tmp_path, handed).items()}
    assert "0 of 8 points" in found["bo"]
    assert "expected [4, 5], but got [4, 1]" in found["bo"]
    assert "✗ a scalar" in found["bo"] and "276" not in found["bo"]
    assert "secret" not in found["bo"]
    assert "it is not written yet" in found["chen"]
    assert "could not be graded. expected a notebook" in found["emil"]
    assert "0 of 8 points" in found["emil"] and "Your notebook" not in found["emil"]


def test_points_and_comments_of_a_person_are_in_it(course: Course, tmp_path: Path) -> None:
    pages(course, tmp_path, {"bo": answered(course, WRONG)})
    with course.gradebook() as gradebook:
        cell = gradebook.find_grade("task1_check", "exercise", MODULE, "bo")
        cell.manual_score, cell.extra_credit = 1.5, 0.25
        comment = gradebook.find_comment("task1", "exercise", MODULE, "bo")
        comment.manual_comment = "Good idea, <b>Bo</b>"
        gradebook.find_submission(MODULE, "bo").timestamp = datetime(2099, 1, 1)
        gradebook.db.commit()
    # bo loses two sevenths of 1.75
    late = f"[due]\n{MODULE} = 2098-12-31T00:00:00Z\n[late]\nper_day = 1.0\nat_most = {2 / 7}"
    (course.root / "grader.toml").write_text(late)
    feedback(Course.at(course.root))
    page = words(page_of(course, "bo"))
    assert "1.25 of 8 points after 0.5 off for late work" in page
    assert "Checks: 1.75 of 2 points (given by hand)" in page
    assert "Good idea, <b>Bo</b>" in page


# ---- one notebook, without a course around it


def shown(*cells: NotebookNode) -> str:
    return notebook_html(v4.new_notebook(cells=list(cells)))


def output(**data: str) -> NotebookNode:
    kinds = {kind.replace("_", "/").replace("svg", "svg+xml"): text for kind, text in data.items()}
    return v4.new_code_cell("1", outputs=[v4.new_output("display_data", data=kinds)])


def test_formulas_are_pictures_with_their_text() -> None:
    page = shown(v4.new_markdown_cell(r"求和 $\sum_i x_i^2$, and $$\frac{1}{2}$$ and `$HOME`"))
    images = [a for tag, a in Tags(page).found if tag == "img"]
    assert [a["alt"] for a in images] == [r"\sum_i x_i^2", r"\dfrac{1}{2}"]
    assert "求和" in page and "<code>$HOME</code>" in page
    assert 'alt="x"' in shown(output(text_latex=r"$\displaystyle x$"))


@pytest.mark.parametrize(
    "formula",
    [r"\nothing{x}", r"\begin{matrix}", "{" * 100, "(" * 5000, r"\left(" * 40, "公式", ""],
)
def test_a_formula_that_cannot_be_drawn_stays_as_it_was_written(formula: str) -> None:
    page = shown(v4.new_markdown_cell(f"a ${formula}$ b"))
    assert "<img" not in page and formula in page


def test_money_is_no_formula() -> None:
    assert "$5 and $6" in shown(v4.new_markdown_cell("It costs $5 and $6"))


@pytest.mark.parametrize("kind", ["image_png", "image_jpeg"])
def test_a_picture_that_is_none_is_left_out(kind: str) -> None:
    page = shown(output(**{kind: '"><script>alert(1)</script>'}))
    assert "<img" not in page and "script" not in page
    assert "data:image/" in shown(output(**{kind: "aGVsbG8="}))


def test_a_missing_attachment_and_a_long_text_do_no_harm() -> None:
    assert "gone" in shown(v4.new_markdown_cell("![gone](attachment:x.png)"))
    page = shown(output(text_plain="a" * 10**6))
    assert len(page) < 10**5 and "... cut here ..." in page


def test_nbgraders_pages_show_pictures_and_run_nothing(course: Course) -> None:
    """They are made by nbconvert, with the configuration that nbgrader_config.py hands on."""
    picture = '<img alt="a graph" src="data:image/png;base64,aGVsbG8=">'
    risky = "<style>p { color: red }</style><script>alert(1)</script><img src=x onerror=alert(2)>"
    cells = [
        v4.new_markdown_cell("The sum $a_1$"),
        v4.new_code_cell(
            "x = 1 < 2",
            outputs=[v4.new_output("display_data", data={"text/html": risky + picture})],
        ),
    ]
    page, _ = HTMLExporter(config=course.config(), template_name="classic").from_notebook_node(
        v4.new_notebook(cells=cells)
    )
    body = page[page.index("<body") :]
    assert 'alt="a graph"' in body and "data:image/png;base64,aGVsbG8=" in body
    assert 'alt="a_1"' in body and "&lt;img class" not in body  # the formula is a picture
    assert "&lt;p&gt;" not in body  # nor is a paragraph's tag shown
    assert '<span class="mi">1</span>' in body  # code has its colours
    assert "color: red" not in body and "<script>alert" not in body
    assert "onerror=" not in re.sub(r"&lt;.*?&gt;", "", body)
