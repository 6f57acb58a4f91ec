"""The checks of the op table on cases that hypothesis draws: see tests/phi/cases/drawn.py."""

import pytest
from hypothesis import HealthCheck, given, settings

from minipaddle.phi.core.op import OPS
from tests.phi import checks
from tests.phi.cases.drawn import DRAWN
from tests.phi.table import Backend, flat, gradient_inputs

few_cases = settings(
    max_examples=15,
    derandomize=True,  # the same cases every time: a test must not fail by luck
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
every_op = pytest.mark.parametrize("name", list(DRAWN))


def test_every_op_here_is_declared():
    assert set(DRAWN) <= set(OPS), sorted(set(DRAWN) - set(OPS))


def on_cases(name, check):
    """Calls `check(name, inputs, attrs)` with the cases that are drawn for this op."""
    if name not in OPS:
        pytest.fail(f"{name} is drawn but not declared")

    @few_cases
    @given(DRAWN[name])
    def run(case):
        check(name, *case)

    run()


@every_op
def test_infer_meta_and_dygraph_are_the_kernel(backend: Backend, name):
    def check(name, inputs, attrs):
        checks.check_infer_meta(backend, name, inputs, attrs)
        checks.check_dygraph(backend, name, inputs, attrs)
        if OPS[name].inplace_form:
            checks.check_inplace(backend, name, inputs, attrs)

    on_cases(name, check)


@pytest.mark.parametrize("name", [n for n in DRAWN if n in OPS and OPS[n].vjp_rule is not None])
def test_gradients_are_numeric_ones_on_each_device(backend: Backend, name):
    def check(name, inputs, attrs):
        inputs = checks.in_float64(inputs)
        small = sum(array.size for array in flat(inputs)) <= 12
        if not gradient_inputs(OPS[name], inputs):
            return
        checks.check_grad_op(backend, name, inputs, attrs)
        if backend.device != "cpu":
            checks.check_device_gradients(backend, name, inputs, attrs)
        elif small and attrs.get("dtype") in (None, "Undefined", "float64"):
            checks.check_gradient(name, inputs, attrs)
            if OPS[name].vjp_rule.double_grad:
                checks.check_second_gradient(name, inputs, attrs)

    on_cases(name, check)
