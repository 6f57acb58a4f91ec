"""One table over all op declarations: what an op says about itself must be true.

The cases are in tests/phi/cases/, the checks in checks.py; an op that is declared without a case
fails `test_every_op_is_in_the_table`. test_drawn.py runs the same checks on cases that hypothesis
draws, test_real_paddle.py compares with real Paddle.
"""

import math

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.common.dtype import float32, float64, int64
from minipaddle.common.errors import NoGradientError
from minipaddle.decomposition import decompose, has_decomp
from minipaddle.phi.core.op import OPS
from tests.phi import checks
from tests.phi.cases.numbers import Numbers
from tests.phi.conftest import why_no_gpu
from tests.phi.table import CALLS, gradient_inputs, parameters

f = Numbers(__name__).away_from_zero

every_case = pytest.mark.parametrize(("name", "inputs", "attrs"), parameters())
every_case_with_gradient = pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    parameters(lambda name, inputs: gradient_inputs(OPS[name], inputs)),
)
every_case_with_grad_kernel = pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    parameters(
        lambda name, inputs: OPS[name].grad_kernel_fn and gradient_inputs(OPS[name], inputs)
    ),
)
every_case_with_decomposition = pytest.mark.parametrize(
    ("name", "inputs", "attrs"), parameters(lambda name, _: has_decomp(OPS[name]))
)
every_case_with_inplace_form = pytest.mark.parametrize(
    ("name", "inputs", "attrs"), parameters(lambda name, _: OPS[name].inplace_form)
)


every_case_with_scalar_expression = pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    parameters(lambda name, inputs: OPS[name].scalar and all(x.dtype.kind == "f" for x in inputs)),
)


def test_the_table_runs_on_a_gpu_too():
    """The fixture `backend` hands CuPy to each test, where there is a GPU. Where not, this says so."""
    missing = why_no_gpu()
    if missing:
        pytest.skip(missing)


def test_every_op_is_in_the_table():
    without = sorted(set(OPS) - set(CALLS))
    assert not without, f"ops without a case in tests/phi/cases/: {without}"
    unknown = sorted(set(CALLS) - set(OPS))
    assert not unknown, f"cases of ops that are not declared: {unknown}"


def test_every_op_says_where_it_is_in_paddle_and_what_it_does():
    for op in OPS.values():
        assert op.source, op
        assert op.__doc__, op


def test_every_op_has_a_gradient_or_says_that_it_has_none():
    """No gradient was forgotten: an op has a rule, or is marked, or has no Tensor input."""
    for op in OPS.values():
        marked = "ForwardOnly" in op.traits or op.infer_meta_fn.__qualname__.startswith("compared")
        assert (op.vjp_rule is not None) or marked or not op.inputs or op.name == "full_like", op


@every_case
def test_infer_meta_is_what_the_kernel_returns(backend, name, inputs, attrs):
    checks.check_infer_meta(backend, name, inputs, attrs)


@every_case
def test_dygraph_gives_what_the_kernel_gives(backend, name, inputs, attrs):
    checks.check_dygraph(backend, name, inputs, attrs)


@every_case
def test_a_pir_program_gives_what_the_kernel_gives(backend, name, inputs, attrs):
    checks.check_pir(backend, name, inputs, attrs)


@every_case_with_gradient
def test_gradient_is_the_numeric_one(name, inputs, attrs):
    checks.check_gradient(name, inputs, attrs)


@every_case_with_gradient
def test_second_gradient_is_the_numeric_one(name, inputs, attrs):
    if not OPS[name].vjp_rule.double_grad:
        with pytest.raises(NoGradientError):
            checks.check_second_gradient(name, inputs, attrs)
    else:
        checks.check_second_gradient(name, inputs, attrs)


@every_case_with_gradient
def test_gradients_on_a_device_are_those_of_numpy(device, name, inputs, attrs):
    checks.check_device_gradients(device, name, inputs, attrs)


@every_case_with_gradient
def test_grad_op_infers_the_shapes_of_its_inputs(backend, name, inputs, attrs):
    checks.check_grad_op(backend, name, inputs, attrs)


@every_case_with_grad_kernel
def test_hand_written_gradient_is_the_rule(backend, name, inputs, attrs):
    checks.check_grad_kernel(backend, name, inputs, attrs)


@every_case_with_inplace_form
def test_inplace_form_is_the_pure_one(backend, name, inputs, attrs):
    checks.check_inplace(backend, name, inputs, attrs)


@every_case_with_decomposition
def test_decomposition_is_the_kernel(backend, name, inputs, attrs):
    checks.check_decomposition(backend, name, inputs, attrs)


@every_case_with_scalar_expression
def test_scalar_expression_is_the_kernel_for_one_element(name, inputs, attrs):
    op = OPS[name]
    attrs = op.complete(attrs)
    wanted = op.run(np, *inputs, **attrs)
    text = op.scalar.format(**attrs, **{item.name: item.name for item in op.inputs})
    elements = zip(*(x.ravel().tolist() for x in np.broadcast_arrays(*inputs)))
    names = [item.name for item in op.inputs]
    found = [eval(text, dict(vars(math)), dict(zip(names, values))) for values in elements]
    tolerance = 4 * np.finfo(wanted.dtype).eps  # it computes with Python's 64 bits
    np.testing.assert_allclose(wanted.ravel(), found, rtol=tolerance, atol=tolerance)


def test_grad_ops_decompose_by_their_rule():
    """tanh_grad has no decomposition of its own: the gradient rule is one."""
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2, 3], "float32")
            x.stop_gradient = False
            (grad,) = paddle.static.gradients(paddle.tanh(x).sum(), x)
        executor, feed = paddle.static.Executor(), {"x": f(2, 3).astype("float32")}
        (before,) = executor.run(main, feed=feed, fetch_list=[grad])
        (grad,) = decompose(main, [grad])
        assert "pd_op.tanh_grad" not in [op.name() for op in main.global_block().ops]
        (after,) = executor.run(main, feed=feed, fetch_list=[grad])
        np.testing.assert_array_equal(before, after)
    finally:
        paddle.disable_static()


def test_float32_and_integers_keep_their_dtype():
    assert (paddle.ones([2]) * 2.5).dtype is float32
    assert (paddle.to_tensor(np.ones(2)) * 2).dtype is float64
    assert (paddle.to_tensor([1, 2]) * 2).dtype is int64
    assert (paddle.to_tensor([1, 2]) * 2.5).dtype is float32
