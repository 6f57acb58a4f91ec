"""Pictures of GradNodes: does every edge of the graph stand in them, and only those?"""

from __future__ import annotations

import minipaddle as paddle
from minipaddle import viz

DIAMOND = """
a = paddle.to_tensor([2.0], stop_gradient=False)
c = a * 3.0          # three times a
b = a * c
b.backward()
"""


def drawn(step: viz.Step) -> tuple[list[str], list[tuple[str, str, str]]]:
    """The labels, and the edges as (from, to, label) with the first line of labels."""
    graph = step["panes"][0]
    assert graph["type"] == "graph"
    labels = {n["id"]: n["label"].replace("\n", " ") for n in graph["nodes"]}
    edges = [(labels[e["src"]], labels[e["dst"]], e["label"]) for e in graph["edges"]]
    return list(labels.values()), sorted(edges)


def rows(step: viz.Step) -> dict[str, list[str]]:
    table = step["panes"][1]
    assert table["type"] == "table"
    return {row[0]: row[1:] for row in table["rows"]}


def test_one_picture_shows_every_node_once_and_every_edge():
    a = paddle.to_tensor([2.0], stop_gradient=False)
    c = a * 3.0
    b = a * c
    labels, edges = drawn(viz.grad_graph(b, labels={"a": a, "b": b}).steps[0])
    assert labels == ["MultiplyGradNode b", "GradNodeAccumulation a", "ScaleGradNode"]
    assert edges == [
        ("MultiplyGradNode b", "GradNodeAccumulation a", "0"),
        ("MultiplyGradNode b", "ScaleGradNode", "1"),
        ("ScaleGradNode", "GradNodeAccumulation a", ""),
    ]


def test_two_edges_between_the_same_nodes_are_two():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    _, edges = drawn(viz.grad_graph([x + x]).steps[0])
    assert [edge[2] for edge in edges] == ["0", "1"]


def test_a_tensor_without_gradient_has_no_picture_of_nodes():
    assert drawn(viz.grad_graph(paddle.ones([2])).steps[0]) == ([], [])


def test_one_step_for_each_statement():
    steps = viz.grad_graph_steps(DIAMOND).steps
    assert [step["title"] for step in steps] == [
        "a = paddle.to_tensor([2.0], stop_gradient=False)",
        "c = a * 3.0",
        "b = a * c",
        "b.backward()",
    ]
    assert steps[1]["note"] == (
        "three times a. New: GradNodeAccumulation of a: gradients end here. "
        "New: ScaleGradNode of c: edge 0 to the node of a."
    )
    assert [len(drawn(step)[0]) for step in steps] == [0, 2, 3, 3]


def test_new_nodes_are_marked_once_and_keep_their_ids():
    steps = viz.grad_graph_steps(DIAMOND).steps
    states = []
    for step in steps:
        graph = step["panes"][0]
        assert graph["type"] == "graph"
        states.append({n["id"]: n["state"] for n in graph["nodes"]})
    assert sum(list(state.values()).count("new") for state in states) == 3
    assert set(states[1]) < set(states[2]) == set(states[3])


def test_the_table_tells_what_autograd_meta_says():
    steps = viz.grad_graph_steps(DIAMOND).steps
    assert rows(steps[0])["a"] == ["False", "True", "None", "None"]  # nobody asked for a node yet
    assert rows(steps[1])["a"] == ["False", "True", "GradNodeAccumulation", "None"]
    assert rows(steps[3])["a"] == ["False", "True", "GradNodeAccumulation", "[12.]"]
    assert rows(steps[3])["b"] == ["False", "False", "MultiplyGradNode", "None"]


def test_an_edge_that_is_none_is_told():
    steps = viz.grad_graph_steps("""
    x = paddle.to_tensor([1.0], stop_gradient=False)
    k = paddle.to_tensor([1.0])
    y = x * k
    """).steps
    assert "edge 1 is None" in steps[2]["note"]
