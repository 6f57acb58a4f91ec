"""The classic Program: description, backward, lowering, Executor."""

import linecache

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common import unique_name
from minipaddle.common.errors import IRError
from minipaddle.phi.core.world import world_guard


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def small():
    """relu(x @ w), its mean, and the gradients."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 3], "float32")
        w = paddle.static.create_parameter(
            [3, 2], "float32", name="w", default_initializer=paddle.nn.initializer.Constant(0.5)
        )
        y = paddle.nn.functional.relu(x @ w)
        loss = paddle.mean(y)
    return main, startup, loss


def test_bytes_go_out_and_come_back():
    main, _, loss = small()
    paddle.static.append_backward(loss)
    data = main.serialize_to_string()
    again = Program.parse_from_string(data)
    assert str(again) == str(main)
    assert again.serialize_to_string() == data


def test_bytes_that_are_no_program():
    with pytest.raises(IRError, match=r"parse_from_string: expected the bytes of a ProgramDesc"):
        Program.parse_from_string(b"\xff\xff no program")
    with pytest.raises(IRError, match="at least one block"):
        Program.parse_from_string(b"")


def test_real_paddle_reads_our_bytes_and_we_read_theirs():
    from minipaddle.compare import real_paddle

    real = real_paddle()
    assert real is not None, "install the extra `course`"
    main, _, loss = small()
    paddle.static.append_backward(loss)
    real.enable_static()
    with real.pir_utils.OldIrGuard():
        theirs = real.static.Program.parse_from_string(main.serialize_to_string())
        types = [op.type for op in theirs.global_block().ops]
        assert theirs.global_block().ops[0].attr("trans_x") is False
    real.disable_static()
    assert types == [op.type for op in main.global_block().ops]
    back = Program.parse_from_string(theirs.desc.serialize_to_string())
    assert [str(v) for v in back.list_vars()] == [str(v) for v in main.list_vars()]
    assert [op.type for op in back.global_block().ops] == [
        op.type for op in main.global_block().ops
    ]


def test_a_variable_dies_at_its_last_use():
    main, startup, loss = small()
    executor = paddle.static.Executor()
    plan = executor.interpreter(main, ("x",), [loss]).plan
    assert [item.op.name for item in plan.instructions] == ["matmul", "relu", "mean"]
    for number, dead in enumerate(plan.last_uses()):
        for name in dead:
            later = plan.instructions[number + 1 :]
            assert all(name not in item.reads() for item in later)
            assert name not in plan.fetches
    everything = {name for item in plan.instructions for name in [*item.reads(), *item.writes()]}
    died = [name for dead in plan.last_uses() for name in dead]
    assert sorted(died) == sorted(everything - set(plan.fetches))  # each once, only fetches stay


def test_what_nobody_fetches_is_not_run():
    main, startup, loss = small()
    plan = paddle.static.Executor().interpreter(main, ("x",), ["relu_0.tmp_0"]).plan
    assert [item.op.name for item in plan.instructions] == ["matmul", "relu"]


def test_a_run_is_compiled_once():
    main, startup, loss = small()
    executor = paddle.static.Executor()
    first = executor.interpreter(main, ("x",), [loss])
    assert executor.interpreter(main, ("x",), [loss]) is first
    with paddle.static.program_guard(main, startup):
        paddle.mean(loss)
    assert executor.interpreter(main, ("x",), [loss]) is not first


def test_errors_of_a_run():
    main, startup, loss = small()
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    x = np.ones((2, 3), "float32")

    def run(feed, fetch=loss):
        return executor.run(main, feed=feed, fetch_list=[fetch], scope=scope)

    with pytest.raises(RuntimeError, match=r"expected the variable 'w'.* Run the startup program"):
        run({"x": x})
    executor.run(startup, scope=scope)
    assert run({"x": x})[0] == 1.5
    with pytest.raises(KeyError, match=r"needs feed 'x' \(float32, \[-1, 3\]\), but feed has"):
        run({"y": x})
    with pytest.raises(ValueError, match=r"feed 'x' of shape \[-1, 3\], but got \[2, 4\]"):
        run({"x": np.ones((2, 4), "float32")})
    with pytest.raises(ValueError, match=r"feed 'x' of dtype float32, but got float64"):
        run({"x": x.astype("float64")})
    with pytest.raises(ValueError, match=r"expected a variable of the program .* got 'nope'"):
        run({"x": x}, "nope")
    with pytest.raises(TypeError, match="expected feed to be a dict"):
        executor.run(main, feed=[x], fetch_list=[loss])


def test_errors_of_building():
    main, startup, loss = small()
    with paddle.static.program_guard(main, startup):
        with pytest.raises(ValueError, match="create_var: expected a new name, but got 'x'"):
            paddle.static.data("x", [1], "float32")
        with pytest.raises(TypeError, match="relu: expected x to be a Variable"):
            paddle.nn.functional.relu(np.ones(2))
        with pytest.raises(ValueError, match=r"matmul: expected x.shape\[-1\]"):
            main.global_block().var("x") @ main.global_block().var("x").reshape([4, -1])
        with pytest.raises(TypeError, match="which has no data before the program runs"):
            if loss:
                pass
        for number in (float, int, lambda value: value.numpy(), lambda value: value.item()):
            with pytest.raises(TypeError, match=r"Fetch it: .* fetch_list=\['mean_0.tmp_0'\]"):
                number(loss)
        with pytest.raises(RuntimeError, match="append_backward"):
            loss.backward()
        with pytest.raises(ValueError, match="append_backward: expected a loss with one element"):
            paddle.static.append_backward(main.global_block().var("x"))
    with pytest.raises(TypeError, match="program_guard: expected a minipaddle.base"):
        with paddle.static.program_guard(paddle.pir.Program()):
            pass


def test_a_loss_that_depends_on_nothing():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        loss = paddle.mean(paddle.static.data("x", [2], "float32"))
        with pytest.raises(ValueError, match="stop_gradient=False"):
            paddle.static.append_backward(loss)


def test_an_op_that_is_not_declared():
    main = paddle.static.Program()
    block = main.global_block()
    block.create_var("x", [1])
    with pytest.raises(ValueError, match="expected the type of an op, but got 'warp_drive'"):
        block.append_op("warp_drive", {"X": "x"}, {"Out": "x"})
    operator = block.desc.append_op()  # in a description it may stand
    operator.set_type("warp_drive")
    operator.set_output("Out", ["x"])
    with pytest.raises(KeyError, match="find_op: .* 'warp_drive'"):
        paddle.static.Executor().run(main, fetch_list=["x"])


@pytest.mark.parametrize("users", [1, 2, 3])
def test_fan_out_is_summed(users):
    """x is read by several ops: as many pieces, one sum."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        total = x * 1.0
        for factor in range(2, users + 1):
            total = total + x * float(factor)
        paddle.static.append_backward(total.sum())
        types = [op.type for op in main.global_block().ops]
        assert types.count("sum") == (users > 1)
        (grad,) = paddle.static.Executor().run(
            main, feed={"x": np.ones(2, "float32")}, fetch_list=["x@GRAD"]
        )
    assert grad.tolist() == [sum(range(1, users + 1))] * 2


def test_no_grad_set_stops_the_gradient():
    main, startup, loss = small()
    with pytest.raises(ValueError, match="stop_gradient=False"):
        paddle.static.append_backward(loss, no_grad_set=["relu_0.tmp_0"])


def test_infer_meta_decides_the_shape_of_an_output():
    """As in Paddle: an op appended by hand overwrites the shape that its output had."""
    main = paddle.static.Program()
    block = main.global_block()
    block.create_var("x", [2, 3])
    block.create_var("h", [2, 4], "float64")
    block.append_op("relu", {"X": "x"}, {"Out": "h"})
    assert block.var("h").shape == (2, 3) and block.var("h").dtype is paddle.float32


def trained():
    """`small` with SGD, and an Executor and a Scope in which it was started."""
    main, startup, loss = small()
    with paddle.static.program_guard(main, startup):
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    executor.run(startup, scope=scope)
    return executor, main, scope, loss


@pytest.mark.parametrize("world", ["program", "pir"])
def test_what_was_fetched_or_fed_stays_as_it_is(world):
    with world_guard(world):
        executor, main, scope, _ = trained()
        weight = main.all_parameters()[0]
        x = np.ones((2, 3), "float32")
        (first,) = executor.run(main, feed={"x": x}, fetch_list=[weight], scope=scope)
        kept = first.copy()
        executor.run(main, feed={"x": x}, scope=scope)
        assert first.tolist() == kept.tolist()
        view = paddle.static.Program()
        with paddle.static.program_guard(view):
            flat = paddle.static.data("x", [2, 3], "float32").reshape([-1])
        (first,) = executor.run(view, feed={"x": x}, fetch_list=[flat])
        x[:] = 5.0
        assert first.tolist() == [1.0] * 6


def test_a_parameter_that_is_fed_is_not_written():
    executor, main, scope, _ = trained()
    weight = np.ones((3, 2), "float32")
    executor.run(main, feed={"x": np.ones((2, 3), "float32"), "w": weight}, scope=scope)
    assert weight.tolist() == np.ones((3, 2)).tolist()
    assert np.array(scope.find_var("w")).tolist() != weight.tolist()


@pytest.mark.parametrize("world", ["program", "pir"])
def test_one_fetch_and_the_default_program(world):
    with world_guard(world):
        main = paddle.static.Program()
        feed = {"xx": np.ones(2, "float32")}
        with paddle.static.program_guard(main):
            y = paddle.nn.functional.relu(paddle.static.data("xx", [2], "float32"))
            found = [
                paddle.static.Executor().run(feed=feed, fetch_list=fetch)[0].tolist()
                for fetch in (y, "xx", (y,))
            ]
    assert found == [[1.0, 1.0]] * 3


def test_what_is_no_program():
    with pytest.raises(TypeError, match="Executor.run: expected a Program, but got str"):
        paddle.static.Executor().run("main")


def test_a_variable_that_becomes_persistable_is_kept():
    executor, main, scope, loss = trained()
    feed = {"x": np.ones((2, 3), "float32")}
    executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
    loss.persistable = True
    executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
    assert scope.find_var(loss.name) is not None


def test_programs_that_changed_are_not_kept_compiled():
    main, executor = paddle.static.Program(), paddle.static.Executor()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        lines = len(linecache.cache)
        for _ in range(5):
            y = x * 2.0
            executor.run(main, feed={"x": np.ones(2, "float32")}, fetch_list=[y])
    assert len(linecache.cache) == lines + 1


def test_numbers_keep_their_digits():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        tenth = paddle.full([1], 0.1, "float64")
        other = paddle.nn.initializer.Assign(np.array([0.3]))([1], "float64")
    again = Program.parse_from_string(main.serialize_to_string())
    found = paddle.static.Executor().run(again, fetch_list=[tenth.name, other.name])
    assert [array.tolist() for array in found] == [[0.1], [0.3]]
