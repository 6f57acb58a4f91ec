"""Frames: what the constructors fill in, and what they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from minipaddle import viz
from minipaddle.viz import frame

X_TO_Y = viz.graph(["x", "y"], [("x", "y")])


def test_short_forms_are_filled_in():
    pane = viz.graph(["x", viz.node("mm", "matmul", "op")], [("x", "mm", 1), ("x", "mm")])
    assert pane["nodes"][0] == {"id": "x", "label": "x", "kind": "", "state": "", "details": ""}
    assert [e["slot"] for e in pane["edges"]] == ["1", ""]
    assert pane["direction"] == "down" and pane["clusters"] == []


def test_details_may_be_a_dict():
    assert viz.node("x", details={"shape": [2, 3], "dtype": "float32"})["details"] == (
        "shape: [2, 3]\ndtype: float32"
    )


def test_text_counts_lines_as_an_editor_does():
    pane = viz.text("a\nb\n", highlight=11, first_line=10)
    assert pane["lines"] == ["a", "b"] and pane["highlight"] == [11]


def test_table_shows_cells_as_text_and_none_as_nothing():
    assert viz.table(["a", "b"], [[1, None]])["rows"] == [["1", ""]]


def test_steps_are_plain_json_and_come_back():
    steps = [viz.step("one", X_TO_Y, viz.text("a"), viz.table(["n"], [[1]]), note="why")]
    assert viz.loads(viz.dumps(steps)) == steps
    assert json.loads(json.dumps(steps)) == steps
    with pytest.raises(ValueError, match=r'expected JSON with "minipaddle.viz": 1, but got 99'):
        viz.loads('{"minipaddle.viz": 99, "steps": []}')


BAD = {
    "unknown node in an edge": (
        lambda: viz.graph(["x"], [("x", "z")], name="G"),
        "viz.graph 'G': expected both ends of an edge to be nodes, but got 'z' in 'x' -> 'z'. "
        "Add that node, or use one of: 'x'.",
    ),
    "the same id twice": (lambda: viz.graph(["x", "x"]), "every node id once, but got 'x' twice"),
    "too many nodes": (
        lambda: viz.graph(str(i) for i in range(10_000)),
        "expected at most 1000 nodes, but got 10000. Show a part of the graph",
    ),
    "unknown state": (lambda: viz.node("x", state="runing"), "'removed', 'matched' or '', but got"),
    "unknown state of an edge": (lambda: viz.edge("x", "y", state="?"), "at edge 'x' -> 'y'"),
    "direction": (lambda: viz.graph(["x"], direction="up"), "'down' or 'right', but got 'up'"),
    "line number": (
        lambda: viz.text("a\nb", highlight=3),
        "expected highlight to be line numbers from 1 to 2, but got 3",
    ),
    "row length": (
        lambda: viz.table(["a", "b"], [[1, 2], [3]]),
        "expected 2 cells in each row (a, b), but got 1 in row 1: ['3']. Add or drop cells.",
    ),
    "highlighted row": (lambda: viz.table(["a"], [[1]], highlight=1), "but got row 1, column 0"),
    "changed cell": (lambda: viz.table(["a"], [[1]], changed=[(0, 5)]), "row 0, column 5"),
    "a cluster of nothing": (
        lambda: viz.graph(["x"], clusters=[viz.cluster("c", ["q"])]),
        "expected cluster 'c' to hold nodes of the graph, but got 'q'",
    ),
    "two clusters for a node": (
        lambda: viz.graph(["x"], clusters=[viz.cluster("c", ["x"]), viz.cluster("d", ["x"])]),
        "expected node 'x' in one cluster, but got 'c' and 'd'",
    ),
    "a cluster in itself": (
        lambda: viz.graph(["x"], clusters=[viz.cluster("c", ["x"], parent="c")]),
        "expected clusters to be nested, but got 'c' inside itself",
    ),
    "no such parent": (
        lambda: viz.graph(["x"], clusters=[viz.cluster("c", ["x"], parent="p")]),
        "to be a cluster, but got 'p'",
    ),
    "no pane": (lambda: viz.step("s"), "viz.step 's': expected at least one pane, but got none"),
    "no step": (lambda: viz.Player([]), "expected at least one step, but got an empty list"),
    "too many steps": (
        lambda: viz.Player([viz.step("s", X_TO_Y)] * 1001),
        "expected at most 1000 steps, but got 1001",
    ),
}


@pytest.mark.parametrize("make, message", BAD.values(), ids=BAD.keys())
def test_bad_values(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)


untyped: Any = viz  # so that wrong types can be passed
WRONG_TYPES = {
    "no list of nodes": (
        lambda: untyped.graph(5),
        "viz.graph: expected nodes to be a list, but got 5",
    ),
    "nodes as one string": (lambda: untyped.graph("abc"), "but got 'abc'. Write [...] around it."),
    "None as a node": (lambda: untyped.graph([None]), "expected a node with the fields id, label"),
    "half an edge": (
        lambda: untyped.graph(["x"], [("x",)]),
        "expected an edge with the fields src, ",
    ),
    "a number as an edge": (
        lambda: untyped.graph(["x"], [5]),
        "but got 5. Make it with viz.edge(...)",
    ),
    "a node without id": (lambda: untyped.graph([{"label": "x"}]), "but got label. Make it with"),
    "a cluster without nodes": (
        lambda: untyped.graph(["x"], clusters=[{"id": "c"}]),
        "but got id.",
    ),
    "a cluster of letters": (lambda: untyped.cluster("c", "xy"), "viz.cluster 'c': expected nodes"),
    "lines": (lambda: untyped.text(5), "viz.text: expected lines to be a list, but got 5"),
    "a line number as text": (
        lambda: untyped.text("a", highlight=["1"]),
        "a whole number, but got '1'",
    ),
    "half a line": (lambda: untyped.text("a", highlight=[1.5]), "a whole number, but got 1.5"),
    "first line": (lambda: untyped.text("a", first_line="1"), "expected first_line to be a whole"),
    "columns": (lambda: untyped.table("ab"), "expected columns to be a list, but got 'ab'"),
    "a row of letters": (lambda: untyped.table(["a"], ["x"]), "expected each row to be a list"),
    "changed": (lambda: untyped.table(["a"], [[1]], changed=[0]), "each of changed to be a list"),
    "no list of steps": (lambda: untyped.Player(5), "viz: expected steps to be a list, but got 5"),
    "a pane without fields": (
        lambda: untyped.check_steps({"title": "t", "panes": [{"type": "graph"}]}),
        "expected a graph with the fields nodes, edges, clusters, name, direction, but got none of "
        "them. Make it with viz.graph(...). (step 1: 't')",
    ),
    "panes": (
        lambda: untyped.check_steps({"title": "t", "panes": 5}),
        "expected panes to be a list, but got 5",
    ),
}


@pytest.mark.parametrize("make, message", WRONG_TYPES.values(), ids=WRONG_TYPES.keys())
def test_wrong_types(make, message):
    with pytest.raises(TypeError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize("data", ["", "{", "[]", "5", '{"minipaddle.viz": 1}'])
def test_what_is_not_our_json(data):
    with pytest.raises(ValueError, match="viz"):
        viz.loads(data)


def test_an_empty_graph_is_said_to_be_empty():
    player = viz.Player(viz.step("s", viz.graph([], name="G")))
    assert str(player) == "s\n   G: 0 nodes, 0 edges"
    assert "<svg" in player.to_svg()


def test_clusters_that_hold_each_other():
    clusters = [viz.cluster("a", [], parent="b"), viz.cluster("b", ["x"], parent="a")]
    with pytest.raises(ValueError, match="expected clusters to be nested, but got 'a' inside"):
        viz.graph(["x"], clusters=clusters)


def test_a_list_of_panes_is_a_clear_mistake():
    with pytest.raises(TypeError, match="Pass the panes one by one, not as a list"):
        viz.step("s", [X_TO_Y])  # type: ignore[arg-type]


def test_what_is_not_a_step_is_named():
    with pytest.raises(TypeError, match="expected step 2 to be made by step.., but got str"):
        viz.Player([viz.step("s", X_TO_Y), "oops"])  # type: ignore[list-item]


def test_an_unknown_field_names_the_known_ones():
    with pytest.raises(TypeError, match="a node with the fields id, label, kind, state, details"):
        viz.graph([{"id": "x", "lable": "y"}])


def test_steps_by_hand_are_checked_and_the_step_is_named():
    bad = {"title": "two", "panes": [{**X_TO_Y, "nodes": []}]}
    with pytest.raises(ValueError, match="but got 'x' in 'x' -> 'y'.*step 2: 'two'"):
        viz.check_steps([viz.step("one", X_TO_Y), bad])  # type: ignore[list-item]


def test_every_kind_and_state_has_a_look():
    from minipaddle.viz import looks

    assert tuple(looks.KINDS) == frame.KINDS
    assert ("", *looks.STATES) == frame.STATES
    shapes = [kind.shape for kind in looks.KINDS.values()]
    assert len(set(shapes)) == len(shapes)  # never colour alone
    signs = [state.sign for state in looks.STATES.values()]
    assert len(set(signs)) == len(signs)
    css = (looks.__file__.rsplit("/", 1)[0]) + "/web/player.css"
    with open(css, encoding="utf-8") as file:
        rules = file.read()
    assert all(f'.mp-node[data-kind="{kind}"]' in rules for kind in frame.KINDS)
    assert all(f'[data-state="{state}"]' in rules for state in frame.STATES if state)
