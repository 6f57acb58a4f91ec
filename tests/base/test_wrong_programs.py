"""What a user can get wrong while building a classic Program: a clear error, and nothing left."""

from typing import Any

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base import Program
from minipaddle.base.framework_proto import VAR_TYPES
from tests.base.classic import block, classic_program, data

static = paddle.static


@pytest.fixture(autouse=True)
def _classic():
    with classic_program():
        yield


def unchanged() -> tuple[str, str]:
    return str(static.default_main_program()), str(static.default_startup_program())


@pytest.mark.parametrize("same_name", [False, True])
def test_a_variable_of_another_program(same_name):
    """As in Paddle, an op keeps the name only: it reads this Program's variable of that name."""
    with static.program_guard(static.Program()):
        other = data("x" if same_name else "other", [5, 3])
    data("x", [2, 3])
    if same_name:
        assert list(paddle.exp(other).shape) == [2, 3]
        return
    before = unchanged()
    for make in (paddle.exp, lambda x: x + x, lambda x: paddle.concat([x, x])):
        with pytest.raises(ValueError, match="'other'. Make it in this Program first"):
            make(other)
    assert unchanged() == before


def test_a_variable_that_only_a_branch_sees():
    x, inside = data(), []

    def branch():
        inside.append(x * 2.0)
        return inside[0]

    pred = paddle.mean(x) > 0.0
    static.nn.cond(pred, branch, lambda: x)
    before = unchanged()
    with pytest.raises(ValueError, match="which only block 1 sees. Use what cond"):
        paddle.exp(inside[0])
    with pytest.raises(ValueError, match="which only block 1 sees"):
        static.nn.cond(pred, lambda: inside[0] + 1.0, lambda: x)
    assert unchanged() == before


APPENDED: list[tuple[Any, Any, Any, Any, type[Exception], str]] = [
    (None, {"X": "x"}, {"Out": "y"}, {}, ValueError, "expected the type of an op"),
    (3, {"X": "x"}, {"Out": "y"}, {}, ValueError, "expected the type of an op"),
    ("relu", {"X": None}, {"Out": "y"}, {}, TypeError, "'X' to hold Variables or names"),
    ("relu", {"X": np.ones(2)}, {"Out": "y"}, {}, TypeError, "'X' to hold Variables or names"),
    ("relu", {"X": "x"}, {"Out": 3}, {}, TypeError, "'Out' to hold Variables or names"),
    ("relu", ["x"], {"Out": "y"}, {}, TypeError, "inputs to be a dict"),
    ("relu", {"X": "x"}, ["y"], {}, TypeError, "outputs to be a dict"),
    ("relu", {"X": "x"}, {"Out": "y"}, ["a"], TypeError, "attrs to be a dict"),
    ("relu", {"X": "unknown"}, {"Out": "y"}, {}, ValueError, "around it, but got 'unknown'"),
    ("relu", {}, {"Out": "y"}, {}, ValueError, "input slot 'X', but got none"),
    ("relu", {"Y": "x"}, {"Out": "y"}, {}, ValueError, r"among \['X'\], .*got Y=\['x'\]"),
    ("relu", {"X": "x", "Y": "x"}, {"Out": "y"}, {}, ValueError, r"got Y=\['x'\]"),
    ("relu", {"X": ["x", "x"]}, {"Out": "y"}, {}, ValueError, r"got X=\['x', 'x'\]"),
    ("relu", {"X": "x"}, {"O": "y"}, {}, ValueError, r"among \['Out'\], .*got O=\['y'\]"),
    ("relu", {"X": "x"}, {"Out": "y", "Mask": "y"}, {}, ValueError, "got Mask="),
    ("relu", {"X": "x"}, {}, {}, ValueError, r"an output slot of \['Out'\], but got none"),
    ("relu", {"X": "x"}, None, None, ValueError, "Say where the result goes"),
    ("no_such_op", {"X": "x"}, {"Out": "y"}, {}, ValueError, "but got 'no_such_op'"),
    ("cast", {"X": "x"}, {"Out": "y"}, {}, TypeError, "expected the attribute 'out_dtype'"),
    ("scale", {"X": "x"}, {"Out": "y"}, {"scale": "abc"}, ValueError, "a number, but got 'abc'"),
    ("scale", {"X": "x"}, {"Out": "y"}, {"bias": object()}, TypeError, "'bias' to hold numbers"),
    ("scale", {"X": "x"}, {"Out": "y"}, {"bias": None}, TypeError, "'bias' to hold numbers"),
    ("scale", {"X": "x"}, {"Out": "y"}, {"bias": 2**80}, TypeError, "at most 64 bits"),
    ("scale", {"X": "x"}, {"Out": "y"}, {"more": [1, "a"]}, TypeError, "values of one kind"),
    ("while", {"X": "x"}, {"Out": "y"}, {"sub_block": 0}, ValueError, "sub_block to be a Block"),
    ("while", {"X": "x"}, {"Out": "y"}, {"sub_block": 7}, ValueError, "sub_block to be a Block"),
]


@pytest.mark.parametrize(("type_", "inputs", "outputs", "attrs", "kind", "text"), APPENDED)
def test_what_can_not_be_appended(type_, inputs, outputs, attrs, kind, text):
    data("x")
    block().create_var("y")
    before = unchanged()
    with pytest.raises(kind, match=text):
        block().append_op(type_, inputs, outputs, attrs)
    assert unchanged() == before


def test_a_block_that_would_run_itself():
    with pytest.raises(ValueError, match="made after block 0, but got block 0"):
        block().append_op("while", {}, {}, {"sub_block": block()})
    stranger = Program()._create_block()
    with pytest.raises(ValueError, match="sub_block to be a Block of this Program"):
        block().append_op("while", {}, {}, {"sub_block": stranger})


def test_attributes_of_numpy_are_numbers():
    data("x")
    out = block().create_var("y")
    attrs = {"scale": np.float32(0.5), "a": np.int64(3), "b": [np.int32(1), 2], "c": [1, 2.5]}
    op = block().append_op("scale", {"X": "x"}, {"Out": out}, attrs)
    assert {name: op.attr(name) for name in attrs} == {
        "scale": 0.5,
        "a": 3,
        "b": [1, 2],
        "c": [1.0, 2.5],
    }


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"name": 3}, TypeError, "expected a name, but got 3"),
        ({"name": ""}, TypeError, "expected a name, but got ''"),
        ({"name": "v", "shape": 3}, TypeError, "shape of 'v' to be a list of ints, but got 3"),
        ({"name": "v", "shape": "ab"}, TypeError, "to be a list of ints, but got 'ab'"),
        ({"name": "v", "shape": [2.5]}, TypeError, "to be a list of ints"),
        ({"name": "v", "type": 99}, ValueError, "expected a type of"),
    ],
)
def test_variables_that_can_not_be(arguments, kind, text):
    with pytest.raises(kind, match=text):
        block().create_var(**arguments)
    assert not block().vars


def test_an_input_without_a_name():
    with pytest.raises(TypeError, match="static.data: expected a name, but got ''"):
        static.data("", [2])


@pytest.mark.parametrize("wrong", [None, 3, b"x"])
def test_what_is_no_program_to_build(wrong):
    with pytest.raises(TypeError, match="program_guard: expected"):
        with static.program_guard(wrong):
            pass


@pytest.mark.parametrize("index", [1, -1, "0", None])
def test_blocks_that_are_not_there(index):
    with pytest.raises(IndexError, match="Program.block: expected a number below 1"):
        static.default_main_program().block(index)


@pytest.mark.parametrize("wrong", [None, 3, "text"])
def test_what_are_no_bytes_of_a_program(wrong):
    with pytest.raises(TypeError, match="parse_from_string: expected bytes"):
        Program.parse_from_string(wrong)


def test_two_layers_share_a_parameter_by_its_name():
    """As in Paddle: one variable, one op in the startup program, a gradient of both uses."""
    x = data("x", [2, 3], stop_gradient=True)
    hidden = static.nn.fc(x, 3, weight_attr="shared", bias_attr=False)
    out = static.nn.fc(hidden, 3, weight_attr="shared", bias_attr=False)
    ((parameter, gradient),) = static.append_backward(paddle.mean(out))
    startup = static.default_startup_program()
    assert parameter.name == "shared" and len(startup.global_block().ops) == 1
    executor, scope = static.Executor(), static.Scope()
    executor.run(startup, scope=scope)
    value = np.arange(6.0).reshape(2, 3)
    weight, found = executor.run(
        static.default_main_program(), {"x": value}, [parameter, gradient], scope=scope
    )
    assert isinstance(weight, np.ndarray)
    ones = np.full((2, 3), 1 / 6)
    expected = (value @ weight).T @ ones + value.T @ (ones @ weight.T)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("other", [([2, 2], "float32"), ([3, 2], "float64")])
def test_a_parameter_of_another_shape_or_dtype_is_not_shared(other):
    static.create_parameter([3, 2], "float32", name="w")
    data("x")
    before = unchanged()
    for name in ("w", "x"):
        with pytest.raises(ValueError, match="create_parameter: expected a new name"):
            static.create_parameter(*other, name=name)
    assert unchanged() == before


def test_programs_that_share_a_startup_program_initialize_once():
    for _ in range(2):
        with static.program_guard(static.Program()), paddle.utils.unique_name.guard():
            static.nn.fc(data(), 4)
    assert len(static.default_startup_program().global_block().ops) == 2


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"shape": [2], "name": 3}, TypeError, "name to be a text, but got 3"),
        ({"shape": [2], "default_initializer": 3}, TypeError, "to be an Initializer, but got 3"),
        ({"shape": 3}, TypeError, "a shape of ints, but got 3"),
        ({"shape": [2], "dtype": "int64"}, TypeError, "floating-point dtype"),
    ],
)
def test_parameters_that_can_not_be(arguments, kind, text):
    before = unchanged()
    with pytest.raises(kind, match=text):
        static.create_parameter(**{"dtype": "float32", **arguments})
    assert unchanged() == before


@pytest.mark.parametrize(
    ("shape", "value", "kind"),
    [(3, 1.0, TypeError), ([2], "a", TypeError), ([-1], 1.0, ValueError)],
)
def test_global_variables_that_can_not_be(shape, value, kind):
    before = unchanged()
    with pytest.raises(kind, match="expected"):
        static.create_global_var(shape, value, "float32")
    assert unchanged() == before
    static.create_global_var([2], 1.0, "float32", name="g")
    with pytest.raises(ValueError, match="expected a new name, but got 'g'"):
        static.create_global_var([2], 1.0, "float32", name="g")
    assert len(static.default_startup_program().global_block().ops) == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"num_flatten_dims": None}, TypeError, "num_flatten_dims to be an int"),
        ({"activation": 3}, ValueError, "the name of an op as activation, but got 3"),
        ({"activation": ["relu"]}, ValueError, "the name of an op as activation"),
        ({"x": []}, TypeError, "expected a Variable or Value"),
    ],
)
def test_layers_that_can_not_be(arguments, kind, text):
    x = data()
    before = unchanged()
    with pytest.raises(kind, match=text):
        static.nn.fc(**{"x": x, "size": 2, **arguments})
    assert unchanged() == before


@pytest.mark.parametrize("what", ["parameter_list", "no_grad_set", "checkpoints"])
@pytest.mark.parametrize("wrong", [3, np.ones(2), [None]])
def test_lists_of_a_backward_that_hold_something_else(what, wrong):
    loss = paddle.mean(data())
    before = unchanged()
    with pytest.raises(TypeError, match=f"expected {what} to hold Variables or names"):
        static.append_backward(loss, **{what: wrong})
    assert unchanged() == before


def test_what_only_control_flow_uses():
    x = data()
    static.nn.cond(paddle.mean(x) > 0.0, lambda: x * 2.0, lambda: x)
    scopes = [v for v in block().vars.values() if v.type == VAR_TYPES["STEP_SCOPES"]]
    before = unchanged()
    for scope in scopes:
        with pytest.raises(TypeError, match="which is STEP_SCOPES: only the ops of control flow"):
            paddle.exp(scope)
        with pytest.raises(TypeError, match="expected a Tensor, but got '_generated_var"):
            static.Executor().run(feed={"x": np.ones((2, 3))}, fetch_list=[scope])
    assert len(scopes) == 2 and unchanged() == before
