"""Each op is declared as in Paddle: parameters in C++ (`api.h`, which comes with real Paddle), operands,
results and attributes in PIR, of the op and of its gradient op.

A name that is a word of Python has an underscore more here: `lambda_`.

What a gradient op reads, and in which order, is what backward.yaml says; here the programs say it.
"""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from minipaddle.common.dtype import to_dtype
from minipaddle.common.place import CPU, UNDEFINED
from minipaddle.phi.core.op import OPS
from tests.phi import exceptions
from tests.phi.table import CALLS, each, gradient_inputs, is_float
from tests.phi.test_real_paddle import call_real, in_paddle

COMPARED = [name for name in CALLS if in_paddle(name)]


def api_header():
    """The text of api.h, or None where real Paddle is not installed."""
    found = importlib.util.find_spec("paddle")
    if found is None or found.origin is None:
        return None
    header = Path(found.origin).parent / "include/paddle/phi/api/include/api.h"
    return header.read_text() if header.exists() else None


def declared_in_cpp(header, name):
    """[(type, name, default)] of the C++ function's parameters."""
    (line,) = re.findall(rf"PADDLE_API [^\n]*[ &]{name}\((.*)\);", header)
    parameters = []
    for part in re.split(r",\s*(?![^<{{(]*[>}})])", line):
        if "predefined_out" in part:
            continue
        left, _, default = part.partition(" = ")
        kind, _, parameter = left.strip().rpartition(" ")
        kind = kind.removeprefix("const ").rstrip("&").strip().replace("paddle::", "")
        parameters.append((kind, parameter, default))
    return parameters


def python_value(text, kind):
    """A default in C++ as a value of ours."""
    if kind.startswith(("std::vector", "IntArray")):
        return tuple(int(number) for number in text.strip("{}").split(",") if number)
    if kind == "DataType":
        return to_dtype({"UNDEFINED": "Undefined"}.get(text[10:], text[10:].lower()))
    if kind == "Place":
        return {"CPUPlace()": CPU, "{}": UNDEFINED}[text]
    if text in ("true", "false"):
        return text == "true"
    return text.strip('"') if kind == "std::string" else float(text.rstrip("f"))


@pytest.mark.parametrize("name", COMPARED)
def test_parameters(name):
    """Names, order, which are optional or lists, and defaults. Ours may have a default more."""
    header = api_header()
    if header is None:
        pytest.skip("needs real Paddle: pip install paddlepaddle==3.3.1")
    op, theirs = OPS[name], declared_in_cpp(header, exceptions.NAME_IN_CPP.get(name, name))
    assert [parameter for _, parameter, _ in theirs] == [
        x.name.removesuffix("_") for x in (*op.inputs, *op.attrs)
    ]
    for item, (kind, _, _) in zip(op.inputs, theirs):
        assert item.optional == kind.startswith("optional"), item
        listed = "std::vector<Tensor>" in kind and item.name not in exceptions.ONE_TENSOR_HERE
        assert item.is_list == listed, item
    for attr, (kind, _, default) in zip(op.attrs, theirs[len(op.inputs) :]):
        if default and f"{name}.{attr.name}" not in exceptions.OTHER_DEFAULT:
            assert attr.default == python_value(default, kind), attr


@pytest.mark.parametrize("name", COMPARED)
def test_operation(real_paddle, name):
    """Operands, results and attributes, by name and in order."""
    op = OPS[name]
    inputs, attrs = CALLS[name][0]
    inputs = each(lambda v: np.float32(v) if is_float(np.asarray(v)) else np.asarray(v), inputs)
    wanted = gradient_inputs(op, inputs)
    real = call_real(real_paddle, name, inputs, attrs, describe=True, gradient_of=wanted)
    if name in exceptions.NOT_IN_PIR:
        assert real.error
        return
    assert not real.error, real
    described = {name: op}
    if wanted and not op.vjp_rule.invoke:
        described[op.grad_op.name] = op.grad_op
    for title, mine in described.items():
        if title not in exceptions.OTHER_OPERATION:
            operands = [item.name for item in mine.inputs]
            operands += [attr.name for attr in mine.attrs if attr.mutable]
            held = sorted(attr.name.removesuffix("_") for attr in mine.attrs if not attr.mutable)
            assert real.operations[title] == (operands, list(mine.outputs), held)


def test_api_h_is_read_rightly():
    header = (
        "PADDLE_API Tensor one(const Tensor& x, int axis = -1, const std::vector<int>& s = {1, 2});\n"
        "PADDLE_API Tensor& one_(Tensor& x, paddle::optional<Tensor>& m, const Scalar& v = 0.5f, "
        "paddle::optional<paddle::Tensor*> predefined_out = paddle::none);\n"
    )
    assert declared_in_cpp(header, "one") == [
        ("Tensor", "x", ""),
        ("int", "axis", "-1"),
        ("std::vector<int>", "s", "{1, 2}"),
    ]
    assert declared_in_cpp(header, "one_") == [
        ("Tensor", "x", ""),
        ("optional<Tensor>", "m", ""),
        ("Scalar", "v", "0.5f"),
    ]
