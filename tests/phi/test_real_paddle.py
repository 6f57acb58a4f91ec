"""Each op gives what real Paddle's op of that name gives: values, dtypes, gradients, second gradients,
the in-place form, and an error where Paddle gives one.

Real Paddle is called as `paddle._C_ops.<op>(inputs..., attributes...)`, in a process of its own. Where the
two differ, exceptions.py says why.
"""

import numpy as np
import pytest
from hypothesis import given

from minipaddle.common.dtype import DataType
from minipaddle.common.place import Place
from minipaddle.phi.core.op import OPS
from tests.phi import exceptions
from tests.phi.cases.drawn import DRAWN
from tests.phi.checks import assert_close, ours, same_gradients
from tests.phi.table import (
    as_tensors,
    as_tuple,
    each,
    flat,
    gradient_inputs,
    is_float,
    loss_weights,
    parameters,
)
from tests.phi.test_drawn import few_cases


def in_paddle(name):
    """Is there a function of this name in Paddle's _C_ops, to compare with?"""
    return name in OPS and name not in exceptions.NOT_IN_C_OPS


def call_real(process, name, inputs, attrs, instead=None, **options):
    """Calls real Paddle's op with all attributes, in the order of the declaration; with those of
    `instead`, which may be of any type.
    """
    op = OPS[name.removesuffix("_") if name not in OPS else name]
    full = op.complete(attrs)

    def plain(key, value):
        if key in exceptions.TENSORS_THERE.get(op.name, ()):
            return ("tensor", value)
        if isinstance(value, DataType):
            return ("dtype", value.name)
        return ("place", value.kind) if isinstance(value, Place) else value

    if op.name in exceptions.ARGUMENTS:
        full = dict(enumerate(exceptions.ARGUMENTS[op.name](full)))
    values = [plain(key, value) for key, value in {**full, **(instead or {})}.items()]
    other = None if options.get("describe") else exceptions.OTHER_NAME.get(name)
    return process.call(other or name, inputs, values, **options)


def compare(process, name, inputs, attrs):
    """Runs one case on both."""
    op, error = OPS[name], ""
    inputs = each(np.asarray, inputs)
    if excepted(exceptions.NOT_COMPARED, name, inputs, attrs):
        return
    try:
        outputs, weights, first, second, after = ours(name, inputs, attrs)
    except (ValueError, TypeError, IndexError, RuntimeError) as caught:
        error, outputs, weights, first, second, after = repr(caught), [], [], [], None, []
    seeds = [loss_weights(g) if g is not None else None for g in first]
    real = call_real(
        process,
        name,
        inputs,
        attrs,
        gradient_of=gradient_inputs(op, inputs) if not error else [],
        weights=weights,
        second=seeds if second is not None else None,
    )
    if real.no_kernel:
        return  # the CPU wheel can't do it: nothing to compare with
    if real.error:
        assert error, f"real Paddle raises {real.error}: {real.message}"
        return
    assert not error, f"real Paddle computes this; minipaddle raises {error}"
    count = exceptions.COMPARED_OUTPUTS.get(name)
    outputs, theirs = outputs[:count], real.outputs[:count]
    assert len(outputs) == len(theirs)
    off = precision(op, attrs)
    for mine, other in zip(outputs, theirs, strict=True):
        if mine is None:  # not there; Paddle gives an empty Tensor
            assert other is None or not other.size
        elif name in exceptions.OTHER_NUMBERS:
            assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        else:
            assert_close(mine, other, off)
    if op.inplace:
        for mine, other in zip(after, real.inputs, strict=True):
            assert_close(mine, other, off)
    if name in exceptions.OTHER_NUMBERS:
        return
    if excepted(exceptions.GRADIENT_NOT_COMPARED, name, inputs, attrs):
        return
    same_gradients("gradient", first, real.gradients, off)
    if second is not None and real.second is not None:
        same_gradients("second gradient", second, real.second, off)


def excepted(table, name, inputs, attrs):
    """Does a table of exceptions name this case?"""
    return name in table and table[name][0](inputs, attrs)


def precision(op, attrs):
    """Paddle keeps most attributes in float32, so 0.2 is 0.200000003 there: an op that has such an
    attribute agrees to 7 digits only.
    """
    numbers = [value for value in op.complete(attrs).values() if isinstance(value, float)]
    if op.name in exceptions.FLOAT32_INSIDE:
        return 1e-6
    return 1e-6 if any(float(np.float32(value)) != value for value in numbers) else 0.0


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"), parameters(lambda name, inputs: in_paddle(name))
)
def test_case(real_paddle, name, inputs, attrs):
    """The fixed cases, as they are and in float32."""
    compare(real_paddle, name, inputs, attrs)
    if any(is_float(array) for array in flat(inputs)):
        narrow = each(lambda v: v.astype("float32") if is_float(v) else v, inputs)
        compare(real_paddle, name, narrow, attrs)


@pytest.mark.parametrize("name", [name for name in DRAWN if in_paddle(name)])
def test_drawn_cases(real_paddle, name):
    """Cases that hypothesis draws."""

    @few_cases
    @given(DRAWN[name])
    def check(case):
        compare(real_paddle, name, *case)

    check()


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    parameters(lambda name, inputs: in_paddle(name) and OPS[name].inplace_form),
)
def test_inplace_form(real_paddle, name, inputs, attrs):
    """`relu_` and its like: Paddle has it, and it gives the same."""
    op = OPS[name]
    inputs = each(np.asarray, inputs)
    for table in (exceptions.NOT_COMPARED, exceptions.INPLACE_NOT_COMPARED):
        if excepted(table, name, inputs, attrs):
            return
    tensors = as_tensors(inputs)
    try:
        results = flat(as_tuple(op.inplace_op(*tensors, **attrs)))
    except ValueError as refused:
        # Paddle's Python functions refuse a result that is larger than x; its op makes x larger
        assert "expected a result of the input's shape" in str(refused)
        return
    except TypeError:
        assert call_real(real_paddle, f"{name}_", inputs, attrs).no_kernel
        return
    real = call_real(real_paddle, f"{name}_", inputs, attrs)
    if real.no_kernel:
        return
    assert not real.error, f"real Paddle raises {real.error}: {real.message}"
    off = precision(op, attrs)
    for mine, other in zip(results, real.outputs, strict=False):
        assert_close(mine.numpy(), other, off)
    for mine, other in zip(flat(tensors), real.inputs, strict=True):
        assert_close(mine.numpy(), other, off)


def test_the_exceptions_are_about_ops_that_exist():
    for table in exceptions.TABLES:
        assert set(table) <= set(OPS), sorted(set(table) - set(OPS))
