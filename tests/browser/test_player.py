"""The player as a reader meets it: in JupyterLab, on its own page, and in a saved notebook."""

from __future__ import annotations

import time

import nbformat
import pytest

from minipaddle import viz
from minipaddle.viz.player import WIDGET_VIEW
from tests.browser.lab import (
    HANGS,
    KERNEL_IS_IDLE,
    new_context,
    open_and_run,
    players,
    press,
    run_cell,
    set_theme,
    where,
)

pytestmark = pytest.mark.browser

STEPS = """
from minipaddle import viz

def picture(x, mul, loss):
    nodes = [
        viz.node("x", "x\\n[2, 3]", "data", state=x, details={"shape": [2, 3]}),
        viz.node("mul", "multiply", "op", state=mul, details="kernel: numpy"),
        viz.node("loss", "mean", "op", state=loss),
    ]
    return viz.graph(nodes, [("x", "mul", 0), ("x", "mul", 1), ("mul", "loss")], name="Graph")

def run(now):
    bars = [viz.bar("kernel", 0, 2, "multiply", "forward", state=["", "now", "done"][now]),
            viz.bar("kernel", 2, 3, "mean", "forward", state=["", "waiting", "now"][now])]
    return viz.timeline(["kernel"], bars, unit="ms", cursor=now, span=(0, 4), name="Time")

source = "y = x * x\\nloss = y.mean()\\n"
player = viz.Player([
    viz.step("Feed x", picture("now", "", ""), viz.text(source, language="python", name="Code"),
             viz.table(["name", "value"], [["x", "[2, 3]"]], name="Scope"), run(0),
             note="x comes first."),
    viz.step("Multiply", picture("done", "now", ""),
             viz.text(source, language="python", name="Code", highlight=1),
             viz.table(["name", "value"], [["x", "[2, 3]"], ["y", "[2, 3]"]], name="Scope"),
             run(1)),
    viz.step("Average", picture("done", "done", "now"),
             viz.text(source, language="python", name="Code", highlight=2),
             viz.table(["name", "value"], [["x", "freed"], ["y", "[2, 3]"]], name="Scope"),
             run(2)),
])
"""


def steps_player() -> viz.Player:
    names: dict = {}
    exec(STEPS, names)
    return names["player"]


@pytest.fixture(scope="module")
def notebook(lab):
    cells = [STEPS + "player", "print('chosen:', player.selected, 'step:', player.step)"]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    made.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(made, lab.root / "player.ipynb")
    return "player.ipynb"


def state(player, node: str) -> str | None:
    return player.locator(f".mp-graph .mp-node[data-id={node}]").get_attribute("data-state")


def python_says(page, text: str) -> None:
    """What the player in Python knows. A change in the browser comes there after a moment: while
    one message is under way, the next ones wait.
    """
    end = time.monotonic() + HANGS
    while text not in (said := run_cell(page, 1)):
        assert time.monotonic() < end, f"expected {text!r}, but got {said!r}"


def active_cell(page) -> list:
    return page.evaluate(
        """() => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            return [notebook.activeCellIndex, notebook.mode];
        }"""
    )


def ours(errors: list[str]) -> list[str]:
    """JupyterLab has its own complaints; these are about our files, or not caught by anybody."""
    return [e for e in errors if "Failed to load resource" not in e]


def test_jupyterlab(page, lab, notebook):
    """Run all, step by button and keyboard, choose a node, switch the theme."""
    open_and_run(page, lab, notebook)
    player = players(page).first
    player.wait_for()
    assert where(player) == "Step 1 of 3: Feed x. x comes first."
    assert [state(player, n) for n in ("x", "mul", "loss")] == ["now", "", ""]

    press(player, "Next")
    assert where(player).startswith("Step 2 of 3: Multiply")
    assert [state(player, n) for n in ("x", "mul", "loss")] == ["done", "now", ""]
    assert player.locator(".mp-line.mp-now code").inner_text() == "y = x * x"
    assert player.locator("tr.mp-added").inner_text().split()[:2] == ["+", "y"]

    page.keyboard.press("ArrowRight")  # the focus is on the button
    assert where(player).startswith("Step 3 of 3: Average")
    assert player.locator("td.mp-changed").inner_text().startswith("△ freed")
    page.keyboard.press("Home")
    assert where(player).startswith("Step 1 of 3")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert where(player).startswith("Step 2 of 3")

    player.locator(".mp-node[data-id=mul]").click()
    assert "kernel: numpy" in player.locator(".mp-details").inner_text()
    python_says(page, "chosen: mul step: 1")  # Python knows both
    page.keyboard.press("Escape")

    player.locator(".mp-node[data-id=x]").focus()
    page.keyboard.press("Enter")
    assert "shape: [2, 3]" in player.locator(".mp-details").inner_text()
    python_says(page, "chosen: x step: 1")
    press(player, "Next")
    for key in ("ArrowLeft", "ArrowRight", "Home", " ", " ", "Enter", "Escape"):
        page.keyboard.press(key)
    player.locator(".mp-node[data-id=x]").click()
    for key in ("ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)

    player.locator(".mp-span").nth(1).click()  # a bar of the timeline
    assert "2 to 3" in player.locator(".mp-details").inner_text()
    python_says(page, "chosen: kernel|mean|2 step: 2")
    player.locator(".mp-span").nth(1).click()
    for key in ("+", "-", "0", "0", "?", "?", "Shift+ArrowDown", "/"):
        page.keyboard.press(key)
    page.keyboard.type("dda mean")  # in JupyterLab, d d erases the cell, a makes a new one
    assert player.locator(".mp-search-says").inner_text() == "not found"
    player.get_by_label("Search").fill("mean")
    assert player.locator(".mp-search-says").inner_text() == "1 of 3"  # node, line, bar
    page.keyboard.press("Enter")
    assert player.locator(".mp-line.mp-found-now code").inner_text() == "loss = y.mean()"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator(".jp-Notebook .jp-Cell").count() == 2

    # JupyterLab took none of these keys; what isn't ours, it gets.
    assert active_cell(page) == [0, "command"]
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex === 1"
    )

    before = player.evaluate("e => getComputedStyle(e).backgroundColor")
    set_theme(page, "JupyterLab Dark")
    page.wait_for_function(
        "([e, old]) => getComputedStyle(e).backgroundColor !== old",
        arg=[player.element_handle(), before],
    )
    assert_readable(player)
    set_theme(page, "JupyterLab Light")
    assert_readable(player)
    assert not ours(page.errors)


def assert_readable(player) -> None:
    """Labels stand out from their boxes: contrast of at least 4.5, the figure of WCAG AA."""
    contrasts = player.evaluate(
        """e => {
            const light = (css) => {
                const [r, g, b] = css.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
                    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            const things = e.querySelectorAll(".mp-graph .mp-node, .mp-timeline .mp-span");
            return [...things].map((n) => ratio(
                light(getComputedStyle(n.querySelector("text")).fill),
                light(getComputedStyle(n.querySelector(".mp-shape")).fill)));
        }"""
    )
    assert contrasts and min(contrasts) > 4.5, contrasts


def test_steps_without_a_kernel(page, lab, notebook):
    open_and_run(page, lab, notebook)
    player = players(page).first
    player.wait_for()
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel"
    )
    press(player, "Next")
    assert where(player).startswith("Step 2 of 3")
    assert state(player, "mul") == "now"
    player.locator(".mp-node[data-id=mul]").click()
    assert "kernel: numpy" in player.locator(".mp-details").inner_text()


def test_python_moves_the_player(page, lab, notebook):
    made = nbformat.read(lab.root / notebook, 4)
    made.cells[1].source = "player.step = 2"
    nbformat.write(made, lab.root / "moved.ipynb")
    open_and_run(page, lab, "moved.ipynb")
    player = players(page).first
    page.wait_for_function(
        "e => e.querySelector('.mp-live').textContent.startsWith('Step 3')",
        arg=player.element_handle(),
    )
    assert state(player, "loss") == "now"


def test_several_players_in_one_notebook(page, lab, notebook):
    """One player shown twice is in one step; another one with the same steps walks by itself."""
    made = nbformat.read(lab.root / notebook, 4)
    sources = ["player", "viz.Player(player.steps)"]
    made.cells[1:] = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(made, lab.root / "several.ipynb")
    open_and_run(page, lab, "several.ipynb")
    page.wait_for_function("() => document.querySelectorAll('.mp-player').length === 3")
    first, again, other = players(page).all()
    press(first, "Next")
    page.wait_for_function(
        "e => e.querySelector('.mp-live').textContent.startsWith('Step 2')",
        arg=again.element_handle(),
    )
    assert where(first).startswith("Step 2") and where(other).startswith("Step 1")
    other.locator(".mp-node[data-id=x]").click()
    assert other.locator(".mp-selected").count() == 1 and first.locator(".mp-selected").count() == 0


def seen(page) -> tuple[list[str], str]:
    """What stands in the outputs of the first cell: alt texts of the pictures; other words."""
    output = page.locator(".jp-Notebook .jp-Cell").first.locator(".jp-OutputArea")
    images = [i for i in output.locator("img").all() if i.is_visible()]
    return [i.get_attribute("alt") for i in images], output.inner_text().strip()


def saved_by_jupyterlab(page, lab, notebook: str, to: str) -> None:
    """Runs a notebook, saves it as a learner does, and ends its kernel."""
    lab.add(lab.root / notebook, to)
    open_and_run(page, lab, to)
    players(page).first.wait_for()
    assert seen(page)[0] == []  # the player stands in the picture's place
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.goto("about:blank")


@pytest.mark.parametrize("trusted", [True, False])
def test_a_saved_notebook_opened_again_shows_the_picture(page, lab, notebook, trusted):
    """Its kernel is gone, and widgets are not saved. JupyterLab trusts what it saved itself."""
    saved_by_jupyterlab(page, lab, notebook, "saved.ipynb")
    data = [o.get("data", {}) for o in nbformat.read(lab.root / "saved.ipynb", 4).cells[0].outputs]
    assert any(WIDGET_VIEW in one for one in data)
    if not trusted:
        made = nbformat.read(lab.root / "saved.ipynb", 4)
        made.cells[0].source += "  # changed elsewhere"
        nbformat.write(made, lab.root / "saved.ipynb")
    page.goto(f"{lab.url}/lab/tree/saved.ipynb?reset")
    page.wait_for_selector(".jp-OutputArea-output img", timeout=HANGS * 1000)
    page.wait_for_function(KERNEL_IS_IDLE, timeout=HANGS * 1000)  # now widgets are looked for
    page.wait_for_timeout(1000)
    trust = "() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.trusted"
    assert page.evaluate(trust) == trusted
    assert seen(page) == (["Feed x (3 steps)"], "")
    image = page.locator(".jp-OutputArea-output img")
    assert image.evaluate("e => e.complete && e.naturalWidth > 200")
    run_cell(page, 0)
    players(page).first.wait_for()
    assert seen(page)[0] == []


def test_a_restarted_kernel_leaves_the_player_as_it_is(page, lab, notebook):
    open_and_run(page, lab, notebook)
    player = players(page).first
    player.wait_for()
    session = "window.jupyterapp.shell.currentWidget.sessionContext.session"
    page.evaluate(f"() => {session}.kernel.restart()")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=HANGS * 1000)
    press(player, "Next")
    assert where(player).startswith("Step 2 of 3")
    player.locator(".mp-node[data-id=mul]").click()
    assert "kernel: numpy" in player.locator(".mp-details").inner_text()


def test_nbconvert_shows_the_picture(page, tmp_path):
    nbconvert = pytest.importorskip("nbconvert", reason="needs nbconvert: it comes with JupyterLab")
    data, _ = steps_player()._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell("player", execution_count=1)
    view = {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}
    cell.outputs = [
        nbformat.v4.new_output("display_data", dict(data)),
        nbformat.v4.new_output("display_data", {WIDGET_VIEW: view}),
    ]
    made = nbformat.v4.new_notebook(cells=[cell])
    # "basic" leaves out what nbconvert itself fetches from the network.
    body, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(made)
    file = tmp_path / "exported.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{body}", encoding="utf-8")
    page.goto(file.as_uri())
    image = page.locator("img")
    assert image.count() == 1
    assert image.evaluate("e => e.decode().then(() => e.naturalWidth > 200)")
    assert page.locator("body").inner_text().strip().endswith("player")  # the cell, and no more
    assert not page.errors


def test_page_of_its_own(page, tmp_path):
    """to_html() is one file: it opens from the disk and steps."""
    file = tmp_path / "player.html"
    file.write_text(steps_player().to_html(), encoding="utf-8")
    page.goto(file.as_uri())
    player = players(page).first
    assert where(player) == "Step 1 of 3: Feed x. x comes first."
    player.get_by_label("Jump to step").fill("3")
    assert where(player).startswith("Step 3 of 3")
    press(player, "Previous")
    assert state(player, "mul") == "now"
    player.locator(".mp-node[data-id=mul]").click()
    assert "kernel: numpy" in player.locator(".mp-details").inner_text()
    assert not page.errors


def test_play_walks_to_the_end_and_stops(page, tmp_path):
    file = tmp_path / "player.html"
    file.write_text(steps_player().to_html(), encoding="utf-8")
    page.goto(file.as_uri())
    player = players(page).first
    player.get_by_label("Speed").select_option(label="fast")
    press(player, "Play")
    player.get_by_role("button", name="Pause").wait_for()
    page.wait_for_function(
        "() => document.querySelector('.mp-live').textContent.startsWith('Step 3')"
    )
    player.get_by_role("button", name="Play").wait_for()  # stopped by itself


def test_hostile_labels_stay_text(page, tmp_path):
    bad = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    graph = viz.graph([viz.node(bad, bad, bad, details=bad)], [(bad, bad, bad, bad)], name=bad)
    steps = [
        viz.step(bad, graph, viz.text(bad, name=bad), viz.table([bad], [[bad]]), note=bad)
        for _ in range(2)
    ]
    file = tmp_path / "player.html"
    file.write_text(viz.Player(steps, label=bad).to_html(), encoding="utf-8")
    page.goto(file.as_uri())
    player = players(page).first
    player.locator(".mp-node").first.click()
    press(player, "Next")
    assert page.evaluate("() => window.hacked") is None
    assert player.locator("img, script").count() == 0
    assert not page.errors


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_reduced_motion_and_both_schemes(chromium, tmp_path, scheme):
    file = tmp_path / "player.html"
    file.write_text(steps_player().to_html(), encoding="utf-8")
    context = new_context(chromium, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(file.as_uri())
    player = players(page).first
    assert_readable(player)
    moving = player.locator(".mp-graph .mp-node").first.evaluate(
        "e => getComputedStyle(e).transitionProperty"
    )
    assert moving == "none"
    context.close()


def test_one_tab_stop_per_graph(page, tmp_path):
    """A graph is one stop on the way through the page; up and down move inside it."""
    file = tmp_path / "player.html"
    file.write_text(steps_player().to_html(), encoding="utf-8")
    page.goto(file.as_uri())
    player = players(page).first
    assert player.locator(".mp-graph .mp-node[tabindex='0']").count() == 1
    player.locator(".mp-graph .mp-node[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    focused = "() => document.activeElement.dataset.id"
    assert page.evaluate(focused) == "mul"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == "x"
