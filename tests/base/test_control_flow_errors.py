"""cond, while_loop, case and switch_case: what they refuse; flags; damaged descriptions."""

import pytest

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.common.errors import IRError
from minipaddle.phi.core.world import world_guard

from .control_flow_cases import CASES
from .test_control_flow import built, classic, run

__all__ = ["classic"]  # a fixture that pytest finds by its name


def test_a_loop_without_end():
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


def test_as_many_turns_as_the_flag_says_are_allowed():
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


def test_what_lives_in_a_block_is_not_fetched():
    function = next(case for case in CASES if case.__name__ == "loop")
    main, _ = built(function)
    inside = next(iter(main.block(1).vars))
    with pytest.raises(ValueError, match=rf"'{inside}', which lives in block 1 only while"):
        run(main, [1.0, 2.0], inside)


def test_what_a_branch_that_did_not_run_has_not_computed():
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
        ValueError,
        "a name for each of 1 values",
        lambda x, nn: nn.cond(yes(x), lambda: x, lambda: x, return_names=["a", "b"]),
    ),
    (TypeError, "return Tensors or numbers", lambda x, nn: nn.cond(yes(x), lambda: "a", lambda: x)),
    (
        TypeError,
        "but got str as bias",
        lambda x, nn: nn.cond(
            yes(x), lambda: (x, "a"), lambda: (x, x), return_names=["weight", "bias"]
        ),
    ),
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
def test_bad_calls_leave_the_program_as_it_was(kind, message, call):
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


def test_a_body_that_raises_leaves_the_program_as_it_was():
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
    with world_guard("pir"):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            x = paddle.static.data("x", [2], "float32")
            for call in (
                lambda: paddle.static.nn.cond(x.mean() > 0, lambda: x, lambda: x),
                lambda: paddle.static.nn.while_loop(yes, lambda x: x, [x]),
            ):
                with pytest.raises(NotImplementedError, match="OldIrGuard"):
                    call()


def test_too_many_blocks_in_one_another():
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
    message = main.proto
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
        (lambda m: _set_sub_block(m, 44), "but got block 44"),
        (lambda m: _set_sub_block(m, -1), "but got block -1"),
    ],
)
def test_damaged_descriptions(change, message):
    with pytest.raises(IRError, match=message):
        Program.parse_from_string(damaged(change))
