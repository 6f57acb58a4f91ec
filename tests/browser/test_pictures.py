"""What a reader does with pictures: search, zoom, move, choose; and large ones; small windows."""

from __future__ import annotations

import re

import pytest

from minipaddle import viz
from minipaddle.viz import looks
from minipaddle.viz.bars import Axis
from tests.browser.lab import new_context, players, press, where

pytestmark = pytest.mark.browser

LINES = ["x = paddle.ones([2])", "y = matmul(x, w)", "z = relu(y)"]
LABELS = ["matmul", "激活函数的梯度 relu", "矩阵乘法矩阵乘法", "W" * 26, "i\n" + "W" * 26, "ﬁ—…"]


def chain(count: int, state=lambda i: "", skip=()) -> viz.GraphPane:
    """A graph with branches, in which node i needs i - 1 and some earlier one."""
    shown = [i for i in range(count) if i not in skip]
    nodes = [
        viz.node(i, f"op {i}\n[32, {i}]", "op", state=state(i), details=f"kernel {i}")
        for i in shown
    ]
    edges = [(a, b, 0) for a, b in zip(shown, shown[1:], strict=False)]
    edges += [(shown[i // 2], shown[i], 1) for i in range(9, len(shown), 7)]
    return viz.graph(nodes, edges, name="Graph")


def pipeline(now: int) -> viz.TimelinePane:
    bars = [
        viz.bar(f"stage {s}", s + m, s + m + 1, f"F{m}", "forward", details=f"micro-batch {m}")
        for s in range(3)
        for m in range(4)
    ]
    return viz.timeline([f"stage {s}" for s in range(3)], bars, cursor=now, span=(0, 6), unit="ms")


@pytest.fixture
def show(page, tmp_path):
    """Opens a player on a page of its own."""

    def show(*steps: viz.Step, style: str = "", **options):
        file = tmp_path / "player.html"
        made = viz.Player(steps, **options).to_html().replace("</style>", f"{style}</style>")
        file.write_text(made, encoding="utf-8")
        page.goto(file.as_uri())
        return players(page).first

    yield show
    assert not page.errors


def size(player, selector: str) -> tuple[float, float]:
    box = player.locator(selector).first.bounding_box()
    return box["width"], box["height"]


def test_search_goes_through_panes_and_steps(page, show):
    text = viz.text(LINES, name="Code")
    table = viz.table(["name", "value"], [["w", "matmul"]])
    player = show(
        viz.step("one", chain(12), text, table),
        viz.step("two", chain(12), text),
        viz.step("three", chain(12), text, viz.table(["name"], [["only here"]])),
    )
    says = player.locator(".mp-search-says")
    player.get_by_role("slider").focus()
    page.keyboard.press("/")
    page.keyboard.type("MatMul")
    assert says.inner_text() == "1 of 2"  # a line and a row
    assert player.locator(".mp-line.mp-found-now code").inner_text() == LINES[1]
    page.keyboard.press("Enter")
    assert says.inner_text() == "2 of 2" and player.locator("tr.mp-found-now").count() == 1
    page.keyboard.press("Enter")
    assert where(player).startswith("Step 2") and says.inner_text() == "1 of 1"
    page.keyboard.press("Shift+Enter")
    assert where(player).startswith("Step 1") and says.inner_text() == "2 of 2"

    player.get_by_label("Search").fill("kernel 11")  # in the details of a node
    assert player.locator(".mp-node.mp-found-now").get_attribute("data-id") == "11"
    player.get_by_label("Search").fill("only here")
    assert says.inner_text() == "not here; Enter: step 3"
    page.keyboard.press("Enter")
    assert where(player).startswith("Step 3") and says.inner_text() == "1 of 1"
    player.get_by_label("Search").fill("nowhere")
    assert says.inner_text() == "not found"
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert player.locator(".mp-found").count() == 0 and says.inner_text() == ""


def test_search_shows_what_it_finds(page, show):
    player = show(viz.step("large", chain(200)))
    player.get_by_label("Search").fill("op 150")
    page.wait_for_function(
        """() => {
            const box = document.querySelector(".mp-graph").getBoundingClientRect();
            const node = document.querySelector(".mp-found-now").getBoundingClientRect();
            return box.top <= node.top && node.bottom <= box.bottom
                && box.left <= node.left && node.right <= box.right;
        }"""
    )


def test_zoom_and_fit(page, show):
    player = show(viz.step("one", chain(60)), viz.step("two", chain(60)))
    before = size(player, ".mp-node .mp-shape")
    player.get_by_role("slider").focus()
    page.keyboard.press("+")
    larger = size(player, ".mp-node .mp-shape")
    assert larger[0] == pytest.approx(before[0] * 1.25, rel=0.05)
    page.keyboard.press("-")
    assert size(player, ".mp-node .mp-shape")[0] == pytest.approx(before[0], rel=0.05)
    player.get_by_role("button", name="Zoom in").click()
    press(player, "Next")  # the zoom stays
    assert size(player, ".mp-node .mp-shape")[0] == pytest.approx(larger[0], rel=0.05)
    page.keyboard.press("0")
    assert player.locator(".mp-graph").evaluate(
        "e => e.scrollHeight <= e.clientHeight + 1 && e.scrollWidth <= e.clientWidth + 1"
    )
    page.keyboard.press("0")
    assert size(player, ".mp-node .mp-shape")[0] == pytest.approx(before[0], rel=0.05)

    box = player.locator(".mp-graph").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    page.wait_for_function(
        "w => document.querySelector('.mp-node .mp-shape').getBoundingClientRect().width > w",
        arg=before[0] * 1.2,
    )


def test_drag_and_keys_move_the_picture(page, show):
    player = show(viz.step("one", chain(60)), viz.step("two", chain(60)))
    graph = player.locator(".mp-graph")
    top = "() => document.querySelector('.mp-graph').scrollTop"
    node = player.locator(".mp-node[data-id='4']").bounding_box()
    x, y = node["x"] + node["width"] / 2, node["y"] + node["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 100, steps=4)
    page.mouse.up()
    assert page.evaluate(top) == pytest.approx(100, abs=2)
    assert player.locator(".mp-selected").count() == 0  # a drag that starts on a node is no click
    graph.locator(".mp-node[tabindex='0']").focus()
    page.keyboard.press("Shift+ArrowDown")
    page.wait_for_function("() => document.querySelector('.mp-graph').scrollTop > 170")
    assert where(player).startswith("Step 1")


def test_bars_are_chosen_and_stretched(page, show):
    player = show(viz.step("one", pipeline(1)), viz.step("two", pipeline(2)))
    assert player.locator(".mp-timeline .mp-span").count() == 12
    first = player.locator(".mp-span[tabindex='0']")
    first.focus()
    page.keyboard.press("Enter")
    assert "micro-batch 0" in player.locator(".mp-details").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert "micro-batch 1" in player.locator(".mp-details").inner_text()
    label = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    assert label == "F1, forward, stage 0, 1 to 2 ms"
    wide, high = size(player, ".mp-span .mp-shape")
    player.get_by_role("button", name="Zoom in").click()
    wider, higher = size(player, ".mp-span .mp-shape")
    assert (
        wider == pytest.approx(wide * 1.25, rel=0.05) and higher == high
    )  # only the time stretches
    cursor = "() => document.querySelector('.mp-cursor').getBoundingClientRect().left"
    before = page.evaluate(cursor)
    press(player, "Next")
    assert page.evaluate(cursor) - before == pytest.approx(wider, rel=0.1)


def test_the_browser_draws_bars_and_ticks_as_python_does(show):
    """Both have the code, since the browser stretches the time."""
    kinds = list(looks.BARS)
    bars = [viz.bar("lane", i, i + 1 + i / 7, kind, kind) for i, kind in enumerate(kinds)]
    player = show(viz.step("one", viz.timeline(["lane"], bars, span=(0, 7.3))))
    shapes = player.evaluate(
        """e => [...e.querySelectorAll(".mp-timeline .mp-shape")].map((s) =>
            [s.getAttribute("d"), s.getBBox().width, s.getBBox().height])"""
    )
    assert len(shapes) == len(kinds)
    for kind, (path, width, height) in zip(kinds, shapes, strict=True):
        expected = looks.bar_outline(looks.BARS[kind].shape, width, height)
        assert numbers(path) == pytest.approx(numbers(expected), abs=0.1), kind
    width = player.evaluate("e => e.querySelector('.mp-time').width.baseVal.value - 24")
    ticks = player.locator(".mp-time .mp-tick").all_text_contents()
    assert ticks == [words for _, words in Axis(0, 7.3, width).ticks()]


def numbers(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?[\d.]+", path)]


def test_nodes_keep_their_identity(page, show):
    """The same element moves; what goes, fades; what comes, appears."""
    small = viz.graph(["a", "b", "c"], [("a", "b"), ("b", "c")])
    other = viz.graph(["a", "c", "d"], [("a", "c"), ("c", "d")])
    player = show(viz.step("one", small), viz.step("two", other), keep_places=False)
    page.evaluate("() => { document.querySelector('[data-id=c]').dataset.mine = 'yes'; }")
    before = player.locator("[data-id=c]").bounding_box()["y"]
    press(player, "Next")
    assert player.locator("[data-id=b].mp-leaving").count() == 1
    assert player.locator("[data-id=c]").get_attribute("data-mine") == "yes"
    page.wait_for_function("() => !document.querySelector('[data-id=b]')")
    page.wait_for_function(
        "y => Math.abs(document.querySelector('[data-id=c]').getBoundingClientRect().y - y) > 20",
        arg=before,
    )
    opacity = "() => Number(getComputedStyle(document.querySelector('[data-id=d]')).opacity)"
    page.wait_for_function(f"() => ({opacity})() === 1")


def test_every_control_has_a_name_and_shows_the_focus(page, show):
    player = show(viz.step("one", chain(12), pipeline(1)), viz.step("two", chain(12), pipeline(2)))
    nameless = player.evaluate(
        """e => [...e.querySelectorAll("button, input, select, [role=button], [role=group]")]
            .filter((c) => !(c.getAttribute("aria-label") || c.closest("label") || c.innerText))
            .map((c) => c.outerHTML)"""
    )
    assert nameless == []
    seen = []
    page.evaluate("() => document.activeElement.blur()")
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                """() => {
                    const now = document.activeElement;
                    if (now === document.body) return null;
                    const ring = now.querySelector?.(".mp-ring") ?? now;
                    const style = getComputedStyle(ring);
                    const shown = style.outlineStyle !== "none" || style.stroke !== "none";
                    return [now.className.baseVal ?? now.className, now.tagName, shown];
                }"""
            )
        )
        if seen[-1] is None:
            break
    stops = [stop for stop in seen if stop]
    assert len(stops) >= 14, stops
    assert all(shown for _, _, shown in stops), stops


@pytest.mark.parametrize(("width", "height", "scale"), [(1280, 800, 1), (1024, 640, 1.25)])
def test_panes_fit_the_screen_and_can_be_read(chromium, tmp_path, width, height, scale):
    """1280 pixels, also at 125 % zoom: no scrolling sideways, no letters under 9 pixels."""
    step = viz.step(
        "four panes",
        chain(14),
        viz.text(LINES, name="Code"),
        viz.table(["name", "value"], [["x", "[2]"]]),
        pipeline(2),
    )
    file = tmp_path / "player.html"
    file.write_text(viz.Player(step).to_html(), encoding="utf-8")
    viewport = {"width": width, "height": height}
    context = new_context(chromium, viewport=viewport, device_scale_factor=scale)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll(".mp-label, .mp-span text")].map(
            (t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))"""
    )
    tops = page.evaluate(
        "() => [...document.querySelectorAll('.mp-pane')].map((p) => p.getBoundingClientRect().top)"
    )
    context.close()
    assert smallest >= 9
    assert tops[0] == tops[1] == tops[2]  # side by side


def test_in_a_narrow_window_small_panes_stand_beside_the_graph(page, show):
    page.set_viewport_size({"width": 620, "height": 800})
    table = viz.table(["name", "value"], [["x", "[2]"]])
    text = viz.text([*LINES, "loss = mean(z)  # " + "a long line " * 3], name="Code")
    show(viz.step("four panes", chain(14), text, table, pipeline(2)))
    graph, text, table, time = page.evaluate(
        """() => [...document.querySelectorAll('.mp-pane')].map((p) => {
            const box = p.getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom];
        })"""
    )
    assert graph[1] == text[1] and graph[2] < text[0]
    assert table[0] == text[0] and table[1] > text[3]
    assert time[0] == graph[0] and time[1] > graph[3] and time[2] == text[2]
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_odd_frames_are_drawn_and_stepped(page, show):
    """No node, a loop, a cycle, parallel edges, long Chinese words, markup; in a narrow window."""
    page.set_viewport_size({"width": 420, "height": 800})
    nodes = [
        viz.node("a", "矩阵乘法" * 9),
        viz.node("b", "b\n" * 9),
        viz.node("c", "<b>c</b>&amp;"),
    ]
    edges = [
        ("a", "a"),
        ("a", "b", 0),
        ("a", "b", 0),
        ("b", "c"),
        viz.edge("c", "a", label="长" * 99),
    ]
    graph = viz.graph(nodes, edges, [viz.cluster("群" * 40, ["a", "b"])])
    table = viz.table(["名字", "值"], [["x", "很长的值" * 30]])
    player = show(
        viz.step("很长的标题" * 12, graph, table, note="注释" * 80),
        viz.step("none", viz.graph([]), viz.table(["名字", "值"])),
        viz.step("one", viz.graph(["a"], [("a", "a")]), viz.table(["名字", "值"], [["x", "1"]])),
    )
    lines = player.locator(".mp-edge")
    assert len({line.get_attribute("d") for line in lines.all()}) == len(edges)
    assert player.locator(".mp-node text", has_text="<b>c</b>&amp;").count() == 1
    for step in ("none", "one"):
        press(player, "Next")
        assert player.locator(".mp-title").inner_text() == step
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    page.wait_for_function("() => document.querySelectorAll('.mp-edge').length === 1")
    tops = "() => [...document.querySelectorAll('.mp-pane')].map((p) => p.getBoundingClientRect())"
    graph_box, table_box = page.evaluate(tops)
    assert table_box["top"] - graph_box["bottom"] < 30  # right below, though less is shown now


def test_a_thousand_steps(page, show):
    steps = [
        viz.step(f"at {i}", chain(12), viz.text(LINES, highlight=i % 3 + 1)) for i in range(1000)
    ]
    player = show(*steps)
    player.get_by_label("Jump to step").fill("1000")
    assert where(player).startswith("Step 1000 of 1000: at 999")
    player.get_by_label("Search").fill("nowhere")
    assert player.locator(".mp-search-says").inner_text() == "not found"


@pytest.mark.parametrize("font", ["", "sans-serif", "serif"])
def test_labels_stay_in_their_boxes(show, font):
    """Also Chinese ones, and in a font whose letters are wider than the table of widths expects."""
    style = f".mp-player {{ --mp-mono: {font} }}" if font else ""
    nodes = [viz.node(i, label) for i, label in enumerate(LABELS)]
    player = show(viz.step("one", viz.graph(nodes)), style=style)
    outside = player.evaluate(
        """e => [...e.querySelectorAll(".mp-graph .mp-node")].flatMap((n) => {
            const box = n.querySelector(".mp-shape").getBoundingClientRect();
            return [...n.querySelectorAll("text")].filter((t) => {
                const words = t.getBoundingClientRect();
                return words.left < box.left || words.right > box.right;
            }).map((t) => t.textContent);
        })"""
    )
    assert outside == []


def walk_through(count: int) -> list[viz.Step]:
    """Fifty of 500 nodes change in each step, and none moves."""

    def one(at: int) -> viz.Step:
        def state(i):
            return "done" if i < at else "now" if i < at + 25 else "waiting"

        return viz.step(f"at {at}", chain(500, state))

    return [one(25 * i) for i in range(count)]


def all_move(count: int) -> list[viz.Step]:
    """All of 500 nodes move in each step."""

    def one(i: int) -> viz.Step:
        return viz.step(f"step {i}", chain(520, skip=range(20 * (i % 2))))

    return [one(i) for i in range(count)]


@pytest.mark.parametrize("steps", [walk_through, all_move])
def test_in_a_step_of_500_nodes_places_are_computed_a_few_times_only(page, show, steps):
    """A script that asks each node where it is, and then moves it, lets Chromium compute all places
    anew for each: 500 times a step, which takes seconds. How often it did is counted.
    """
    count = 4
    player = show(*steps(count), keep_places=steps is walk_through)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def computed() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "LayoutCount")

    times = []
    for _ in range(count - 1):
        before = computed()
        player.get_by_role("button", name="Next", exact=True).evaluate(
            """async (button) => {
                button.click();
                await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
            }"""
        )
        times.append(computed() - before)
    assert where(player).startswith(f"Step {count} of {count}")
    assert min(times) >= 1 and max(times) < 20, times


def test_in_a_large_graph_many_changes_come_at_once_and_few_move(page, show):
    few = chain(200, lambda i: "now" if i > 190 else "", skip=range(50))
    graphs = [chain(200), chain(200, skip=range(50)), few]
    player = show(*[viz.step(str(i), g) for i, g in enumerate(graphs)], keep_places=False)
    player.locator(".mp-graph .mp-node[data-id='150']").evaluate("e => { e.dataset.mine = 'yes'; }")
    moves = "e => getComputedStyle(e.querySelector('g[data-id]')).transitionProperty !== 'none'"
    press(player, "Next")
    assert player.locator(".mp-graph .mp-node").count() == 150  # what goes is gone at once
    assert not player.evaluate(moves)
    mine = player.locator(".mp-graph .mp-node[data-id='150']").get_attribute("data-mine")
    assert mine == "yes"  # a node that stays is the same element
    press(player, "Next")
    assert player.evaluate(moves)
