"""Gradients of gradients in classic Programs."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minipaddle as paddle
from minipaddle.common import unique_name
from minipaddle.common.errors import NoGradientError
from minipaddle.compare import real_paddle
from minipaddle.phi.core.op import OPS, op
from minipaddle.phi.core.world import world_guard
from tests.base.classic import X, block, classic_program, data, run, types

F, static = paddle.nn.functional, paddle.static


@pytest.fixture(autouse=True)
def classic():
    with classic_program():
        yield


FUNCTIONS = {
    "x * x * x": lambda x: x * x * x,
    "tanh": lambda x: paddle.tanh(x) * x,
    "sigmoid, exp, divide": lambda x: F.sigmoid(x) + paddle.exp(x) / (x * x + 1.0),
    "matmul": lambda x: paddle.tanh(x @ x) @ x,
    "softmax": lambda x: F.softmax(x) * x,
    "concat": lambda x: paddle.concat([x * x, paddle.exp(x)], axis=0),
    "split, one of three": lambda x: paddle.split(x * x * x, 3, axis=1)[1],
    "broadcasting": lambda x: x * x.sum(axis=0, keepdim=True) * x[:, 0:1],
    "add_n": lambda x: paddle.add_n([x * x, x * x * x, x]),
    "transpose, reshape": lambda x: (x.T * x).reshape([9]) * x.reshape([9]),
    "where": lambda x: paddle.where(x > 0, x * x * x, paddle.exp(x)),
    "max": lambda x: (x * x).max(axis=1),
    "linear": lambda x: F.linear(x, x, x[0]) * x,
    "stack": lambda x: paddle.stack([x, x * x]) * 2.0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_three_orders_are_those_of_dygraph(name):
    function, at = FUNCTIONS[name], np.vstack([X, [[-0.4, 1.1, 0.9]]])
    x = data(shape=(3, 3))

    def orders(gradient, x):
        (first,) = gradient(function(x).sum(), x)
        (second,) = gradient((first * first).sum(), x)
        (third,) = gradient((second * second).sum(), x)
        return [first, second, third]

    found = run(orders(static.gradients, x), x=at)
    with world_guard("dygraph"):
        tensor = paddle.to_tensor(at, stop_gradient=False)
        wanted: list[Any] = orders(partial(paddle.grad, create_graph=True), tensor)
    for mine, eager in zip(found, wanted, strict=True):
        # attributes have 32 bits in a ProgramDesc
        assert np.allclose(mine, eager.numpy(), rtol=1e-6, atol=1e-9)


# a rule of theirs calls reshape_as, which is no op of Paddle's programs
ONLY_OURS = {"transpose, reshape"}


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - ONLY_OURS))
def test_real_paddle_runs_our_gradients_of_gradients(name):
    real, at = real_paddle(), np.vstack([X, [[-0.4, 1.1, 0.9]]])
    assert real is not None, "install the extra `course`"
    x = data(shape=(3, 3))
    (grad,) = static.gradients(FUNCTIONS[name](x).sum(), x)
    (second,) = static.gradients((grad * grad).sum(), x)
    names = [grad.name, second.name]
    bytes_ = static.default_main_program().serialize_to_string()
    real.enable_static()
    try:
        with real.pir_utils.OldIrGuard():
            program = real.static.Program.parse_from_string(bytes_)
            executor = real.static.Executor(real.CPUPlace())
            theirs = executor.run(program, feed={"x": at}, fetch_list=names)
    finally:
        real.disable_static()
    for mine, other in zip(run(names, x=at), theirs, strict=True):
        assert np.allclose(mine, other, rtol=1e-6, atol=1e-9)


# factors that 32 bits hold, as the attributes of a Program have no more
STEPS = {
    "relu": lambda a, b: F.relu(a),
    "tanh": lambda a, b: paddle.tanh(a),
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b * 0.5,
    "matmul": lambda a, b: (a @ b) * 0.25,
    "one of two": lambda a, b: paddle.split(paddle.concat([a, b], axis=1), 2, axis=1)[1],
    "row": lambda a, b: a * b[0:1],
    "mean": lambda a, b: a - b.mean(axis=0, keepdim=True),
}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99), st.integers(0, 99)),
        min_size=1,
        max_size=12,
    ),
    st.sets(st.integers(0, 99), max_size=3),
    st.booleans(),
)
def test_drawn_nets_have_the_gradients_of_dygraph(steps, checkpoints, twice):
    """A net of ops that read any results before them; with checkpoints; once, or two times."""
    at = np.linspace(-1.0, 1.3, 16).reshape(4, 4)

    def net(x: Any) -> list[Any]:
        results = [x]
        for name, a, b in steps:
            results.append(STEPS[name](results[a % len(results)], results[b % len(results)]))
        return results

    with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        x = data(shape=(4, 4))
        results = net(x)
        loss = (results[-1] * x + results[len(steps) // 2]).sum()
        needed = {loss.name}
        for item in reversed(block().ops):
            if not needed.isdisjoint(item.output_arg_names):
                needed.update(item.input_arg_names)
        on_the_way = [result.name for result in results[1:] if result.name in needed]
        chosen = [on_the_way[number % len(on_the_way)] for number in checkpoints]
        static.append_backward(loss, checkpoints=chosen)
        fetch = ["x@GRAD"]
        if twice:
            grad = block().var("x@GRAD")
            fetch += [g.name for g in static.gradients((grad * grad).sum() + loss, x)]
        found = run(fetch, x=at)
    with world_guard("dygraph"):
        tensor = paddle.to_tensor(at, stop_gradient=False)
        results = net(tensor)
        loss = (results[-1] * tensor + results[len(steps) // 2]).sum()
        wanted: list[Any] = paddle.grad(loss, tensor, create_graph=True)
        if twice:
            wanted += paddle.grad((wanted[0] * wanted[0]).sum() + loss, tensor)
    for mine, eager in zip(found, wanted, strict=True):
        assert np.allclose(mine, eager.numpy(), rtol=1e-8, atol=1e-10)


def test_the_name_of_a_gradient_of_a_gradient():
    x = data()
    (grad,) = static.gradients(x * x * x, x)
    (second,) = static.gradients(grad, x)
    assert (grad.name, second.name) == ("x@GRAD", "grad/grad/x@GRAD")
    assert "x@GRAD@GRAD" in block().vars  # where the second walk started
    assert np.allclose(run([second], x=X)[0], 6.0 * X)


def test_only_the_gradient_that_is_used_is_differentiated():
    """matmul_grad made two gradients; one matmul_grad is enough for the second order of one."""
    x, w = data(shape=(3, 3)), data("w", (3, 3))
    (grad,) = static.gradients(x @ w, x)
    first = len(block().ops)
    static.gradients((grad * grad).sum(), w)
    assert types(first).count("matmul_v2_grad") == 1


def test_a_rule_that_gives_the_same_gradient_twice():
    """Its ops stand for themselves in the Program; each input needs a gradient of its own name."""

    @op()
    def plus(xp, x, y):
        return x + y

    @plus.infer_meta
    def _(x, y):
        return x

    @plus.vjp(invoke=True)
    def _(out_grad):
        both = out_grad * 1.0
        return both, both

    try:
        x, y = data(), data("y")
        found = static.gradients(plus(x * 2.0, y) * y, [x, y])
        of_x, of_y = run(found, x=X, y=X)
    finally:
        del OPS["plus"]
    assert np.allclose(of_x, 2.0 * X) and np.allclose(of_y, 4.0 * X)


def test_a_gradient_penalty_trains_the_parameters():
    """A loss that holds a gradient: d/dw of |dy/dx|^2."""
    x = data()
    w = static.create_parameter([3, 1], "float64", name="w")
    (grad,) = static.gradients(x @ w, x)
    paddle.optimizer.SGD(0.5).minimize((grad * grad).sum())
    executor, scope = static.Executor(), static.Scope()
    executor.run(static.default_startup_program(), scope=scope)
    before = np.array(scope.find_var("w"))
    executor.run(static.default_main_program(), feed={"x": X}, scope=scope)
    # the penalty is 2 * sum(w * w), for two rows
    assert np.allclose(np.array(scope.find_var("w")), before - 0.5 * 4.0 * before)


def test_a_rule_that_has_no_gradient_is_refused_and_nothing_is_left():
    x = data()
    loss = F.cross_entropy(x, static.data("label", [2], "int64"))
    (grad,) = static.gradients(loss, x)
    penalty = (grad * grad).sum()
    before = str(static.default_main_program())
    with pytest.raises(NoGradientError, match="softmax_with_cross_entropy_grad has no gradient"):
        static.gradients(penalty, x)
    assert str(static.default_main_program()) == before
    again = static.gradients(loss, x)[0]
    assert again is not None and again.name == "grad/grad/x@GRAD"
