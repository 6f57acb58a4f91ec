"""Who waits for whom: does the picture say what the plan says?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import viz
from minipaddle.common import unique_name


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def diamond():
    """Two ways from x, and their sum."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        start = x * 2.0
        out = F.relu(start) + paddle.tanh(start)
    return main, out


def test_a_step_for_each_round():
    main, out = diamond()
    steps = viz.dependency_steps(main, ["x"], [out]).steps
    assert [step["title"] for step in steps] == [
        "Round 1: scale",
        "Round 2: relu, tanh",
        "Round 3: elementwise_add",
    ]
    assert steps[1]["note"].startswith("2 at the same time")
    tables = [step["panes"][1] for step in steps]
    assert [pane["type"] == "table" and pane["highlight"] for pane in tables] == [[0], [1, 2], [3]]
    assert tables[0]["type"] == "table" and tables[0]["rows"] == [
        ["1", "scale", "nobody", "1"],
        ["2", "relu", "1", "2"],
        ["3", "tanh", "1", "2"],
        ["4", "elementwise_add", "2, 3", "3"],
    ]
    picture = steps[1]["panes"][0]
    assert picture["type"] == "graph"
    states = {n["label"].split("\n")[0]: n["state"] for n in picture["nodes"]}
    assert states == {"scale": "done", "relu": "now", "tanh": "now", "elementwise_add": "waiting"}
    arrows = {(e["src"], e["dst"]) for e in picture["edges"]}
    assert arrows == {("0", "1"), ("0", "2"), ("1", "3"), ("2", "3")}


def test_nothing_to_run():
    main, _ = diamond()
    (step,) = viz.dependency_steps(main, ["x"]).steps
    assert step["note"] == "No fetch needs an op."


def test_a_missing_feed_and_another_kind_of_program():
    main, out = diamond()
    with pytest.raises(KeyError, match="the program needs feed 'x'"):
        viz.dependency_steps(main, [], [out])
    with pytest.raises(TypeError, match="expected a classic Program, but got"):
        viz.dependency_steps(3)
