"""Real Paddle's programs and grad graphs are drawn by the same functions as minipaddle's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

import minipaddle
from minipaddle import viz
from minipaddle.compare import real_paddle
from minipaddle.viz.scene import make_scene

pytestmark = pytest.mark.skipif(
    real_paddle() is None, reason="real Paddle is not installed: pip install -e '.[course]'"
)


@pytest.fixture
def real() -> Iterator[Any]:
    paddle = real_paddle()
    paddle.enable_static()
    yield paddle
    paddle.disable_static()


def names(step: viz.Step, id_: str = "") -> list[str]:
    """First lines of the labels: of all nodes, or of those of one cluster."""
    pane = step["panes"][0]
    assert pane["type"] == "graph"
    inside = {n for c in pane["clusters"] if c["id"] == id_ for n in c["nodes"]}
    return [n["label"].split("\n")[0] for n in pane["nodes"] if not id_ or n["id"] in inside]


def reads(step: viz.Step) -> set[tuple[str, str]]:
    pane = step["panes"][0]
    label = {n["id"]: n["label"].split("\n")[0] for n in pane["nodes"]}
    return {(label[e["src"]], label[e["dst"]]) for e in pane["edges"]}


def nested_while(paddle: Any) -> Any:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")

        def inner(j: Any, b: Any) -> list[Any]:
            return [j + 1, b * 2]

        def outer(i: Any, a: Any) -> list[Any]:
            j = paddle.full([1], 0, "int64")
            return [i + 1, paddle.static.nn.while_loop(lambda j, b: j < i, inner, [j, a])[1]]

        out = paddle.static.nn.while_loop(lambda i, a: i < n, outer, [i, x])
        paddle.mean(out[1])
    return main


def test_regions_of_pir_are_clusters(real):
    (step,) = viz.program_graph(nested_while(real)).steps
    pane = step["panes"][0]
    assert [c["label"] for c in pane["clusters"]] == ["while", "while"]
    outer, inner = pane["clusters"]
    assert (outer["parent"], inner["parent"]) == ("", outer["id"])
    assert names(step, inner["id"])[:2] == ["%arg2", "%arg3"]
    assert names(step, inner["id"])[-1] == "yield"
    # the inner condition reads an argument of the outer region
    assert ("%arg0", "less_than") in reads(step)
    lines = step["panes"][1]["lines"]
    assert sum(line.rstrip().endswith("{") for line in lines) == 2
    assert sum(line.strip() == "}" for line in lines) == 2
    viz.Player([step]).to_svg()


def test_blocks_of_a_classic_program_are_clusters(real):
    with real.pir_utils.OldIrGuard():
        (step,) = viz.program_graph(nested_while(real)).steps
    pane = step["panes"][0]
    assert [(c["id"], c["parent"]) for c in pane["clusters"]] == [
        ("block 0", ""),
        ("block 1", "block 0"),
        ("block 2", "block 1"),
    ]
    runs = {(e["src"].split(" op")[0], e["dst"]) for e in pane["edges"] if e["label"] == "runs"}
    assert runs == {("block 0", "block 1 op 0"), ("block 1", "block 2 op 0")}


@pytest.mark.parametrize("old", [False, True])
def test_a_loop_in_a_loop_fits_beside_its_text(real, old):
    with real.pir_utils.OldIrGuard() if old else nullcontext():
        step = viz.program_step(nested_while(real))
    place = make_scene([step])["places"][0]
    assert place["width"] < 700


def test_the_same_program_gives_the_same_picture(real):
    def picture(paddle: Any) -> viz.Step:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [2, 3], "float32")
            w = paddle.static.data("w", [3, 2], "float32")
            paddle.nn.functional.relu(paddle.matmul(x, w))
        return viz.program_graph(main).steps[0]

    minipaddle.enable_static()
    ours = picture(minipaddle)
    minipaddle.disable_static()
    theirs = picture(real)
    assert names(theirs) == names(ours) and reads(theirs) == reads(ours)
    assert theirs["panes"][1]["lines"] == ours["panes"][1]["lines"]


def test_real_passes(real):
    main = real.static.Program()
    with real.static.program_guard(main):
        x = real.static.data("x", [2, 3], "float32")
        real.tanh(x)
        real._pir_ops.fetch(real.nn.functional.relu(x), "out", 0)
    steps = viz.pass_steps(main, ["dead_code_elimination_pass"], real.pir.PassManager)
    assert [step["title"] for step in steps] == [
        "Before",
        "dead_code_elimination_pass: match",
        "dead_code_elimination_pass: replace",
        "After",
    ]
    matched = [n["label"] for n in steps[1]["panes"][0]["nodes"] if n["state"] == "matched"]
    assert [label.split("\n")[0] for label in matched] == ["tanh"]
    assert "tanh" not in names(steps[-1])


def test_grad_graphs_agree():
    def picture(paddle: Any) -> viz.Step:
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        h = paddle.tanh(x)
        return viz.grad_graph((h * h).sum(), labels={"x": x, "h": h}).steps[0]

    ours, theirs = picture(minipaddle), picture(real_paddle())
    assert names(theirs) == names(ours) and reads(theirs) == reads(ours)
    assert theirs["panes"][0]["edges"] == ours["panes"][0]["edges"]


def test_a_real_tensor_without_gradient():
    (step,) = viz.grad_graph(real_paddle().ones([2])).steps
    assert step["title"] == "0 nodes"


def test_append_backward_of_real_paddle(real):
    with real.pir_utils.OldIrGuard():
        main = real.static.Program()
        with real.static.program_guard(main, real.static.Program()):
            x = real.static.data("x", [2, 2], "float32")
            x.stop_gradient = False
            real.static.append_backward(real.mean(x @ x + x))
        titles = [step["title"] for step in viz.append_backward_steps(main).steps]
    assert titles[3:] == [
        "Line 2, elementwise_add: append elementwise_add_grad",
        "Line 1, matmul_v2: append matmul_v2_grad",
        "sum: x has all its 3 pieces",
        "The walk has reached the first op",
    ]
