"""From the call of a phi op to an Operator: old names, new variables, shapes from InferMeta.

Paddle: python/paddle/base/layer_helper.py (LayerHelper.append_op).
Left out: activations and parameters that a LayerHelper also makes.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.framework import Variable, default_main_program
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.common import unique_name
from minipaddle.common.errors import name_op_in_error
from minipaddle.phi.core.attribute import is_symbolic, unknown
from minipaddle.phi.core.op import OPS, Op
from minipaddle.phi.core.type_promotion import promoted


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
        found = [variable.meta() for variable in values]
        metas.append(found if item.is_list else found[0] if found else None)
        slots[slot_of(compat, item.name)] = [variable.name for variable in values]
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
    named = {
        compat.attrs.get(name, name): value
        for name, value in attrs.items()
        if name != "place" and not is_symbolic(value)
    }
    for name, extra in compat.extra.items():
        named[name] = extra(attrs) if callable(extra) else extra
    block.append_op(compat.type, slots, out_slots, named)
    return outputs
