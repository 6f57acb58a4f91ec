"""A feedback page in Chromium: pictures are shown, and nothing of a student's runs."""

from __future__ import annotations

import base64
from pathlib import Path

import nbformat.v4 as v4
import pytest
from markupsafe import Markup
from nbformat import NotebookNode

from grader.inert import notebook_html
from grader.page import render

pytestmark = pytest.mark.browser

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" onload="top.hacked = 1">'
    '<script>top.hacked = 1</script><rect width="40" height="20"/></svg>'
)
PNG = (  # one pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    "<svg onload='window.hacked = 1'></svg>"
    "<iframe srcdoc='<script>top.hacked = 1</script>'></iframe>"
    "<a href='javascript:window.hacked = 1'>link</a><style>body { display: none }</style>"
    "<img src='http://127.0.0.1:9/x.png'>"
)


class Verdict:
    """What the template reads of a verdict."""

    status, reason, sandbox = "graded", "", "bubblewrap"
    attempts, max_score = 1, 8.0


class Points:
    score, penalty = 8.0, 0.0


def open_page(page, folder: Path, cells: list[NotebookNode], student: str = "anna") -> None:
    text = render(
        "feedback.html.j2",
        student=student,
        title="0 · exercise",
        verdict=Verdict(),
        points=Points(),
        tasks=[],
        notebook=Markup(notebook_html(v4.new_notebook(cells=cells))),
        colours="",
    )
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    page.goto(path.as_uri())


def test_on_a_phone_the_page_is_no_wider_than_the_screen(page, tmp_path: Path) -> None:
    name = "paddle/fluid/pir/transforms/general/dead_code_elimination_pass.cc"
    table = f"| file | rule |\n|---|---|\n| `{name}` | `op.attributes['parameter_name'].value` |"
    page.set_viewport_size({"width": 360, "height": 800})
    open_page(page, tmp_path, [v4.new_markdown_cell(f"In `{name}`\n\n{table}")])
    assert page.locator("td code").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_pictures_are_shown_and_nothing_runs(page, tmp_path: Path) -> None:
    outputs = [
        v4.new_output("display_data", data={"image/svg+xml": SVG}),
        v4.new_output("display_data", data={"image/png": PNG}),
        v4.new_output("display_data", data={"text/html": HOSTILE}),
        v4.new_output("stream", name="stdout", text=HOSTILE),
    ]
    cells = [
        v4.new_markdown_cell(f"公式 $\\frac{{1}}{{x}}$ {HOSTILE}"),
        v4.new_code_cell(f"# {HOSTILE}", outputs=outputs),
    ]
    open_page(page, tmp_path, cells, HOSTILE)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.get_by_text("公式").is_visible()
    shown = page.evaluate(
        "[...document.images].filter(i => i.src).map(i => [i.complete, i.naturalWidth > 0])"
    )
    assert shown == [[True, True]] * 3  # the formula, the SVG, the PNG
    assert base64.b64encode(SVG.encode()).decode() in page.content()
