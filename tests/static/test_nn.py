"""What a user builds classic Programs with: data, fc, parameters, global variables, name scopes,
LayerHelper. Printed programs are those of real Paddle.
"""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import static
from minipaddle.base.framework import Program
from minipaddle.base.layer_helper import LayerHelper
from minipaddle.common import unique_name
from minipaddle.compare import both, real_paddle

needs_paddle = pytest.mark.skipif(
    real_paddle() is None, reason="real Paddle is not installed (extra: course)"
)


@pytest.fixture
def classic():
    paddle.enable_static()
    with (
        paddle.pir_utils.OldIrGuard(),
        unique_name.guard(),
        static.program_guard(static.Program(), static.Program()),
    ):
        yield static.default_main_program()
    paddle.disable_static()


FC = """
paddle.enable_static()
GUARD
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data('x', [2, 3, 4], 'float32')
        a = paddle.static.nn.fc(x, 5, num_flatten_dims=2, activation='relu')
        b = paddle.static.nn.fc(x, 5, num_flatten_dims=-1, bias_attr=False)
        c = paddle.static.nn.fc(x, 6, name='head', weight_attr='my_weight')
    print(main)
"""


@needs_paddle
@pytest.mark.parametrize("guard", ["with paddle.pir_utils.OldIrGuard():", "if True:"])
def test_fc_makes_paddle_s_program(guard):
    both(FC.replace("GUARD", guard), same=True)


@needs_paddle
def test_the_taught_programs_print_as_in_paddle():
    """A network with its gradients, its startup program, and a name scope."""
    both(
        """
        paddle.enable_static()
        with paddle.pir_utils.OldIrGuard():
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data('x', [None, 4], 'float32')
                with paddle.static.name_scope('taught_body'):
                    h = paddle.static.nn.fc(x, 3, activation='relu')
                h = paddle.reshape(h, [-1, 3, 1])
                h = paddle.transpose(h, [0, 2, 1])
                h = paddle.flatten(h, 1, 2)
                with paddle.static.name_scope('taught_body'):
                    y = paddle.nn.functional.softmax(h)
                loss = paddle.mean(y * y)
                kept = paddle.static.create_global_var([1], 0.5, 'float32', True, name='kept')
                paddle.static.append_backward(loss)
            print(main)
            print(startup)
        """,
        same=True,
    )


@needs_paddle
def test_a_function_written_with_a_layer_helper_serves_both():
    both(
        """
        import importlib
        LayerHelper = importlib.import_module(
            paddle.__name__ + '.base.layer_helper').LayerHelper
        def shrink(x, act=None):
            helper = LayerHelper('shrink', act=act)
            out = helper.create_variable_for_type_inference(x.dtype)
            helper.append_op(type='scale', inputs={'X': x}, outputs={'Out': out},
                             attrs={'scale': 0.5, 'bias': 0.0, 'bias_after_scale': True})
            return helper.append_activation(out)
        paddle.enable_static()
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                x = paddle.static.data('x', [2], 'float32')
                y = shrink(shrink(x), act='relu')
            print(main)
            exe = paddle.static.Executor()
            print(exe.run(main, feed={'x': np.ones(2, 'float32')}, fetch_list=[y])[0])
        """,
        same=True,
    )


@needs_paddle
@pytest.mark.parametrize(
    "call",
    [
        "data(None, [1])",
        "data(3, [1])",
        "data('a', 3)",
        "data('a', ['b'])",
        "data('a', [2.5])",
        "data('a', [-2])",
        "data('a', [1], 'no_dtype')",
        "nn.fc(3, 5)",
        "nn.fc(data('a', [2, 3]), 5, activation='nope')",
        "nn.fc(data('a', [2, 3]), 5, num_flatten_dims=2)",
        "name_scope('').__enter__()",
    ],
)
def test_what_is_refused_is_refused_in_paddle(call):
    """With an error of the same kind, and in words that say what to do."""
    found = both(
        f"""
        paddle.enable_static()
        with paddle.pir_utils.OldIrGuard():
            with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
                data, nn = paddle.static.data, paddle.static.nn
                name_scope = paddle.static.name_scope
                {call}
        """
    )
    kinds = ("TypeError", "ValueError")
    assert found.minipaddle.strip() in kinds
    # name_scope('') and a wrong shape fail in Paddle's own asserts, or not at all
    assert found.paddle.strip() in (*kinds, "AssertionError", "")


def test_fc_computes_a_linear_layer(classic):
    x = static.data("x", [None, 2, 3], "float32")
    y = static.nn.fc([x, x], 4, num_flatten_dims=2, activation="tanh")
    names = [parameter.name for parameter in classic.all_parameters()]
    assert names == ["fc_0.w_0", "fc_0.w_1", "fc_0.b_0"]
    executor, scope = static.Executor(), static.Scope()
    executor.run(static.default_startup_program(), scope=scope)
    array = np.random.default_rng(0).normal(size=(5, 2, 3)).astype("float32")
    (found,) = executor.run(feed={"x": array}, fetch_list=[y], scope=scope)
    first, second, bias = (np.array(scope.var(name).get_tensor()) for name in names)
    np.testing.assert_allclose(found, np.tanh(array @ first + array @ second + bias), rtol=1e-5)
    assert list(y.shape) == [-1, 2, 4]


def test_fc_says_what_it_needs(classic):
    unknown = static.data("unknown", [None, None])
    with pytest.raises(ValueError, match="with known sizes behind it, but got 1 for"):
        static.nn.fc(unknown, 3)
    with pytest.raises(ValueError, match=r"expected the name of an op as activation, but got 'no'"):
        static.nn.fc(static.data("x", [2, 3]), 3, activation="no")
    assert classic.global_block().ops == []  # nothing is left half-made


def test_a_name_twice_is_refused(classic):
    static.data("x", [1])
    with pytest.raises(ValueError, match="expected a new name, but got 'x'"):
        static.data("x", [1])


def test_a_global_variable_lives_in_the_scope(classic):
    count = static.create_global_var([1], 2, "int64", persistable=True, name="count")
    executor, scope = static.Executor(), static.Scope()
    executor.run(static.default_startup_program(), scope=scope)
    assert executor.run(fetch_list=[count], scope=scope)[0].tolist() == [2]
    assert count.persistable and count.stop_gradient


def test_name_scopes_nest_and_are_numbered(classic):
    with static.name_scope("nest"):
        with static.name_scope("layer"):
            x = static.data("x", [2]) * 2.0
        with static.name_scope("layer"):
            x = x * 2.0
    paddle.mean(x)
    found = [operator.attr("op_namescope") for operator in classic.global_block().ops]
    head = found[0].removesuffix("layer/")
    assert found == [f"{head}layer/", f"{head}layer_1/", "/"]


def test_names_can_be_switched():
    with unique_name.guard():
        assert [unique_name.generate("fc") for _ in range(2)] == ["fc_0", "fc_1"]
        with unique_name.guard("branch_"):
            assert unique_name.generate("fc") == "branch_fc_0"
        before = unique_name.switch()
        assert unique_name.generate("fc") == "fc_0"
        unique_name.switch(before)
        assert unique_name.generate("fc") == "fc_2"
    assert paddle.utils.unique_name is unique_name


def test_a_bias_in_the_middle_is_refused(classic):
    """Old programs may say `axis`: where Y begins in X. Here both must end together."""
    block = classic.global_block()
    x, y = static.data("x", [2, 3, 4]), static.data("y", [3])
    with pytest.raises(NotImplementedError, match="expected axis -1, or 2 for inputs with 3 and 1"):
        block.append_op(
            "elementwise_add", {"X": x, "Y": y}, {"Out": block.create_var("out")}, {"axis": 1}
        )
    assert Program.parse_from_string(classic.serialize_to_string()).global_block().ops == []


def test_a_layer_helper_has_the_current_programs(classic):
    helper = LayerHelper("mine", name="given")
    assert helper.main_program is classic
    assert helper.startup_program is static.default_startup_program()
    made = helper.create_variable_for_type_inference("float32")
    assert made.name == "given.tmp_0"
    assert helper.append_activation(made) is made


def test_a_batch_of_no_rows(classic):
    x = static.data("x", [-1, 3], "float64")
    x.stop_gradient = False
    y = static.nn.fc(x, 2)
    (gradient,) = static.gradients(y, x)
    executor, scope = static.Executor(), static.Scope()
    executor.run(static.default_startup_program(), scope=scope)
    found = executor.run(feed={"x": np.ones((0, 3))}, fetch_list=[y, gradient], scope=scope)
    assert [array.shape for array in found] == [(0, 2), (0, 3)]


def test_static_mode_is_the_guards_own(classic):
    """As in Paddle: inside OldIrGuard, enable_static goes on with the classic Program."""
    paddle.disable_static()
    assert float(paddle.to_tensor([1.0, 2.0]).sum()) == 3.0
    paddle.enable_static()
    x = static.data("x", [2], "float32")
    assert list(classic.global_block().vars) == [x.name]
    with paddle.pir_utils.IrGuard():
        paddle.disable_static()
        paddle.enable_static()
        assert not hasattr(static.default_main_program().global_block(), "vars")
    assert static.data("y", [2], "float32").block is x.block
