"""cond, while_loop, case and switch_case: what they compute, how they look, what they refuse."""

import itertools

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common import unique_name
from minipaddle.common.errors import IRError
from minipaddle.compare import real_paddle
from minipaddle.phi.core.world import world_guard

from .control_flow_cases import CASES

INPUTS = [[1.0, 2.0], [-1.0, 0.5], [3.0, 2.0], [-0.5, -1.0]]


@pytest.fixture
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
def test_a_program_computes_what_dygraph_computes(function, classic):
    main, y = built(function)
    again = Program.parse_from_string(main.serialize_to_string())
    for x in INPUTS:
        wanted = in_dygraph(function, x)
        np.testing.assert_allclose(run(main, x, y)[0], wanted, rtol=1e-5)
        np.testing.assert_allclose(run(again, x, y.name)[0], wanted, rtol=1e-5)


def test_the_text_of_a_program(classic):
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
def test_real_paddle_builds_the_same_blocks(name, classic, monkeypatch):
    function = next(case for case in CASES if case.__name__ == name)
    mine, _ = built(function)
    theirs, _ = real_program(lambda real: built(function, real), monkeypatch)
    assert shape_of(mine) == shape_of(theirs)


@pytest.mark.parametrize("name", ["loop", "two_values_in_a_loop", "condition_in_loop"])
def test_real_paddle_builds_the_same_loops(name, classic, monkeypatch):
    """By types of ops: the names of `full` count otherwise."""
    function = next(case for case in CASES if case.__name__ == name)
    mine, _ = built(function)
    theirs, _ = real_program(lambda real: built(function, real), monkeypatch)

    def types(program):
        return [(b.parent_idx, [op.type for op in b.ops]) for b in program.blocks]

    assert types(mine) == types(theirs)


def test_only_what_is_fetched_is_computed(classic):
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


def test_what_dies_in_a_loop_is_dropped_in_it(classic):
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


def test_an_assert_in_a_branch_stays(classic):
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


def test_a_branch_writes_a_variable_outside(classic):
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


def test_a_loop_counts_in_place(classic):
    def program(paddle, x):
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
        return paddle.static.nn.while_loop(
            lambda i, a: i < n, lambda i, a: [paddle.increment(i), a * 2.0], [i, x * 1.0]
        )[1]

    main, y = built(program)
    for _ in range(2):
        assert run(main, [1.0, 2.0], y)[0].tolist() == [8.0, 16.0]


def test_a_loop_trains_a_parameter(classic):
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


# -- what is refused ---------------------------------------------------------------------------


def test_a_loop_without_end(classic):
    def program(paddle, x):
        return paddle.static.nn.while_loop(
            lambda a: paddle.mean(a) > 0, lambda a: [a + x], [x * 1]
        )[0]

    main, y = built(program)
    before = paddle.get_flags("FLAGS_max_while_turns")
    paddle.set_flags({"FLAGS_max_while_turns": 50})
    try:
        with pytest.raises(RuntimeError, match=r"block 1, condition 'tmp_\d+', to end within 50"):
            run(main, [1.0, 1.0], y)
        with pytest.raises(
            RuntimeError, match=r"(?s)test_control_flow.py.*while < error|< while >"
        ):
            run(main, [1.0, 1.0], y)
        paddle.set_flags({"FLAGS_max_while_turns": 51})
        assert run(main, [-1.0, 0.0], y)[0].tolist() == [-1.0, 0.0]
    finally:
        paddle.set_flags(before)


def test_as_many_turns_as_the_flag_says_are_allowed(classic):
    function = next(case for case in CASES if case.__name__ == "loop")  # 3 turns
    main, y = built(function)
    before = paddle.get_flags(["FLAGS_max_while_turns"])
    try:
        paddle.set_flags({"FLAGS_max_while_turns": 3})
        run(main, [1.0, 2.0], y)
        paddle.set_flags({"FLAGS_max_while_turns": 2})
        with pytest.raises(RuntimeError, match="within 2 turns"):
            run(main, [1.0, 2.0], y)
    finally:
        paddle.set_flags(before)


def test_bad_flags():
    with pytest.raises(ValueError, match="set_flags: expected one of"):
        paddle.set_flags({"FLAGS_warp": 1})
    with pytest.raises(TypeError, match="FLAGS_max_while_turns to be int, but got str"):
        paddle.set_flags({"FLAGS_max_while_turns": "9"})
    with pytest.raises(TypeError, match="expected a dict"):
        paddle.set_flags("FLAGS_max_while_turns")
    with pytest.raises(ValueError, match="get_flags: expected one of"):
        paddle.get_flags("FLAGS_warp")


def test_what_lives_in_a_block_is_not_fetched(classic):
    function = next(case for case in CASES if case.__name__ == "loop")
    main, _ = built(function)
    inside = next(iter(main.block(1).vars))
    with pytest.raises(ValueError, match=rf"'{inside}', which lives in block 1 only while"):
        run(main, [1.0, 2.0], inside)


def test_what_a_branch_that_did_not_run_has_not_computed(classic):
    main, _ = built(next(case for case in CASES if case.__name__ == "condition"))
    assert run(main, [1.0, 2.0], "_generated_var_0")[0].tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="'_generated_var_0' to be computed, but got nothing"):
        run(main, [-1.0, -2.0], "_generated_var_0")


LOOP = "while_loop: expected "
REFUSED = [
    (TypeError, "cond: expected pred to be a bool Tensor", lambda x, nn: nn.cond(x, None, None)),
    (TypeError, "cond: expected pred .* one element", lambda x, nn: nn.cond(x > 0, None, None)),
    (TypeError, "cond: expected true_fn to be callable", lambda x, nn: nn.cond(yes(x), 3, None)),
    (TypeError, "expected name to be a str", lambda x, nn: nn.cond(yes(x), None, None, name=1)),
    (ValueError, "None if false", lambda x, nn: nn.cond(yes(x), lambda: x, None)),
    (ValueError, "2 and 1 values", lambda x, nn: nn.cond(yes(x), lambda: [x, x], lambda: [x])),
    (ValueError, "list and Variable", lambda x, nn: nn.cond(yes(x), lambda: [x], lambda: x)),
    (ValueError, "the keys", lambda x, nn: nn.cond(yes(x), lambda: {"a": x}, lambda: {"b": x})),
    (
        TypeError,
        r"as value 0, but got int64 \[2\] if true and float32 \[2\] if false",
        lambda x, nn: nn.cond(yes(x), lambda: x.astype("int64"), lambda: x),
    ),
    (
        TypeError,
        r"as bias, but got float32 \[\] if true and float32 \[2\] if false",
        lambda x, nn: nn.cond(
            yes(x), lambda: (x, paddle.mean(x)), lambda: (x, x), return_names=["weight", "bias"]
        ),
    ),
    (
        ValueError,
        "a name for each of 1 values",
        lambda x, nn: nn.cond(yes(x), lambda: x, lambda: x, return_names=["a", "b"]),
    ),
    (TypeError, "return Tensors or numbers", lambda x, nn: nn.cond(yes(x), lambda: "a", lambda: x)),
    (TypeError, LOOP + "cond to be callable", lambda x, nn: nn.while_loop(1, lambda x: x, [x])),
    (TypeError, LOOP + "body to be callable", lambda x, nn: nn.while_loop(yes, 1, [x])),
    (TypeError, LOOP + "loop_vars to be a list", lambda x, nn: nn.while_loop(yes, yes, x)),
    (ValueError, LOOP + "at least one", lambda x, nn: nn.while_loop(yes, yes, [])),
    (TypeError, LOOP + "loop_vars to hold Var", lambda x, nn: nn.while_loop(yes, yes, [1])),
    (TypeError, "what cond returns to be a bool", lambda x, nn: nn.while_loop(abs, yes, [x])),
    (
        ValueError,
        "body to return the structure of loop_vars, but got 1 and 2 values",
        lambda x, nn: nn.while_loop(yes, lambda x: [x, x], [x]),
    ),
    (
        ValueError,
        r"float32 \[2\] for loop variable 0, but got float32 \[1, 2\]",
        lambda x, nn: nn.while_loop(yes, lambda x: x.reshape([1, 2]), [x]),
    ),
    (
        ValueError,
        "but got int64",
        lambda x, nn: nn.while_loop(yes, lambda x: x.astype("int64"), [x]),
    ),
    (TypeError, "body to return Variables", lambda x, nn: nn.while_loop(yes, lambda x: ["a"], [x])),
    (TypeError, "case: expected a list", lambda x, nn: nn.case(yes(x))),
    (ValueError, "case: expected at least one pair", lambda x, nn: nn.case([])),
    (TypeError, "case: expected pairs", lambda x, nn: nn.case([yes(x)])),
    (TypeError, "each condition to be a bool", lambda x, nn: nn.case([(x, lambda: x)])),
    (TypeError, "each function to be callable", lambda x, nn: nn.case([(yes(x), 1)])),
    (TypeError, "default to be callable", lambda x, nn: nn.case([(yes(x), lambda: x)], 3)),
    (TypeError, "branch_index to be a Tensor", lambda x, nn: nn.switch_case(x, [lambda: x])),
    (TypeError, "branch_fns to be a list", lambda x, nn: nn.switch_case(one(), 3)),
    (ValueError, "at least one function", lambda x, nn: nn.switch_case(one(), [])),
    (TypeError, "expected pairs", lambda x, nn: nn.switch_case(one(), [("a", lambda: x)])),
    (
        ValueError,
        "each number once",
        lambda x, nn: nn.switch_case(one(), [(1, lambda: x), (1, lambda: x)]),
    ),
]


def yes(x):
    return paddle.mean(x) > 0


def one():
    return paddle.full([1], 1, "int32")


@pytest.mark.parametrize(("kind", "message", "call"), REFUSED, ids=[row[1] for row in REFUSED])
def test_bad_calls_leave_the_program_as_it_was(kind, message, call, classic):
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        ops = len(main.global_block().ops)
        with pytest.raises(kind, match=message):
            call(x, paddle.static.nn)
    assert main.num_blocks == 1 and main.current_block() is main.global_block()
    # what made the arguments may stay; no op of the call itself does
    assert {op.type for op in main.global_block().ops[ops:]} <= {
        "reduce_mean", "fill_constant", "greater_than", "equal", "cast"
    }  # fmt: skip


def test_a_body_that_raises_leaves_the_program_as_it_was(classic):
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        for call in (
            lambda: paddle.static.nn.while_loop(yes, lambda a: [a @ a.reshape([3, 1])], [x]),
            lambda: paddle.static.nn.cond(yes(x), lambda: x * 2.0, lambda: 1 // 0),
        ):
            with pytest.raises((ValueError, ZeroDivisionError)):
                call()
        assert main.num_blocks == 1
        y = paddle.static.nn.cond(yes(x), lambda: x * 2.0, lambda: x)
    assert run(main, [1.0, 2.0], y)[0].tolist() == [2.0, 4.0]


def test_pir_programs_have_none_yet():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [2], "float32")
            for call in (
                lambda: paddle.static.nn.cond(x.mean() > 0, lambda: x, lambda: x),
                lambda: paddle.static.nn.while_loop(yes, lambda x: x, [x]),
            ):
                with pytest.raises(NotImplementedError, match="OldIrGuard"):
                    call()
    finally:
        paddle.disable_static()


def test_too_many_blocks_in_one_another(classic):
    def deep(level, x):
        if level == 0:
            return x * 1.0
        return paddle.static.nn.cond(yes(x), lambda: deep(level - 1, x), lambda: x)

    main, y = built(lambda paddle, x: deep(15, x))
    assert run(main, [1.0, 2.0], y)[0].tolist() == [1.0, 2.0]
    main, y = built(lambda paddle, x: deep(25, x))
    with pytest.raises(NotImplementedError, match="expected at most 19 blocks in one another"):
        run(main, [1.0, 2.0], y)


def damaged(change):
    """The bytes of a good program with a change of its ProgramDesc."""
    main, _ = built(next(case for case in CASES if case.__name__ == "condition_in_loop"))
    message = main.desc
    change(message)
    return message.SerializeToString()


def _set_sub_block(message, index):
    op = next(op for op in message.blocks[0].ops if op.type == "while")
    next(attr for attr in op.attrs if attr.name == "sub_block").block_idx = index


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: setattr(m.blocks[1], "parent_idx", 1), "block 1 to have a parent from 0 to 0"),
        (lambda m: setattr(m.blocks[2], "parent_idx", 9), "block 2 to have a parent from 0 to 1"),
        (lambda m: setattr(m.blocks[1], "parent_idx", -1), "parent -1"),
        (lambda m: setattr(m.blocks[0], "parent_idx", 1), r"block 0 to have no parent \(-1\)"),
        (lambda m: setattr(m.blocks[1], "idx", 2), "blocks in order"),
        (lambda m: setattr(m.blocks[1], "forward_block_idx", 7), "forward block 7"),
        (lambda m: _set_sub_block(m, 0), "while in block 0 to run a block from 1 to 3"),
        (lambda m: _set_sub_block(m, 44), "sub_block = 44"),
        (lambda m: _set_sub_block(m, -1), "sub_block = -1"),
    ],
)
def test_damaged_descriptions(change, message, classic):
    with pytest.raises(IRError, match=message):
        Program.parse_from_string(damaged(change))


# -- dygraph -----------------------------------------------------------------------------------


def test_dygraph_just_runs_python():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    nn = paddle.static.nn
    y = nn.cond(paddle.mean(x) > 0, lambda: x * 3.0, lambda: 1 // 0)
    assert nn.cond(paddle.mean(x) > 9, lambda: 1 // 0) is None
    i, y = nn.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y), [paddle.zeros([1]), y])
    paddle.sum(y).backward()
    assert i.item() == 2 and y.numpy().tolist() == [81.0, 1296.0]
    assert x.grad.numpy().tolist() == [324.0, 2592.0]
    with pytest.raises(ValueError, match="body to return 1 values, but got 2"):
        nn.while_loop(lambda y: paddle.mean(y) > 0, lambda y: [y, y], [y])
    with pytest.raises(TypeError, match="pred to be a bool Tensor, but got bool"):
        nn.cond(True, None, None)
