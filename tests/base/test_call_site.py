"""An error of a program says which op failed and where in the user's code it was appended."""

import linecache
import re

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import static
from minipaddle.base import call_stack
from minipaddle.base.framework import Program


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with (
        paddle.pir_utils.OldIrGuard(),
        static.program_guard(static.Program(), static.Program()),
    ):
        yield
    paddle.disable_static()


def layer(x, w):
    return x @ w  # the line that the errors show


def lines_of(text):
    return [line.strip() for line in text.splitlines()]


def assert_says_where(error, op_type, source_line):
    text = str(error.value)
    assert text.startswith("In user code:\n\n    File ")
    assert text.endswith(f"[operator < {op_type} > error]")
    shown = lines_of(text)
    place = shown.index(source_line)
    assert re.fullmatch(rf'File "{re.escape(__file__)}", line \d+, in \w+', shown[place - 1])


def test_a_run_that_fails_names_the_op_and_its_line():
    x = static.data("x", [None, None])
    y = paddle.nn.functional.relu(layer(x, x))
    with pytest.raises(ValueError, match=r"ValueError: matmul: expected x.shape\[-1\]") as error:
        static.Executor().run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[y])
    assert_says_where(error, "matmul_v2", "return x @ w  # the line that the errors show")


def test_it_is_the_op_that_fails_and_no_other():
    x = static.data("x", [None, None])
    for _ in range(20):
        x = paddle.nn.functional.relu(x)
    bad = x.reshape([7, 7])  # here
    for _ in range(20):
        bad = paddle.nn.functional.relu(bad)
    with pytest.raises(ValueError, match="reshape: expected a shape with 6 elements") as error:
        static.Executor().run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[bad])
    assert_says_where(error, "reshape2", "bad = x.reshape([7, 7])  # here")


@pytest.mark.parametrize("serial", [True, False])
@pytest.mark.parametrize("where", ["cond", "while_loop"])
def test_also_inside_of_control_flow_and_in_a_parallel_run(where, serial):
    x = static.data("x", [None, None])
    if where == "cond":
        found = static.nn.cond(paddle.sum(x) > 0, lambda: layer(x, x), lambda: x * 2.0)
    else:
        start = paddle.full([1], 0, "int64")
        found = static.nn.while_loop(
            lambda i, a: i < 3, lambda i, a: [i + 1, layer(x, a)], [start, x]
        )[1]
    feed = {"x": np.ones((2, 3), "float32")}
    paddle.set_flags({"FLAGS_new_executor_serial_run": serial})
    try:
        with pytest.raises(ValueError, match="matmul: expected") as error:
            static.Executor().run(feed=feed, fetch_list=[found])
    finally:
        paddle.set_flags({"FLAGS_new_executor_serial_run": True})
    assert_says_where(error, "matmul_v2", "return x @ w  # the line that the errors show")


def test_the_kernel_s_own_error_keeps_its_kind():
    ids = static.data("i", [2], "int64")
    weight = static.create_parameter([3, 2], "float32")
    rows = paddle.nn.functional.embedding(ids, weight)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    with pytest.raises(IndexError, match="embedding: expected") as error:
        executor.run(feed={"i": np.array([1, 9])}, fetch_list=[rows])
    assert_says_where(
        error, "lookup_table_v2", "rows = paddle.nn.functional.embedding(ids, weight)"
    )


def test_an_op_that_can_not_be_appended_says_where_too():
    x = static.data("x", [2, 3])
    count = len(static.default_main_program().global_block().ops)
    with pytest.raises(ValueError, match="matmul: expected") as error:
        layer(x, x)
    assert_says_where(error, "matmul_v2", "return x @ w  # the line that the errors show")
    assert len(static.default_main_program().global_block().ops) == count


def test_an_op_appended_by_its_old_name_that_does_not_fit_is_not_appended():
    block = static.default_main_program().global_block()
    x, out = static.data("x", [2, 3]), block.create_var("out")
    with pytest.raises(ValueError, match="matmul: expected") as error:
        block.append_op("matmul_v2", {"X": x, "Y": x}, {"Out": out})
    assert str(error.value).endswith("[operator < matmul_v2 > error]")
    assert block.ops == []


def test_a_gradient_op_has_the_place_of_its_forward_op():
    x = static.data("x", [2, 2])
    x.stop_gradient = False
    with static.name_scope("encoder"):
        y = layer(x, x)
    static.append_backward(y.sum())
    ops = {operator.type: operator for operator in static.default_main_program().global_block().ops}
    for name in ("op_callstack", "op_namescope"):
        assert ops["matmul_v2_grad"].attr(name) == ops["matmul_v2"].attr(name)
    assert ops["matmul_v2"].attr("op_namescope") == "/encoder/"
    assert ops["reduce_sum"].attr("op_namescope") == "/"


def test_it_goes_into_the_bytes_and_not_into_the_text():
    layer(static.data("x", [2, 2]), static.data("y", [2, 2]))
    main = static.default_main_program()
    again = Program.parse_from_string(main.serialize_to_string())
    (operator,) = again.global_block().ops
    assert operator.attr("op_callstack")[-1].strip().startswith("return x @ w")
    assert "op_callstack" in operator.attr_names
    assert "op_callstack" not in str(main) and __file__ not in str(main)


def test_only_the_user_s_functions_are_kept():
    layer(static.data("x", [2, 2]), static.data("y", [2, 2]))
    (operator,) = static.default_main_program().global_block().ops
    places = [line for line in operator.attr("op_callstack") if line.startswith("  File")]
    # a process of pytest-xdist starts as `python -c ...`, which counts as a user's program
    places = [place for place in places if '"<string>"' not in place]
    assert len(places) == 2  # this test, and `layer`: no pytest, and no minipaddle
    assert all(__file__ in place for place in places)


def test_a_cell_of_a_notebook_has_its_number(monkeypatch):
    cell = "/tmp/ipykernel_1/123.py"
    source = "y = layer(x, x)\n"
    monkeypatch.setitem(linecache.cache, cell, (len(source), None, [source], cell))

    class Compiler:
        def format_code_name(self, name):
            return ("Cell", "In[3]") if name == cell else None

    class Shell:
        compile = Compiler()

    class IPython:
        @staticmethod
        def get_ipython():
            return Shell()

    monkeypatch.setitem(call_stack.sys.modules, "IPython", IPython)
    names = {"layer": layer, "x": static.data("x", [2, 2])}
    exec(compile(source, cell, "exec"), names)
    (operator,) = static.default_main_program().global_block().ops
    shown = operator.attr("op_callstack")
    place = shown.index('  File "Cell In[3]", line 1, in <module>')
    assert shown[place + 1] == "    y = layer(x, x)"


def test_the_form_is_that_of_real_paddle():
    """The head, the indents, the last line; Paddle shows its own functions between."""
    from minipaddle.compare import real_paddle

    real = real_paddle()
    if real is None:
        pytest.skip("needs real Paddle: pip install paddlepaddle==3.3.1")

    def message(framework):
        framework.enable_static()
        with framework.pir_utils.OldIrGuard():
            main = framework.static.Program()
            with framework.static.program_guard(main, framework.static.Program()):
                x = framework.static.data("x", [-1, -1], "float32")
                y = layer(x, x)
                executor = framework.static.Executor()
                with pytest.raises(ValueError) as error:
                    executor.run(main, feed={"x": np.ones((2, 3), "float32")}, fetch_list=[y])
        return str(error.value).splitlines()

    theirs = message(real)
    real.disable_static()
    mine = message(paddle)
    assert mine[:2] == theirs[:2] == ["In user code:", ""]
    assert mine[-1] == theirs[-1]
    where = next(line for line in theirs if "in layer" in line)
    assert where in mine
    assert theirs[theirs.index(where) + 1] == mine[mine.index(where) + 1]
