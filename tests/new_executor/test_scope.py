"""Scopes: who sees which variable, and where a run writes."""

import threading

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both
from minipaddle.new_executor.scope import Scope, global_scope, scope_guard


def values(scope):
    return {name: scope.get(name).tolist() for name in scope.local_var_names()}


def test_the_tree_of_scopes_is_as_in_paddle():
    both(
        """
        import numpy as np
        paddle.enable_static()
        top = paddle.static.Scope()
        kid = top.new_scope()
        top.var("a").get_tensor().set(np.arange(3, dtype="float32"), paddle.CPUPlace())
        print(np.array(kid.find_var("a").get_tensor()).tolist(), kid.local_var_names())
        print(kid.find_var("b"), kid.var("a").get_tensor()._is_initialized())
        tensor = kid.find_var("a").get_tensor()
        tensor.set([7, 8], paddle.CPUPlace())
        print(tensor.shape(), np.array(kid.find_var("a").get_tensor()).tolist())
        print(np.array(top.find_var("a").get_tensor()).tolist(), kid.local_var_names())
        kid.erase(["a", "never was"])
        print(np.array(kid.find_var("a").get_tensor()).tolist(), kid.local_var_names())
        with paddle.static.scope_guard(kid):
            print(paddle.static.global_scope() is kid)
        print(paddle.static.global_scope() is kid)
        paddle.disable_static()
        """,
        same=True,
    )


def test_a_run_writes_where_it_finds_as_in_paddle():
    both(
        """
        import numpy as np
        paddle.enable_static()
        with paddle.pir_utils.OldIrGuard():
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data("x", [2], "float32")
                one = {"default_initializer": paddle.nn.initializer.Constant(1.0)}
                w = paddle.static.create_parameter([2], "float32", name="w", **one)
                y = x + w
                main.global_block().append_op(type="assign", inputs={"X": y}, outputs={"Out": w})
            top = paddle.static.Scope()
            kid = top.new_scope()
            exe, feed = paddle.static.Executor(), {"x": np.ones(2, "float32")}
            held = lambda scope: np.array(scope.find_var("w").get_tensor()).tolist()
            exe.run(startup, scope=kid)
            print("w" in top.local_var_names(), "w" in kid.local_var_names())
            exe.run(main, feed=feed, fetch_list=[y], scope=kid)
            print(held(top), held(kid))
            kid.var("w").get_tensor().set(np.zeros(2, "float32"), paddle.CPUPlace())
            exe = paddle.static.Executor()  # Paddle's keeps the variables of its first run
            print(exe.run(main, feed=feed, fetch_list=[y], scope=kid)[0].tolist())
            print(held(top), held(kid))
            tensor = kid.find_var("w").get_tensor()
            exe.run(main, feed=feed, fetch_list=[y], scope=kid)
            print(np.array(tensor).tolist())
        paddle.disable_static()
        """,
        same=True,
    )


def test_kids_of_kids():
    top = Scope()
    middle = top.new_scope()
    low = middle.new_scope()
    top.var("a").get_tensor().set(1.0)
    assert low.get("a") == 1
    middle.var("a").get_tensor().set(2.0)
    assert (low.get("a"), top.get("a")) == (2, 1)
    low.set("a", np.array(3.0))
    low.set("new", np.array(4.0))
    assert (values(top), values(middle), values(low)) == ({"a": 1, "new": 4}, {"a": 3}, {})
    top.drop_kids()
    assert low.find_var("a") is None and values(top) == {"a": 1, "new": 4}


def test_a_variable_without_a_value():
    scope = Scope()
    tensor = scope.var("a").get_tensor()
    assert (tensor.shape(), repr(tensor)) == ([], "DenseTensor(no value)")
    for ask in (tensor.numpy, tensor._dtype, lambda: np.array(tensor)):
        with pytest.raises(RuntimeError, match="expected a value, but got a tensor that has none"):
            ask()
    with pytest.raises(RuntimeError, match="expected the variable 'a', but it has no value"):
        scope.get("a")
    with pytest.raises(RuntimeError, match="expected the variable 'b', but got none of that name"):
        scope.get("b")


def test_a_tensor_is_set_to_a_copy():
    scope, array = Scope(), np.zeros(2)
    scope.var("a").get_tensor().set(array, paddle.CPUPlace())
    array[0] = 1
    assert scope.get("a").tolist() == [0, 0]


def test_scope_guard_holds_for_all_threads_and_ends():
    outside, inside, seen = global_scope(), Scope(), []
    with pytest.raises(ZeroDivisionError), scope_guard(inside):
        thread = threading.Thread(target=lambda: seen.append(global_scope()))
        thread.start()
        thread.join()
        raise ZeroDivisionError
    assert seen == [inside] and global_scope() is outside
    with pytest.raises(TypeError, match="scope_guard: expected a Scope, but got int"):
        scope_guard(3).__enter__()  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 3, ["w"]])
def test_names_and_values_that_can_not_be(wrong):
    scope = Scope()
    with pytest.raises(TypeError, match="Scope.var: expected a name"):
        scope.var(wrong)
    tensor = scope.var("w").get_tensor()
    for value in (None, object(), "text", ["a"]):
        with pytest.raises(TypeError, match="dtype: expected one of"):
            tensor.set(value, paddle.CPUPlace())
    for place in (3, "cpu", []):
        with pytest.raises(TypeError, match="DenseTensor.set: expected a place"):
            tensor.set([1.0], place)
    assert not tensor._is_initialized()
