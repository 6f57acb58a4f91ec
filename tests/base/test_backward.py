"""Backward of classic Programs: several in one Program, higher orders, checkpoints."""

import time
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

F = paddle.nn.functional
static = paddle.static


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        main = static.Program()
        with static.program_guard(main, static.Program()):
            yield
    paddle.disable_static()


def data(name="x", shape=(2, 3), stop_gradient=False, dtype="float64"):
    variable = static.data(name, list(shape), dtype)
    variable.stop_gradient = stop_gradient
    return variable


def run(fetch, **feed):
    """The values of `fetch`, with the startup program run first. No op writes what another one
    has written, or it writes over what it reads.
    """
    made = [
        name
        for item in block().ops
        for name in item.output_arg_names
        if name not in item.input_arg_names
    ]
    assert len(made) == len(set(made))
    scope, executor = static.Scope(), static.Executor()
    executor.run(static.default_startup_program(), scope=scope)
    return executor.run(
        static.default_main_program(), feed=feed, fetch_list=list(fetch), scope=scope
    )


def block():
    return static.default_main_program().global_block()


def types(first=0):
    return [op.type for op in block().ops[first:]]


X = np.array([[0.5, -1.2, 2.0], [1.5, 0.3, -0.7]])


# -- gradients -----------------------------------------------------------------------------------


def test_gradients_of_several_targets_are_summed():
    x = data()
    (grad,) = static.gradients([x * 2.0, x * x], x)
    assert grad.name == "x@GRAD"
    assert np.allclose(run([grad], x=X)[0], 2.0 + 2.0 * X)


def test_a_target_on_the_way_to_another_counts_too():
    """Real Paddle overwrites the first target's own gradient here, and gives a wrong number."""
    x = data()
    y = x * 3.0
    (grad,) = static.gradients([y, y * y], x)
    assert np.allclose(run([grad], x=X)[0], 3.0 + 18.0 * X)


def test_the_same_target_twice_counts_twice():
    x = data()
    y = x * x
    (grad,) = static.gradients([y, y], x)
    assert np.allclose(run([grad], x=X)[0], 4.0 * X)


def test_gradients_of_intermediate_results_and_of_what_has_none():
    x, unused = data(), data("unused")
    stopped = data("stopped", stop_gradient=True)
    y = x * stopped
    z = y * y
    of_y, of_x, of_unused, of_stopped, of_z = static.gradients([z], [y, x, unused, stopped, z])
    assert of_unused is None and of_stopped is None
    found = run([of_y, of_x, of_z], x=X, stopped=X)
    assert [np.allclose(*pair) for pair in zip(found, (2 * X * X, 2 * X**3, np.ones_like(X)))]


def test_only_ops_between_inputs_and_targets_get_a_gradient_op():
    x = data()
    y = F.relu(x)
    z = paddle.mean(paddle.tanh(y))
    static.gradients(z, y)
    assert types(3) == ["fill_any_like", "reduce_mean_grad", "tanh_grad"]


def test_where_nothing_depends_nothing_is_made():
    x = data()
    y = x * 2.0
    assert static.gradients(y, data("u")) == [None]
    assert "u@GRAD" not in block().vars


def test_target_gradients_weigh_the_targets():
    x, weight = data(), data("weight", stop_gradient=True)
    y, z = x * 2.0, x * x
    (grad,) = static.gradients([y, z], [x], [weight, None])
    assert np.allclose(run([grad], x=X, weight=X)[0], 2.0 * X + 2.0 * X)
    (single,) = static.gradients(y, x, weight)
    assert np.allclose(run([single], x=X, weight=X)[0], 2.0 * X)


def test_gradients_with_respect_to_a_parameter():
    x = data(stop_gradient=True)
    w = static.create_parameter([3, 1], "float64", name="w")
    (grad,) = static.gradients(x @ w, w)
    assert np.allclose(run([grad], x=X)[0][:, 0], X.sum(axis=0))


def test_bad_arguments_of_gradients():
    x = data()
    y = x * x
    count, known = len(block().ops), list(block().vars)
    cases = [
        (TypeError, r"targets to hold Variables of a Program, but got str", lambda: ["y"], [x], {}),
        (ValueError, r"a target, but got none", list, [x], {}),
        (TypeError, r"inputs to hold Variables of a Program, but got ndarray", lambda: y, X, {}),
        (
            ValueError,
            r"one target gradient for each of the 1 targets, but got 2",
            lambda: [y],
            [x],
            {"target_gradients": [None, None]},
        ),
        (
            ValueError,
            r"a gradient of 'tmp_0' of shape \[2, 3\], but got 'g' of shape \[3\]",
            lambda: y,
            x,
            {"target_gradients": data("g", (3,))},
        ),
        (
            TypeError,
            r"no_grad_set to hold Variables or names, but got int",
            lambda: y,
            x,
            {"no_grad_set": [1]},
        ),
    ]
    known.append("g")
    for kind, words, target, inputs, more in cases:
        with pytest.raises(kind, match=f"gradients: expected .*{words}"):
            static.gradients(target(), inputs, **more)
    with static.program_guard(static.Program()):
        other = data()
    with pytest.raises(ValueError, match="Variables of the targets' Program, but got 'x'"):
        static.gradients(y, other)
    with pytest.raises(ValueError, match="expected targets of one Program, but got 'x'"):
        static.gradients([y, other], x)
    assert (len(block().ops), list(block().vars)) == (count, known)


# -- several backwards in one Program ------------------------------------------------------------


def test_two_losses_have_gradients_of_their_own():
    x = data(stop_gradient=True)
    w = static.create_parameter([3, 2], "float64", name="w")
    y = x @ w
    first, second = y.sum(), (y * y).sum()
    ((_, one),) = static.append_backward(first)
    ((_, two),) = static.append_backward(second)
    assert (one.name, two.name) == ("w@GRAD", "grad/grad/w@GRAD")
    found, weight = run([one, two, "w"], x=X)[:2], run([w], x=X)[0]
    assert np.allclose(found[0], X.T @ np.ones((2, 2)))
    found = run([one, two, w], x=X)
    assert np.allclose(found[1], X.T @ (2.0 * X @ found[2]))
    assert weight.shape == (3, 2)


def test_the_same_loss_twice():
    w = static.create_parameter([3], "float64", name="w")
    loss = (w * w).sum()
    ((_, one),), ((_, two),) = static.append_backward(loss), static.append_backward(loss)
    first, second, weight = run([one, two, w])
    assert np.allclose(first, 2.0 * weight) and np.allclose(second, 2.0 * weight)


def test_a_gradient_name_that_a_user_took():
    x = data()
    taken = data("x@GRAD", stop_gradient=True)
    (grad,) = static.gradients((x * x).sum(), x)
    assert grad.name == "x@GRAD_0"
    assert np.allclose(run([grad, taken], **{"x": X, "x@GRAD": X})[0], 2.0 * X)


# -- gradients of gradients ----------------------------------------------------------------------

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


STEPS = {
    "relu": lambda a, b: F.relu(a),
    "tanh": lambda a, b: paddle.tanh(a),
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b * 0.5,
    "matmul": lambda a, b: (a @ b) * 0.3,
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
    at = np.linspace(-1.0, 1.3, 9).reshape(3, 3)

    def net(x: Any) -> list[Any]:
        results = [x]
        for name, a, b in steps:
            results.append(STEPS[name](results[a % len(results)], results[b % len(results)]))
        return results

    with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        x = data(shape=(3, 3))
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
        assert np.allclose(mine, eager.numpy(), rtol=1e-5, atol=1e-7)


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


# -- what is left out ----------------------------------------------------------------------------


@pytest.mark.parametrize("as_name", [True, False])
def test_no_grad_set_stops_one_branch(as_name):
    x = data()
    y, z = F.relu(x), paddle.tanh(x)
    (grad,) = static.gradients((y * z).sum(), x, no_grad_set=[y.name if as_name else y])
    assert "relu_grad" not in types()
    assert np.allclose(run([grad], x=X)[0], np.maximum(X, 0) * (1 - np.tanh(X) ** 2))


def test_parameter_list_says_which_pairs_come_back():
    x = data(stop_gradient=True)
    names = ["a", "b", "c"]
    a, b, c = (static.create_parameter([3, 3], "float64", name=name) for name in names)
    c.stop_gradient = True
    loss = (x @ a @ b @ c).sum()
    pairs = static.append_backward(loss, parameter_list=["b", c, a])
    assert [(p.name, g.name) for p, g in pairs] == [("b", "b@GRAD"), ("a", "a@GRAD")]
    assert "c@GRAD" not in block().vars
    with pytest.raises(ValueError, match="expected a variable of block 0, but got 'd'"):
        static.append_backward(loss, parameter_list=["d"])


def test_roles_name_the_op_that_makes_a_parameters_gradient():
    x = data(stop_gradient=True)
    w = static.create_parameter([3, 3], "float64", name="w")
    static.append_backward((x @ w @ w).sum())
    roles = {op.type: op.attr("op_role_var") for op in block().ops if op.attr("op_role_var")}
    assert roles == {"sum": ["w", "w@GRAD"]}  # where two pieces have become one gradient
    assert [op.attr("op_role") for op in block().ops[:4]] == [0, 0, 256, 257]


def test_an_index_that_was_computed_gets_no_gradient():
    x = data()
    index = paddle.argsort(x * 2.0, axis=1)
    (grad,) = static.gradients(paddle.take_along_axis(x * x, index, axis=1), x)
    assert np.allclose(run([grad], x=X)[0], 2.0 * X)


def test_bad_losses():
    x = data()
    number = static.data("n", [1], "int64")
    cases = [
        (TypeError, "a Variable, but got list", [x]),
        (ValueError, r"with one element, but got shape \[2, 3\]", x),
        (ValueError, "of a float dtype, but got 'n' of int64", number),
        (ValueError, "to depend on a variable with", data("stopped", stop_gradient=True).sum()),
    ]
    for kind, words, loss in cases:
        with pytest.raises(kind, match=f"append_backward: expected .*{words}"):
            static.append_backward(loss)
    block().ops, loss = [], x.sum()
    block().vars.pop(loss.name)
    with pytest.raises(ValueError, match="expected loss of one Program, but got 'sum_1.tmp_0'"):
        static.append_backward(loss)


def test_a_backward_inside_control_flow_is_refused():
    x = data()
    outer = x.sum()

    def branch(loss):
        def body():
            y = x.sum() * 2.0
            static.append_backward(outer if loss == "outer" else y)
            return y

        return body

    for loss in ("outer", "inner"):
        with pytest.raises(ValueError, match="a call outside of cond and while_loop, but got one"):
            static.nn.cond(x.sum() > 0.0, branch(loss), lambda: x.sum())


# -- checkpoints ---------------------------------------------------------------------------------


def deep(layers, width=8, dropout=0.0, norm=False):
    """A deep net; its layers' results, and its loss."""
    h = data(shape=(16, width), stop_gradient=True)
    results = []
    for number in range(layers):
        w = static.create_parameter(
            [width, width],
            "float64",
            name=f"w{number}",
            default_initializer=paddle.nn.initializer.Constant(0.1 + 0.01 * number),
        )
        h = paddle.tanh(F.sigmoid(h @ w) * 2.0)
        if norm:
            h = paddle.nn.BatchNorm1D(width, name=f"bn{number}")(h.astype("float32"))
            h = h.astype("float64")
        if dropout:
            h = F.dropout(h, dropout)
        results.append(h)
    return results, h.mean()


def peak(fetch):
    """The most bytes that are alive at once while the program runs, without its parameters."""
    plan = static.Executor().interpreter(static.default_main_program(), ("x",), fetch).plan
    sizes = {
        variable: block().var(name).shape.numel() * block().var(name).dtype.itemsize
        for variable, name in plan.names.items()
        if not block().var(name).is_parameter
    }
    alive: set[str] = {variable for variable, _ in plan.feeds.values()}
    most = 0
    for instruction, dead in zip(plan.instructions, plan.last_uses(), strict=True):
        alive.update(instruction.writes())
        most = max(most, sum(sizes.get(name, 0) for name in alive))
        alive.difference_update(dead)
    return most


def gradients_of(layers, every, dropout=0.0, norm=False):
    """The parameters' gradients of a deep net with a checkpoint every so many layers."""
    with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        paddle.seed(7)
        results, loss = deep(layers, dropout=dropout, norm=norm)
        chosen = results[every - 1 : -1 : every] if every else None
        found = static.append_backward(loss, checkpoints=chosen)
        pairs, names = found if chosen else (found, [])
        assert names == [variable.name for variable in chosen or ()]
        grads = [grad for _, grad in pairs]
        state = [v for v in block().vars.values() if v.persistable and v.stop_gradient]
        feed = np.random.default_rng(0).normal(size=(16, 8))
        # a gradient goes to its parameter's update, and dies there
        return run(grads + state, x=feed), peak([loss]), types(), peak(grads[:1])


@pytest.mark.parametrize("every", [1, 2, 5])
def test_recomputing_gives_the_same_numbers(every):
    plain, again = gradients_of(12, None), gradients_of(12, every)
    for one, other in zip(plain[0], again[0], strict=True):
        assert np.array_equal(one, other)


def test_recomputing_needs_less_memory():
    """16 layers with 4 values each: 4 checkpoints and one segment are alive, and no more."""
    plain, again = gradients_of(16, None), gradients_of(16, 4)
    assert again[3] < 0.6 * plain[3]
    # the last segment is not computed again
    assert again[2].count("tanh") == 16 + 12 - 3  # a checkpoint itself is kept


def test_dropout_keeps_its_mask():
    plain, again = gradients_of(6, None, dropout=0.5), gradients_of(6, 2, dropout=0.5)
    for one, other in zip(plain[0], again[0], strict=True):
        assert np.array_equal(one, other)
    assert again[2].count("dropout") == 6 and again[2].count("tanh") > 6


def test_running_statistics_move_once():
    plain, again = gradients_of(4, None, norm=True), gradients_of(4, 1, norm=True)
    assert len(plain[0]) == 4 + 2 * 4 + 2 * 4  # weights, the layers' own parameters, statistics
    for one, other in zip(plain[0], again[0], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_a_loop_between_checkpoints(position):
    """What a loop overwrites is not computed again: its readers mean the value after the loop."""

    def loop(h):
        turns = paddle.full([1], 0, "int64")
        body = lambda i, h: [i + 1, paddle.tanh(h) + h]  # noqa: E731
        return static.nn.while_loop(lambda i, h: i < 3, body, [turns, h])[1]

    def gradients(chosen):
        with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
            x = data()
            results = [paddle.tanh(x) * x]
            for number in range(4):
                h = F.sigmoid(results[-1] * 2.0)
                results.append(F.sigmoid((loop(h) + h if number == position else h) * h))
            loss = results[-1].sum()
            static.append_backward(loss, checkpoints=[results[i] for i in chosen])
            return run(["x@GRAD"], x=X)[0], types()

    plain, again = gradients([]), gradients([1, 3])
    assert again[1].count("while") == 1 and again[1].count("sigmoid") > plain[1].count("sigmoid")
    assert np.array_equal(plain[0], again[0])


def test_a_failure_inside_control_flow_leaves_nothing():
    x = data()

    def branch():
        return F.cross_entropy(x, static.data("label", [2], "int64"))

    y = static.nn.cond(x.sum() > 0.0, branch, lambda: x.sum() * 2.0)
    (grad,) = static.gradients(y, x)
    penalty, before = (grad * grad).sum(), str(static.default_main_program())
    with pytest.raises(NoGradientError):
        static.gradients(penalty, x)
    assert str(static.default_main_program()) == before


def test_checkpoints_by_name_in_any_order():
    results, loss = deep(4)
    _, names = static.append_backward(loss, checkpoints=[results[2].name, results[0]])
    assert names == [results[0].name, results[2].name]
    made = [name for name in block().vars if ".subprog_" in name]
    assert made and all(block().var(name).shape[0] == 16 for name in made)


def test_a_checkpoint_that_is_not_on_the_way():
    results, loss = deep(2)
    other = results[0] * 2.0
    before = str(static.default_main_program())
    with pytest.raises(ValueError, match="checkpoints on the way to the loss, but got 'tmp_"):
        static.append_backward(loss, checkpoints=[other])
    assert str(static.default_main_program()) == before


def test_an_optimizer_takes_what_a_backward_with_checkpoints_gives():
    results, loss = deep(4)
    pairs, _ = static.append_backward(loss, checkpoints=results[:2])
    paddle.optimizer.SGD(0.1).apply_gradients(pairs)
    executor, scope = static.Executor(), static.Scope()
    executor.run(static.default_startup_program(), scope=scope)
    feed = {"x": np.ones((16, 8))}
    losses = [
        executor.run(static.default_main_program(), feed=feed, fetch_list=[loss], scope=scope)[0]
        for _ in range(3)
    ]
    assert losses[0] > losses[1] > losses[2]


# -- how long it takes ---------------------------------------------------------------------------


def seconds(ops):
    """Processor time of building a chain of so many ops, with its backward."""
    with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        start = time.process_time()
        h = data()
        for _ in range(ops // 2):
            h = paddle.tanh(h) * h
        static.append_backward(h.sum())
        return time.process_time() - start


def test_building_is_linear_in_the_number_of_ops():
    """Four times the ops take about four times as long; if it were quadratic, 16 times."""
    seconds(100)
    small, large = (min(seconds(ops) for _ in range(2)) for ops in (500, 2000))
    assert large < 8 * small
