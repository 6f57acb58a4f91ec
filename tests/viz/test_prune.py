"""The search for what a target needs: is it what `_prune` keeps? And programs before and after."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import viz
from minipaddle.common import unique_name
from minipaddle.viz.program_text import short_op


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def training():
    """A prediction through dropout, its loss, gradients and updates; a softmax for nobody."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2, 3], "float32")
        hidden = F.dropout(x, 0.5)
        F.softmax(hidden)
        prediction = paddle.nn.Linear(3, 1)(hidden)
        loss = paddle.mean(prediction * prediction)
        paddle.optimizer.SGD(0.1).minimize(loss)
    return main, hidden, prediction, loss


def kept(step: viz.Step) -> list[str]:
    pane = step["panes"][0]
    assert pane["type"] == "text"
    return [line for n, line in enumerate(pane["lines"], start=1) if n not in pane["removed"]]


@pytest.mark.parametrize(
    ("targets", "feeds"),
    [
        (["mean_0.tmp_0"], []),
        (["elementwise_add_0.tmp_0"], []),
        (["elementwise_add_0.tmp_0"], ["dropout_0.tmp_0"]),
        (["linear_0.w_0"], []),
        (["linear_0.w_0@GRAD", "softmax_0.tmp_0"], []),
        (["x"], []),
    ],
)
def test_what_stays_is_what_prune_keeps(targets, feeds):
    main, *_ = training()
    pruned = main._prune_with_input(feeds, targets)
    last = viz.prune_steps(main, targets, feeds).steps[-1]
    assert kept(last) == [short_op(op) for op in pruned.global_block().ops]


def test_each_step_says_why():
    main, hidden, prediction, _ = training()
    steps = viz.prune_steps(main, [prediction]).steps
    assert [step["title"] for step in steps] == [
        "Before the search",
        f"Lines {len(main.global_block().ops)} to 5 go",
        "Line 4, elementwise_add, stays",
        "Line 3, matmul_v2, stays",
        "Line 2, softmax, goes",
        "Line 1, dropout, stays",
        "After the search",
    ]
    assert steps[4]["note"] == "Nobody needs softmax_0.tmp_0."
    assert steps[3]["note"] == (
        "It writes matmul_v2_0.tmp_0. So dropout_0.tmp_0, linear_0.w_0 are needed, too."
    )
    assert len(kept(steps[0])) == len(main.global_block().ops)
    table = steps[-1]["panes"][1]
    assert table["type"] == "table"
    assert ["dropout_0.tmp_0", "line 3, matmul_v2", "line 1"] in table["rows"]
    fed = viz.prune_steps(main, [prediction], [hidden.name]).steps
    assert fed[3]["note"].endswith("dropout_0.tmp_0 is fed: no op has to write it.")


def test_an_unknown_target_is_refused():
    main, *_ = training()
    with pytest.raises(ValueError, match="'nobody'"):
        viz.prune_steps(main, ["nobody"])


def test_before_and_after_with_the_lines_that_differ():
    main, *_ = training()
    test = main.clone(for_test=True)
    (step,) = viz.rewrite_steps({"as written": main, "for a test": test}).steps
    left, right = step["panes"]
    assert left["type"] == right["type"] == "text"
    gone = [left["lines"][n - 1].strip() for n in left["removed"]]
    fresh = [right["lines"][n - 1].strip() for n in right["added"]]
    (dropout,) = fresh
    assert "dropout" in dropout and "is_test=True" in dropout
    assert dropout.replace(", is_test=True", "") in gone
    assert any("sgd" in line for line in gone)
    (old, new) = (program.global_block() for program in (main, test))
    assert step["note"] == (
        f"{len(old.ops)} ops and {len(old.vars)} variables before, "
        f"{len(new.ops)} ops and {len(new.vars)} variables after."
    )


def test_one_program_is_no_rewriting():
    main, *_ = training()
    with pytest.raises(ValueError, match="expected at least two programs, but got 1"):
        viz.rewrite_steps({"as written": main})
