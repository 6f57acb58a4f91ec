"""A notebook that ran, as HTML that only shows: nothing of a student's runs in it, and nothing is
loaded from elsewhere.

Pictures become `<img>` with their data inside, where an SVG runs no script. Formulas become
pictures too, by matplotlib: the usual way, MathJax, is a script.
"""

from __future__ import annotations

import base64
import functools
import html
import io
import re
from typing import Any

import bleach
import nbformat.v4 as v4
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

LONGEST = 50_000  # characters of a text output that are shown
_TEXT = ["a", "abbr", "b", "br", "code", "del", "em", "i", "img", "s", "span", "strong", "sub"]
_BLOCKS = ["blockquote", "details", "div", "hr", "li", "ol", "p", "pre", "summary", "sup", "ul"]
_TABLES = ["table", "tbody", "td", "th", "thead", "tr"]
_TAGS = _TEXT + _BLOCKS + _TABLES + ["h1", "h2", "h3", "h4", "h5", "h6"]
_STYLE = re.compile(r"<style\b.*?</style\s*>", re.DOTALL | re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/=\s]+")


class _Renderer(IPythonRenderer):
    def image(self, text: str, url: str, title: str | None = None) -> str:
        # nbconvert raises for an attachment that is missing.
        return (
            html.escape(text) if url.startswith("attachment:") else super().image(text, url, title)
        )

    def inline_math(self, body: str) -> str:
        money = body != body.strip()  # "$5 and $6"
        return html.escape(f"${body}$") if money else _formula_tag(body)

    def block_math(self, body: str) -> str:
        drawn = _formula_tag(body.replace(r"\frac", r"\dfrac"))
        return f'<p class="display">{drawn}</p>'

    def latex_environment(self, name: str, body: str) -> str:
        return f"<pre>{html.escape(body)}</pre>"


_MARKDOWN = MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True))


class _Exporter(HTMLExporter):
    """nbconvert's plain template. It gets outputs that are harmless already (`_best`); here its
    Markdown is cleaned.
    """

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        return markdown_html(source)


def markdown_html(source: str) -> str:
    """Markdown as harmless HTML. nbgrader's pages use it too, see `Course.config`."""
    return clean(str(_MARKDOWN.render(source)))


def notebook_html(notebook: NotebookNode) -> str:
    """The cells as HTML, without a page around them. A cell's id is its anchor: "cell-id=<id>"."""
    shown = v4.new_notebook(cells=[_inert_cell(cell) for cell in notebook.cells])
    exporter = _Exporter(template_name="basic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    body, _ = exporter.from_notebook_node(shown)
    return re.sub(r"<script\b.*?</script\s*>", "", body, flags=re.DOTALL | re.IGNORECASE)


def clean(markup: str) -> str:
    """HTML in which no attribute can run code, and no tag can load anything."""
    return bleach.clean(
        markup, tags=_TAGS, attributes=_harmless, protocols=["http", "https", "data"]
    )


def page_html(markup: str | bytes) -> str:
    """What nbgrader's pages show of an output or of code, see `Course.config`. nbconvert's own
    `clean_html` would show a picture as the text of its tag, and a style sheet as text too.
    """
    text = markup.decode("utf-8", "replace") if isinstance(markup, bytes) else str(markup)
    return clean(_STYLE.sub("", text))


def _harmless(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":
        return bool(_PICTURE.fullmatch(value))
    if tag == "a" and name == "href":
        return bool(re.match(r"https?://|#", value))
    return name in ("class", "alt", "title", "open")


def _inert_cell(cell: NotebookNode) -> NotebookNode:
    if cell.cell_type == "markdown":
        made = v4.new_markdown_cell(cell.source)
    elif cell.cell_type == "code":
        outputs = [made for output in cell.outputs if (made := _inert_output(output)) is not None]
        made = v4.new_code_cell(cell.source, outputs=outputs)
    else:
        made = v4.new_markdown_cell(f"<pre>{html.escape(cell.source)}</pre>")
    made.id = cell.id
    return made


def _inert_output(output: NotebookNode) -> NotebookNode | None:
    if output.output_type == "stream":
        return v4.new_output("stream", name=output.name, text=_cut(output.text))
    if output.output_type == "error":
        # The template shows the traceback; one line of it is enough where the text is ours.
        lines = [_cut(str(line)) for line in output.traceback]
        return v4.new_output("error", ename=output.ename, evalue=output.evalue, traceback=lines)
    kind, content = _best(output.get("data", {}))
    if kind is None:
        return None
    return v4.new_output("display_data", data={kind: content})


def _best(data: dict[str, Any]) -> tuple[str | None, str]:
    """The one form of an output that is shown: a picture, else HTML, else text."""
    texts = {kind: _joined(content) for kind, content in data.items()}
    if svg := texts.get("image/svg+xml"):
        encoded = base64.b64encode(svg.encode("utf-8", "replace")).decode()
        return "text/html", f'<img alt="a picture" src="data:image/svg+xml;base64,{encoded}">'
    for kind in ("image/png", "image/jpeg"):
        if kind in texts and _BASE64.fullmatch(texts[kind]):
            return kind, texts[kind].strip()
    if "text/html" in texts:
        return "text/html", clean(texts["text/html"])
    if "text/latex" in texts:
        formula = texts["text/latex"].strip().strip("$").replace(r"\displaystyle", "")
        return "text/html", f"<p>{_formula_tag(formula)}</p>"
    if "text/markdown" in texts:
        return "text/markdown", texts["text/markdown"]
    if "text/plain" in texts:
        return "text/plain", _cut(texts["text/plain"])
    return None, ""


def _joined(content: Any) -> str:
    return "".join(map(str, content)) if isinstance(content, list) else str(content)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "\n... cut here ..."


def _formula_tag(source: str) -> str:
    """An `<img>`, or the formula as it was written where matplotlib can't draw it."""
    source = " ".join(source.split())
    drawn = _formula(source)
    alt = html.escape(source)
    if drawn is None:
        return f"<code>{alt}</code>"
    svg, depth = drawn
    encoded = base64.b64encode(svg).decode()
    # Its height below the line is told by the class: `style` would be cleaned away.
    return (
        f'<img class="formula below{depth}" alt="{alt}" src="data:image/svg+xml;base64,{encoded}">'
    )


@functools.lru_cache(maxsize=1000)
def _formula(source: str) -> tuple[bytes, int] | None:
    """(SVG, pixels below the line). matplotlib's parser slows down with the depth of braces, and
    this is a stranger's text: so only short and shallow formulas are drawn.
    """
    asian = any(ord(sign) > 0x2E80 for sign in source)  # its fonts have none of these
    if len(source) > 300 or _depth(source) > 6 or asian:
        return None
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    text, font = f"${source}$", FontProperties(size=13)
    buffer = io.BytesIO()
    try:
        with matplotlib.rc_context({"svg.hashsalt": "formula"}):
            width, height, depth, _, _ = MathTextParser("path").parse(text, dpi=72, prop=font)
            figure = Figure(figsize=(width / 72, height / 72))
            figure.text(0, depth / height, text, fontproperties=font)
            figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    except (ValueError, ArithmeticError, RuntimeError):  # RecursionError is one
        return None
    return buffer.getvalue(), min(30, round(depth * 4 / 3))


def _depth(source: str) -> int:
    depth = deepest = 0
    for sign in source:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    return deepest
