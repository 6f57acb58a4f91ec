"""CompiledProgram: what the passes make of a program, and that it computes the same."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.fuse_elewise_add_act_pass import fuse_elewise_add_act
from minipaddle.common import unique_name
from minipaddle.compare import real_paddle

static, F = paddle.static, paddle.nn.functional
FUSED = "fused_elemwise_add_activation"


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard(), static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def mlp(activation="relu", train=True):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 4], "float32")
        for _ in range(3):
            x = getattr(F, activation)(paddle.nn.Linear(4, 4)(x))
        loss = paddle.mean(x)
        if train:
            paddle.optimizer.Momentum(0.1).minimize(loss)
    return main, startup, loss


def strategy(**attributes):
    made = static.BuildStrategy()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def types(program):
    return [op.type for op in program.global_block().ops]


def train(program, startup, loss, steps=3):
    """The losses and the parameters after some steps."""
    executor, scope = static.Executor(), static.Scope()
    paddle.seed(7)
    executor.run(startup, scope=scope)
    feed = {"x": np.linspace(-1, 1, 20, dtype="float32").reshape(5, 4)}
    losses = [
        executor.run(program, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(steps)
    ]
    return losses, {name: np.array(scope.find_var(name)) for name in scope.local_var_names()}


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"enable_inplace": False},
        {"fuse_elewise_add_act_ops": True},
        {"memory_optimize": True, "enable_inplace": False},
        {"memory_optimize": True, "fuse_elewise_add_act_ops": True},
    ],
)
def test_a_compiled_program_computes_the_same(activation, attributes):
    main, startup, loss = mlp(activation)
    text = str(main)
    compiled = static.CompiledProgram(main, build_strategy=strategy(**attributes))
    losses, state = train(main, startup, loss)
    same_losses, same_state = train(compiled, startup, loss)
    assert losses == same_losses
    assert state.keys() == same_state.keys()
    assert all(np.array_equal(state[name], same_state[name]) for name in state)
    assert str(main) == text


def test_a_sum_and_its_activation_become_one_op():
    main, _, loss = mlp()
    compiled = static.CompiledProgram(main, strategy(fuse_elewise_add_act_ops=True))
    fused = compiled.optimized_program([loss])
    assert types(fused)[:4] == ["matmul_v2", FUSED, "matmul_v2", FUSED]
    assert types(fused).count(FUSED) == 3
    assert types(main).count("elementwise_add") == types(main).count("relu") == 3
    assert not {"elementwise_add", "relu"} & set(types(fused))
    assert types(fused)[-6:] == ["momentum"] * 6
    plan = static.Executor().interpreter(compiled, ("x",), [loss]).plan
    assert [item.op.name for item in plan.instructions].count(FUSED) == 3


def test_a_sum_that_somebody_else_reads_stays():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2, 3], "float32")
        twice = x + x
        out = F.relu(twice) * twice
        alone = F.relu(x + out)
    optimize = static.CompiledProgram(main, strategy(fuse_elewise_add_act_ops=True))
    assert types(optimize.optimized_program([alone])) == [
        "elementwise_add",
        "relu",
        "elementwise_mul",
        FUSED,
    ]


def test_a_sum_that_is_fetched_stays():
    main, startup, loss = mlp(train=False)
    total = "elementwise_add_0.tmp_0"
    compiled = static.CompiledProgram(main, strategy(fuse_elewise_add_act_ops=True))
    assert types(compiled.optimized_program([loss, total])).count(FUSED) == 2
    executor = static.Executor()
    executor.run(startup)
    feed = {"x": np.ones((1, 4), "float32")}
    expected = executor.run(main, feed=feed, fetch_list=[loss, total])
    for found, wanted in zip(
        executor.run(compiled, feed=feed, fetch_list=[loss, total]), expected, strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_what_the_sum_read_must_not_change_before_the_activation():
    main = static.Program()
    block = main.global_block()
    for name in ("x", "y", "t", "o"):
        block.create_var(name, [2])
    block.append_op("elementwise_add", {"X": "x", "Y": "y"}, {"Out": "t"}, {"axis": -1})
    block.append_op("scale", {"X": "y"}, {"Out": "y"}, {"scale": 2.0})
    block.append_op("relu", {"X": "t"}, {"Out": "o"})
    assert fuse_elewise_add_act(main) == 0


def test_the_fused_op_reads_as_paddles():
    """What Paddle 3.3.1 prints for this program. Its own pass finds the pair in some runs only."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4], "float32")
        out = F.relu(x + static.create_parameter([4], "float32", name="b"))
    compiled = static.CompiledProgram(main, strategy(fuse_elewise_add_act_ops=True))
    (op,) = compiled.optimized_program([out]).global_block().ops
    assert str(op) == (
        "{IntermediateOut=['tmp_0'], Out=['relu_0.tmp_0']} = fused_elemwise_add_activation("
        "inputs={X=['x'], Y=['b']}, axis = -1, functor_list = ['relu', 'elementwise_add'], "
        "op_device = , op_namescope = /, op_role = 0, op_role_var = [], "
        "save_intermediate_out = False, scale = 0.0, with_quant_attr = False)"
    )


def test_the_fused_program_runs_in_paddle():
    real = real_paddle()
    assert real is not None, "install the extra `course`"
    main, startup, loss = mlp(train=False)
    compiled = static.CompiledProgram(main, strategy(fuse_elewise_add_act_ops=True))
    fused = compiled.optimized_program([loss])
    executor = static.Executor()
    executor.run(startup)
    state = main.state_dict()
    feed = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}
    (ours,) = executor.run(compiled, feed=feed, fetch_list=[loss])
    real.enable_static()
    with real.pir_utils.OldIrGuard(), real.static.scope_guard(real.static.Scope()):
        there = real.static.Executor()
        for program in (main, fused):
            theirs = real.static.Program.parse_from_string(program.serialize_to_string())
            for name, array in state.items():
                real.static.global_scope().var(name).get_tensor().set(array, real.CPUPlace())
            (found,) = there.run(theirs, feed=feed, fetch_list=[loss.name])
            np.testing.assert_allclose(found, ours, rtol=1e-5)
    real.disable_static()


def test_the_fused_op_has_a_gradient():
    """Fused before append_backward: as a program that was loaded."""
    main, startup, loss = mlp(train=False)
    compiled = static.CompiledProgram(
        main, strategy(fuse_elewise_add_act_ops=True, enable_inplace=False)
    )
    fused = compiled.optimized_program([loss])
    for program in (main, fused):
        with static.program_guard(program, startup):
            static.append_backward(program.global_block().var(loss.name))
    assert f"{FUSED}_grad" in types(fused)
    executor = static.Executor()
    executor.run(startup)
    feed = {"x": np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)}
    grads = [f"{parameter.name}@GRAD" for parameter in main.all_parameters()]
    expected = executor.run(main, feed=feed, fetch_list=grads)
    for found, wanted in zip(
        executor.run(fused, feed=feed, fetch_list=grads), expected, strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_change_of_the_program_or_the_strategy_compiles_anew():
    main, startup, loss = mlp(train=False)
    chosen = strategy()
    compiled = static.CompiledProgram(main, chosen)
    executor = static.Executor()
    first = executor.interpreter(compiled, ("x",), [loss])
    assert executor.interpreter(compiled, ("x",), [loss]) is first
    chosen.fuse_elewise_add_act_ops = True
    second = executor.interpreter(compiled, ("x",), [loss])
    assert len(second.plan.instructions) == len(first.plan.instructions) - 3
    with static.program_guard(main, startup):
        more = paddle.scale(loss, 2.0)
    executor.run(startup)
    feed = {"x": np.ones((1, 4), "float32")}
    once, twice = executor.run(compiled, feed=feed, fetch_list=[loss, more])
    assert twice == 2 * once


def test_a_rate_of_a_scheduler_and_pruning_go_through():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        hidden = static.create_parameter([2], "float32", name="w") * 2.0
        loss = paddle.mean(hidden)
        rates = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.0)
        paddle.optimizer.SGD(rates).minimize(loss)
    compiled, executor, scope = static.CompiledProgram(main), static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    values = []
    for _ in range(3):
        executor.run(compiled, fetch_list=[loss], scope=scope)
        values.append(np.array(scope.find_var("w"))[0])
        rates.step()
    assert values[1] == values[2]  # the rate is 0 from the second step on
    feed = {hidden.name: np.full(2, 3.0, "float32")}
    (fed,) = executor.run(compiled, feed=feed, fetch_list=[loss], scope=scope, use_prune=True)
    assert fed == 3


def test_the_settings_of_a_strategy():
    made = static.BuildStrategy()
    made.memory_optimize = True
    assert made.memory_optimize is True
    assert static.BuildStrategy().memory_optimize is None
    for name in ("nope", "build_cinn_pass"):
        with pytest.raises(AttributeError, match=f"expected one of .*, but got '{name}'"):
            setattr(made, name, True)
    with pytest.raises(TypeError, match=r"memory_optimize: expected bool \| None, but got 3"):
        made.memory_optimize = 3
    for wrong in ("x", None):
        with pytest.raises(TypeError, match="fuse_elewise_add_act_ops: expected bool, but got"):
            made.fuse_elewise_add_act_ops = wrong


def test_the_settings_are_real_paddles_with_its_defaults():
    real = real_paddle()
    assert real is not None, "install the extra `course`"
    made, theirs = static.BuildStrategy(), real.static.BuildStrategy()
    for name in ("memory_optimize", "enable_inplace", "fuse_elewise_add_act_ops"):
        assert getattr(theirs, name) == getattr(made, name), name


def test_what_can_not_be_compiled():
    with pytest.raises(TypeError, match="expected a classic Program, but got int"):
        static.CompiledProgram(3)
    with pytest.raises(TypeError, match=r"Build it inside paddle\.pir_utils\.OldIrGuard"):
        static.CompiledProgram(paddle.pir.Program())
    with pytest.raises(TypeError, match="expected a BuildStrategy, but got dict"):
        static.CompiledProgram(static.Program(), {})
