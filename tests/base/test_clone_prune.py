"""clone and prune: programs made from a program. The old one stays as it is."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common import unique_name

static, F = paddle.static, paddle.nn.functional


@pytest.fixture(autouse=True)
def classic():
    paddle.seed(1)
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def training():
    """x -> linear -> relu -> batch_norm -> dropout -> mean, and an Adam step; one op too many."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 4], "float32")
        hidden = F.relu(paddle.nn.Linear(4, 3)(x))
        dropped = F.dropout(paddle.nn.BatchNorm1D(3)(hidden), 0.5)
        paddle.scale(dropped, 3.0)
        loss = paddle.mean(dropped)
        paddle.optimizer.Adam(0.1).minimize(loss)
    return main, startup, hidden, loss


def types(program, block=0):
    return [op.type for op in program.block(block).ops]


FORWARD = ["matmul_v2", "elementwise_add", "relu", "batch_norm", "dropout", "scale", "reduce_mean"]


def test_a_clone_is_the_same_program_and_independent():
    main, startup, _, loss = training()
    text = str(main)
    clone = main.clone()
    assert types(clone) == types(main)
    assert list(clone.global_block().vars) == sorted(main.global_block().vars)
    assert clone.all_parameters()[0].optimize_attr == {"learning_rate": 1.0}
    clone.global_block().ops[0]._set_attr("trans_x", True)
    with static.program_guard(clone, startup):
        paddle.mean(clone.global_block().var(loss.name))
    clone.global_block().var("x").stop_gradient = False
    assert str(main) == text
    assert len(clone.global_block().ops) == len(main.global_block().ops) + 1


def test_a_clone_trains_on_the_same_parameters():
    main, startup, _, loss = training()
    clone, executor, scope = main.clone(), static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    feed = {"x": np.arange(12, dtype="float32").reshape(3, 4)}
    for program, steps in ((clone, 1), (main, 2)):
        executor.run(program, feed=feed, fetch_list=[loss], scope=scope)
        power = np.array(scope.find_var("linear_0.b_0_beta1_pow_acc_0"))
        assert power == pytest.approx(0.9 ** (steps + 1))  # Adam counts the steps with it


def test_a_clone_for_a_test_has_only_forward_ops_that_know_it():
    main, startup, _, loss = training()
    test = main.clone(for_test=True)
    assert types(test) == FORWARD
    assert [op.attr("is_test") for op in test.global_block().ops if op.has_attr("is_test")] == [
        True,
        True,
    ]
    assert not any("GRAD" in name or "moment" in name for name in test.global_block().vars)
    (norm,) = (op for op in test.global_block().ops if op.type == "batch_norm")
    assert "ReserveSpace" not in norm.output_names
    executor, scope = static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    feed = {"x": np.arange(12, dtype="float32").reshape(3, 4)}
    first, second = (
        executor.run(test, feed=feed, fetch_list=[loss], scope=scope)[0] for _ in range(2)
    )
    assert first == second  # no dropout, no new statistics
    (trained,) = executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
    assert trained != first  # three rows of three numbers, each dropped or doubled


def test_the_rate_of_a_scheduler_goes_with_a_clone_that_trains():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        loss = paddle.mean(static.create_parameter([2], "float32", name="w"))
        rates = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.1)
        paddle.optimizer.SGD(rates).minimize(loss)
    clone, test = main.clone(), main.clone(for_test=True)
    assert test.lr_scheduler is None
    executor, scope = static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    steps = []
    for _ in range(2):
        before = np.array(scope.find_var("w"))
        executor.run(clone, fetch_list=[loss], scope=scope)
        steps.append((before - np.array(scope.find_var("w")))[0])
        rates.step()
    assert steps == pytest.approx([0.25, 0.025], rel=1e-4)


def test_prune_keeps_what_the_targets_need():
    main, _, hidden, loss = training()
    text = str(main)
    assert types(main._prune([loss])) == [t for t in FORWARD if t != "scale"]
    assert types(main._prune(hidden)) == ["matmul_v2", "elementwise_add", "relu"]
    assert sorted(main._prune(hidden.name).global_block().vars) == [
        "elementwise_add_0.tmp_0",
        "linear_0.b_0",
        "linear_0.w_0",
        "matmul_v2_0.tmp_0",
        "relu_0.tmp_0",
        "x",
    ]
    grad = types(main._prune(["linear_0.w_0@GRAD"]))
    assert grad[-1] == "matmul_v2_grad"
    assert "adam" not in grad
    assert "reduce_mean" not in grad  # its gradient reads the mean's input only
    last = main.global_block().ops[-1]
    assert types(main._prune([last])).count("adam") == 1
    assert str(main) == text


def test_prune_with_input_cuts_above_what_is_fed():
    main, startup, hidden, loss = training()
    cut = main._prune_with_input([hidden.name], [loss])
    assert types(cut) == ["batch_norm", "dropout", "reduce_mean"]
    assert "x" not in cut.global_block().vars
    nothing = main._prune_with_input(["x"], ["x"])
    assert types(nothing) == []
    assert list(nothing.global_block().vars) == ["x"]


def test_prune_refuses_what_is_not_of_the_program():
    main, _, hidden, loss = training()
    with pytest.raises(ValueError, match="expected the names of what is fed, but got Variable"):
        main._prune_with_input([hidden], [loss])
    for wrong in (3, "nope", Program()):
        with pytest.raises(ValueError, match="_prune_with_input: expected Variables or Operators"):
            main._prune([wrong])


def test_the_state_of_a_program():
    main, startup, _, loss = training()
    executor, scope = static.Executor(), static.Scope()
    with pytest.raises(ValueError, match=r"in the scope, but got none\. Run the startup program"):
        main.state_dict(scope=scope)
    executor.run(startup, scope=scope)
    parameters, rest = main.state_dict("param", scope), main.state_dict("opt", scope)
    assert sorted(parameters) == sorted(p.name for p in main.all_parameters())
    assert "linear_0.w_0_moment1_0" in rest
    assert not parameters.keys() & rest.keys()
    assert main.state_dict(scope=scope).keys() == parameters.keys() | rest.keys()
    with pytest.raises(ValueError, match="expected mode 'param', 'opt' or 'all'"):
        main.state_dict("x", scope)
    executor.run(main, feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss], scope=scope)
    power = "linear_0.w_0_beta1_pow_acc_0"
    assert rest[power] != np.array(scope.find_var(power))  # the state was a copy
    main.set_state_dict(rest | parameters, scope)
    for name, array in (rest | parameters).items():
        assert np.array_equal(np.array(scope.find_var(name)), array)


def test_a_state_that_does_not_fit_changes_nothing():
    main, startup, _, _ = training()
    executor, scope = static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    before = main.state_dict(scope=scope)
    zeros = {name: np.zeros_like(array) for name, array in before.items()}
    for wrong in (np.zeros((5, 5), "float32"), np.zeros((4, 3), "float64")):
        with pytest.raises(ValueError, match=r"'linear_0\.w_0' of shape \[4, 3\] and dtype"):
            main.set_state_dict(zeros | {"linear_0.w_0": wrong}, scope)
    with pytest.raises(TypeError, match="expected a dict of name: array, but got int"):
        main.set_state_dict(3, scope)
    after = main.state_dict(scope=scope)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    with pytest.warns(UserWarning, match=r"\['zz'\] are not variables of the program"):
        main.set_state_dict(zeros | {"zz": np.zeros(1)}, scope)
    assert not main.state_dict(scope=scope)["linear_0.w_0"].any()


def test_use_prune_lets_a_computed_variable_be_fed():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 4], "float32")
        hidden = paddle.nn.Linear(4, 3)(x)
        loss = paddle.mean(hidden * hidden)
    executor, scope = static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    given = np.full((2, 3), 2.0, "float32")

    def run(feed, **options):
        return executor.run(main, feed=feed, fetch_list=[loss], scope=scope, **options)

    with pytest.raises((KeyError, ValueError)):
        run({hidden.name: given})
    for _ in range(2):
        assert run({hidden.name: given}, use_prune=True)[0] == 4
    # what is fed but not needed any more is left out; what the program does not know is refused
    assert run({hidden.name: given, "x": np.ones((2, 4), "float32")}, use_prune=True)[0] == 4
    with pytest.raises(ValueError, match="'zz'"):
        run({hidden.name: given, "zz": given}, use_prune=True)


def test_use_prune_keeps_the_optimizer():
    main, startup, hidden, loss = training()
    executor, scope = static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    feed = {"x": np.arange(12, dtype="float32").reshape(3, 4)}
    executor.run(main, feed=feed, fetch_list=[loss], scope=scope, use_prune=True)
    power = np.array(scope.find_var("linear_0.b_0_beta1_pow_acc_0"))
    assert power == pytest.approx(0.9**2)


def branches_and_loop():
    """A cond, then a while loop; in a branch and in the loop, an op that nobody needs."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2], "float32")

        def double():
            paddle.scale(x, 9.0)
            return x * 2

        chosen = static.nn.cond(paddle.mean(x) > 0, double, lambda: x - 1)

        def body(i, value):
            paddle.exp(value)
            return [i + 1, value + value]

        start, end = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        _, looped = static.nn.while_loop(lambda i, value: i < end, body, [start, chosen])
        unused = static.nn.cond(paddle.mean(x) > 5, lambda: paddle.tanh(x), lambda: x)
        out = paddle.mean(looped)
    return main, out, unused


def test_blocks_are_pruned_and_numbered_anew():
    main, out, unused = branches_and_loop()
    assert main.num_blocks == 6
    pruned = main._prune([out])
    assert pruned.num_blocks == 4
    assert "exp" not in types(pruned, 3)
    assert types(pruned, 1) == ["scale", "assign"]
    again = Program.parse_from_string(pruned.serialize_to_string())
    executor = static.Executor()
    for values, expected in (([1, 2], 24), ([-1, -2], -20)):
        feed = {"x": np.array(values, "float32")}
        for program in (main, main.clone(), main.clone(for_test=True), pruned, again):
            assert executor.run(program, feed=feed, fetch_list=[out.name]) == [expected]
    # the last cond alone: its blocks were 4 and 5, and are 1 and 2 now
    last = main._prune([unused])
    assert [types(last, index)[0] for index in (1, 2)] == ["tanh", "assign"]
    (found,) = executor.run(last, feed={"x": np.full(2, 9.0, "float32")}, fetch_list=[unused.name])
    np.testing.assert_allclose(found, np.tanh(9.0))


def test_the_blocks_of_gradients_are_pruned_too():
    """Real Paddle 3.3.1 empties the blocks of conditional_block_grad here."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2], "float32")
        x.stop_gradient = False
        chosen = static.nn.cond(paddle.mean(x) > 0, lambda: x * 2, lambda: x - 1)

        def body(i, value):
            paddle.exp(value)
            return [i + 1, value + value]

        start, end = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        _, looped = static.nn.while_loop(lambda i, value: i < end, body, [start, chosen])
        (grad,) = static.gradients([paddle.mean(looped)], [x])
        paddle.tanh(looped)
    pruned = main._prune([grad])
    assert pruned.num_blocks == main.num_blocks == 7
    assert "tanh" not in types(pruned)
    assert "exp" not in types(pruned, 3)
    assert [types(pruned, index) for index in (4, 5, 6)] == [
        types(main, index) for index in (4, 5, 6)
    ]
    assert [block.forward_block_idx for block in pruned.blocks[4:]] == [3, 2, 1]
    executor = static.Executor()
    for values, expected in (([1, 2], [8, 8]), ([-1, -2], [4, 4])):
        feed = {"x": np.array(values, "float32")}
        for program in (main, pruned):
            (found,) = executor.run(program, feed=feed, fetch_list=[grad.name])
            assert found.tolist() == expected
    test = main.clone(for_test=True)
    assert test.num_blocks == 4
