"""The Executor's film of programs with blocks in blocks: which branch runs, which turn it is, what
is kept for the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import viz
from minipaddle.common import unique_name

while_loop, cond = paddle.static.nn.while_loop, paddle.static.nn.cond


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def full(value: int):
    return paddle.full([1], value, "int64")


def count_to(limit: int):
    """A loop that doubles x `limit` times."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        n = full(limit)
        _, out = while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a + a], [full(0), x])
    return main, out


FEED = {"x": np.array([1.0, 2.0], "float32")}


def titles(player: viz.Player) -> list[str]:
    return [step["title"] for step in player.steps]


def rows(step: viz.Step) -> dict[str, str]:
    pane = step["panes"][1]
    assert pane["type"] == "table"
    return {row[0]: row[1] for row in pane["rows"]}


def current(step: viz.Step) -> list[str]:
    """The ops of the lines that are marked."""
    pane = step["panes"][0]
    assert pane["type"] == "text"
    lines = [pane["lines"][n - 1] for n in pane["highlight"]]
    return [line.partition(" = ")[2].partition("(")[0] for line in lines]


def test_each_turn_of_a_loop_is_stepped_through():
    main, out = count_to(2)
    player = viz.executor_steps(main, FEED, [out])
    lines = player.steps[0]["panes"][0]["lines"]
    head = next(n for n, line in enumerate(lines, start=1) if "while(" in line)
    assert lines[head].startswith("    ")  # its block stands below it, indented
    decisions = [title for title in titles(player) if "while" in title]
    assert decisions == [
        f"Line {head}: while: begin turn 1",
        f"Line {head}: while: begin turn 2",
        f"Line {head}: while: done",
    ]
    assert f"Turn 2, line {head + 2}: run elementwise_add" in titles(player)
    inside = next(s for s in player.steps if s["title"].startswith("Turn 1, "))
    assert current(inside) == ["while", "scale"]
    assert rows(player.steps[-1])[out.name] == "[4. 8.]"
    assert player.steps[-3]["note"] != player.steps[-2]["note"]


def test_a_loop_without_a_turn():
    main, out = count_to(0)
    player = viz.executor_steps(main, FEED, [out])
    assert "has run 0 turns" in next(s for s in player.steps if "while" in s["title"])["note"]
    assert not any(title.startswith("Turn") for title in titles(player))
    assert rows(player.steps[-1])[out.name] == "[1. 2.]"


@pytest.mark.parametrize(("sign", "taken", "other"), [(1.0, 1, 2), (-1.0, 2, 1)])
def test_the_branch_that_is_taken(sign, taken, other):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        out = cond(paddle.mean(x) > 0, lambda: x * 2.0, lambda: x * 3.0)
    player = viz.executor_steps(main, {"x": sign * FEED["x"]}, [out])
    assert any(title.endswith(f"conditional_block: run block {taken}") for title in titles(player))
    assert any(
        title.endswith(f"conditional_block: pass by block {other}") for title in titles(player)
    )
    assert sum("run scale" in title for title in titles(player)) == 1


def test_a_loop_in_a_loop_tells_both_turns():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")

        def outer(i, a):
            two = full(2)
            _, b = while_loop(lambda j, b: j < two, lambda j, b: [j + 1, b + b], [full(0), a])
            return [i + 1, b]

        three = full(3)
        _, out = while_loop(lambda i, a: i < three, outer, [full(0), x])
    player = viz.executor_steps(main, FEED, [out])
    adds = [title.partition(" line")[0] for title in titles(player) if "elementwise_add" in title]
    assert adds == [
        "Turn 1, 1,",
        "Turn 1, 2,",
        "Turn 2, 1,",
        "Turn 2, 2,",
        "Turn 3, 1,",
        "Turn 3, 2,",
    ]
    assert rows(player.steps[-1])[out.name] == "[ 64. 128.]"


def test_memory_over_the_turns():
    main, out = count_to(3)
    player = viz.memory_steps(main, FEED, [out])
    pane = player.steps[0]["panes"][1]
    assert pane["type"] == "timeline"
    doubled = main.block(1).ops[1].output_arg_names[0]
    assert [b["label"] for b in pane["bars"] if b["lane"] == doubled] == ["8", "8", "8"]


def test_a_run_of_too_many_steps_is_refused():
    main, out = count_to(400)
    with pytest.raises(ValueError, match="a run of at most 1000 steps"):
        viz.executor_steps(main, {"x": 0 * FEED["x"]}, [out])


def loop_with_gradient():
    """a = a * w, three times; the gradients of w and x."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        two = paddle.nn.initializer.Constant(2.0)
        w = paddle.static.create_parameter([2], "float32", name="w", default_initializer=two)
        n = full(3)
        _, out = while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * w], [full(0), x])
        gradients = paddle.static.gradients(paddle.mean(out), [w, x])
    paddle.static.Executor().run(startup)
    return main, gradients


def test_the_gradient_of_a_loop_goes_back_through_its_turns():
    main, gradients = loop_with_gradient()
    player = viz.executor_steps(main, FEED, gradients)
    backs = [title.partition(": ")[2] for title in titles(player) if "while_grad" in title]
    assert backs == [
        "while_grad: back through turn 3",
        "while_grad: back through turn 2",
        "while_grad: back through turn 1",
        "while_grad: done",
    ]
    multiply = [title for title in titles(player) if "elementwise_mul_grad" in title]
    assert [title.partition(",")[0] for title in multiply] == ["Turn 3", "Turn 2", "Turn 1"]
    sums = [rows(step)["w@GRAD"] for step in player.steps if "add to w@GRAD" in step["title"]]
    assert sums == ["[2. 4.]", "[4. 8.]", "[ 6. 12.]"]  # each: x * w * w / 2
    assert rows(player.steps[-1])["x@GRAD"] == "[4. 4.]"


def test_each_turn_keeps_what_its_gradient_will_read():
    main, gradients = loop_with_gradient()
    player = viz.executor_steps(main, FEED, gradients)
    keeping = [step for step in player.steps if "keep" in step["title"]]
    assert [step["title"].partition(": ")[2] for step in keeping] == [
        "keep x as the turn began"
    ] * 3
    assert [current(step) for step in keeping] == [["while"]] * 3
    (scope,) = main.global_block().ops[3].output("StepScopes")
    assert [rows(step)[scope] for step in keeping] == [
        "values of 1 turn: 8 bytes",
        "values of 2 turns: 16 bytes",
        "values of 3 turns: 24 bytes",
    ]
    read = next(s for s in player.steps if "back through turn 3" in s["title"])
    assert rows(read)["x (kept)"] == "[4. 8.]"  # x as turn 3 began


def test_the_gradient_of_a_branch():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        out = cond(paddle.mean(x) > 0, lambda: x * x, lambda: x * 3.0)
        (gradient,) = paddle.static.gradients(paddle.mean(out), [x])
    for sign, words in ((1.0, "[1. 2.]"), (-1.0, "[1.5 1.5]")):
        player = viz.executor_steps(main, {"x": sign * FEED["x"]}, [gradient])
        taken = [t.partition(": ")[2] for t in titles(player) if "conditional_block_grad" in t]
        assert len(taken) == 2 and sum("run block" in title for title in taken) == 1
        assert rows(player.steps[-1])[gradient.name] == words


def test_append_backward_of_a_loop_is_one_op():
    main, _ = loop_with_gradient()
    steps = viz.append_backward_steps(main).steps
    assert [step["title"] for step in steps][2:4] == [
        "Line 5, reduce_mean: append reduce_mean_grad",
        "Line 4, while: append while_grad",
    ]
    table = steps[-1]["panes"][1]
    assert table["type"] == "table"
    assert ["x", "1 of 1", "x@GRAD"] in table["rows"]
