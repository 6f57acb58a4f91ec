"""Appending ops: from the call of a phi op to an Operator with old names, new variables, and shapes
from InferMeta; and LayerHelper, with which users write a new op's function themselves.

Paddle: python/paddle/base/layer_helper.py.
Left out: a LayerHelper's parameters; static.create_parameter makes them.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.framework import (
    Operator,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
)
from minipaddle.base.op_attrs import program_attrs
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.common import unique_name
from minipaddle.common.errors import name_op_in_error
from minipaddle.phi.core.attribute import ScalarInt, unknown
from minipaddle.phi.core.op import OPS, Op
from minipaddle.phi.core.type_promotion import promoted


class LayerHelper:
    """For a function that appends ops by their old names:

        helper = LayerHelper("relu")
        out = helper.create_variable_for_type_inference(x.dtype)
        helper.append_op(type="relu", inputs={"X": x}, outputs={"Out": out})

    Args:
        layer_type: what the names of the layer's variables start with, before a number.
        name: the whole start, instead.
        kwargs: the function's other arguments; `act` is the one that is read, see
            `append_activation`.
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type = layer_type
        self.kwargs = kwargs
        self.name = kwargs.get("name") or unique_name.generate(layer_type)

    @property
    def main_program(self) -> Program:
        return default_main_program()

    @property
    def startup_program(self) -> Program:
        return default_startup_program()

    def create_variable_for_type_inference(
        self, dtype: Any, stop_gradient: bool = False, shape: Any = ()
    ) -> Variable:
        """A new Variable of the current block, `relu_0.tmp_0`; the op that writes it will decide
        its shape and dtype.
        """
        return self.main_program.current_block().create_var(
            unique_name.generate(f"{self.name}.tmp"), shape, dtype, stop_gradient=stop_gradient
        )

    def append_op(self, *args: Any, **kwargs: Any) -> Operator:
        """Appends to the current block; see Block.append_op."""
        return self.main_program.current_block().append_op(*args, **kwargs)

    def append_activation(self, input_var: Variable) -> Variable:
        """The activation that `act` names, "relu" or {"type": "leaky_relu", "alpha": 0.1}, of a
        Variable; the Variable itself where there is none.
        """
        act = self.kwargs.get("act")
        if act is None:
            return input_var
        attrs = dict(act) if isinstance(act, dict) else {"type": act}
        out = self.create_variable_for_type_inference(input_var.dtype)
        self.append_op(attrs.pop("type"), {"X": input_var}, {"Out": out}, attrs)
        return out


def append_phi_op(
    op: Op,
    inputs: list[Any],
    attrs: dict[str, Any],
    output_names: dict[str, Any] | None = None,
) -> list[Any]:
    """Appends a phi op to the current block, under its old names. InferMeta gives the outputs'
    shapes.

    Args:
        inputs: Variables, lists of Variables, or None, in the order of the declaration.
        attrs: phi's attributes. IntArray and Scalar may be Variables.
        output_names: names for the outputs (for a list, one each); None: this output is not
            wanted. Default: new names.

    Returns:
        One Variable per output, or a list of them; None for what is not wanted.

    Raises:
        ValueError, TypeError: an input is no Variable, or InferMeta refuses.
    """
    block = default_main_program().current_block()
    compat = compat_of(op.name)
    metas, slots, stop = [], {}, True
    inputs = promoted(op, inputs, OPS["cast"])
    for item, value in zip(op.inputs, inputs, strict=True):
        values = value if item.is_list else [] if value is None else [value]
        for variable in values:
            if not isinstance(variable, Variable):
                raise TypeError(
                    f"{op.name}: expected {item.name} to be a Variable of a Program, but got "
                    f"{type(variable).__name__}. Make one with paddle.static.data, or leave "
                    "static mode."
                )
            stop = stop and variable.stop_gradient
        found = [block._var_recursive(v.name, op.name).meta() for v in values]
        metas.append(found if item.is_list else found[0] if found else None)
        slots[slot_of(compat, item.name)] = [variable.name for variable in values]
    if compat.xshape and op.forward_op is not None:
        slots["XShape"] = _xshape(op, block.program._origin)
    attrs = dict(attrs)
    for name, variable in attrs.items():
        if isinstance(variable, Variable):
            slots[compat.tensor_slot(name)] = [variable.name]
            attrs[name] = unknown(op.name, name, variable.shape)
    try:
        results = op.infer_metas(metas, attrs)
    except Exception as error:
        name_op_in_error(error, compat.type, block.program._call_stack())
        raise
    for name in compat.always_tensors:
        if not isinstance(slots.get(compat.tensor_slot(name)), list):
            slots[compat.tensor_slot(name)] = [
                _as_variable(op, name, attrs.pop(name), attrs["dtype"]).name
            ]
    layer = unique_name.generate(compat.layer or compat.type) if output_names is None else ""
    outputs: list[Any] = []
    out_slots: dict[str, list[str]] = {}
    for position, (name, meta) in enumerate(zip(op.outputs, results, strict=True)):
        slot = output_slot(compat, name)
        wanted = f"{layer}.tmp_{position}" if output_names is None else output_names.get(name)
        if name in op.inplace and meta is not None:
            source = inputs[[item.name for item in op.inputs].index(op.inplace[name])]
            out_slots[slot] = [source.name]
            outputs.append(source)
        elif meta is None and compat.all_outputs:
            out_slots[slot] = [block.create_var(wanted, [], "int64", stop_gradient=True).name]
            outputs.append(None)
        elif wanted is None or meta is None:
            if meta is not None:
                out_slots[slot] = []
            outputs.append(None)
        else:
            several = meta if isinstance(meta, list) else [meta]
            if isinstance(meta, list) and output_names is None:
                wanted = [f"{layer}.tmp_{position + number}" for number in range(len(meta))]
            names = wanted if isinstance(wanted, list) else [wanted]
            made: list[Any] = []
            for own, found in zip(names, several, strict=True):
                variable = block._find_var_recursive(own)  # a loop writes what is outside of it
                if variable is None:
                    stopped = stop or "ForwardOnly" in op.traits
                    variable = block.create_var(
                        own, found.shape, found.dtype, stop_gradient=stopped
                    )
                made.append(variable)
            out_slots[slot] = names
            outputs.append(made if isinstance(meta, list) else made[0])
    if compat.xshape and op.forward_op is None:
        shape = block.create_var(
            f"{layer}.tmp_1" if layer else unique_name.generate(f"{compat.type}.xshape"),
            [0, *metas[0].shape],
            metas[0].dtype,
            stop_gradient=stop,
        )
        out_slots["XShape"] = [shape.name]
    named = program_attrs(compat, attrs, metas)
    origin = block.program._origin
    if origin is not None and compat.type == f"{origin.type}_grad":  # its attributes are taken over
        taken = set(origin.attr_names)
        named = {name: value for name, value in named.items() if name not in taken}
    block.append_op(compat.type, slots, out_slots, named)
    if compat.always_tensors:  # what they hold is known here, but not to the op
        outputs[0].proto.type.dense_tensor.tensor.dims[:] = results[0].shape
    return outputs


def _xshape(op: Op, origin: Operator | None) -> list[str]:
    """The XShape of the op whose gradient is being appended."""
    if origin is None or not origin.output("XShape"):
        raise ValueError(
            f"{op.name}: expected to be appended by append_backward, which knows the XShape of the "
            f"forward op, but got a call. Call {op.forward_op} and append_backward."
        )
    return origin.output("XShape")


def _as_variable(op: Op, name: str, value: Any, dtype: Any) -> Variable:
    """The Variable for an attribute that a Program has as a Variable only."""
    kind = next(attr.kind for attr in op.attrs if attr.name == name)
    dtype = "int32" if kind is ScalarInt else dtype
    attrs = OPS["full"].complete({"shape": [1], "value": value, "dtype": dtype})
    return append_phi_op(OPS["full"], [], attrs)[0]
