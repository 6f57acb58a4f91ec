"""Programs cross to real Paddle and back: for each op of the op table, our bytes run there with its
gradient, and what real Paddle builds of the same op, with its own append_backward, runs here.
"""

import importlib.util

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.base.framework import Program
from minipaddle.phi.core.op import OPS
from tests.base import crossing_exceptions as own
from tests.base.crossing import build
from tests.base.crossing_process import PaddleRefuses, RealPaddle
from tests.phi import exceptions
from tests.phi.checks import assert_close
from tests.phi.table import CALLS, each, flat, is_float
from tests.phi.test_real_paddle import excepted, precision

NAMES = [n for n in CALLS if n in OPS and n not in own.NOT_THERE and n not in own.OTHER_INPUTS]
NO_KERNEL = "all_op_kernels.end()"  # what Paddle's error says then


@pytest.fixture(scope="module")
def real():
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("needs real Paddle: pip install paddlepaddle==3.3.1")
    process = RealPaddle()
    yield process
    process.close()


@pytest.fixture(autouse=True)
def classic():
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard():
        yield
    paddle.disable_static()


def assert_same(op, attrs, found, expected):
    """Arrays are equal, as far as real Paddle computes this op as we do."""
    off = precision(op, attrs)
    for mine, other in zip(found, expected, strict=True):
        if other is None or op.name in exceptions.OTHER_NUMBERS:
            continue  # not computed there; or another generator of random numbers
        assert_close(mine, other, off)


def cross(real, name, inputs, attrs):
    """One case, there and back. Raises PaddleRefuses if Paddle has no kernel for it."""
    op = OPS[name]
    case = build(op, inputs, attrs, name not in own.GRADIENT)
    no_gradient = excepted(exceptions.GRADIENT_NOT_COMPARED, name, inputs, attrs)
    gradients = [] if no_gradient else case.gradients
    fetch = case.outputs[: exceptions.COMPARED_OUTPUTS.get(name)] + gradients
    mine = case.run(case.main, fetch)
    theirs = real.run(case.main.serialize_to_string(), case.feed, fetch)
    assert_same(op, attrs, mine, theirs)
    built_there = Program.parse_from_string(real.rebuild(case.forward, case.loss))
    assert_same(op, attrs, case.run(built_there, fetch), mine)


@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(real, name):
    for inputs, attrs in CALLS[name]:
        inputs = each(np.asarray, inputs)
        if any(
            excepted(table, name, inputs, attrs) for table in (exceptions.NOT_COMPARED, own.CASES)
        ):
            continue
        try:
            cross(real, name, inputs, attrs)
        except PaddleRefuses as refused:
            if NO_KERNEL not in str(refused):
                raise
            if any(map(is_float, flat(inputs))):
                narrow = each(lambda v: v.astype("float32") if is_float(v) else v, inputs)
                cross(real, name, narrow, attrs)


def test_the_exceptions_are_about_ops_that_exist():
    for table in own.TABLES:
        assert set(table) <= set(OPS), sorted(set(table) - set(OPS))


def test_a_reshape_keeps_no_data_for_its_gradient():
    """XShape has the shape behind a 0; the gradient reads it, and not the input."""
    inputs, attrs = CALLS["reshape"][0]
    case = build(OPS["reshape"], each(np.asarray, inputs), attrs)
    ops = {operator.type: operator for operator in case.main.global_block().ops}
    (xshape,) = ops["reshape2"].output("XShape")
    assert ops["reshape2_grad"].input_names == ["XShape", "Out@GRAD"]
    (found,) = case.run(case.main, [xshape])
    assert found.shape == (0, *np.shape(inputs[0]))
