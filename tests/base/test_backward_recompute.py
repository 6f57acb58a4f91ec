"""Checkpoints: a backward that computes values again instead of keeping them."""

import math

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.common import unique_name
from tests.base.classic import X, block, classic_program, data, run, types

F, static = paddle.nn.functional, paddle.static


@pytest.fixture(autouse=True)
def classic():
    with classic_program():
        yield


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
        variable: math.prod(block().var(name).shape) * block().var(name).dtype.itemsize
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
