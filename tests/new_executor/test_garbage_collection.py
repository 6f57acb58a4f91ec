"""Values are freed at their last use: measured in bytes that numpy really holds, not in plans."""

import tracemalloc

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.common import unique_name

LAYERS, BATCH, WIDTH = 50, 1024, 64
ONE = BATCH * WIDTH * 4  # bytes of one layer's result


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def net(backward, branches=False):
    """(interpreter, feeds, parameters) of 50 layers and their mean."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = value = paddle.static.data("x", [BATCH, WIDTH], "float32")
        for number in range(LAYERS):
            before = value
            value = paddle.nn.functional.relu(paddle.nn.Linear(WIDTH, WIDTH)(value))
            if branches and number % 5 == 4:  # a residual: something lives longer
                value = value + paddle.tanh(before)
        loss = paddle.mean(value)
        fetch = [loss]
        if backward:
            paddle.optimizer.SGD(0.1).minimize(loss)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    executor.run(startup, scope=scope)
    interpreter = executor.interpreter(main, ("x",), fetch, scope)
    parameters = scope.read(interpreter.plan.scope_reads)
    return interpreter, [np.ones(x.shape, "float32")], parameters


def peak(function, *arguments):
    """The most bytes that were alive at a time, of those that the call allocated."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def true_minimum(plan, feeds, parameters):
    """The least that a run in this order can do with: every value is there from the op that makes
    it to the last op that reads it. All values are computed and kept, to see who shares memory.
    """
    values = dict(zip([v for v, _ in plan.feeds.values()], feeds, strict=True))
    values |= dict(zip(plan.scope_reads.values(), parameters, strict=True))
    outside = {id(owner(array)) for array in values.values()}
    made, last, size = {}, {}, {}
    kept = []  # so that no id is used twice
    for time, instruction in enumerate(plan.instructions):
        for name in instruction.reads():
            last[id(owner(values[name]))] = time
        wanted = {}
        if instruction.op.forward_op is not None:
            wanted["wanted"] = tuple(item is not None for item in instruction.outputs)
        given = [
            [values[name] for name in item] if isinstance(item, list) else values.get(item)
            for item in instruction.inputs
        ]
        results = instruction.op.run(np, *given, **instruction.attrs, **wanted)
        results = results if isinstance(results, tuple) else (results,)
        kept.append(results)
        for name, array in zip(instruction.outputs, results, strict=True):
            if name is not None and array is not None:
                values[name] = array
                memory = id(owner(array))
                if memory not in outside:
                    made.setdefault(memory, time)
                    last[memory] = time
                    size[memory] = owner(array).nbytes
    for name in plan.fetches:
        last[id(owner(values[name]))] = len(plan.instructions)
    return max(
        sum(size[memory] for memory in made if made[memory] <= time <= last[memory])
        for time in range(len(plan.instructions))
    )


def owner(array):
    """The array whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("branches", [False, True])
def test_the_peak_is_within_a_tenth_of_the_least_that_is_possible(backward, branches):
    interpreter, feeds, parameters = net(backward, branches)
    least = true_minimum(interpreter.plan, feeds, [array.copy() for array in parameters])
    assert least > (LAYERS if backward else 1.9) * ONE  # the reckoning sees the layers
    assert peak(interpreter.function, feeds, parameters) < 1.1 * least


@pytest.mark.parametrize("backward", [False, True])
def test_the_measurement_sees_a_value_that_is_not_freed(backward):
    """Without the `del` lines, the same function holds every layer to the end."""
    interpreter, feeds, parameters = net(backward)
    lines = interpreter.text.splitlines()
    names = dict(interpreter.function.__globals__)
    exec("\n".join(line for line in lines if not line.strip().startswith("del ")), names)
    least = true_minimum(interpreter.plan, feeds, [array.copy() for array in parameters])
    assert peak(names["run"], feeds, parameters) > 1.5 * least


def test_a_whole_run_leaves_only_what_is_fetched():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [BATCH, WIDTH], "float32")
        total = paddle.mean(paddle.nn.functional.relu(x * 2.0))
    executor, feed = paddle.static.Executor(), {"x": np.ones((BATCH, WIDTH), "float32")}
    executor.run(main, feed, [total])  # compiles
    tracemalloc.start()
    try:
        results = executor.run(main, feed, [total])
        left, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert results[0] == 2 and left < ONE // 2
    assert most < 2.2 * ONE  # x * 2 and its relu: the feed was not copied
