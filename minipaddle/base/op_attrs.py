"""Attributes: from phi's names and values to a Program's, and back.

Paddle: the argument mappings in paddle/phi/ops/compat/, and AttributeMap in
paddle/fluid/framework/attribute.h.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from minipaddle.base.op_compat import OpCompat, compat_of
from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.common.place import Place
from minipaddle.phi.core.attribute import IntArray, convert, is_symbolic, unknown
from minipaddle.phi.core.meta_tensor import MetaTensor

if TYPE_CHECKING:
    from minipaddle.base.framework import Operator

_TEXTS = {"True": True, "False": False}


def program_attrs(
    compat: OpCompat, attrs: dict[str, Any], inputs: list[MetaTensor | None]
) -> dict[str, Any]:
    """What an Operator's description says of phi's attributes; those that other ops compute are
    not in it, as they are inputs there.

    Args:
        inputs: the MetaTensors of the op's inputs.
    """
    known = {name: value for name, value in attrs.items() if not is_symbolic(value)}
    found = {}
    for name, value in known.items():
        if name != "place":
            write = compat.written.get(name)
            found[compat.names.get(name, name)] = value if write is None else write(value)
    for name, extra in compat.extra.items():
        found[name] = extra(attrs, inputs) if callable(extra) else extra
    return found


def default_attrs(operator: Operator) -> dict[str, Any]:
    """What an Operator was not told: its attributes with a default value, as a Program has them."""
    op, compat = operator.phi_op, compat_of(operator.phi_op.name)
    variables = attr_variables(operator)
    attrs = {
        attr.name: convert(op.name, attr.name, attr.kind, attr.default)
        for attr in op.attrs
        if not attr.required and attr.name not in variables
    }
    constant = {name: value for name, value in compat.extra.items() if not callable(value)}
    found = program_attrs(replace(compat, extra=constant), attrs, []) | compat.defaults
    return {name: value for name, value in found.items() if not operator.has_attr(name)}


def phi_attrs(operator: Operator) -> dict[str, Any]:
    """The attributes of an Operator, under phi's names and as phi's values."""
    op, compat = operator.phi_op, compat_of(operator.phi_op.name)
    if compat.type.startswith("elementwise_"):
        _require_last_axis(operator)
    attrs, variables = {}, attr_variables(operator)
    for attr in op.attrs:
        name = compat.names.get(attr.name, attr.name)
        if compat.always_tensors and attr.kind is DataType:  # it is that of the Variables
            slot = compat.tensor_slot(compat.always_tensors[0])
            attrs[attr.name] = operator.block._var_recursive(operator.input(slot)[0]).dtype
        elif operator.has_attr(name):
            value = operator.attr(name)
            if name == "value" and operator.has_attr("str_value"):
                value = operator.attr("str_value") or value  # the text has all digits
            if name == "dim" and operator.has_attr("reduce_all") and operator.attr("reduce_all"):
                value = []
            attrs[attr.name] = _phi_value(value, attr.kind)
        elif attr.required and attr.name not in variables:
            raise TypeError(
                f"{operator.type}: expected the attribute {name!r}, but got none. Give it in attrs."
            )
    kinds = {attr.name: attr.kind for attr in op.attrs}
    for name, variable in variables.items():
        shape = operator.block._var_recursive(variable).shape if kinds[name] is IntArray else ()
        attrs[name] = unknown(op.name, name, shape)
    return op.complete(attrs)


def _phi_value(value: Any, kind: Any) -> Any:
    """A Program's value as phi's: numbers out of texts, dtypes out of numbers."""
    if kind is DataType:
        return dtypes.BY_PROTO[value]
    if isinstance(value, str) and kind not in (str, Place):
        try:
            return _TEXTS[value] if value in _TEXTS else float(value)
        except ValueError as error:
            raise ValueError(
                f"Operator.attr: expected a number, but got {value!r}. Give the number itself."
            ) from error
    return value


def _require_last_axis(operator: Operator) -> None:
    """An old program may say at which axis of X the shape of Y begins; here both end together."""
    axis = operator.attr("axis") if operator.has_attr("axis") else -1
    if axis == -1:
        return
    ndims = [operator.block._var_recursive(operator.input(slot)[0]).ndim for slot in "XY"]
    if axis + ndims[1] != ndims[0] and ndims[0] != ndims[1]:
        raise NotImplementedError(
            f"{operator.type}: expected axis -1, or {ndims[0] - ndims[1]} for inputs with "
            f"{ndims[0]} and {ndims[1]} axes, but got {axis}. Reshape Y, so that its shape ends "
            "where that of X ends."
        )


def attr_variables(operator: Operator) -> dict[str, str]:
    """The attributes of an Operator that are given as Variables: phi's name -> the variable's."""
    op, compat = operator.phi_op, compat_of(operator.phi_op.name)
    found = {a.name: operator.input(compat.tensor_slot(a.name)) for a in op.attrs if a.mutable}
    return {name: variables[0] for name, variables in found.items() if variables}
