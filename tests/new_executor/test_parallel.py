"""Which instruction waits for which, and the run on several threads: the same as the serial one."""

import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common import unique_name
from minipaddle.common.flags import set_flags
from minipaddle.new_executor.instruction import Instruction, InstructionList
from minipaddle.new_executor.interpreter import Interpreter
from minipaddle.new_executor.parallel import ParallelInterpreter
from minipaddle.new_executor.scope import Scope
from minipaddle.phi.core.op import OPS, find_op
from tests.phi.table import flat, gradient_inputs, parameters


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


@pytest.fixture
def parallel():
    set_flags({"FLAGS_new_executor_serial_run": False})
    yield
    set_flags({"FLAGS_new_executor_serial_run": True})


def ins(name, inputs, outputs, **attrs):
    op = find_op(name)
    return Instruction(op, inputs, outputs, op.complete(attrs) if op.forward_op is None else attrs)


def plan_of(instructions, fetches=(), feeds=("a",)):
    checks = {name: (name, lambda array: array) for name in feeds}
    return InstructionList(instructions, checks, {}, {}, list(fetches))


def waits(*instructions):
    return plan_of(instructions).dependencies()


def test_a_reader_waits_for_the_writer():
    assert waits(
        ins("relu", ["a"], ["b"]),
        ins("tanh", ["a"], ["c"]),
        ins("add", ["b", "c"], ["d"]),
        ins("exp", ["a"], ["e"]),
    ) == [[], [], [0, 1], []]


def test_a_writer_waits_for_readers_and_for_the_writer_before():
    assert waits(
        ins("relu", ["a"], ["b"]),
        ins("tanh", ["b"], ["c"]),
        ins("exp", ["b"], ["d"]),
        ins("exp", ["a"], ["b"]),  # b anew
        ins("tanh", ["b"], ["e"]),
    ) == [[], [0], [0], [1, 2], [3]]
    assert waits(ins("relu", ["a"], ["b"]), ins("exp", ["a"], ["b"])) == [[], [0]]


def test_what_follows_from_the_rest_is_left_out():
    # the last one reads what the first two wrote, but the second waits for the first anyway
    assert waits(
        ins("relu", ["a"], ["b"]), ins("tanh", ["b"], ["c"]), ins("add", ["b", "c"], ["d"])
    ) == [[], [0], [1]]


def test_a_write_in_place_waits_for_readers_under_another_name():
    assert waits(
        ins("reshape", ["a"], ["b"], shape=(4,)),  # a view
        ins("exp", ["b"], ["c"]),
        ins("tanh", ["d"], ["e"]),
        ins("relu_", ["a"], ["f"]),
        ins("exp", ["b"], ["g"]),
    ) == [[], [0], [], [1], [3]]
    # a gradient that is handed on is the same memory
    assert waits(
        ins("add_grad", ["x", "y", "g"], ["dx", "dy"], axis=-1),
        ins("exp", ["dx"], ["r"]),
        ins("relu_", ["g"], ["h"]),
    ) == [[], [0], [1]]


def test_random_ops_and_side_effects_keep_their_order():
    draw = {"shape": (2,), "dtype": paddle.float32, "min": 0.0, "max": 1.0}
    assert waits(
        ins("uniform", [], ["a"], **draw),
        ins("relu", ["x"], ["b"]),
        ins("uniform", [], ["c"], **draw),
    ) == [[], [], [0]]


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    parameters(lambda name, inputs: gradient_inputs(OPS[name], inputs)),
)
def test_a_gradient_shares_memory_with_incoming_gradients_only(name, inputs, attrs):
    """What `Instruction.shares_memory` says of gradient ops."""
    op = OPS[name]
    if op.inplace or op.require_vjp().invoke:
        return
    attrs = op.complete(attrs)
    copies = [[np.array(x) for x in v] if isinstance(v, list) else v for v in inputs]
    results = op.run(np, *copies, **attrs)
    results = results if isinstance(results, tuple) else (results,)
    known = dict(zip([x.name for x in op.inputs], copies, strict=True))
    known |= dict(zip(op.outputs, results, strict=True))
    for output, result in zip(op.outputs, results, strict=True):
        many = isinstance(result, list)
        known[f"{output}_grad"] = (
            [np.ones_like(x) for x in result] if many else np.ones_like(result)
        )
    rule = op.require_vjp()
    given = [known[item.name] for item in rule.inputs]
    kept = {attr.name: attrs[attr.name] for attr in rule.attrs if attr.name in attrs}
    kept |= {attr.name: attr.default for attr in rule.attrs if attr.name not in attrs}
    gradients = flat(op.grad_op.run(np, *given, **kept))
    others = [x for item, x in zip(rule.inputs, given) if not item.name.endswith("_grad")]
    for gradient in gradients:
        assert not any(np.shares_memory(gradient, other) for other in flat(others)), name


# -- random programs -------------------------------------------------------------------------------

UNARY = ["relu", "tanh", "exp", "relu_", "tanh_", "reshape", "transpose", "assign", "dropout"]
BINARY = ["add", "multiply", "subtract", "maximum"]
STEP = st.tuples(
    st.sampled_from(UNARY + BINARY), st.integers(0, 50), st.integers(0, 50), st.booleans()
)


def random_plan(steps):
    """Instructions over variables of shape [3, 3]; some write anew or in place what is there."""
    names = ["a", "b"]
    instructions = []
    for number, (name, i, j, anew) in enumerate(steps):
        x, y = names[i % len(names)], names[j % len(names)]
        out = x if name.endswith("_") or (anew and x not in "ab") else f"v{number}"
        extra = {"reshape": {"shape": (3, 3)}, "transpose": {"perm": (1, 0)}}.get(name, {})
        if name == "dropout":  # draws from the shared generator
            op = find_op(name)
            outputs = [out, *(f"mask{number}" for _ in op.outputs[1:])]
            attrs = {"p": 0.5, "is_test": False, "mode": "upscale_in_train", "seed": 0}
            attrs = {k: v for k, v in attrs.items() if k in {a.name for a in op.attrs}}
            instructions.append(ins(name, [x, *[None] * (len(op.inputs) - 1)], outputs, **attrs))
        else:
            instructions.append(ins(name, [x, y] if name in BINARY else [x], [out], **extra))
        if out not in names:
            names.append(out)
    return plan_of(instructions, names[-6:], ("a", "b"))


@settings(max_examples=150, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=25))
def test_serial_and_parallel_are_the_same(steps):
    plan = random_plan(steps)
    feed = {"a": np.linspace(-1, 1, 9).reshape(3, 3), "b": np.linspace(0.5, -0.5, 9).reshape(3, 3)}
    results = []
    for kind in (Interpreter, ParallelInterpreter):
        paddle.seed(7)
        with np.errstate(all="ignore"):
            results.append(kind(plan).run(feed, Scope()))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def training():
    """A classifier with a bias, dropout and SGD: (main, startup, feed, loss)."""
    main, startup = Program(), Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 6], "float32")
        y = paddle.static.data("y", [None], "int64")
        hidden = paddle.nn.functional.relu(paddle.nn.Linear(6, 8)(x))
        hidden = paddle.nn.functional.dropout(hidden, 0.3)
        loss = paddle.nn.functional.cross_entropy(paddle.nn.Linear(8, 3)(hidden), y)
        paddle.optimizer.Adam(0.1).minimize(loss)
    rng = np.random.default_rng(0)
    return main, startup, {"x": rng.random((5, 6), "float32"), "y": rng.integers(0, 3, 5)}, loss


def losses(work, steps=5):
    main, startup, feed, loss = work
    paddle.seed(3)
    scope, executor = Scope(), paddle.static.Executor()
    executor.run(startup, scope=scope)
    found = [executor.run(main, feed, [loss], scope=scope)[0] for _ in range(steps)]
    return found, {name: scope.get(name) for name in scope.local_var_names()}


def test_training_is_the_same_bit_for_bit(parallel):
    work = training()
    side_by_side, parameters_then = losses(work)
    set_flags({"FLAGS_new_executor_serial_run": True})
    one_by_one, parameters_now = losses(work)
    np.testing.assert_array_equal(side_by_side, one_by_one)
    assert parameters_then.keys() == parameters_now.keys()
    for name, value in parameters_now.items():
        np.testing.assert_array_equal(parameters_then[name], value)


def test_a_loop_is_one_instruction(parallel):
    main = Program()
    with paddle.static.program_guard(main, Program()):
        x = paddle.static.data("x", [2], "float32")
        i = paddle.full([1], 0, "int64")
        _, y = paddle.static.nn.while_loop(
            lambda i, v: i < 3, lambda i, v: [i + 1, v + v], [i, x * 2.0]
        )
        z = paddle.static.nn.cond(paddle.mean(y) > 0, lambda: y * 10.0, lambda: y)
    executor = paddle.static.Executor()
    for value in ([1.0, 2.0], [-1.0, -2.0]):
        feed = {"x": np.array(value, "float32")}
        (found,) = executor.run(main, feed, [z])
        factor = 160 if value[0] > 0 else 16
        np.testing.assert_array_equal(found, np.array(value, "float32") * factor)


def test_a_branch_that_did_not_run(parallel):
    main = Program()
    with paddle.static.program_guard(main, Program()):
        x = paddle.static.data("x", [2], "float32")
        inner = []

        def positive():
            inner.append(x * 3.0)
            return inner[0] + 1.0

        paddle.static.nn.cond(paddle.mean(x) > 0, positive, lambda: x)
    (written,) = [op for op in main.global_block().ops if op.type == "conditional_block"][:1]
    name = written.output("Out")[0]
    executor = paddle.static.Executor()
    assert executor.run(main, {"x": [1.0, 2.0]}, [name])[0].tolist() == [4.0, 7.0]
    with pytest.raises(RuntimeError, match="to be computed, but got nothing: the branch"):
        executor.run(main, {"x": [-1.0, -2.0]}, [name])


def test_a_parallel_interpreter_goes_with_its_last_reference():
    gone = weakref.ref(ParallelInterpreter(plan_of([ins("relu", ["a"], ["b"])], ["b"])))
    assert gone() is None  # without waiting for Python's search for circles


def test_threads_are_really_used():
    together = threading.Barrier(2, timeout=600)
    op = paddle.phi.core.op.Op(
        "meets", lambda xp, x: (together.wait(), x)[1], OPS["relu"].inputs, ()
    )
    plan = plan_of([Instruction(op, ["a"], ["b"]), Instruction(op, ["a"], ["c"])], ["b", "c"])
    ParallelInterpreter(plan).run({"a": np.ones(1)}, Scope())  # alone, each would wait for ever


def failing(name, kind):
    def kernel(xp, x):
        raise kind(name)

    return paddle.phi.core.op.Op(name, kernel, OPS["relu"].inputs, ())


def test_of_two_errors_the_first_in_the_program_is_reported():
    slow = find_op("exp")
    plan = plan_of(
        [
            Instruction(slow, ["a"], ["b"]),
            Instruction(failing("first", KeyError), ["b"], ["c"]),  # starts later
            Instruction(failing("second", ZeroDivisionError), ["a"], ["d"]),  # starts at once
            Instruction(slow, ["d"], ["e"]),
        ],
        ["c", "e"],
    )
    for kind in (Interpreter, ParallelInterpreter):
        before = threading.active_count()
        for _ in range(20):
            with pytest.raises(KeyError, match="first"):
                kind(plan).run({"a": np.ones(1)}, Scope())
        assert threading.active_count() == before  # no thread is left over


def test_an_error_names_the_op_and_the_place(parallel):
    main = Program()
    with paddle.static.program_guard(main, Program()):
        x = paddle.static.data("x", [None, 3], "float32")
        y = paddle.static.data("y", [None, 3], "float32")
        z = x + y
    feed = {"x": np.ones((2, 3), "float32"), "y": np.ones((5, 3), "float32")}
    found = []
    for serial in (False, True):
        set_flags({"FLAGS_new_executor_serial_run": serial})
        with pytest.raises(ValueError) as error:
            paddle.static.Executor().run(main, feed, [z])
        found.append(str(error.value))
    assert found[0] == found[1]
    assert "z = x + y" in found[0] and "elementwise_add" in found[0]


def test_numpys_settings_hold_for_the_threads():
    plan = plan_of([ins("divide", ["a", "b"], ["c"])], ["c"], ("a", "b"))
    feed = {"a": np.ones(1), "b": np.zeros(1)}
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ParallelInterpreter(plan).run(feed, Scope())


def test_a_pir_program_too(parallel):
    with paddle.pir_utils.IrGuard():
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 4], "float32")
            loss = paddle.nn.Linear(4, 2)(x).mean()
            paddle.optimizer.SGD(0.5).minimize(loss)
    feed, found = {"x": np.ones((3, 4), "float32")}, []
    for serial in (False, True):
        set_flags({"FLAGS_new_executor_serial_run": serial})
        paddle.seed(1)
        scope, executor = Scope(), paddle.static.Executor()
        with paddle.static.scope_guard(scope):
            executor.run(startup)
            found.append([executor.run(main, feed, [loss])[0] for _ in range(3)])
    np.testing.assert_array_equal(*found)
    assert found[0][0] != found[0][1]  # it trains
