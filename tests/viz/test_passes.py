"""Passes shown step by step: does the film tell what the pass does?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minipaddle as paddle
from minipaddle import viz
from minipaddle.transforms.matmul_add_act_fuse_pass import matmul_add_pattern


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def layer(extra_reader: bool = False):
    """relu(x @ w + b), and a dead chain behind it."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4, 8], "float32")
        w = paddle.static.data("w", [8, 3], "float32")
        b = paddle.static.data("b", [3], "float32")
        total = paddle.matmul(x, w) + b
        y = paddle.nn.functional.relu(total)
        paddle.nn.functional.softmax(paddle.exp(y))
        paddle._pir_ops.fetch(total * y if extra_reader else y, "y", 0)
    return main


def states(step: viz.Step) -> dict[str, str]:
    graph = step["panes"][0]
    assert graph["type"] == "graph"
    return {n["label"].split("\n")[0]: n["state"] for n in graph["nodes"]}


def after(main, *passes: str) -> list[str]:
    copy = main.clone()
    manager = paddle.pir.PassManager()
    for name in passes:
        manager.add_pass(name, {})
    manager.run(copy)
    return [op.name().partition(".")[2] for op in copy.global_block().ops]


def test_dce_goes_from_the_end_and_erases_what_the_pass_erases():
    main = layer()
    text = str(main)
    steps = viz.dce_steps(main)
    assert str(main) == text  # it works on a copy
    assert [s["title"] for s in steps[1:5]] == [
        "fetch stays",
        "softmax goes",
        "exp goes",
        "relu stays",
    ]
    assert "one reader of exp" in steps[2]["note"]
    assert steps[-2]["title"] == "Inputs stay"  # one step for all three
    assert [s["title"] for s in steps].count("Inputs stay") == 1
    last = states(steps[-1])
    assert {name for name, state in last.items() if state == "removed"} == {"exp", "softmax"}
    assert set(last.values()) == {"removed", "done"}
    kept = [name for name, state in last.items() if state == "done"]
    expected = after(main, "dead_code_elimination_pass")
    assert kept == ["x", "w", "b", *expected[3:]]
    assert steps[-1]["note"].startswith("2 operations erased, 7 left.")


def test_dce_shows_readers_as_they_are_now():
    table = viz.dce_steps(layer())[2]["panes"][1]
    assert table["type"] == "table"
    rows = {row[0]: row[1:] for row in table["rows"]}
    assert rows["softmax"] == ["nobody", "erased"]
    assert rows["exp"] == ["nobody", ""]  # its one reader has just gone
    assert table["rows"][table["highlight"][0]][0] == "softmax"


def test_fusion_marks_the_match_then_replaces_it():
    main = layer()
    steps = viz.fusion_steps(main, [matmul_add_pattern("relu"), matmul_add_pattern()])
    assert [name for name, state in states(steps[1]).items() if state == "matched"] == [
        "matmul",
        "add",
        "relu",
    ]
    replaced = states(steps[2])
    assert replaced["fc"] == "new"
    assert [replaced[name] for name in ("matmul", "add", "relu")] == ["removed"] * 3
    assert list(states(steps[3]))[3:] == after(main, "matmul_add_act_fuse_pass")[3:]


def test_a_value_that_others_read_is_not_swallowed():
    steps = viz.fusion_steps(layer(extra_reader=True), [matmul_add_pattern("relu")])
    assert "0 found" in steps[1]["note"]
    assert "matched" not in states(steps[1]).values()
