"""Layers as functions: static.nn.fc makes its own parameters.

Paddle: python/paddle/static/nn/common.py.
Left out: all but fc. The others are functions of paddle.nn.functional and a parameter of yours,
made by static.create_parameter.
"""

from __future__ import annotations

import math
from typing import Any

from minipaddle.base.framework import Variable
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.common import unique_name
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
        if not isinstance(value, (Variable, Value)):
            raise TypeError(
                f"static.nn.fc: expected a Variable or Value of a program, but got "
                f"{type(value).__name__}. Make one with paddle.static.data; in dygraph use "
                "paddle.nn.Linear."
            )
    if activation is not None:
        _require_activation(activation)
    layer = _Layer(name or unique_name.generate("fc"))
    products = [layer.product(value, size, num_flatten_dims, weight_attr) for value in several]
    out = products[0] if len(products) == 1 else layer.call("add_n", [products])
    if bias_attr is not False:
        bias = layer.parameter([size], out.dtype, bias_attr, is_bias=True)
        out = layer.add_bias(out, bias)
    return out if activation is None else layer.call(activation, [out])


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

    def parameter(self, shape: list[int], dtype: Any, attr: Any, is_bias: bool = False) -> Any:
        attr = ParamAttr._to_attr(attr)
        name = attr.name or unique_name.generate(f"{self.name}.{'b' if is_bias else 'w'}")
        return create_parameter(shape, dtype, name, attr, is_bias)

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
