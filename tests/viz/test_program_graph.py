"""Whole programs as pictures: PIR and classic, small, empty and too large."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minipaddle as paddle
from minipaddle import viz
from minipaddle.common import unique_name


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.fixture
def old_ir() -> Iterator[None]:
    with paddle.pir_utils.OldIrGuard():
        yield


def edges(step: viz.Step) -> list[tuple[str, str, str]]:
    """By the first lines of the labels."""
    pane = step["panes"][0]
    assert pane["type"] == "graph"
    names = {n["id"]: n["label"].split("\n")[0] for n in pane["nodes"]}
    return [(names[e["src"]], names[e["dst"]], e["slot"]) for e in pane["edges"]]


def chain(length: int):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        value = paddle.static.data("x", [2], "float32")
        for _ in range(length):
            value = paddle.tanh(value)
    return main


def test_a_classic_program(old_ir):
    main = paddle.static.Program()
    with unique_name.guard(), paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 3], "float32")
        paddle.mean(paddle.nn.Linear(3, 2)(x))
    (step,) = viz.program_graph(main).steps
    assert step["title"] == "3 operations"
    assert edges(step) == [
        ("x", "matmul_v2", "X"),
        ("linear_0.w_0", "matmul_v2", "Y"),
        ("matmul_v2", "elementwise_add", "X"),
        ("linear_0.b_0", "elementwise_add", "Y"),
        ("elementwise_add", "reduce_mean", ""),
    ]
    kinds = {n["label"]: n["kind"] for n in step["panes"][0]["nodes"]}
    assert (kinds["x"], kinds["linear_0.w_0"]) == ("data", "param")
    assert step["panes"][0]["clusters"] == []
    assert step["panes"][1]["lines"] == str(main).splitlines()


def test_a_variable_that_is_written_twice_is_read_from_the_last_writer(old_ir):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        out = main.global_block().create_var(name="out", shape=[2], dtype="float32")
        for kind in ("tanh", "relu"):
            main.global_block().append_op(kind, inputs={"X": [x]}, outputs={"Out": [out]})
        main.global_block().append_op("exp", inputs={"X": [out]}, outputs={"Out": [out]})
    assert edges(viz.program_graph(main).steps[0])[-1] == ("relu", "exp", "")


def test_a_pir_program():
    (step,) = viz.program_graph(chain(2), "Two").steps
    assert step["title"] == "Two"
    assert edges(step) == [("x", "tanh", ""), ("tanh", "tanh", "")]


@pytest.mark.parametrize("old", [False, True])
def test_an_empty_program_says_so(old):
    main = paddle.static.Program()
    if old:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
    (step,) = viz.program_graph(main).steps
    assert (step["title"], step["note"]) == ("0 operations", "The program is empty.")
    assert "0 operations" in str(viz.Player([step]))


@pytest.mark.parametrize("old", [False, True])
def test_a_program_that_is_too_large_is_drawn_by_kinds(old):
    if old:
        with paddle.pir_utils.OldIrGuard():
            main = chain(1001)
    else:
        main = chain(1001)
    (step,) = viz.program_graph(main).steps
    labels = [n["label"] for n in step["panes"][0]["nodes"]]
    assert ("tanh\n× 1001" in labels) if old else ("pd_op.tanh\n× 1001" in labels)
    assert "too many for a picture: one node for each kind" in step["note"]


def test_what_is_no_program():
    with pytest.raises(TypeError, match="expected a Program, but got list. Pass one made by"):
        viz.program_graph([])


def test_kinds_are_counted():
    pane = viz.grouped(["add", "mul", "add"], [("add", "mul"), ("add", "mul"), ("add", "add")])
    assert [n["label"] for n in pane["nodes"]] == ["add\n× 2", "mul\n× 1"]
    assert [(e["src"], e["dst"], e["label"]) for e in pane["edges"]] == [("add", "mul", "2")]
