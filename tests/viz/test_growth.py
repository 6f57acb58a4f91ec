"""A program while it is built: does each step show what its line appended, and where?"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

import minipaddle as paddle
from minipaddle import viz
from minipaddle.common import unique_name
from minipaddle.viz.program_text import program_lines


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def programs() -> tuple:
    return paddle.static.Program(), paddle.static.Program()


def fresh(step: viz.Step, name: str) -> list[str]:
    """The lines of a program that the step marks as added."""
    (pane,) = (p for p in step["panes"] if p["name"] == f"{name} program")
    assert pane["type"] == "text"
    return [pane["lines"][number - 1].strip() for number in pane["added"]]


def marked(step: viz.Step) -> list[int]:
    pane = step["panes"][0]
    assert pane["type"] == "text"
    return pane["highlight"]


def test_each_line_shows_what_it_appends_to_which_program():
    main, startup = programs()

    def build():
        x = paddle.static.data("x", [None, 2], "float32")
        linear = paddle.nn.Linear(2, 1)
        return linear(x)

    steps = viz.growth_steps(build, main, startup).steps
    assert [step["title"] for step in steps] == [
        "Before the first line",
        'x = paddle.static.data("x", [None, 2], "float32")',
        "linear = paddle.nn.Linear(2, 1)",
        "return linear(x)",
    ]
    assert [marked(step) for step in steps] == [[], [2], [3], [4]]
    assert fresh(steps[1], "main") == ["x: [-1, 2] float32"]
    assert fresh(steps[1], "startup") == []
    parameters = ["linear_0.w_0: parameter [2, 1] float32", "linear_0.b_0: parameter [1] float32"]
    assert fresh(steps[2], "main") == parameters
    assert fresh(steps[2], "startup")[:2] == parameters
    assert fresh(steps[2], "startup")[3] == "linear_0.b_0 = fill_constant(shape=(1,))"
    assert steps[2]["note"] == "main gets 2 variables; startup gets 2 variables and 2 ops."
    assert fresh(steps[3], "main")[2:] == [
        "matmul_v2_0.tmp_0 = matmul_v2(X=x, Y=linear_0.w_0)",
        "elementwise_add_0.tmp_0 = elementwise_add(X=matmul_v2_0.tmp_0, Y=linear_0.b_0)",
    ]


def test_the_programs_hold_what_was_built():
    main, startup = programs()

    def build():
        paddle.static.data("x", [2], "float32") * 3.0

    viz.growth_steps(build, main, startup)
    assert [op.type for op in main.global_block().ops] == ["scale"]


def test_lines_that_change_nothing_are_no_steps_and_loops_are_a_step_each_time():
    main, startup = programs()

    def build():
        x = paddle.static.data("x", [2], "float32")
        times = 2 + 1
        for _ in range(times):
            x = x * 3.0
        return x

    steps = viz.growth_steps(build, main, startup).steps
    assert [marked(step) for step in steps] == [[], [2], [5], [5], [5]]


def test_a_statement_of_several_lines_is_one_step():
    main, startup = programs()

    def build():
        x = paddle.static.data(
            "x",
            [2],
            "float32",
        )
        return paddle.mean(
            x * 3.0,
        )

    steps = viz.growth_steps(build, main, startup).steps
    assert [marked(step) for step in steps] == [[], [2, 3, 4, 5, 6], [7, 8, 9]]


def test_an_error_of_the_function_comes_through_and_python_is_traced_as_before():
    main, startup = programs()
    before = sys.gettrace()

    def build():
        x = paddle.static.data("x", [2, 3], "float32")
        return x @ x

    with pytest.raises(ValueError, match="matmul"):
        viz.growth_steps(build, main, startup)
    assert sys.gettrace() is before


def test_what_is_no_such_function_is_refused():
    main, startup = programs()
    with pytest.raises(TypeError, match="expected build to be a function without arguments"):
        viz.growth_steps(lambda x: x, main, startup)
    with pytest.raises(TypeError, match="expected a classic Program, but got"):
        viz.growth_steps(lambda: None, main, None)


def test_a_gradient_op_shows_only_attributes_that_its_forward_op_would_show():
    main, startup = programs()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 2], "float32")
        x.stop_gradient = False
        paddle.static.append_backward(paddle.mean(x @ x))
    line = "x@GRAD@RENAME@block0@0, x@GRAD@RENAME@block0@1 = matmul_v2_grad(X=x, Y=x, "
    assert f"  {line}Out@GRAD=tmp_0@GRAD)" in program_lines(main)
