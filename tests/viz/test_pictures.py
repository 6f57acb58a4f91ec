"""The still picture, the words and the player's data, without a browser."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from minipaddle import viz
from minipaddle.viz.looks import box_size, columns, cut, label_lines
from minipaddle.viz.player import WIDGET_VIEW, StaticPlayer
from minipaddle.viz.syntax import runs

HOSTILE = [
    "<script>alert(1)</script>",
    "\"double\" & 'single'",
    "矩阵乘法 第一行",
    "]]><!-- </svg> -->",
    "bell \x07 null \x00 escape \x1b half \ud800 end",
    "a" * 500,
    "two\nlines\nthree\nfour\nfive",
    "\u202eright to left",
    " ",
    "",
]
SVG = "{http://www.w3.org/2000/svg}"


def two_steps():
    def picture(state):
        nodes = ["x", viz.node("mm", "matmul", "op", state=state)]
        return viz.graph(nodes, [("x", "mm", 0), ("x", "mm", 1)], name="Program")

    return [
        viz.step("Before", picture("ready"), viz.table(["n", "v"], [["x", 1]]), note="Wait."),
        viz.step("After", picture("done"), viz.table(["n", "v"], [["x", 2], ["y", 3]])),
    ]


@pytest.mark.parametrize("label", HOSTILE)
def test_any_label_gives_well_formed_pictures_that_do_nothing(label):
    graph = viz.graph(
        [viz.node("a", label, label, details=label), viz.node(f"b{label}", label)],
        [("a", f"b{label}", label, label)],
        [viz.cluster("c", ["a"], label)],
        name=label,
    )
    text = viz.text(label, language=label, name=label)
    steps = [viz.step(label, graph, text, viz.table([label], [[label]], name=label), note=label)]
    player = StaticPlayer(steps * 2, label=label)
    for svg in (player.to_svg(), player.to_svg(1)):
        root = ElementTree.fromstring(svg)
        assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
            *("svg", "g", "rect", "path", "circle", "text", "tspan", "title")
        }
        assert not [a for e in root.iter() for a in e.attrib if a.startswith("on") or "href" in a]
    page = player.to_html()
    data = page.split('id="scene">')[1].split("</script>")[0]
    assert "<" not in data and json.loads(data)["steps"][0]["title"] == player._drawn["label"]
    str(player).encode()  # half surrogates would raise


def test_the_strip_names_the_steps_that_it_shows():
    graph = viz.graph(["x"])
    svg = StaticPlayer([viz.step(f"step {i}", graph) for i in range(1, 24)]).to_svg()
    assert "6 of 23 steps: 1, 5, 10, 14, 19, 23" in svg
    assert "step 23<" in svg and "step 2<" not in svg


def test_long_panes_say_what_they_leave_out():
    text = viz.text([f"line {i}" for i in range(1, 101)], highlight=50)
    table = viz.table(["n"], [[i] for i in range(40)], highlight=30)
    svg = StaticPlayer(viz.step("long", text, table)).to_svg()
    assert "line 50<" in svg and "line 1<" not in svg
    assert "more lines" in svg and "… 26 more rows" in svg


def test_same_steps_same_bytes():
    first, second = viz.Player(two_steps()), viz.Player(two_steps())
    assert first.to_svg() == second.to_svg() and first.to_html() == second.to_html()
    assert first._static_bundle() == second._static_bundle()


def test_bundle_is_a_picture_and_words():
    data, _ = viz.Player(two_steps())._repr_mimebundle_()
    assert 'alt="Before (2 steps)" src="data:image/svg+xml;base64,' in data["text/html"]
    assert data["image/svg+xml"].startswith("<svg ")
    assert data["text/plain"].splitlines() == [
        "2 steps",
        "1. Before: Wait.",
        "   Program: 2 nodes, 2 edges",
        "     ready: matmul",
        "   table (n, v): 1 row",
        "       x | 1",
        "2. After",
        "   Program: 2 nodes, 2 edges",
        "     done: matmul",
        "   table (n, v): 2 rows",
        "     * x | 2",
        "     + y | 3",
    ]


def test_ipython_gets_the_picture_and_the_widget_after_it(monkeypatch):
    pytest.importorskip("anywidget", reason="the live widget needs: pip install anywidget")
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    player = viz.Player(two_steps())
    player._ipython_display_()
    assert shown[0] == player._static_bundle() and list(shown[1]) == [WIDGET_VIEW]
    assert shown[1][WIDGET_VIEW]["model_id"] == player.model_id


def test_the_player_as_a_sequence_and_a_widget():
    pytest.importorskip("anywidget", reason="the live widget needs: pip install anywidget")
    player = viz.Player(two_steps())
    assert len(player) == 2 and player.steps == two_steps()
    assert player.step == 0 and player.selected == ""
    player.step = 1
    with pytest.raises(Exception, match="Player.step: expected 0 to 1, but got 2"):
        player.step = 2
    with pytest.raises(IndexError, match="expected step from 0 to 1, but got 2"):
        player.to_svg(2)


def test_without_anywidget_pictures_and_pages_still_work():
    code = """
import sys
sys.modules["anywidget"] = None
from minipaddle import viz
player = viz.Player(viz.step("s", viz.graph(["x", "y"], [("x", "y")])))
data, _ = player._repr_mimebundle_()
assert sorted(data) == ["image/svg+xml", "text/html", "text/plain"], sorted(data)
assert "mount(" in player.to_html() and player.selected == "" and player.step == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nodes_keep_their_place_while_one_step_shows_them_all():
    small = viz.graph(["a", "b"], [("a", "b")])
    large = viz.graph(["a", "b", "c"], [("a", "b"), ("a", "c")])
    other = viz.graph(["a", "q"], [("a", "q")])

    def places(*graphs, **options):
        player = StaticPlayer([viz.step("s", g) for g in graphs], **options)
        return len({s["panes"][0]["place"] for s in player._drawn["steps"]})

    assert places(small, large) == 1
    assert places(small, large, keep_places=False) == 2
    assert places(small, other) == 2  # b is replaced by q: a hole would be left
    assert places(small, other, keep_places=True) == 1
    back = viz.graph(["a", "b"], [("b", "a")])
    assert places(small, back, keep_places=True) == 2  # together they would be a cycle


def test_changes_of_a_table_are_found():
    tables = [
        viz.table(["name", "value"], [["x", 1], ["y", 2]]),
        viz.table(["name", "value"], [["w", 0], ["x", 1], ["y", 3]]),
    ]
    drawn = StaticPlayer([viz.step("s", t) for t in tables])._drawn["steps"]
    assert drawn[0]["panes"][0]["changed"] == [] and drawn[0]["panes"][0]["new"] == []
    assert drawn[1]["panes"][0]["changed"] == [[2, 1]] and drawn[1]["panes"][0]["new"] == [0]


def test_an_edge_can_say_something_else_in_each_step():
    """Also where the steps share one layout."""

    def picture(label):
        return viz.graph(["a", "b"], [viz.edge("a", "b", label=label)])

    player = viz.Player([viz.step(word, picture(word)) for word in ("first", "", "third")])
    shown = [player.to_svg(step).count(">first<") for step in range(3)]
    assert shown[1:] == [0, 0] and shown[0] >= 1
    assert player.to_svg(2).count(">third<") >= 1


def test_labels_are_measured_and_cut():
    assert columns("matmul") == 6 and columns("矩阵") == 4 and columns("e\u0301") == 1
    assert cut("矩阵乘法", 5) == "矩阵…" and cut("short", 5) == "short"
    assert box_size(["矩阵乘法矩阵乘法"])[0] > box_size(["matmulmm"])[0]
    assert label_lines("a\nb\nc\nd", "op") == ["a", "b", "…"]
    assert label_lines("a", "queue") == ["a", "«queue»"]  # an unknown kind is named
    long = viz.Player(viz.step("s", viz.graph([viz.node("n", "long " * 20)])))
    node = long._drawn["nodes"][0]
    assert node["lines"][0].endswith("…") and node["label"] == "long " * 20


@pytest.mark.parametrize("language", ["python", "pir", "program", "bytecode", "", "other"])
@pytest.mark.parametrize(
    "line", ['  (%0) = "pd_op.add" (%1, %2) : tensor<2x3xf32> // c', "x = 'a' # b", "", '"open']
)
def test_coloured_runs_are_the_line(line, language):
    assert "".join(words for _, words in runs(line, language)) == line


CORE = (
    *("bars", "frame", "frame_graph", "frame_timeline", "layout", "looks", "player", "scene"),
    *("frame_checks", "layout_clusters", "layout_columns", "layout_order", "layout_ranks"),
    *("schema", "summary", "svg", "svg_marks", "svg_panes", "syntax"),
)


@pytest.mark.parametrize("name", CORE)
def test_the_core_knows_nothing_of_the_framework(name):
    """Frames are plain data, so that recorded ones can be played where minipaddle is not."""
    path = Path(viz.__file__).with_name(f"{name}.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            ours = node.module in CORE if node.level == 1 else node.level == 0
            assert ours and not (node.module or "").startswith("minipaddle"), ast.unparse(node)
        elif isinstance(node, ast.Import):
            assert not any(alias.name.startswith("minipaddle") for alias in node.names)
