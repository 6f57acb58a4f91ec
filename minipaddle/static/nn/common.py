"""Layers as functions: static.nn.fc, batch_norm and embedding make their own parameters.

Paddle: python/paddle/static/nn/common.py.
Left out: all but these. The others are functions of paddle.nn.functional and a parameter of yours,
made by static.create_parameter.
"""

from __future__ import annotations

import math
from typing import Any

from minipaddle.base.framework import Variable
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.common import unique_name
from minipaddle.common.dtype import to_dtype
from minipaddle.common.enforce import require_type
from minipaddle.nn.initializer import Constant
from minipaddle.nn.param_attr import ParamAttr, create_parameter
from minipaddle.phi.core.op import OPS, find_op
from minipaddle.pir.core.value import Value


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """A fully connected layer: activation(x @ weight + bias), with parameters of its own.

    Args:
        x: a Variable or Value of shape [d0, ..., dn]; or a list of them, each with a weight.
        size: how many numbers come out for each row.
        num_flatten_dims: the first so many axes of x stay; the others are one row. Negative:
            counted from the end.
        weight_attr, bias_attr: what ParamAttr takes; bias_attr=False: no bias.
        activation: an op's name, such as "relu".

    Returns:
        shape [d0, ..., size], with `num_flatten_dims` axes before `size`.

    Raises:
        TypeError: x is neither Variable nor Value, or num_flatten_dims no int.
        ValueError: num_flatten_dims leaves no axis, a row's length is not known yet, or there is
            no such activation.
    """
    several = list(x) if isinstance(x, (list, tuple)) else [x]
    if not isinstance(num_flatten_dims, int):
        raise TypeError(
            "static.nn.fc: expected num_flatten_dims to be an int, but got "
            f"{num_flatten_dims!r}. It says how many axes of x stay."
        )
    for value in several or [None]:
        expected = "a Variable or Value of a program"
        advice = "Make one with paddle.static.data; in dygraph use paddle.nn.Linear."
        require_type("static.nn.fc", expected, value, (Variable, Value), advice)
    if activation is not None:
        _require_activation(activation)
    layer = _Layer(name or unique_name.generate("fc"))
    products = [layer.product(value, size, num_flatten_dims, weight_attr) for value in several]
    out = products[0] if len(products) == 1 else layer.call("add_n", [products])
    if bias_attr is not False:
        bias = layer.parameter([size], out.dtype, bias_attr, is_bias=True)
        out = layer.add_bias(out, bias)
    return out if activation is None else layer.call(activation, [out])


def batch_norm(
    input: Any,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Any:
    """nn.functional.batch_norm of a classic Program, with parameters and statistics of its own.

    Args:
        act: an op's name, such as "relu".
        is_test: use the running statistics.
        in_place, do_model_average_for_mean_and_var: taken as they are in Paddle, where they choose
            memory, and averages that are left out here.
        moving_mean_name, moving_variance_name: names of the running statistics.

    Raises:
        TypeError: input is no Variable of floats.
        ValueError: param_attr or bias_attr is False, the data_layout is unknown, or there is no
            such activation.
    """
    if not isinstance(input, Variable) or not input.dtype.is_floating:
        raise TypeError(
            f"static.nn.batch_norm: expected a Variable of floats in a classic Program, but got "
            f"{input}. Build it inside paddle.pir_utils.OldIrGuard(), or use paddle.nn.BatchNorm."
        )
    if False in (param_attr, bias_attr) or data_layout not in ("NCHW", "NHWC") or input.ndim < 2:
        raise ValueError(
            "static.nn.batch_norm: expected scale and bias, data_layout 'NCHW' or 'NHWC' and an "
            f"input of 2 axes or more, but got {param_attr}, {bias_attr}, {data_layout!r} and "
            f"{list(input.shape)}. paddle.nn.functional.batch_norm takes more."
        )
    if act is not None:
        _require_activation(act)
    layer = _Layer(name or unique_name.generate("batch_norm"))
    shape = [input.shape[1 if data_layout == "NCHW" else -1]]
    scale = layer.parameter(shape, input.dtype, param_attr, value=1.0)
    bias = layer.parameter(shape, input.dtype, bias_attr, is_bias=True)
    moving = (ParamAttr(n, trainable=False) for n in (moving_mean_name, moving_variance_name))
    mean = layer.parameter(shape, input.dtype, next(moving), value=0.0)
    variance = layer.parameter(shape, input.dtype, next(moving), value=1.0)
    op = OPS["batch_norm_"]
    attrs = {"is_test": is_test, "momentum": momentum, "epsilon": epsilon}
    attrs |= {"data_format": data_layout, "use_global_stats": use_global_stats}
    outputs = ["saved_mean", "saved_variance", *([] if is_test else ["reserve_space"]), "out"]
    names = {}
    for each in outputs:  # in Paddle's order
        names[each] = unique_name.generate(f"{layer.name}.tmp")
        input.block.create_var(names[each], stop_gradient=each != "out")
    inputs = [input, mean, variance, scale, bias]
    attrs = op.complete({**attrs, "trainable_statistics": False})
    out = append_phi_op(op, inputs, attrs, names)[0]
    return out if act is None else layer.call(act, [out])


def embedding(
    input: Any,
    size: Any,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """Row input[...] of a weight of its own [rows, width] for each number: [..., width].

    Args:
        input: a Variable of integers of a classic Program.
        size: (rows, width) of the weight.
        is_sparse: accepted; the gradient is dense here all the same.
        is_distributed: accepted, as in Paddle.
        padding_idx: this row counts as 0. A negative one counts from the end.

    Raises:
        TypeError: input is no Variable of integers, or dtype no float.
        ValueError: size is not of two numbers.
    """
    wanted = to_dtype(dtype)
    integers = isinstance(input, Variable) and input.dtype.numpy_dtype.kind in "iu"
    if not integers or not wanted.is_floating:
        raise TypeError(
            f"static.nn.embedding: expected a Variable of integers in a classic Program and a "
            f"float dtype, but got {input} and {dtype}. Build it inside "
            "paddle.pir_utils.OldIrGuard(), or use paddle.nn.Embedding."
        )
    if len(size) != 2:
        raise ValueError(
            f"static.nn.embedding: expected size to be (rows, width), but got {size!r}. Give two "
            "numbers."
        )
    layer = _Layer(unique_name.generate("embedding"))
    weight = layer.parameter(list(size), wanted, param_attr)
    row = -1 if padding_idx is None else padding_idx + size[0] * (padding_idx < 0)
    return layer.call("embedding", [input, weight], padding_idx=row, sparse=is_sparse)


def _require_activation(name: str) -> None:
    try:
        find_op(name)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"static.nn.fc: expected the name of an op as activation, but got {name!r}. Leave it "
            "out and call the function, or name an op such as 'relu'."
        ) from error


class _Layer:
    """What belongs to one call: names that start alike, `fc_0.w_0`, `fc_0.tmp_0`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parameter(
        self,
        shape: list[int],
        dtype: Any,
        attr: Any,
        is_bias: bool = False,
        value: float | None = None,
    ) -> Any:
        """A parameter; `value`: of what it is full, if its attr has no initializer."""
        attr = ParamAttr._to_attr(attr)
        name = attr.name or unique_name.generate(f"{self.name}.{'b' if is_bias else 'w'}")
        first = None if value is None else Constant(value)
        return create_parameter(shape, dtype, name, attr, is_bias, first)

    def call(self, op: str, inputs: list[Any], **attrs: Any) -> Any:
        """An op, whose output's name is the layer's."""
        first = inputs[0][0] if isinstance(inputs[0], list) else inputs[0]
        if isinstance(first, Value):
            return OPS[op](*inputs, **attrs)
        names = {"out": unique_name.generate(f"{self.name}.tmp")}
        return append_phi_op(OPS[op], inputs, OPS[op].complete(attrs), names)[0]

    def product(self, x: Any, size: int, flatten: int, weight_attr: Any) -> Any:
        """x @ weight, where the axes of x from `flatten` on are one row."""
        axes = flatten + x.ndim if flatten < 0 else flatten
        row = x.shape[axes:]
        if not 0 < axes < x.ndim or -1 in row:
            raise ValueError(
                f"static.nn.fc: expected num_flatten_dims between 1 and {x.ndim - 1}, with known "
                f"sizes behind it, but got {flatten} for shape {list(x.shape)}. The weight has "
                "one row for each number behind those axes."
            )
        weight = self.parameter([math.prod(row), size], x.dtype, weight_attr)
        if isinstance(x, Value):
            rows = OPS["reshape"](x, shape=[*x.shape[:axes], math.prod(row)])
            return OPS["matmul"](rows, weight)
        return self.call("matmul_with_flatten", [x, weight], x_num_col_dims=axes)

    def add_bias(self, x: Any, bias: Any) -> Any:
        out = self.call("add", [x, bias])
        if isinstance(out, Variable):
            out.block.ops[-1]._set_attr("axis", x.ndim - 1)  # Paddle says where the bias lies
        return out
