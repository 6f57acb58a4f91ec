"""Feedback pages only show: what a student puts into one does not run when it is opened."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat.v4 as v4
import pytest

from grader.collect import collect
from grader.course import Course
from grader.feedback import feedback
from grader.grade import grade
from tests.grader.sample import MODULE, RIGHT, answered, hand_in

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


@pytest.fixture
def page(course: Course, tmp_path: Path) -> str:
    nb = answered(course, RIGHT)
    nb.cells.insert(0, v4.new_markdown_cell(MARKDOWN))
    nb.cells.insert(0, v4.new_code_cell(CODE))
    nb.cells.insert(0, v4.new_raw_cell(MARKDOWN))
    hand_in(tmp_path / "in", "mallory", nb)
    collect(course, tmp_path / "in")
    [verdict] = grade(course)
    assert verdict.score == 8
    feedback(course)
    return (course.step("feedback", "mallory", MODULE) / "exercise.html").read_text()


def test_nothing_of_a_students_runs_in_the_page(page: str) -> None:
    assert "alert" in page  # it is shown as text
    for tag, attributes in Tags(page).found:
        assert tag not in ("script", "iframe", "object", "embed", "form", "base", "link")
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href"):
            value = attributes.get(name) or "#"
            assert re.match(r"#|data:image/" if name == "src" else r"#|https?:", value), value


def test_the_page_loads_nothing_and_allows_no_script(page: str) -> None:
    policies = [
        a.get("content") for t, a in Tags(page).found if t == "meta" and a.get("http-equiv")
    ]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_a_picture_that_is_svg_and_html_is_shown(page: str) -> None:
    images = [a.get("src") or "" for tag, a in Tags(page).found if tag == "img"]
    assert [src.split(",")[0] for src in images] == 2 * ["data:image/svg+xml;base64"]


def test_hints_and_tables_survive(page: str) -> None:
    tags = [tag for tag, _ in Tags(page).found]
    assert tags.count("details") == 6 and "table" in tags
