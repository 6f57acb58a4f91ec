"""memory_optimize: the report is what a run needs, and the results stay the same."""

import tracemalloc

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.transpiler import memory_optimize
from minipaddle.common import unique_name

static, F = paddle.static, paddle.nn.functional


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard(), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def chain(length=6, train=False, width=16):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, width], "float32")
        for _ in range(length):
            x = F.tanh(paddle.nn.Linear(width, width)(x))
        loss = paddle.mean(x)
        if train:
            paddle.optimizer.SGD(0.1).minimize(loss)
    return main, startup, loss


def measured(program, startup, feed, fetch, free):
    """Runs a program instruction by instruction. Returns the fetch, and the most bytes that lay in
    the variables of this run at one moment (`free`: each is dropped at its last use).
    """
    executor, scope = static.Executor(), static.global_scope()
    paddle.seed(3)
    executor.run(startup)
    plan = executor.interpreter(program, tuple(feed), [fetch]).plan
    held = {variable: feed[name] for name, (variable, _) in plan.feeds.items()}
    held |= {variable: np.array(scope.get(name)) for name, variable in plan.scope_reads.items()}
    outside, peak = set(held), 0
    for instruction, dead in zip(plan.instructions, plan.last_uses(), strict=True):
        inputs = [held.get(name) for name in instruction.inputs]
        results = instruction.op.run(np, *inputs, **instruction.attrs)
        results = results if isinstance(results, tuple) else (results,)
        for name, array in zip(instruction.outputs, results, strict=True):
            if name is not None:
                held[name] = array
        peak = max(peak, sum(held[name].nbytes for name in held if name not in outside))
        for name in dead if free else ():
            held.pop(name)
    return held[plan.fetches[0]], peak


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("inplace", [False, True])
def test_the_bytes_of_the_report_are_measured(train, inplace):
    main, startup, loss = chain(train=train)
    feed = {"x": np.ones((8, 16), "float32")}
    before, kept_before = measured(main, startup, feed, loss, free=False)
    _, peak = measured(main, startup, feed, loss, free=True)
    optimized = main.clone()
    report = memory_optimize(optimized, [loss], inplace=inplace, batch_size=8)
    after, kept_after = measured(optimized, startup, feed, loss.name, free=False)
    assert before == after
    assert (report.kept_before, report.kept_after) == (kept_before, kept_after)
    assert report.peak == peak
    assert peak <= kept_after < kept_before
    # a chain needs two variables at a time, or three where an op reads two; a gradient needs more
    assert kept_after <= kept_before * (0.75 if train else 0.4)


def test_what_the_program_looks_like_before_and_after():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [4], "float32")
        a = paddle.scale(x, 2.0)
        b = paddle.exp(a)
        c = paddle.scale(b, 3.0)
        d = F.tanh(c)
    names = [item.name for item in (a, b, c, d)]

    def outputs(program):
        return [op.output("Out")[0] for op in program.global_block().ops]

    assert outputs(main) == names
    assert names == ["scale_0.tmp_0", "exp_0.tmp_0", "scale_1.tmp_0", "tanh_0.tmp_0"]
    reused, inplace, both = main.clone(), main.clone(), main.clone()
    report = memory_optimize(reused, [d])
    assert outputs(reused) == ["scale_0.tmp_0", "exp_0.tmp_0", "scale_0.tmp_0", "tanh_0.tmp_0"]
    assert report.renamed == {"scale_1.tmp_0": "scale_0.tmp_0"}
    assert "scale_1.tmp_0" not in reused.global_block().vars
    assert str(report) == (
        "all variables, before:         64 bytes\n"
        "all variables, after:          48 bytes\n"
        "alive at one moment:           32 bytes\n"
        "    scale_1.tmp_0 -> scale_0.tmp_0"
    )
    memory_optimize(inplace, [d], inplace=True, reuse=False)
    assert len(set(outputs(inplace))) == 2  # all write over the first; d keeps its name
    memory_optimize(both, [], inplace=True)
    assert set(outputs(both)) == {"scale_0.tmp_0"}


def test_what_must_keep_its_name():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [4], "float32")
        w = static.create_parameter([4], "float32", name="w")
        a = x * w
        b = F.relu(a)
        c = F.relu(b)
        main.global_block().append_op("scale", {"X": c}, {"Out": w}, {"scale": 1.0})
        d = F.relu(paddle.scale(c, 2.0))
    text = str(main)
    report = memory_optimize(main, [a, b, c, d], inplace=True)
    assert not {"x", "w", a.name, b.name, c.name, d.name} & (
        report.renamed.keys() | set(report.renamed.values())
    )
    assert str(main) == text
    with pytest.raises(ValueError, match=r"variables of the program in skip_opt_set, but got \['n"):
        memory_optimize(main, ["nope"])


def test_only_what_always_has_the_same_bytes_is_taken_over():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4], "float32")
        a = paddle.scale(x, 2.0)
        b = paddle.cast(a, "float64")  # other bytes per number
        c = paddle.sum(b, axis=0)  # other size
        d = paddle.cast(c, "float32")
        e = paddle.mean(d)
    report = memory_optimize(main, [e])
    assert report.renamed == {}


def test_training_gives_the_same_to_the_last_bit():
    main, startup, loss = chain(3, train=True, width=4)
    optimized = main.clone()
    assert memory_optimize(optimized, [loss], inplace=True).renamed
    states = []
    for program in (main, optimized):
        executor, scope = static.Executor(), static.Scope()
        paddle.seed(5)
        executor.run(startup, scope=scope)
        feed = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}
        for _ in range(3):
            executor.run(program, feed=feed, fetch_list=[loss], scope=scope)
        states.append(program.state_dict(scope=scope))
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_names_that_are_used_again_keep_their_order_on_several_threads():
    main, startup, loss = chain(4, train=True, width=4)
    optimized = main.clone()
    memory_optimize(optimized, [loss], inplace=True)
    feed = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}
    paddle.seed(2)
    executor = static.Executor()
    executor.run(startup)
    state = main.state_dict()
    (expected,) = executor.run(main, feed=feed, fetch_list=[loss])
    trained = main.state_dict()
    before = paddle.get_flags(["FLAGS_new_executor_serial_run"])
    paddle.set_flags({"FLAGS_new_executor_serial_run": False})
    try:
        for _ in range(5):
            main.set_state_dict(state)
            (found,) = static.Executor().run(optimized, feed=feed, fetch_list=[loss])
            assert found == expected
            after = main.state_dict()
            assert all(np.array_equal(after[name], trained[name]) for name in trained)
    finally:
        paddle.set_flags(before)


def test_an_op_that_changes_the_shape_does_not_write_over_its_input():
    """Its gradient asks what shape the input had."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2, 3], "float32")
        x.stop_gradient = False
        flat = paddle.reshape(paddle.exp(x), [6])
        loss = paddle.sum(F.tanh(flat))
        (grad,) = static.gradients([loss], [x])
    feed = {"x": np.ones((2, 3), "float32")}
    (expected,) = static.Executor().run(main, feed=feed, fetch_list=[grad])
    memory_optimize(main, [grad], inplace=True)
    (found,) = static.Executor().run(main, feed=feed, fetch_list=[grad.name])
    np.testing.assert_array_equal(found, expected)


def peak_of_a_run(program, loss, feed):
    """The most bytes that a run allocates."""
    executor = static.Executor()
    executor.run(program, feed=feed, fetch_list=[loss])  # compiled
    tracemalloc.start()
    executor.run(program, feed=feed, fetch_list=[loss])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_an_executor_that_frees_nothing_needs_less_memory_afterwards():
    """With garbage collection it needs least, and the rewriting gains nothing: a dead value now
    stays until its name is used again.
    """
    main, startup, loss = chain(length=10)
    optimized = main.clone()
    rows = 2000
    report = memory_optimize(optimized, [loss], batch_size=rows)
    feed = {"x": np.ones((rows, 16), "float32")}
    static.Executor().run(startup)
    one = rows * 16 * 4  # bytes of one variable
    collected = [peak_of_a_run(program, loss.name, feed) for program in (main, optimized)]
    paddle.set_flags({"FLAGS_eager_delete_tensor_gb": -1.0})
    try:
        kept = [peak_of_a_run(program, loss.name, feed) for program in (main, optimized)]
    finally:
        paddle.set_flags({"FLAGS_eager_delete_tensor_gb": 0.0})
    assert kept[0] == pytest.approx(report.kept_before, abs=one / 2)
    # an op makes its result before the variable that it takes over is freed: one more at most
    assert report.kept_after - one / 2 < kept[1] < report.kept_after + 1.5 * one
    assert kept[1] < kept[0] / 3
    assert collected[0] == pytest.approx(report.peak, abs=one / 2)
    assert collected[0] <= collected[1] < collected[0] + 1.5 * one
