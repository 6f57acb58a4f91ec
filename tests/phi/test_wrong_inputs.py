"""Wrong calls are refused, with the kind of error that real Paddle raises, in words of one form:

    <op>: expected <what>, but got <what>. <what to do>

Every op is called with something that is no Tensor, and with attributes of the wrong type; the cases of
tests/phi/cases/wrong.py have shapes, dtypes, axes and sizes that don't fit.
"""

import re

import numpy as np
import pytest

from minipaddle.common.dtype import DataType
from minipaddle.common.place import Place
from minipaddle.phi.core.attribute import MUTABLE
from minipaddle.phi.core.op import OPS
from tests.phi import exceptions
from tests.phi.cases.wrong import WRONG
from tests.phi.table import CALLS, as_tensors, each
from tests.phi.test_real_paddle import call_real, in_paddle

FORM = re.compile(r"^\w+: expected .+, but got .+\. .+", re.DOTALL)

every_op = pytest.mark.parametrize("name", list(CALLS))


def first_case(name):
    inputs, attrs = CALLS[name][0]
    return each(np.asarray, inputs), attrs


def refusal(name, inputs, attrs):
    """The error that the op raises: it must say what is wrong, in the usual form."""
    tensors = [value if isinstance(value, str) else as_tensors([value])[0] for value in inputs]
    with pytest.raises(Exception) as caught:
        OPS[name](*tensors, **attrs)
    assert FORM.match(str(caught.value)), caught.value
    who = str(caught.value).partition(":")[0]
    assert who in (name, exceptions.SPEAKS_AS.get(name))
    return next(k.__name__ for k in type(caught.value).__mro__ if k.__module__ == "builtins")


@every_op
def test_what_is_no_tensor(name):
    """A ValueError, as in Paddle."""
    inputs, attrs = first_case(name)
    for position in range(len(inputs)):
        wrong = [*inputs[:position], "text", *inputs[position + 1 :]]
        assert refusal(name, wrong, attrs) == "ValueError"


@every_op
def test_attributes_of_the_wrong_type(name):
    """A TypeError, as in Paddle."""
    inputs, attrs = first_case(name)
    for attr in OPS[name].attrs:
        wrong = 3.5 if attr.kind in (str, DataType, Place, bool) else "text"
        assert refusal(name, inputs, {**attrs, attr.name: wrong}) == "TypeError"


@every_op
def test_attributes_that_are_not_there(name):
    """A TypeError, as for any Python function; Paddle's _C_ops looks at positions only."""
    inputs, attrs = first_case(name)
    assert refusal(name, inputs, {**attrs, "sideways": 1}) == "TypeError"


@pytest.mark.parametrize("name", [name for name in CALLS if in_paddle(name)])
def test_paddle_refuses_these_too(real_paddle, name):
    """What is no Tensor, and attributes of the wrong type."""
    inputs, attrs = first_case(name)
    for position in range(len(inputs)):
        wrong = [*inputs[:position], "text", *inputs[position + 1 :]]
        assert call_real(real_paddle, name, wrong, attrs).error == "ValueError"
    for attr in OPS[name].attrs:
        # Paddle reads a number out of a text, and ends the process at what is no dtype
        read_from_text = attr.kind in MUTABLE or f"{name}.{attr.name}" in exceptions.READ_FROM_TEXT
        if not read_from_text and attr.kind is not DataType and name not in exceptions.ARGUMENTS:
            value = 3.5 if attr.kind in (str, Place, bool) else "text"
            real = call_real(real_paddle, name, inputs, attrs, instead={attr.name: value})
            assert real.error == "TypeError", (attr.name, real)


EVERY_WRONG_CALL = [
    pytest.param(name, inputs, attrs, id=f"{name}-{number}")
    for name, calls in WRONG.items()
    for number, (inputs, attrs) in enumerate(calls)
]


@pytest.mark.parametrize(("name", "inputs", "attrs"), EVERY_WRONG_CALL)
def test_what_does_not_fit(name, inputs, attrs):
    refusal(name, inputs, attrs)


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"), [call for call in EVERY_WRONG_CALL if in_paddle(call.values[0])]
)
def test_paddle_raises_the_same_kind_of_error(real_paddle, name, inputs, attrs):
    mine = refusal(name, inputs, attrs)
    real = call_real(real_paddle, name, inputs, attrs)
    if real.no_kernel:
        # "the kernel is not registered", a RuntimeError; here the message names the dtypes that fit
        assert mine == "TypeError"
    elif real.error != mine:
        wanted = exceptions.OTHER_ERROR.get(name, {}).get(real.error)
        assert wanted and wanted[0] == mine, (mine, real)
