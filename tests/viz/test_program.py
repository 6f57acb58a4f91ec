"""The Executor's film: is it what the Executor does, and does it say when variables die?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import viz
from minipaddle.common import unique_name
from minipaddle.viz.program_text import short_op

FEED = {"a": np.array([[1.0, 2.0]], "float32"), "b": np.array([[3.0], [4.0]], "float32")}


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        yield
    paddle.disable_static()


def program() -> tuple:
    """The product of a and b, through relu; a softmax that nobody reads."""
    main = paddle.static.Program()
    with unique_name.guard(), paddle.static.program_guard(main):
        a = paddle.static.data("a", [1, 2], "float32")
        b = paddle.static.data("b", [2, 1], "float32")
        product = a @ b
        F.softmax(product)
        out = F.relu(product) + product
    return main, out


def rows(step: viz.Step) -> dict[str, str]:
    """Variable -> what it holds."""
    pane = step["panes"][1]
    assert pane["type"] == "table"
    return {name: holds for name, _, holds in pane["rows"]}


def test_each_instruction_is_run_and_then_what_nobody_reads_is_freed():
    main, out = program()
    steps = viz.executor_steps(main, FEED, [out]).steps
    assert [step["title"] for step in steps] == [
        "Before the first instruction: feeds and parameters are there",
        "Line 1: run matmul_v2",
        "Line 1: free a, b",
        "Line 3: run relu",
        "Line 4: run elementwise_add",
        "Line 4: free relu_0.tmp_0, tmp_0",
        "Done: you get tmp_1",
    ]
    assert rows(steps[1])["tmp_0"] == "[[11.]]"
    assert rows(steps[2])["a"] == "freed after line 1"
    assert rows(steps[3])["tmp_0"] == "[[11.]]"
    assert rows(steps[-1])["tmp_1"] == "[[22.]]"


def test_it_is_what_the_executor_computes():
    main, out = program()
    (value,) = paddle.static.Executor().run(main, feed=FEED, fetch_list=[out])
    assert rows(viz.executor_steps(main, FEED, [out]).steps[-1])["tmp_1"] == str(value)


def test_an_op_that_no_fetch_needs_is_marked():
    main, out = program()
    first = viz.executor_steps(main, FEED, [out]).steps[0]
    text = first["panes"][0]
    assert text["type"] == "text" and text["removed"] == [2]
    assert "1 of 4 ops won't run" in first["note"]


def test_a_fetched_variable_stays():
    main, out = program()
    steps = viz.executor_steps(main, FEED, [out, "tmp_0"]).steps
    assert rows(steps[-1])["tmp_0"] == "[[11.]]"


def test_bytes_are_counted():
    main, out = program()
    steps = viz.executor_steps(main, FEED, [out]).steps
    assert "2 variables, 16 bytes" in steps[0]["note"]
    assert "1 variable, 4 bytes" in steps[2]["note"]
    assert steps[-1]["note"] == "At most 20 bytes were in memory at the same time."


def test_training_leaves_the_scope_as_it_was():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 2], "float32")
        layer = paddle.nn.Linear(2, 1)
        loss = paddle.mean(layer(x))
        paddle.optimizer.SGD(0.5).minimize(loss)
    scope = paddle.static.Scope()
    paddle.static.Executor().run(startup, scope=scope)
    before = {name: np.array(scope.find_var(name)) for name in scope.local_var_names()}
    x_data = np.ones([2, 2], "float32")
    steps = viz.executor_steps(main, {"x": x_data}, [loss], scope).steps
    assert sum("run sgd" in step["title"] for step in steps) == 2
    assert rows(steps[-1])[layer.weight.name] != rows(steps[0])[layer.weight.name]
    for name, value in before.items():
        np.testing.assert_array_equal(np.array(scope.find_var(name)), value)


def test_a_parameter_outlives_its_last_use():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 2], "float32")
        weight = paddle.static.create_parameter([2, 3], "float32", name="weight")
        out = paddle.mean(x @ weight)
    scope = paddle.static.Scope()
    paddle.static.Executor().run(startup, scope=scope)
    feed = {"x": np.ones([2, 2], "float32")}
    steps = viz.executor_steps(main, feed, [out], scope).steps
    assert "Line 1: free x" in [step["title"] for step in steps]
    assert rows(steps[-1])[weight.name] == rows(steps[0])[weight.name]
    last = viz.memory_steps(main, feed, [out], scope).steps[-1]
    assert last["note"].startswith(f"{6 * 4 + 6 * 4 + 4} bytes")  # weight, the product, their mean


def test_attributes_are_shown_where_they_are_not_the_default():
    main = paddle.static.Program()
    with unique_name.guard(), paddle.static.program_guard(main):
        a = paddle.static.data("a", [1, 2], "float32")
        paddle.mean(a, axis=1)
        a * 3.0
    assert [short_op(op) for op in main.global_block().ops] == [
        "mean_0.tmp_0 = reduce_mean(X=a, axis=(1,))",
        "tmp_0 = scale(X=a, scale=3.0)",
    ]


def test_a_missing_feed_is_the_executors_error():
    main, out = program()
    with pytest.raises(KeyError, match="the program needs feed 'b'"):
        viz.executor_steps(main, {"a": FEED["a"]}, [out])
