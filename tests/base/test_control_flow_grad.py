"""Gradients through cond and while_loop: against dygraph, and in real Paddle's Executor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common import unique_name
from minipaddle.common.errors import IRError, NoGradientError
from minipaddle.compare import real_paddle
from minipaddle.phi.core.world import world_guard

from .control_flow_cases import CASES
from .test_control_flow import INPUTS, real_program


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def with_gradient(function, paddle=paddle):
    """A Program that feeds x [2] to the function; (the program, its result, the gradient of x)."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        y = function(paddle, x)
        (gradient,) = paddle.static.gradients([paddle.mean(y)], [x])
    return main, y, gradient


def run(main, x, fetch, paddle=paddle):
    feed = {"x": np.array(x, "float32")}
    return paddle.static.Executor().run(main, feed=feed, fetch_list=list(fetch))


def in_dygraph(function, x):
    with world_guard("dygraph"):
        data = paddle.to_tensor(np.array(x, "float32"), stop_gradient=False)
        y = function(paddle, data)
        paddle.mean(y).backward()
        return y.numpy(), np.zeros(2) if data.grad is None else data.grad.numpy()


def named(name):
    return next(case for case in CASES if case.__name__ == name)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_gradients_are_those_of_dygraph(function):
    main, y, gradient = with_gradient(function)
    again = Program.parse_from_string(main.serialize_to_string())
    assert str(again) == str(main)
    for x in INPUTS:
        wanted = in_dygraph(function, x)
        for program in (main, again):
            for mine, theirs in zip(run(program, x, [y.name, gradient.name]), wanted, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


def test_real_paddle_runs_our_gradients():
    """All of them in one test: starting Paddle's Executor takes longer than running."""
    real = real_paddle()
    assert real is not None, "install the extra `course`"
    for function in CASES:
        main, y, gradient = with_gradient(function)
        real.enable_static()
        try:
            with real.pir_utils.OldIrGuard():
                program = real.static.Program.parse_from_string(main.serialize_to_string())
                for x in INPUTS:
                    theirs = run(program, x, [y.name, gradient.name], real)
                    mine = run(main, x, [y.name, gradient.name])
                    for one, other in zip(mine, theirs, strict=True):
                        np.testing.assert_allclose(
                            one, other, rtol=1e-4, atol=1e-6, err_msg=function.__name__
                        )
        finally:
            real.disable_static()


# where real Paddle's own gradient is right; what else it prints stands in the table below
PADDLE_IS_RIGHT = ["condition", "loop", "two_values_in_a_loop", "loop_in_condition"]


@pytest.mark.parametrize("name", PADDLE_IS_RIGHT)
def test_real_paddle_builds_the_same_gradient_blocks(name, monkeypatch):
    function = named(name)
    mine, _, _ = with_gradient(function)
    theirs, y, gradient = real_program(lambda real: with_gradient(function, real), monkeypatch)

    def blocks(program):
        return [
            (b.parent_idx, b.forward_block_idx, [op.type for op in b.ops]) for b in program.blocks
        ]

    assert blocks(mine) == blocks(theirs)
    # and what Paddle has built runs here
    program = Program.parse_from_string(theirs.desc.serialize_to_string())
    for x in INPUTS:
        found = run(program, x, [y.name, gradient.name])
        for one, other in zip(found, in_dygraph(function, x), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


# Where real Paddle 3.3.1 computes something else, and what is wrong with it.
PADDLE_IS_WRONG = {
    "sum_of_a_loop": "the sum is a constant at first, so it is taken to have no gradient",
    "swapped_values": "the second value is assigned when the first is overwritten already",
    "value_that_a_turn_does_not_read": "each turn adds the gradient of the last one again",
    "op_before_needs_what_the_loop_overwrites": "its gradient reads what the loop has left",
    "op_before_needs_its_own_result": "its gradient reads what the loop has left",
    "loop_in_loop": "the inner loop overwrites a value of the outer one",
    "condition_in_loop": "both branches write their gradient to one name",
}


@pytest.mark.parametrize("name", PADDLE_IS_WRONG)
def test_real_paddle_is_wrong_where_the_table_says(name, monkeypatch):
    """If a later Paddle is right, the line of the table goes."""
    function = named(name)
    real = real_paddle()
    assert real is not None

    def outcome(real):
        try:
            main, y, gradient = with_gradient(function, real)
        except ValueError:  # the list of gradients is empty: there is none
            return None
        return run(main, INPUTS[0], [y, gradient], real)

    theirs = real_program(outcome, monkeypatch)
    wanted = in_dygraph(function, INPUTS[0])
    assert theirs is None or not all(
        np.allclose(one, other, rtol=1e-3) for one, other in zip(theirs, wanted, strict=True)
    )


def test_values_are_kept_only_for_a_gradient():
    """The same program, fetched with and without its gradient."""
    main, y, gradient = with_gradient(named("condition_in_loop"))
    executor = paddle.static.Executor()
    assert ".append(" not in executor.interpreter(main, ("x",), [y]).text
    text = executor.interpreter(main, ("x",), [gradient]).text
    (kept,) = [line for line in text.splitlines() if ".append(" in line]
    # the value before the turn, what chooses the branch: for the select and for both blocks
    assert kept.count(",") == 3


def test_a_loop_that_nobody_differentiates_keeps_nothing():
    """a + x needs no values, but the number of turns."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        _, y = paddle.static.nn.while_loop(
            lambda i, a: i < n, lambda i, a: [i + 1, a + x], [i, x * 1.0]
        )
        (gradient,) = paddle.static.gradients([paddle.mean(y)], [x])
    text = paddle.static.Executor().interpreter(main, ("x",), [gradient]).text
    assert run(main, [1.0, 2.0], [gradient])[0].tolist() == [2.0, 2.0]
    (kept,) = [line.strip() for line in text.splitlines() if ".append(" in line]
    assert kept.count("v") <= 3, kept  # the list itself, and what add_grad asks for the shape


def test_two_backwards_through_one_loop():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")
        start = x * 1.0
        _, y = paddle.static.nn.while_loop(
            lambda i, a: i < n, lambda i, a: [i + 1, a * x], [i, start]
        )
        first = paddle.static.gradients([paddle.mean(y)], [x])[0]
        second = paddle.static.gradients([paddle.mean(y * 3.0)], [x])[0]
    x = np.array([1.0, 2.0], "float32")
    one, two, y = run(main, x, [first, second, y])
    np.testing.assert_allclose(y, x**3)
    np.testing.assert_allclose(one, 1.5 * x**2)
    np.testing.assert_allclose(two, 4.5 * x**2)


def test_no_grad_set_and_stop_gradient_reach_into_blocks():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        z = paddle.static.data("z", [2], "float32")
        x.stop_gradient = z.stop_gradient = False
        square = z * z
        y = paddle.static.nn.cond(paddle.mean(x) > 0, lambda: x * square, lambda: x)
        found = paddle.static.gradients([paddle.mean(y)], [x, z], no_grad_set={square})
    assert found[1] is None
    grads = [n for block in main.blocks[3:] for op in block.ops for n in op.output_arg_names]
    assert not any(name.startswith(square.name) for name in grads)


def test_a_parameter_in_nested_blocks():
    """w is read in both branches of a condition inside a loop: its gradient is the sum of all."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [1, 2], "float32")
        w = paddle.static.create_parameter(
            [2, 2], "float32", name="w", default_initializer=paddle.nn.initializer.Constant(0.5)
        )

        def body(i, h):
            even = paddle.mean(h) > 1.0
            h = paddle.static.nn.cond(even, lambda: h @ w, lambda: h @ w + x)
            return [i + 1, h]

        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 4, "int64")
        _, h = paddle.static.nn.while_loop(lambda i, h: i < n, body, [i, x * 1.0])
        (pair,) = paddle.static.append_backward(paddle.mean(h))
    assert [v.name for v in pair] == ["w", "w@GRAD"]
    scope = paddle.static.Scope()
    paddle.static.Executor().run(startup, scope=scope)
    data = np.array([[0.5, 1.0]], "float32")
    (found,) = paddle.static.Executor().run(
        main, feed={"x": data}, fetch_list=[pair[1]], scope=scope
    )
    with world_guard("dygraph"):
        w = paddle.to_tensor(np.full((2, 2), 0.5, "float32"), stop_gradient=False)
        h = x = paddle.to_tensor(data)
        for _ in range(4):
            h = h @ w if paddle.mean(h) > 1.0 else h @ w + x
        paddle.mean(h).backward()
    np.testing.assert_allclose(found, w.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["condition", "loop", "loop_in_condition"])
def test_second_gradients_are_refused(name):
    main, _, gradient = with_gradient(named(name))
    blocks, ops = main.num_blocks, len(main.global_block().ops)
    with paddle.static.program_guard(main):
        with pytest.raises(NoGradientError, match="do not go through if and while"):
            paddle.static.gradients([gradient], [main.global_block().var("x")])
    assert (main.num_blocks, len(main.global_block().ops)) == (blocks, ops)


def test_a_variable_that_only_one_branch_changes_has_no_gradient():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        y = x * 1.0

        def true():
            paddle.assign(x * 5.0, y)

        paddle.static.nn.cond(paddle.mean(x) > 0, true, None)
        with pytest.raises(NoGradientError, match="has a value before and keeps it"):
            paddle.static.gradients([paddle.mean(y)], [x])


def test_a_gradient_without_its_forward_block():
    main, _, gradient = with_gradient(named("loop"))
    message = main.proto
    message.blocks[2].forward_block_idx = -1
    broken = Program.parse_from_string(message.SerializeToString())
    with pytest.raises(IRError, match="while_grad: expected block 2 to be the gradient of a block"):
        run(broken, [1.0, 2.0], [gradient.name])


# -- any program -------------------------------------------------------------------------------

# A program is a list of steps. Each step computes a value from earlier ones (their places modulo
# how many there are); a condition or a loop has programs in it.
_places = st.integers(0, 7)
_ops = st.tuples(st.sampled_from(["add", "subtract", "multiply", "maximum"]), _places, _places)
_inputs = st.sampled_from([[0.7, -0.4], [-0.9, 0.3], [1.3, 1.1]])


def programs(fewest_turns):
    turns, places = st.integers(fewest_turns, 3), st.lists(_places, max_size=2)
    return st.recursive(
        st.lists(_ops, min_size=1, max_size=3),
        lambda inner: st.lists(
            st.one_of(
                _ops,
                st.tuples(st.just("if"), _places, inner, inner),
                st.tuples(st.just("loop"), turns, places, inner),
            ),
            min_size=1,
            max_size=3,
        ),
        max_leaves=12,
    )


def follow(steps, values):
    """Carries the steps out; `values` is changed. Gives the last value."""
    nn = paddle.static.nn
    for kind, *rest in steps:
        if kind == "if":
            place, true, false = rest
            condition = paddle.mean(values[place % len(values)]) > 0
            values.append(
                nn.cond(
                    condition,
                    lambda true=true: follow(true, list(values)),
                    lambda false=false: follow(false, list(values)),
                )
            )
        elif kind == "loop":
            turns, places, body = rest
            # x itself stays: without it, what a loop overwrites would be seen by its body
            own = sorted({1 + place % (len(values) - 1) for place in places} - {0}) or [1]
            others = [value for place, value in enumerate(values) if place not in own]
            limit = paddle.full([1], turns, "int64")

            def turn(i, *now, others=others, body=body):
                last = follow(body, [*others, *now])
                return [i + 1, *now[1:], last]

            count = paddle.full([1], 0, "int64")
            start = [count, *(values[place] for place in own)]
            _, *found = nn.while_loop(lambda i, *now, limit=limit: i < limit, turn, start)
            for place, value in zip(own, found, strict=True):
                values[place] = value
            values.append(found[-1] * 1.0)  # not the variable itself: the next loop may write it
        else:
            x, y = (values[place % len(values)] for place in rest)
            values.append(getattr(paddle, kind)(x, y) * 0.5)
    return values[-1] * 1.0


@settings(max_examples=80, deadline=None, derandomize=True)
@given(programs(0), _inputs)
def test_any_program_computes_what_dygraph_computes(steps, x):
    def program(paddle, x):
        return follow(steps, [x, x * 0.9, x - 0.2])

    main, y, gradient = with_gradient(program)
    fetch = [y] if gradient is None else [y, gradient]
    found = run(main, x, fetch)
    wanted = in_dygraph(program, x)
    # maximum has no gradient where its inputs are equal: both say one half, in another order
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        np.zeros(2) if gradient is None else found[1], wanted[1], rtol=1e-3, atol=1e-4
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(programs(1), _inputs)
def test_real_paddle_runs_any_program(steps, x):
    """But for loops without a turn: Paddle leaves the gradient of what they read without memory."""
    real = real_paddle()
    assert real is not None
    main, y, gradient = with_gradient(lambda paddle, x: follow(steps, [x, x * 0.9, x - 0.2]))
    fetch = [y.name] if gradient is None else [y.name, gradient.name]
    real.enable_static()
    try:
        with real.pir_utils.OldIrGuard():
            program = real.static.Program.parse_from_string(main.serialize_to_string())
            theirs = run(program, x, fetch, real)
    finally:
        real.disable_static()
    for one, other in zip(run(main, x, fetch), theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
