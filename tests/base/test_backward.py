"""gradients and append_backward of classic Programs: what comes back, and what is refused."""

import cProfile

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.transpiler import memory_optimize
from minipaddle.common import unique_name
from minipaddle.common.errors import NoGradientError
from tests.base.classic import X, block, classic_program, data, run, types

F, static = paddle.nn.functional, paddle.static


@pytest.fixture(autouse=True)
def classic():
    with classic_program():
        yield


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
            r"one gradient for each of the 1 targets, but got 2",
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


# -- how much it takes ---------------------------------------------------------------------------


def calls(ops):
    """How many functions, Python's and C's, are called to build a chain of so many ops, with its
    backward. Seconds would depend on the machine.
    """

    def build():
        h = data()
        for _ in range(ops // 2):
            h = paddle.tanh(h) * h
        static.append_backward(h.sum())

    profile = cProfile.Profile()
    with unique_name.guard(), static.program_guard(static.Program(), static.Program()):
        profile.runcall(build)
    return sum(entry.callcount for entry in profile.getstats())


def test_building_is_linear_in_the_number_of_ops():
    """Four times the ops take about four times the calls; if it were quadratic, 16 times."""
    calls(10)
    small, large = calls(100), calls(400)
    assert large < 5 * small, (small, large)


@pytest.mark.parametrize("what", ["input", "output", "own input"])
def test_a_value_that_is_written_over_has_no_gradient(what):
    """The gradient op would read the new value, and compute a wrong number."""
    x = data()
    h = paddle.tanh(x)
    y = h * h if what == "input" else paddle.exp(h)
    target = {"input": h, "output": y, "own input": h}[what]
    out = paddle.mean(y)
    if what == "own input":
        block().append_op("square", {"X": h}, {"Out": h})
        out = paddle.mean(h)
    else:
        block().append_op("assign", {"X": x}, {"Out": target})
    before = str(static.default_main_program())
    with pytest.raises(ValueError, match=f"expected {target.name!r} to keep its value for"):
        static.gradients(out, x)
    assert str(static.default_main_program()) == before


def test_a_value_that_no_gradient_reads_may_be_written_over():
    x = data()
    h = x * 3.0
    y = h + x
    block().append_op("assign", {"X": x}, {"Out": h})
    (gradient,) = static.gradients(y, x)
    (found,) = static.Executor().run(feed={"x": X}, fetch_list=[gradient])
    np.testing.assert_array_equal(found, np.full((2, 3), 4.0))


def test_gradients_after_memory_optimize():
    out = x = data()
    for _ in range(4):
        out = paddle.tanh(out)
    memory_optimize(static.default_main_program(), [out])
    with pytest.raises(ValueError, match="call memory_optimize after the backward"):
        static.gradients(out, x)
