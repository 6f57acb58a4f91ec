"""Schedules and memory as timelines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import viz
from minipaddle.base.transpiler import memory_optimize

TWO_STAGES = [(0, "F0", 0, 1), (1, "F0", 1, 2), (1, "B0", 2, 4), (0, "B0", 4, 6)]


def states(step: viz.Step) -> dict[str, str]:
    pane = next(p for p in step["panes"] if p["type"] == "timeline")
    return {f"{b['lane']} {b['label']}": b["state"] for b in pane["bars"]}


def test_one_step_for_each_moment():
    steps = viz.schedule_steps(TWO_STAGES, unit="ms").steps
    titles = ["Time 0 ms", "Time 1 ms", "Time 2 ms", "Time 4 ms", "Time 6 ms"]
    assert [step["title"] for step in steps] == titles
    assert states(steps[2]) == {
        "rank 0 F0": "done",
        "rank 1 F0": "done",
        "rank 1 B0": "now",
        "rank 0 B0": "waiting",
    }
    assert steps[2]["note"] == "rank 1: B0. Waiting: rank 0."
    assert steps[2]["panes"][1]["rows"] == [["rank 0", "-", "1", "1"], ["rank 1", "B0", "1", "1"]]
    assert steps[-1]["note"] == "All is done after 6 ms; 50% of it was waiting."


def test_kinds_are_read_from_names_or_given():
    pane = viz.schedule_timeline([(0, "F12", 0, 1), (0, "Fuse", 1, 2), (0, "all", 2, 3, "comm")])
    assert [b["kind"] for b in pane["bars"]] == ["forward", "", "comm"]


def test_ranks_are_in_the_order_of_their_numbers():
    pane = viz.schedule_timeline([(10, "a", 0, 1), (2, "a", 0, 1), ("network", "b", 0, 1)])
    assert pane["lanes"] == ["network", "rank 2", "rank 10"]


def test_time_in_which_two_things_happen_counts_once():
    steps = viz.schedule_steps([(0, "a", 0, 2), (0, "b", 1, 3), (0, "a", 5, 6)]).steps
    assert steps[-1]["panes"][1]["rows"] == [["rank 0", "-", "4", "2"]]


@pytest.mark.parametrize(
    "schedule, message",
    [
        ([], "expected at least one"),
        ([(0, "F0", 0)], "but got"),
        ([(0, "F0", 2, 1)], "expected start <= end"),
    ],
)
def test_bad_schedules(schedule, message):
    with pytest.raises(ValueError, match=message):
        viz.schedule_steps(schedule)


# ---- memory


@pytest.fixture
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        yield
    paddle.disable_static()


def chain(length: int) -> tuple:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        value = paddle.static.data("x", [4], "float32")
        for _ in range(length):
            value = paddle.tanh(value)
    return main, value


FEED = {"x": np.zeros(4, "float32")}


def test_a_chain_needs_two_variables_at_a_time(static):
    main, out = chain(3)
    steps = viz.memory_steps(main, FEED, [out]).steps
    assert [step["note"] for step in steps] == [
        "16 bytes in use; the most will be 32.",
        "32 bytes in use, the most of the whole run.",
        "32 bytes in use, the most of the whole run.",
        "32 bytes in use, the most of the whole run.",
    ]
    bars = [b for b in steps[0]["panes"][1]["bars"] if b["lane"] != "sum"]
    assert [(b["start"], b["end"], b["label"]) for b in bars] == [
        (0.0, 2.0, "16"),
        (1.0, 3.0, "16"),
        (2.0, 4.0, "16"),
        (3.0, 4.0, "16"),
    ]


def test_a_run_that_frees_nothing_needs_a_place_for_each_name(static):
    main, out = chain(5)
    optimized = main.clone()
    memory_optimize(optimized, [out])

    def most(program):
        lanes = viz.memory_steps(program, FEED, [out.name]).steps[-1]["panes"][1]
        assert lanes["type"] == "timeline"
        return max(float(b["label"]) for b in lanes["bars"] if b["lane"] == "sum")

    size = FEED["x"].nbytes
    assert most(main) == most(optimized) == 2 * size
    paddle.set_flags({"FLAGS_eager_delete_tensor_gb": -1.0})
    try:
        assert most(main) == 6 * size  # x, and what five ops make
        assert most(optimized) == 4 * size  # x, two that take turns, and out
    finally:
        paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 0.0})


def test_it_counts_as_the_executors_film_does(static):
    main, out = chain(5)
    film = viz.executor_steps(main, FEED, [out]).steps
    assert film[-1]["note"] == "At most 32 bytes were in memory at the same time."


def test_an_op_that_no_fetch_needs_is_struck_out(static):
    main, _ = chain(3)
    first = main.global_block().ops[0].output("Out")[0]
    for step in viz.memory_steps(main, FEED, [main.global_block().var(first)]).steps:
        assert step["panes"][0]["removed"] == [2, 3]


def test_a_long_program_is_one_step_and_the_largest_variables(static):
    main, out = chain(100)
    (step,) = viz.memory_steps(main, FEED, [out]).steps
    pane = step["panes"][1]
    assert len(pane["lanes"]) == 25
    assert step["note"].endswith("The lanes are the 24 largest of 101 variables.")
