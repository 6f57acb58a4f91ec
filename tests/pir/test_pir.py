"""PIR: uniqued types, use lists, printing and parsing, the verifier, gradients, running."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minipaddle as paddle
from minipaddle.common.errors import IRError, IRParseError, NoGradientError
from minipaddle.pir.core.attribute import Attribute, text_of
from minipaddle.pir.core.type import DenseTensorType, VectorType


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def build(function, shape=(2, 2)):
    """A program with input x and what `function(x)` appends."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", shape, "float32")
        x.stop_gradient = False
        return main, x, function(x)


def run(main, fetch, x):
    return paddle.static.Executor().run(main, feed={"x": x}, fetch_list=[fetch])[0]


# -- types, attributes, uses -------------------------------------------------------------------------


def test_equal_types_are_one_object():
    assert DenseTensorType("float32", [2, 3]) is DenseTensorType("float32", (2, 3))
    assert DenseTensorType("float32", [2, 3]) is not DenseTensorType("float64", [2, 3])
    tensor = DenseTensorType("int64", [])
    assert VectorType([tensor, tensor]) is VectorType([tensor, tensor])
    assert repr(tensor) == "tensor<i64>" and repr(DenseTensorType("bool", [-1])) == "tensor<-1xb>"


def test_equal_attributes_are_one_object_and_kinds_differ():
    assert Attribute([1, 2]) is Attribute((1, 2))
    assert len({Attribute(1), Attribute(1.0), Attribute(True)}) == 3
    assert Attribute((1,)) is not Attribute((True,))


def test_use_lists_follow_every_change():
    main, x, (a, b) = build(lambda x: (x.exp(), x.tanh()))
    with paddle.static.program_guard(main):
        c = a + a
    add = c.get_defining_op()
    assert [use.index() for use in a.uses()] == [0, 1] and a.all_used_ops() == [add, add]
    add.operand(1).set_source(b)
    assert a.has_one_use() and b.has_one_use()
    a.replace_all_uses_with(b)
    assert a.use_empty() and len(b.uses()) == 2
    main.global_block().remove_op(a.get_defining_op())
    assert [op.name() for op in main.global_block().ops] == [
        "pd_op.data",
        "pd_op.tanh",
        "pd_op.add",
    ]
    main.verify()


def test_an_operation_in_use_cannot_be_erased():
    main, x, y = build(lambda x: x.exp().tanh())
    exp = main.global_block().ops[1]
    before = str(main)
    with pytest.raises(IRError, match=r"erase: expected pd_op.exp to have no users, but got"):
        exp.erase()
    assert str(main) == before


def test_a_refused_op_leaves_no_trace():
    main, x, _ = build(lambda x: None, (2, 3))
    with paddle.static.program_guard(main):
        with pytest.raises(ValueError, match="matmul: expected x.shape"):
            paddle.matmul(x, x)
        with pytest.raises(ValueError, match="reshape: expected a shape with 6 elements"):
            x.reshape([5])
    assert x.use_empty() and main.num_ops() == 1


# -- text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1"),
        (1 / 3, "0.3333333333333333"),
        (1e-8, "1e-08"),
        (True, "true"),
        ("a", '"a"'),
        ((1, 2), "[1,2]"),
        ((), "[]"),
        (float("inf"), "inf"),
        ('q"uo\\te\n', '"q\\"uo\\\\te\\n"'),
    ],
)
def test_attributes_as_text(value, text):
    assert text_of(value) == text


def training_program():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 4], "float32")
        y = paddle.static.data("y", [None], "int64")
        net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.ReLU(), paddle.nn.Linear(3, 2))
        loss = paddle.nn.functional.cross_entropy(net(x), y) + net(x).sum() * (1 / 3)
        paddle.optimizer.SGD(0.1).minimize(loss)
    return main, startup, loss


def test_training_programs_are_read_back_to_the_same_text():
    for program in training_program()[:2]:
        assert str(paddle.pir.parse_program(str(program))) == str(program)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["tanh", "exp", "scale", "add", "sum", "softmax", "T"]), max_size=8),
       st.floats(-1e6, 1e6, width=32))  # fmt: skip
def test_any_program_is_read_back_and_computes_the_same(names, factor):
    paddle.enable_static()

    def chain(x):
        value = x
        for name in names:
            if name == "scale":
                value = value * factor
            elif name == "add":
                value = value + x
            elif name == "sum":
                value = value + value.sum(axis=1, keepdim=True)
            elif name == "softmax":
                value = paddle.nn.functional.softmax(value)
            elif name == "T":
                value = value.T
            else:
                value = getattr(value, name)()
        return value.sum()

    main, x, out = build(chain)
    copy = paddle.pir.parse_program(str(main))
    assert str(copy) == str(main)
    data = np.array([[0.1, -0.2], [0.3, 0.4]], "float32")
    with np.errstate(all="ignore"):
        wanted = run(main, out, data)
        got = run(copy, copy.global_block().ops[-1].result(0), data)
    np.testing.assert_array_equal(got, wanted)


GOOD = """{
    (%0) = "pd_op.data" () {dtype:float32,name:"x",place:Place(undefined:0),shape:[2,3],stop_gradient:[true]} : () -> tensor<2x3xf32>
    (%1) = "pd_op.relu" (%0) {stop_gradient:[true]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}
"""

BROKEN = [
    ("-> tensor<2x3xf32>\n}", "tensor<2x3xf32>\n}", r"expected '->' before the result types, but got 'tensor<2x3xf32>' at line 3"),
    ('(%1) = "pd_op.relu" (%0)', '(%1) = "pd_op.relu" (%7)', r"expected a value that was made before, but got '%7' at line 3, column 26"),
    ('"pd_op.relu"', '"pd_op.warp"', r"expected a registered operation, but got '\"pd_op.warp\"' at line 3, column 12"),
    ('"pd_op.relu"', '"warp.relu"', "expected a registered operation"),
    ('"pd_op.relu"', "pd_op.relu", "expected the operation's name in quotes"),
    ("(%1) =", "(%0) =", "expected a new name instead of %0"),
    ("{stop_gradient:[true]}", "{speed:9}", r"expected one of the attributes \['persistable', 'stop_gradient'\], but got 'speed'"),
    ("{stop_gradient:[true]}", "{stop_gradient:[1]}", "expected a value that fits stop_gradient"),
    ("{stop_gradient:[true]}", "{stop_gradient:[true}", r"expected ',' or '\]' in a list"),
    ("shape:[2,3]", "shape:[2,oops]", r"expected true, false, a number"),
    ("(tensor<2x3xf32>) -> tensor<2x3xf32>", "(tensor<9xf32>) -> tensor<2x3xf32>", "expected the types of the operands"),
    ("(tensor<2x3xf32>) -> tensor<2x3xf32>", "(tensor<2x3xf32>) -> tensor<2x3xf99>", "expected a type such as"),
    ("}\n", "", "but got the end of the text at line 4"),
    ("}\n", "} }\n", "expected the end of the text"),
    ("{\n", "\n", "expected '{' at the beginning"),
    ("(%1)", "(§)", "expected a value, a name, a number or a mark"),
]  # fmt: skip


def test_the_good_text_is_good():
    assert str(paddle.pir.parse_program(GOOD)) == GOOD


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
def test_a_broken_text_says_where(old, new, message):
    assert old in GOOD
    text = GOOD[::-1].replace(old[::-1], new[::-1], 1)[::-1]  # the last occurrence
    with pytest.raises(IRParseError, match=message) as caught:
        paddle.pir.parse_program(text)
    assert "line" in str(caught.value) and str(caught.value).endswith("^")


def test_a_text_that_can_be_read_but_is_not_well_formed():
    with pytest.raises(IRError, match=r"verify: expected result 'out' of pd_op.relu to be"):
        paddle.pir.parse_program(GOOD.replace("-> tensor<2x3xf32>\n}", "-> tensor<2x4xf32>\n}"))
    with pytest.raises(IRError, match=r"to have the operands \['x'\], but got 2"):
        paddle.pir.parse_program(
            GOOD.replace("(%0)", "(%0, %0)", 2).replace("(%0, %0) = ", "(%0) = ")
            .replace(": (tensor<2x3xf32>)", ": (tensor<2x3xf32>, tensor<2x3xf32>)")
        )  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.sampled_from(["", "(", "}", '"', "%", "9", "-", "é", "\n", "[", ":"]))  # fmt: skip
def test_any_damage_gives_an_ir_error_or_a_program(position, damage):
    text = GOOD[:position] + damage + GOOD[position + 1 :]
    try:
        paddle.pir.parse_program(text).verify()
    except (IRError, ValueError):
        pass


# -- verifier --------------------------------------------------------------------------------------------


def test_a_value_that_is_read_too_early():
    main, x, y = build(lambda x: x.exp().tanh())
    block = main.global_block()
    block.move_op(block.ops[2], 1)
    with pytest.raises(IRError, match=r"verify: expected operand 0 of pd_op.tanh .* before"):
        main.verify()


# -- gradients and runs ------------------------------------------------------------------------------------


def test_gradients_with_fan_out():
    main, x, loss = build(lambda x: (x * x + x.exp()).sum())
    with paddle.static.program_guard(main):
        (grad,) = paddle.static.gradients(loss, x)
    data = np.array([[0.1, -0.2], [0.3, 0.4]], "float32")
    np.testing.assert_allclose(run(main, grad, data), 2 * data + np.exp(data), rtol=1e-6)
    assert "pd_op.add_n" in [op.name() for op in main.global_block().ops]


def test_a_gradient_that_is_not_declared():
    from minipaddle.phi.core.op import OPS, op
    from minipaddle.phi.infermeta.unary import unchanged

    @op(source="declared in a test")
    def no_rule(xp, x):
        """No gradient."""
        return x

    no_rule.infer_meta(unchanged)
    try:
        main, x, loss = build(lambda x: no_rule(x).sum())
        with pytest.raises(NoGradientError, match="no_rule has no gradient rule. Declare one with"):
            paddle.static.gradients(loss, x)
    finally:
        del OPS["no_rule"]


def test_a_value_is_not_a_number():
    main, x, y = build(lambda x: x.sum())
    with pytest.raises(TypeError, match="which has no data before the program runs"):
        bool(y)
    with pytest.raises(TypeError, match="Fetch it"):
        float(y)
    with pytest.raises(TypeError, match="Fetch it"):
        y.numpy()
    with pytest.raises(RuntimeError, match="append_backward"):
        y.backward()
    with pytest.raises(ValueError, match="Value.name: expected a parameter or an input"):
        _ = y.name


def test_fetching_a_value_of_another_program():
    main, x, y = build(lambda x: x.exp())
    other, _, z = build(lambda x: x.exp())
    with pytest.raises(ValueError, match="expected a Value of the program"):
        run(main, z, np.ones((2, 2), "float32"))


def test_changing_a_program_compiles_it_anew():
    main, x, y = build(lambda x: x.exp())
    executor, data = paddle.static.Executor(), np.ones((2, 2), "float32")
    first = executor.run(main, feed={"x": data}, fetch_list=[y])[0]
    with paddle.static.program_guard(main):
        paddle.pir.set_insertion_point(y.get_defining_op())
        doubled = x * 2.0
        paddle.pir.reset_insertion_point_to_end()
    y.get_defining_op().operand(0).set_source(doubled)
    second = executor.run(main, feed={"x": data}, fetch_list=[y])[0]
    np.testing.assert_allclose([first[0, 0], second[0, 0]], [np.e, np.e**2], rtol=1e-6)


def test_dygraph_tensors_do_not_mix_in():
    main, x, _ = build(lambda x: None)
    paddle.disable_static()
    tensor = paddle.ones([2, 2])
    paddle.enable_static()
    with pytest.raises(
        TypeError, match="add: expected y to be a Value of a PIR program, but got Tensor"
    ):
        paddle.add(x, tensor)


def test_static_calls_need_static_mode():
    paddle.disable_static()
    with pytest.raises(RuntimeError, match=r"static.data: expected static mode.*enable_static"):
        paddle.static.data("x", [1], "float32")


def test_an_executor_never_takes_one_operation_for_another():
    main, x, _ = build(lambda x: x)
    versions = set()
    with paddle.static.program_guard(main):
        for number in range(40):
            y = paddle.exp(x) if number % 2 else paddle.tanh(x)
            versions.add(main._version)
            y.get_defining_op().erase()
            del y
    assert len(versions) == 40


def test_parameters_by_name():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2, 3], "float32")
        layer = paddle.nn.Linear(3, 1)
        loss = paddle.mean(layer(x))
        name = layer.weight.name
        pairs = paddle.static.append_backward(loss, parameter_list=[name])
        assert [parameter.name for parameter, _ in pairs] == [name]
        pairs = paddle.static.append_backward(loss, no_grad_set=[name])
        assert [parameter.name for parameter, _ in pairs] == [layer.bias.name]
        with pytest.raises(TypeError, match="expected parameter_list to hold Values or names"):
            paddle.static.append_backward(loss, parameter_list=[3])
        x.stop_gradient = False
        y = paddle.tanh(x)
        (gradient,) = paddle.static.gradients(y, x, paddle.full([2, 3], 2.0))
        assert gradient is not None
        with pytest.raises(ValueError, match="expected one gradient for each of the 1 targets"):
            paddle.static.gradients([y], x, [None, None])


def test_an_array_beside_a_value():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        for compute in (lambda a: x * a, lambda a: a * x, lambda a: a + x):
            with pytest.raises(TypeError, match="expected a Value or a number beside a Value"):
                compute(np.ones(2, "float32"))
