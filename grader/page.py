"""Pages of HTML from the templates in `pages/`: they hold all they need, load nothing, and run no
script.
"""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def render(template: str, **content: Any) -> str:
    """A page. Text is escaped; only markupsafe's Markup isn't."""
    environment = Environment(
        loader=PackageLoader("grader", "pages"),
        autoescape=select_autoescape(["html", "j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(**content)


def number(value: float) -> str:
    """Points as people write them: 2, 1.5, 0.67."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
