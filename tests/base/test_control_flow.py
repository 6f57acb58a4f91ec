"""cond, while_loop, case and switch_case: what they compute and how they look."""

import itertools

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common import unique_name
from minipaddle.compare import real_paddle
from minipaddle.phi.core.world import world_guard

from .control_flow_cases import CASES

INPUTS = [[1.0, 2.0], [-1.0, 0.5], [3.0, 2.0], [-0.5, -1.0]]


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def built(function, paddle=paddle):
    """A Program that feeds x [2] to the function; (the program, what the function returns)."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        return main, function(paddle, x)


def run(main, x, *fetch):
    return paddle.static.Executor().run(
        main, feed={"x": np.array(x, "float32")}, fetch_list=list(fetch)
    )


def in_dygraph(function, x):
    with world_guard("dygraph"):
        return function(paddle, paddle.to_tensor(x)).numpy()


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_program_computes_what_dygraph_computes(function):
    main, y = built(function)
    again = Program.parse_from_string(main.serialize_to_string())
    for x in INPUTS:
        wanted = in_dygraph(function, x)
        np.testing.assert_allclose(run(main, x, y)[0], wanted, rtol=1e-5)
        np.testing.assert_allclose(run(again, x, y.name)[0], wanted, rtol=1e-5)


def test_the_text_of_a_program():
    """As Paddle prints it."""

    def program(paddle, x):
        return paddle.static.nn.cond(paddle.mean(x) > 0, lambda: x * 2.0, lambda: x - 1.0)

    main, y = built(program)
    lines = str(main).splitlines()
    assert "    var _generated_var_1 : STEP_SCOPES)" in lines
    assert [line for line in lines if " // " in line] == [
        "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1",
        "{ // block_idx:1  parent_idx:0  forward_idx:-1  backward_idx:-1",
        "{ // block_idx:2  parent_idx:0  forward_idx:-1  backward_idx:-1",
    ]
    assert (
        "    {Out=['_generated_var_0'], Scope=['_generated_var_1']} = conditional_block(inputs={"
        "Cond=['tmp_1'], Input=['x']}, is_scalar_condition = True, op_device = , "
        "op_namescope = /, op_role = 0, op_role_var = [], sub_block = block[1], "
        "with_quant_attr = False)"
    ) in lines
    op = main.global_block().ops[3]
    assert (op.type, op._block_attr_id("sub_block")) == ("conditional_block", 1)
    assert op._block_attr("sub_block") is main.block(1)
    assert y.name == "_generated_var_4"


def shape_of(program):
    """Block, parent, forward block and op types; the names of the ops' variables by slot."""
    blocks = [(b.idx, b.parent_idx, b.forward_block_idx) for b in program.blocks]
    return blocks, [
        (
            op.type,
            sorted((s, sorted(op.input(s))) for s in op.input_names if op.input(s)),
            sorted((s, sorted(op.output(s))) for s in op.output_names if op.output(s)),
        )
        for b in program.blocks
        for op in b.ops
    ]


def real_program(build, monkeypatch):
    """What real Paddle builds. Its cond needs a logical_not that takes classic Variables."""
    real = real_paddle()
    assert real is not None, "install the extra `course`"

    def logical_not(x):
        from paddle.base.layer_helper import LayerHelper

        helper = LayerHelper("logical_not")
        out = helper.create_variable_for_type_inference("bool")
        helper.append_op(type="logical_not", inputs={"X": x}, outputs={"Out": out})
        return out

    monkeypatch.setattr(real, "logical_not", logical_not)
    real.enable_static()
    try:
        with real.pir_utils.OldIrGuard(), real.utils.unique_name.guard():
            return build(real)
    finally:
        real.disable_static()


# the others differ: where Paddle's program is wrong, or by number of its `full`s
@pytest.mark.parametrize(
    "name", ["condition", "condition_in_condition", "first_true_case", "structures"]
)
def test_real_paddle_builds_the_same_blocks(name, monkeypatch):
    function = next(case for case in CASES if case.__name__ == name)
    mine, _ = built(function)
    theirs, _ = real_program(lambda real: built(function, real), monkeypatch)
    assert shape_of(mine) == shape_of(theirs)


@pytest.mark.parametrize("name", ["loop", "two_values_in_a_loop", "condition_in_loop"])
def test_real_paddle_builds_the_same_loops(name, monkeypatch):
    """By types of ops: the names of `full` count otherwise."""
    function = next(case for case in CASES if case.__name__ == name)
    mine, _ = built(function)
    theirs, _ = real_program(lambda real: built(function, real), monkeypatch)

    def types(program):
        return [(b.parent_idx, [op.type for op in b.ops]) for b in program.blocks]

    assert types(mine) == types(theirs)


def test_only_what_is_fetched_is_computed():
    """Of a loop with two values, one that nobody wants is left out, in the loop too."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        i, a, b = paddle.static.nn.while_loop(
            lambda i, a, b: i < n, lambda i, a, b: [i + 1, a * 2.0, b * x], [i, x * 1.0, x * 1.0]
        )
    text = paddle.static.Executor().interpreter(main, ("x",), [a]).text
    assert text.count("while ") == 1 and "multiply" not in text
    assert run(main, [1.0, 2.0], a)[0].tolist() == [8.0, 16.0]
    assert "while " not in paddle.static.Executor().interpreter(main, ("x",), [x]).text


def test_what_dies_in_a_loop_is_dropped_in_it():
    """Values of a turn are deleted in the turn, those that it reads from outside after the loop."""
    function = next(case for case in CASES if case.__name__ == "loop")
    main, y = built(function)
    lines = paddle.static.Executor().interpreter(main, ("x",), [y]).text.splitlines()
    start = next(number for number, line in enumerate(lines) if "while " in line)
    inside = list(itertools.takewhile(lambda line: line.startswith(" " * 8), lines[start + 1 :]))
    made = {line.split(" = ")[0].strip() for line in inside if " = " in line}
    carried = {line.split(" = ")[0].strip() for line in lines[:start]} & made
    deleted = {n for line in inside if "del " in line for n in line.strip()[4:].split(", ")}
    assert deleted == made - carried
    after = lines[start + 1 + len(inside)]
    assert after.strip().startswith("del ")  # the condition, the counter, the limit, x


def test_nests_as_loop_variables():
    def program(paddle, x):
        n = paddle.full([1], 3, "int64")
        found = paddle.static.nn.while_loop(
            lambda i, rest: i < n,
            lambda i, rest: (i + 1, {"a": rest["b"][0], "b": (rest["a"] + x, 5.0)}),
            (
                paddle.full([1], 0, "int64"),
                {"a": x * 1.0, "b": [x * 2.0, paddle.full([], 1.0)]},
            ),
            is_test=True,
        )
        return found[1]["a"] + 100.0 * found[1]["b"][0] + 10000.0 * found[1]["b"][1]

    main, y = built(program)
    # a, b: 1 2, 2 2, 2 3, 3 3
    assert run(main, [1.0, 1.0], y)[0].tolist() == [50303.0, 50303.0]


def test_an_op_without_declaration_may_stand_in_a_body():
    def program(paddle, x):
        def body(a):
            block = x.block.program.current_block()
            block.create_var("w", [2])
            operator = block.desc.append_op()
            operator.set_type("warp_drive")
            operator.set_input("X", [a.name])
            operator.set_output("Out", ["w"])
            return [a * 2.0]

        return paddle.static.nn.while_loop(lambda a: paddle.mean(a) < 9, body, [x * 1.0])[0]

    main, y = built(program)
    assert "warp_drive" in str(main)
    with pytest.raises(KeyError, match="find_op: .* 'warp_drive'"):
        run(main, [1.0, 2.0], y)


def test_an_assert_in_a_branch_stays():
    def program(paddle, x):
        def true():
            paddle.static.nn.control_flow.Assert(paddle.max(x) < 5, [x])

        paddle.static.nn.cond(paddle.mean(x) > 0, true, None)
        return x * 1.0

    main, y = built(program)
    assert run(main, [1.0, 2.0], y)[0].tolist() == [1.0, 2.0]
    assert run(main, [-9.0, 6.0], y)[0].tolist() == [-9.0, 6.0]
    with pytest.raises(ValueError, match="assert: expected the condition to be true"):
        run(main, [9.0, 6.0], y)


def test_a_branch_writes_a_variable_outside():
    """With assign(..., output): the variable keeps its value where the branch does not run."""

    def program(paddle, x):
        y = x * 1.0
        paddle.static.nn.cond(paddle.mean(x) > 0, lambda: void(paddle.assign(x * 5.0, y)), None)
        return y + 0.0

    def void(value):
        return None

    main, y = built(program)
    assert run(main, [1.0, 2.0], y)[0].tolist() == [5.0, 10.0]
    assert run(main, [-1.0, -2.0], y)[0].tolist() == [-1.0, -2.0]


def test_a_loop_counts_in_place():
    def program(paddle, x):
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        return paddle.static.nn.while_loop(
            lambda i, a: i < n, lambda i, a: [paddle.increment(i), a * 2.0], [i, x * 1.0]
        )[1]

    main, y = built(program)
    for _ in range(2):
        assert run(main, [1.0, 2.0], y)[0].tolist() == [8.0, 16.0]


def test_a_loop_trains_a_parameter():
    """Optimizer.minimize with a loop inside: the gradient of w is the sum over the turns."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 2], "float32")
        w = paddle.static.create_parameter(
            [2, 2], "float32", name="w", default_initializer=paddle.nn.initializer.Constant(0.5)
        )
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")
        _, h = paddle.static.nn.while_loop(
            lambda i, h: i < n, lambda i, h: [i + 1, h @ w], [i, x * 1.0]
        )
        loss = paddle.mean(h)
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    executor.run(startup, scope=scope)
    feed = {"x": np.array([[1.0, 2.0], [3.0, 4.0]], "float32")}
    (before,) = executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
    with world_guard("dygraph"):
        weight = paddle.to_tensor(np.full((2, 2), 0.5, "float32"), stop_gradient=False)
        data = paddle.to_tensor(feed["x"])
        paddle.mean(data @ weight @ weight).backward()
        wanted = weight.numpy() - np.float32(0.1) * weight.grad.numpy()
    np.testing.assert_allclose(np.array(scope.find_var("w")), wanted, rtol=1e-6)
    (after,) = executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
    assert after < before


# -- dygraph -----------------------------------------------------------------------------------


def test_dygraph_just_runs_python():
    with world_guard("dygraph"):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        nn = paddle.static.nn
        y = nn.cond(paddle.mean(x) > 0, lambda: x * 3.0, lambda: 1 // 0)
        assert nn.cond(paddle.mean(x) > 9, lambda: 1 // 0) is None
        i, y = nn.while_loop(
            lambda i, y: i < 2, lambda i, y: (i + 1, y * y), [paddle.zeros([1]), y]
        )
        paddle.sum(y).backward()
        assert i.item() == 2 and y.numpy().tolist() == [81.0, 1296.0]
        assert x.grad.numpy().tolist() == [324.0, 2592.0]
        with pytest.raises(ValueError, match="body to return 1 values, but got 2"):
            nn.while_loop(lambda y: paddle.mean(y) > 0, lambda y: [y, y], [y])
        with pytest.raises(TypeError, match="pred to be a bool Tensor, but got bool"):
            nn.cond(True, None, None)
