"""From the call of a phi op to an Operator: old names, new variables, shapes from InferMeta.

Paddle: python/paddle/base/layer_helper.py (LayerHelper.append_op).
Left out: activations and parameters that a LayerHelper also makes.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.framework import Variable, default_main_program
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.common import unique_name
from minipaddle.phi.core.op import Op


def append_phi_op(
    op: Op,
    inputs: list[Any],
    attrs: dict[str, Any],
    output_names: dict[str, str | None] | None = None,
) -> list[Variable | None]:
    """Appends a phi op to the current block, under its old names. InferMeta gives the outputs'
    shapes.

    Args:
        inputs: Variables, lists of Variables, or None, in the order of the declaration.
        output_names: names for the outputs; None: this output is not wanted. Default: new names.

    Raises:
        ValueError, TypeError: an input is no Variable, or InferMeta refuses.
    """
    block = default_main_program().current_block()
    compat = compat_of(op.name)
    metas, slots, stop = [], {}, True
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
    results = op.infer_metas(metas, attrs)
    layer = unique_name.generate(compat.layer or compat.type) if output_names is None else ""
    outputs: list[Variable | None] = []
    out_slots: dict[str, list[str]] = {}
    for position, (name, meta) in enumerate(zip(op.outputs, results, strict=True)):
        slot = output_slot(compat, name)
        wanted = f"{layer}.tmp_{position}" if output_names is None else output_names.get(name)
        if name in op.inplace:
            source = inputs[[item.name for item in op.inputs].index(op.inplace[name])]
            out_slots[slot] = [source.name]
            outputs.append(source)
        elif wanted is None or meta is None:
            if meta is not None:
                out_slots[slot] = []
            outputs.append(None)
        else:
            variable = block.vars.get(wanted)
            if variable is None:
                variable = block.create_var(
                    wanted,
                    meta.shape,
                    meta.dtype,
                    stop_gradient=stop or "ForwardOnly" in op.traits,
                )
            out_slots[slot] = [wanted]
            outputs.append(variable)
    named = {
        compat.attrs.get(name, name): value for name, value in attrs.items() if name != "place"
    }
    for name, extra in compat.extra.items():
        named[name] = extra(attrs) if callable(extra) else extra
    block.append_op(compat.type, slots, out_slots, named)
    return outputs
