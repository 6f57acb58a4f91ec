"""Passes: the program before, the program after, and the same results."""

import math

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.common.errors import IRError
from minipaddle.pir.pass_manager import PASSES, Pass, register_pass

F = paddle.nn.functional


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def build(function, shape=(4, 8)):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", shape, "float32")
        paddle._pir_ops.fetch(function(x), "out")
    return main, startup


def names(program):
    return [op.name().removeprefix("pd_op.") for op in program.global_block().ops]


def run(main, startup, shape=(4, 8)):
    scope, executor = paddle.static.Scope(), paddle.static.Executor()
    executor.run(startup, scope=scope)
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    return executor.run(main, feed={"x": x}, fetch_list=["out"], scope=scope)[0]


def apply(main, *passes):
    manager = paddle.pir.PassManager()
    for name in passes:
        manager.add_pass(name, {})
    manager.run(main)
    return manager


def constant(value, shape):
    return paddle.static.create_parameter(
        shape, "float32", default_initializer=paddle.nn.initializer.Constant(value)
    )


def test_dead_code_goes_together_with_what_only_it_needed():
    def function(x):
        dead = x.exp()
        (dead + dead).tanh()
        return x * 2.0

    main, startup = build(function)
    assert names(main) == ["data", "exp", "add", "tanh", "full", "scale", "fetch"]
    manager = apply(main, "dead_code_elimination_pass")
    assert names(main) == ["data", "full", "scale", "fetch"]
    assert manager.records[0].changed == 3 and "pd_op.exp" in manager.records[0].before


def test_side_effects_are_not_dead():
    """sgd_ has results that nobody reads; it writes a parameter."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss = (constant(1.0, [2]) * 2.0).sum()
        paddle.optimizer.SGD(0.1).minimize(loss)
    apply(main, "dead_code_elimination_pass")
    assert "sgd_" in names(main)


@pytest.mark.parametrize("activation", ["", "relu"])
def test_matmul_add_becomes_fc(activation):
    def function(x):
        y = F.linear(x, constant(0.5, [8, 2]), constant(0.1, [2]))
        return F.relu(y) if activation else y

    main, startup = build(function)
    before = run(main, startup)
    apply(main, "matmul_add_act_fuse_pass")
    assert names(main)[-2:] == ["fc", "fetch"] and "matmul" not in names(main)
    fc = main.global_block().ops[-2]
    assert fc.attrs()["activation_type"] == activation
    np.testing.assert_allclose(run(main, startup), before, rtol=1e-6)


NOT_A_LAYER = {
    "the product is read elsewhere": lambda x: (
        lambda product: product + constant(0.1, [2]) + product.sum()
    )(x @ constant(0.5, [8, 2])),
    "the bias is a matrix": lambda x: x @ constant(0.5, [8, 2]) + constant(0.1, [4, 2]),
    "x is transposed": lambda x: (
        paddle.matmul(x, constant(0.5, [4, 2]), transpose_x=True) + constant(0.1, [2])
    ),
}


@pytest.mark.parametrize("name", NOT_A_LAYER)
def test_what_is_no_layer_stays(name):
    main, startup = build(NOT_A_LAYER[name])
    before = str(main)
    apply(main, "matmul_add_act_fuse_pass")
    assert str(main) == before


def test_a_relu_that_others_read_stays_outside():
    """The sum is read by relu and by the result: only matmul + add can be fused."""

    def function(x):
        y = F.linear(x, constant(0.5, [8, 2]), constant(0.1, [2]))
        return F.relu(y) + y

    main, startup = build(function)
    before = run(main, startup)
    apply(main, "matmul_add_act_fuse_pass")
    assert names(main)[-4:] == ["fc", "relu", "add", "fetch"]
    np.testing.assert_allclose(run(main, startup), before, rtol=1e-6)


def relu_relu(constraint=None, result="pd_op.relu"):
    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()
    first, second = pat.Op("pd_op.relu"), pat.Op("pd_op.relu")
    first([pat.Tensor("a")], [pat.Tensor("b")])
    second([pat.Tensor("b")], [pat.Tensor("c")])
    if constraint:
        pat.AddConstraint(constraint)
    res = pat.ResultPattern()
    res.Op(result)([res.Tensor("a")], [res.Tensor("c")])
    return context


def test_a_pattern_is_applied_until_it_no_longer_fits():
    main, startup = build(lambda x: F.relu(F.relu(F.relu(F.relu(x)))))
    manager = paddle.pir.PassManager()
    manager.register_pass("relu_relu_pass", relu_relu())
    manager.run(main)
    assert names(main) == ["data", "relu", "fetch"] and manager.records[0].changed == 3


def test_a_constraint_can_refuse():
    main, startup = build(lambda x: F.relu(F.relu(x)))
    manager = paddle.pir.PassManager()
    manager.register_pass("never", relu_relu(lambda match: False))
    manager.run(main)
    assert names(main) == ["data", "relu", "relu", "fetch"]


def test_attributes_are_matched_and_captured():
    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()
    pat.Op("pd_op.softmax", {"axis": pat.Attr("which")})([pat.Tensor("x")], [pat.Tensor("y")])
    res = pat.ResultPattern()
    res.Op("pd_op.sum", {"axis": lambda match: (match.Attr("which"),), "keepdim": True})(
        [res.Tensor("x")], [res.Tensor("y")]
    )
    main, startup = build(lambda x: F.softmax(x, axis=0))
    manager = paddle.pir.PassManager()
    manager.register_pass("softmax_to_sum", context)
    manager.run(main)
    assert run(main, startup).shape == (1, 8)


def test_a_pattern_without_end_is_stopped():
    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()
    pat.Op("pd_op.relu")([pat.Tensor("a")], [pat.Tensor("b")])
    res = pat.ResultPattern()
    res.Op("pd_op.relu")([res.Tensor("a")], [res.Tensor("b")])
    main, startup = build(F.relu)
    manager = paddle.pir.PassManager()
    manager.register_pass("endless", context)
    with pytest.raises(IRError, match="drr: expected a pattern that comes to an end"):
        manager.run(main)


def test_an_empty_pattern():
    manager = paddle.pir.PassManager()
    manager.register_pass("empty", paddle.pir.DrrPatternContext())
    with pytest.raises(IRError, match="drr: expected a source pattern"):
        manager.run(build(F.relu)[0])
    context = paddle.pir.DrrPatternContext()
    pat = context.SourcePattern()
    pat.Op("pd_op.relu")([pat.Tensor("a")], [pat.Tensor("b")])
    manager = paddle.pir.PassManager()
    manager.register_pass("no_result", context)
    with pytest.raises(IRError, match="drr: expected a result pattern"):
        manager.run(build(F.relu)[0])


def test_a_pass_that_breaks_the_program_is_named():
    @register_pass("breaking_pass")
    class Breaking(Pass):
        def run(self, program):
            program.global_block().move_op(program.global_block().ops[-1], 0)
            return 1

    try:
        with pytest.raises(IRError, match="expected breaking_pass to leave a well-formed program"):
            apply(build(F.relu)[0], "breaking_pass")
    finally:
        del PASSES["breaking_pass"]


def test_a_pass_that_does_not_exist():
    with pytest.raises(ValueError, match=r"add_pass: expected one of .* but got 'make_it_fast'"):
        paddle.pir.PassManager().add_pass("make_it_fast")


def test_printing(capsys):
    manager = paddle.pir.PassManager()
    manager.add_pass("dead_code_elimination_pass", {})
    manager.enable_ir_printing()
    manager.enable_print_statistics()
    manager.run(build(lambda x: (x.exp(), x * 2.0)[1])[0])
    out = capsys.readouterr().out
    assert "// before dead_code_elimination_pass" in out and "1 changed" in out


def test_cinn_finds_groups_and_writes_one_kernel():
    main, startup = build(lambda x: (F.relu(x * 2.0 + x).tanh() + x.exp()).sum())
    (group,) = paddle.cinn.find_groups(main)
    assert [op.name() for op in group.ops] == [
        "pd_op.scale",
        "pd_op.add",
        "pd_op.relu",
        "pd_op.tanh",
        "pd_op.exp",
        "pd_op.add",
    ]
    names = dict(vars(math))
    exec(group.source(), names)
    value = 0.3
    wanted = np.tanh(max(3 * value, 0)) + np.exp(value)
    assert names["kernel"](value) == pytest.approx(wanted)


def test_cinn_compiles_with_numba():
    pytest.importorskip("numba", reason="numba is missing: pip install minipaddle[cinn]")
    main, startup = build(lambda x: F.relu(x * 2.0 + x).tanh())
    (group,) = paddle.cinn.find_groups(main)
    x = np.linspace(-1, 1, 7, dtype="float32")
    got = paddle.cinn.compile_group(group)(x)
    np.testing.assert_allclose(got, np.tanh(np.maximum(3 * x, 0)), rtol=1e-6)


def test_a_bias_of_another_dtype_is_not_fused():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2, 3], "float32")
        w = paddle.static.data("w", [3, 4], "float32")
        b = paddle.static.data("b", [4], "float64")
        paddle._pir_ops.fetch(paddle.matmul(x, w) + b, "y", 0)
    apply(main, "matmul_add_act_fuse_pass")
    assert "fc" not in names(main)


def test_cinn_respects_the_order_of_scale_and_bias():
    main, _ = build(lambda x: paddle.exp(paddle.scale(x, 2.0, 3.0, bias_after_scale=False)))
    (group,) = paddle.cinn.find_groups(main)
    assert "(x0 + 3.0) * 2.0" in group.source()
