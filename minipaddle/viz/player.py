"""The player: steps to walk through, in JupyterLab, in a saved notebook, on a page of its own.

`Player(steps)` as the last line of a cell shows it. Everything goes to the browser once; walking
needs no kernel after that. It writes two outputs. The first is a picture (text/html with an
`<img>`, image/svg+xml) and a summary in words (text/plain). The second is the widget. While the
widget lives, it stands in the picture's place; where it doesn't (a saved notebook, opened again
without its kernel), the picture is there, and Jupyter's "model not found" is not. Nothing in the
first output is random, so the outputs of a notebook can be compared from run to run; only the id in
the widget's own mime type changes, and nbval skips that.

Without the package `anywidget`, the picture and `to_html()` still work; only the live widget is
missing.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from .frame import Step, check_steps
from .scene import make_scene
from .summary import summary
from .svg import step_svg, strip_svg

_HERE = Path(__file__).parent
# Put together, they are one ES module: no file of it has to be found, or fetched, by a browser.
_PARTS = ("dom", "view", "graph", "panes", "timeline", "search", "player")
_CSS = (_HERE / "web" / "player.css").read_text("utf-8")
_JS = "\n".join((_HERE / "web" / f"{part}.js").read_text("utf-8") for part in _PARTS)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# In JupyterLab and Jupyter Notebook: of the picture and the widget after it (an .lm-Panel), one can
# be seen. A notebook that isn't trusted gets no <style>, but no widget either.
_ONE_OF_TWO = (
    "<style>"
    ".jp-OutputArea-child:has(.mp-picture-of):has(+ .jp-OutputArea-child .mp-player),"
    ".jp-OutputArea-child:has(.mp-picture-of) + .jp-OutputArea-child:has(> .lm-Panel)"
    ":not(:has(.mp-player))"
    "{display: none}"
    "</style>"
)


class StaticPlayer:
    """What a player can do without a browser beside it: count, draw, write pages.

    `steps`: made by `viz.step`, or one step for a picture that doesn't move; checked here
    (ValueError, TypeError). `label` names the player for screen readers.
    `keep_places`: True: a node stands in one place in all steps; False: each step is laid out anew,
    as small as it can be. Left out: True if one of the steps shows all the nodes.
    """

    # What the widget keeps in step with the browser; without one they stay as they are.
    step: Any = 0
    selected: Any = ""

    def __init__(
        self, steps: Step | Iterable[Step], *, label: str = "", keep_places: bool | None = None
    ) -> None:
        self._steps = check_steps(steps)
        self._drawn = make_scene(self._steps, label=label, keep_places=keep_places)

    @property
    def steps(self) -> list[Step]:
        """The steps, as plain data."""
        return self._steps

    def __len__(self) -> int:
        return len(self._steps)

    def __str__(self) -> str:
        return summary(self._steps, self._drawn)

    def __repr__(self) -> str:
        return str(self)

    def to_svg(self, step: int | None = None) -> str:
        """One step (from 0; negative from the end) as SVG, or all as a film strip."""
        if step is None:
            return strip_svg(self._drawn) if len(self) > 1 else step_svg(self._drawn, 0)
        if not -len(self) <= step < len(self):
            raise IndexError(
                f"Player.to_svg: expected step from 0 to {len(self) - 1}, but got {step}. "
                "Leave it out for all steps."
            )
        return step_svg(self._drawn, step % len(self))

    def to_html(self) -> str:
        """One HTML page, with everything in it.

        It can be mailed, and opened without a server or a network.
        """
        data = json.dumps(self._drawn, ensure_ascii=False)
        for (
            letter
        ) in "<>&\u2028\u2029":  # nothing in the data can end the script, or be read as HTML
            data = data.replace(letter, f"\\u{ord(letter):04x}")
        return _PAGE.format(
            title=escape(self._drawn["label"]),
            css=_CSS,
            js=_JS,
            data=data,
        )

    def _static_bundle(self) -> dict[str, Any]:
        svg = self.to_svg()
        count = f" ({len(self)} steps)" if len(self) > 1 else ""
        alt = escape(self._drawn["label"] + count)
        encoded = base64.b64encode(svg.encode()).decode()
        return {
            "text/plain": str(self),
            "text/html": f'{_ONE_OF_TWO}<img class="mp-picture-of" alt="{alt}" '
            f'src="data:image/svg+xml;base64,{encoded}">',
            "image/svg+xml": svg,
        }

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return self._static_bundle(), {}


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{css}
</style>
<body class="mp-page">
<main id="player"></main>
<script type="application/json" id="scene">{data}</script>
<script type="module">
{js}
mount(document.getElementById("player"), JSON.parse(document.getElementById("scene").textContent));
</script>
</body>
</html>
"""

try:
    import anywidget
    import traitlets
except ImportError:  # the base install: pictures and pages, no widget
    Player = StaticPlayer  # type: ignore[assignment,misc]
else:

    class Player(StaticPlayer, anywidget.AnyWidget):  # type: ignore[no-redef]
        __doc__ = StaticPlayer.__doc__

        _esm = _JS
        _css = _CSS
        _scene = traitlets.Dict().tag(sync=True)
        step = traitlets.Int(0, help="the step that is shown, from 0").tag(sync=True)
        selected = traitlets.Unicode("", help="id of the chosen node or bar").tag(sync=True)

        def __init__(
            self, steps: Step | Iterable[Step], *, label: str = "", keep_places: bool | None = None
        ) -> None:
            StaticPlayer.__init__(self, steps, label=label, keep_places=keep_places)
            anywidget.AnyWidget.__init__(self, _scene=self._drawn)

        @traitlets.validate("step")
        def _inside(self, proposal: Any) -> int:
            step = proposal["value"]
            if not 0 <= step < len(self):
                raise traitlets.TraitError(
                    f"Player.step: expected 0 to {len(self) - 1}, but got {step}. "
                    f"There are {len(self)} steps."
                )
            return step

        def _repr_mimebundle_(self, **_: Any) -> Any:
            return self._static_bundle(), {}

        def _ipython_display_(self) -> None:
            from IPython.display import display  # where this is called, IPython is there

            display(self._static_bundle(), raw=True)
            view = {"model_id": self.model_id, "version_major": 2, "version_minor": 0}
            display({WIDGET_VIEW: view}, raw=True)
