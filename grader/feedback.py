"""Feedback for learners: a page of HTML for every submission, from nbgrader's template.

Two things are taken out. What a student's code could put into the page (scripts, forms): the page
is opened by others too. And the hidden tests: the page shows their points and their message, but
neither their code nor a traceback through it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import bleach
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, GetGrades

from grader.course import NOTEBOOK, Course
from grader.errors import GraderError
from grader.verdict import GRADED, NOT_GRADABLE, Verdict, load_all


class HideHiddenTests(ClearHiddenTests):
    """Takes the hidden tests out of a graded notebook, with the traceback that would quote them."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        if self._remove_hidden_test_region(cell):
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources


# What rendered Markdown may hold. No attribute can run code, and no tag can load anything.
_TEXT = ["a", "abbr", "b", "br", "code", "del", "em", "i", "s", "span", "strong", "sub", "sup"]
_BLOCKS = ["blockquote", "details", "div", "hr", "li", "ol", "p", "pre", "summary", "ul"]
_TABLES = ["table", "tbody", "td", "th", "thead", "tr"]
_TAGS = _TEXT + _BLOCKS + _TABLES + ["h1", "h2", "h3", "h4", "h5", "h6"]
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "style-src 'unsafe-inline'\">"
)


class PlainPage(HTMLExporter):
    """HTML that only shows: no script at all, neither a student's nor the template's, no network.

    nbconvert's `sanitize_html` cleans outputs, but not Markdown under nbgrader's template. And the
    template loads MathJax from the web, so formulas stay as they were written.
    """

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        rendered = super().markdown2html(context, source)
        return bleach.clean(rendered, tags=_TAGS, attributes={"*": ["class", "id"], "a": ["href"]})

    def from_notebook_node(self, nb: NotebookNode, *args: Any, **kw: Any) -> tuple[str, Any]:
        page, resources = super().from_notebook_node(nb, *args, **kw)
        page = re.sub(r"<script\b.*?</script\s*>", "", page, flags=re.DOTALL | re.IGNORECASE)
        return page.replace("<head>", f"<head>\n{_POLICY}", 1), resources


def feedback(
    course: Course, module: str | None = None, done: Callable[[Verdict], None] = lambda v: None
) -> list[Verdict]:
    """Writes grader/feedback/<student>/<module>/exercise.html for every verdict but the failed
    ones. Returns those.
    """
    if module is not None:
        module = course.module(module)
    found = [v for v in load_all(course, module) if v.status in (GRADED, NOT_GRADABLE)]
    if not found:
        raise GraderError(
            f"grader feedback: expected graded submissions in {course.work}, but got none. Run "
            "grader grade first."
        )
    for verdict in found:
        if verdict.status == GRADED:
            _write_graded(course, verdict)
        else:
            _write_not_gradable(course, verdict)
        done(verdict)
    return found


def _write_graded(course: Course, verdict: Verdict) -> None:
    config = course.config()
    config.HTMLExporter.sanitize_html = True
    # A picture as SVG becomes an <img>; as HTML it would be cleaned away.
    kinds = ["image/svg+xml", "image/png", "image/jpeg", "text/html", "text/latex", "text/plain"]
    config.NbConvertBase.display_data_priority = kinds
    log = course.log()
    directory = CourseDirectory(config=config, log=log)
    directory.assignment_id, directory.student_id = verdict.module, verdict.student
    directory.notebook_id = NOTEBOOK
    converter = GenerateFeedback(coursedir=directory, config=config, log=log)
    converter.exporter_class = PlainPage
    converter.force = True
    converter.preprocessors = [HideHiddenTests, GetGrades, CSSHTMLHeaderPreprocessor]
    try:
        converter.start()
    except NbGraderException:
        raise GraderError(
            f"grader feedback: expected {verdict.student}'s {verdict.module} to become a page, but "
            "nbgrader failed. "
            f"Grade it again; details: {course.work / 'nbgrader.log'}"
        ) from None


def _write_not_gradable(course: Course, verdict: Verdict) -> None:
    folder = course.step("feedback", verdict.student, verdict.module)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NOTEBOOK}.html").write_text(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        "<title>exercise</title></head><body>\n"
        f"<h1>{html.escape(verdict.module)}: not gradable</h1>\n"
        f"<p>{html.escape(verdict.reason)}</p>\n"
        f"<p>Score: 0 / {verdict.max_score:g}. Nobody has judged your work: it could not be "
        "read.</p>\n"
        "</body></html>\n",
        encoding="utf-8",
    )
