"""What a user gives to Executor.run, and what comes back."""

import gc
import threading
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.executor import Executor
from minipaddle.base.framework import Program
from minipaddle.common import unique_name
from minipaddle.new_executor.scope import DenseTensor, Scope


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


class Work:
    """x @ w, s + 1 and i + 1, with w at 0.5."""

    def __init__(self):
        self.main, self.startup = Program(), Program()
        with paddle.static.program_guard(self.main, self.startup):
            self.x = paddle.static.data("x", [None, 2], "float32")
            s = paddle.static.data("s", [], "float32")
            i = paddle.static.data("i", [2], "int64")
            half = paddle.nn.initializer.Constant(0.5)
            self.w = paddle.static.create_parameter(
                [2, 1], "float32", name="w", default_initializer=half
            )
            self.y, self.z, self.k = self.x @ self.w, s + 1.0, i + 1
        self.executor, self.scope = Executor(paddle.CPUPlace()), Scope()
        assert self.executor.run(self.startup, scope=self.scope) == []
        self.feed = {"x": np.ones((3, 2), "float32"), "s": np.float32(1), "i": np.array([1, 2])}

    def run(self, fetch, **feed):
        return self.executor.run(self.main, {**self.feed, **feed}, fetch, scope=self.scope)


@pytest.fixture
def work():
    return Work()


# -- feeds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        np.array([[1, 2]], "float32"),
        [[1.0, 2.0]],
        ((1, 2),),
        [[1, 2]],
        [np.array([1, 2], "float32")],
        [[True, 2.0]],
        DenseTensor(np.array([[1, 2]], "float32")),
        np.asfortranarray(np.array([[1, 2]], "float32")),
    ],
)
def test_what_can_be_fed(work, value):
    assert work.run([work.y], x=value)[0].tolist() == [[1.5]]


@pytest.mark.parametrize("value", [2.0, 2, np.float64(2), np.array(2, "float32"), np.int8(2)])
def test_numbers_can_be_fed(work, value):
    (found,) = work.run([work.z], s=value)
    assert (found.tolist(), found.shape, found.dtype) == (3.0, (), np.dtype("float32"))


def test_a_tensor_can_be_fed(work):
    paddle.disable_static()
    tensor = paddle.to_tensor([[1.0, 2.0]])
    assert work.run([work.y], x=tensor)[0].tolist() == [[1.5]]


def test_a_list_of_integers_for_an_integer(work):
    assert work.run([work.k], i=[3, 4])[0].tolist() == [4, 5]


@pytest.mark.parametrize(
    ("name", "value", "kind", "text"),
    [
        ("x", np.ones((3, 2)), ValueError, "feed 'x' of dtype float32, but got float64"),
        ("x", np.ones((3, 2), "complex64"), ValueError, "dtype float32, but got complex64"),
        ("x", np.ones((3, 2), "uint16"), ValueError, "dtype float32, but got uint16"),
        ("x", [["a", "b"]], ValueError, "dtype float32, but got <U1"),
        ("x", [[None, 1.0]], ValueError, "dtype float32, but got object"),
        ("x", np.ones((3, 5), "float32"), ValueError, r"shape \[-1, 2\], but got \[3, 5\]"),
        ("x", np.ones(2, "float32"), ValueError, r"shape \[-1, 2\], but got \[2\]"),
        ("x", [[1.0, 2.0], [3.0]], ValueError, "a regular list, but got a list that is none"),
        ("x", None, TypeError, "expected feed 'x' as an array, .* but got NoneType"),
        ("x", {1: 2}, TypeError, "expected feed 'x' as an array, .* but got dict"),
        ("x", "text", TypeError, "expected feed 'x' as an array, .* but got str"),
        ("s", np.ones(1, "float32"), ValueError, r"shape \[\], but got \[1\]"),
        ("i", np.array([1, 2], "int32"), ValueError, "dtype int64, but got int32"),
        ("i", [1.5, 2.0], ValueError, "dtype int64, but got float64"),
        ("i", [2**70, 1], ValueError, "dtype int64, but got object"),
    ],
)
def test_what_can_not_be_fed(work, name, value, kind, text):
    with pytest.raises(kind, match=text):
        work.run([work.y, work.z, work.k], **{name: value})


@pytest.mark.parametrize("kind", [np.matrix, np.ma.masked_array])
def test_arrays_of_another_kind_compute_as_arrays(work, kind):
    """A np.matrix would multiply its own way."""
    value = np.ones((3, 2), "float32")
    (found,) = work.run([work.y], x=kind(value))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, work.run([work.y], x=value)[0])


@pytest.mark.parametrize("key", [1, None, ("x",)])
def test_what_is_fed_has_a_name(work, key):
    executor, value = paddle.static.Executor(), np.ones((3, 2), "float32")
    for feed in ({key: value}, {"x": value, key: value}):
        for use_prune in (False, True):
            with pytest.raises(TypeError, match="expected names as the keys of feed, but got"):
                executor.run(work.main, feed, [work.y], scope=work.scope, use_prune=use_prune)


def test_a_variable_without_data_can_not_be_fed(work):
    with pytest.raises(TypeError, match="no data before the program runs"):
        work.run([work.y], x=work.x)


def test_feeds_that_the_program_does_not_know(work):
    with pytest.raises(ValueError, match=r"feeds that the program has, but got \['xx'\]"):
        work.run([work.y], xx=np.ones(2))
    assert work.run([work.y], s=5.0)[0].shape == (3, 1)  # known, but not needed here
    with pytest.raises(ValueError, match="which the program computes itself"):
        work.run([work.y], **{work.y.name: np.zeros((3, 1), "float32")})
    paddle.enable_static()
    with paddle.pir_utils.IrGuard():
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [2], "float32")
            y = x + 1.0
        with pytest.raises(ValueError, match=r"feeds that the program has, but got \['xx'\]"):
            Executor().run(main, {"x": [1.0, 2.0], "xx": 1}, [y])


def test_a_fed_parameter_takes_the_place_of_the_one_in_the_scope(work):
    fed = np.full((2, 1), 2, "float32")
    assert work.run([work.y], w=fed)[0][0].tolist() == [4.0]
    assert work.scope.get("w")[0].tolist() == [0.5]


def test_what_is_fed_is_not_written_to(work):
    with paddle.static.program_guard(work.main, work.startup):
        block = work.main.global_block()
        block.append_op("increment", {"X": "s"}, {"Out": "s"}, {"step": 1.0})
    s = np.array(1, "float32")
    assert work.run(["s"], s=s)[0] == 2
    assert s == 1


# -- fetches ---------------------------------------------------------------------------------------


def test_what_can_be_fetched(work):
    for fetch in (work.y, [work.y], (work.y,), [[work.y]], work.y.name):
        (found,) = work.run(fetch)
        assert found.tolist() == [[1.0]] * 3
    for fetch in ([work.y, work.z, work.y], (work.y, (work.z, [work.y.name]))):
        first, second, third = work.run(fetch)
        assert (first.shape, second.shape) == ((3, 1), ())
        assert first.tolist() == third.tolist() and first is not third
    assert work.run(["w"])[0].tolist() == [[0.5], [0.5]]
    assert work.run([work.x])[0].tolist() == [[1.0, 1.0]] * 3
    assert work.run(None) == work.run([]) == []


def test_a_fetch_is_a_copy(work):
    (w,) = work.run([work.w])
    (x,) = work.run([work.x])
    w[...] = 9
    x[...] = 9
    assert work.scope.get("w")[0].tolist() == [0.5] and work.feed["x"][0].tolist() == [1, 1]


@pytest.mark.parametrize("item", [None, 3, np.ones(2), {"y": 1}])
def test_what_can_not_be_fetched(work, item):
    with pytest.raises(TypeError, match="a Variable or a name in fetch_list, but got"):
        work.run([work.y, item])


def test_fetches_that_the_program_does_not_have(work):
    with pytest.raises(ValueError, match="a variable of the program in fetch_list, but got 'no'"):
        work.run(["no"])
    with paddle.static.program_guard(Program()):
        other = paddle.static.data("other", [2], "float32") + 1.0
    other.block._rename_var(other.name, "of_another_program")
    with pytest.raises(ValueError, match="expected a variable of the program in fetch_list"):
        work.run([other])
    clone = work.main.clone(for_test=True)  # the same names are the clone's own
    assert work.executor.run(clone, work.feed, [work.y], scope=work.scope)[0].shape == (3, 1)


def test_dense_tensors_come_back_if_asked_for(work):
    y, z = work.executor.run(
        work.main, work.feed, [work.y, work.z], scope=work.scope, return_numpy=False
    )
    assert isinstance(y, DenseTensor)
    assert (y.shape(), z.shape(), y._dtype()) == ([3, 1], [], paddle.float32)
    assert np.array(y).tolist() == [[1.0]] * 3
    assert work.run([work.z], s=z)[0] == 3  # and can be fed


# -- the run ---------------------------------------------------------------------------------------


def test_what_is_no_program_feed_or_scope(work):
    run = work.executor.run
    with pytest.raises(TypeError, match="expected a Program, but got str"):
        run("program")
    with pytest.raises(TypeError, match="expected feed to be a dict of name: array, but got str"):
        run(work.main, "x", [work.y])
    with pytest.raises(TypeError, match="expected scope to be a Scope, but got str"):
        run(work.main, work.feed, [work.y], scope="scope")


def test_an_empty_program():
    assert Executor().run(Program()) == []
    main = Program()
    with paddle.static.program_guard(main):
        with pytest.warns(UserWarning, match="the default main program has no ops"):
            assert Executor().run() == []


def test_startup_twice_makes_the_parameters_anew(work):
    work.scope.set("w", np.zeros((2, 1), "float32"))
    work.executor.run(work.startup, scope=work.scope)
    assert work.scope.get("w")[0].tolist() == [0.5]


def test_a_closed_executor(work):
    work.executor.close()
    work.executor.close()
    with pytest.raises(RuntimeError, match="expected an open Executor, but got a closed one"):
        work.run([work.y])


@pytest.mark.parametrize("place", [None, "cpu", paddle.CPUPlace()])
def test_places(place):
    assert Executor(place).place == paddle.CPUPlace()


def test_what_is_no_place():
    with pytest.raises(ValueError, match="Executor: expected 'cpu', 'gpu' or 'gpu:0', but got"):
        Executor("tpu")
    with pytest.raises(TypeError, match="Executor: expected a place, but got int"):
        Executor(3)  # type: ignore[arg-type]
    if not paddle.is_compiled_with_cuda():
        with pytest.raises(RuntimeError, match="expected CuPy and an NVIDIA GPU"):
            Executor(paddle.CUDAPlace(0))


# -- what is kept from run to run ------------------------------------------------------------------


def test_a_plan_is_kept_for_program_feeds_and_fetches(work):
    plan = work.executor.interpreter
    one = plan(work.main, ("s", "x"), [work.y])
    assert plan(work.main, ("s", "x"), [work.y.name]) is one  # a name is as good
    assert plan(work.main, ("x",), [work.y]) is not one
    assert plan(work.main, ("s", "x"), [work.z]) is not one
    assert plan(work.main, ("s", "x"), [work.y, work.y]) is not one
    assert plan(work.main.clone(), ("s", "x"), [work.y]) is not one
    assert Executor().interpreter(work.main, ("s", "x"), [work.y]) is not one
    assert plan(work.main, ("s", "x"), [work.y]) is one


def test_the_order_of_feeds_does_not_matter(work):
    work.run([work.y])
    (held,) = [plans for _, plans in [work.executor._cache[work.main]]]
    before = len(held)
    turned = dict(reversed(work.feed.items()))
    work.executor.run(work.main, turned, [work.y], scope=work.scope)
    assert len(held) == before


def test_what_was_asked_for_last_is_not_looked_up_again(work, monkeypatch):
    wanted, looked_up = [], Executor.interpreter

    def interpreter(executor, program, feed_names, fetch, scope=None):
        wanted.append(fetch)
        return looked_up(executor, program, feed_names, fetch, scope)

    monkeypatch.setattr(Executor, "interpreter", interpreter)
    for _ in range(3):
        assert work.run([work.y])[0].tolist() == [[1.0]] * 3
    assert len(wanted) == 1
    assert work.run([work.z])[0] == 2 and work.run([work.z, work.y])[0] == 2
    assert work.run([work.y, work.z])[1] == 2 and work.run(work.z)[0] == 2
    assert len(wanted) == 5
    work.run([work.z])
    work.run([work.z.name])  # a name is as good
    assert len(wanted) == 5


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"fetch_list": [np.ones(2)]}, TypeError, "or a name in fetch_list, but got ndarray"),
        ({"fetch_list": [3]}, TypeError, "or a name in fetch_list, but got int"),
        ({"feed": ["x"]}, TypeError, "expected feed to be a dict"),
        ({"feed": {}}, KeyError, "the program needs feed 'x'"),
        (
            {"feed": {"x": np.ones((3, 2), "float32"), 1: 2}},
            TypeError,
            "expected names as the keys",
        ),
        ({"program": "main"}, TypeError, "expected a Program, but got str"),
        ({"scope": Scope()}, RuntimeError, "Run the startup program"),
    ],
)
def test_wrong_after_a_run_that_was_right(work, change, kind, text):
    right = {
        "program": work.main,
        "feed": {"x": work.feed["x"]},
        "fetch_list": [work.y],
        "scope": work.scope,
    }
    for _ in range(2):
        assert work.executor.run(**right)[0].shape == (3, 1)
    with pytest.raises(kind, match=text):
        work.executor.run(**{**right, **change})
    assert work.executor.run(**right)[0].shape == (3, 1)


def test_a_renamed_variable_is_fetched_under_its_new_name(work):
    work.run([work.y])
    work.main.global_block()._rename_var(work.y.name, "renamed")
    assert work.y.name == work.y.proto.name == "renamed"
    assert work.run([work.y])[0].tolist() == work.run(["renamed"])[0].tolist()


def test_a_changed_program_is_compiled_anew_and_the_old_plan_goes(work):
    old = weakref.ref(work.executor.interpreter(work.main, ("x",), [work.y]))
    with paddle.static.program_guard(work.main):
        y = work.y * 2.0
    assert work.run([y])[0].tolist() == [[2.0]] * 3
    assert work.run([work.y])[0].tolist() == [[1.0]] * 3
    gc.collect()
    assert old() is None


def test_an_attribute_that_is_set_later_counts(work):
    assert work.run([work.z])[0] == 2
    (scale,) = [op for op in work.main.global_block().ops if op.output_arg_names == [work.z.name]]
    scale._set_attr("bias", 5.0)
    assert work.run([work.z])[0] == 6


def test_a_program_that_nobody_needs_is_let_go():
    executor, work = Executor(), Work()
    executor.run(work.main, work.feed, [work.y], scope=work.scope)
    gone = weakref.ref(work.main)
    del work
    gc.collect()
    assert gone() is None


def test_two_threads_share_an_executor(work):
    found, errors = {}, []

    def go(number):
        try:
            fetch = [work.y, work.z][number % 2]
            for _ in range(50):
                (value,) = work.run([fetch], s=float(number), x=np.full((1, 2), number, "float32"))
                found.setdefault(number, set()).add(float(value.ravel()[0]))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=go, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert found == {n: {float(n + 1 if n % 2 else n)} for n in range(6)}
