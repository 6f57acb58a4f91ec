"""Appending ops: from the call of a phi op to an Operator with old names, new variables, and shapes
from InferMeta; and LayerHelper, with which users write a new op's function themselves.

Paddle: python/paddle/base/layer_helper.py.
Left out: a LayerHelper's parameters; static.create_parameter makes them.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.framework import (
    Block,
    Operator,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
)
from minipaddle.base.op_attrs import program_attrs
from minipaddle.base.op_compat import compat_of, output_slot, slot_of
from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.common.enforce import require_type
from minipaddle.common.errors import name_op_in_error
from minipaddle.phi.core.append import metas_of, pieces_of
from minipaddle.phi.core.attribute import ScalarInt, unknown
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import OPS, Op


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
    op: Op, inputs: list[Any], attrs: dict[str, Any], output_names: dict[str, Any] | None = None
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

    def require(name: str, value: Any) -> Variable:
        advice = "Make one with paddle.static.data, or leave static mode."
        require_type(op.name, f"{name} to be a Variable of a Program", value, Variable, advice)
        return block._var_recursive(value.name, op.name)

    pieces = pieces_of(op, inputs, require)
    read = {item.name: given for item, given in zip(op.inputs, pieces, strict=True)}
    slots = {slot_of(compat, name): _names(given) for name, given in read.items()}
    if compat.xshape and op.forward_op is not None:
        slots["XShape"] = _xshape(op, block.program._origin)
    attrs, metas = dict(attrs), metas_of(op, pieces)
    for name, value in attrs.items():
        if isinstance(value, Variable):
            slots[compat.tensor_slot(name)] = [value.name]
            attrs[name] = unknown(op.name, name, value.shape)
    try:
        results = op.infer_metas(metas, attrs)
    except Exception as error:
        name_op_in_error(error, compat.type, block.program._call_stack())
        raise
    for name in compat.always_tensors:
        if compat.tensor_slot(name) not in slots:
            slots[compat.tensor_slot(name)] = [_as_variable(op, name, attrs).name]
    layer = unique_name.generate(compat.layer or compat.type) if output_names is None else ""
    stop = "ForwardOnly" in op.traits or all(v.stop_gradient for given in pieces for v in given)
    outputs: list[Any] = []
    out_slots: dict[str, list[str]] = {}
    for position, (name, meta) in enumerate(zip(op.outputs, results, strict=True)):
        if meta is None and not compat.all_outputs:
            outputs.append(None)
            continue
        found = meta if isinstance(meta, list) else [meta]
        names: Any = [f"{layer}.tmp_{position + number}" for number in range(len(found))]
        if output_names is not None:
            names = output_names.get(name) or []
            names = names if isinstance(names, list) else [names]
        if name in op.inplace:
            made = read[op.inplace[name]]
        else:
            pairs = zip(names, found, strict=bool(names))
            made = [_written(block, own, each, stop) for own, each in pairs]
        out_slots[output_slot(compat, name)] = _names(made)
        computed = bool(made) and meta is not None
        outputs.append((made if isinstance(meta, list) else made[0]) if computed else None)
    if compat.xshape and op.forward_op is None:
        own = f"{layer}.tmp_1" if layer else unique_name.generate(f"{compat.type}.xshape")
        shape = MetaTensor([0, *metas[0].shape], metas[0].dtype)
        out_slots["XShape"] = _names([_written(block, own, shape, stop)])
    named = program_attrs(compat, attrs, metas)
    block._append(block._operator(compat.type, slots, out_slots, named))
    return outputs


def append_named(name: str, inputs: list[Any], out: str, **attrs: Any) -> Variable:
    """Appends the op `name`, whose only output is called `out`."""
    op = OPS[name]
    return append_phi_op(op, inputs, op.complete(attrs), {"out": out})[0]


def _names(variables: list[Variable]) -> list[str]:
    return [variable.name for variable in variables]


def _written(block: Block, name: str, meta: MetaTensor | None, stop_gradient: bool) -> Variable:
    """The Variable of that name, which an op writes; a loop writes what is outside of it. `meta`:
    None if this call does not compute it.
    """
    variable = block._find_var_recursive(name)
    meta = MetaTensor([], dtypes.int64) if meta is None else meta
    if variable is None:
        return block.create_var(name, meta.shape, meta.dtype, stop_gradient=stop_gradient)
    variable._set_meta(meta)
    return variable


def _xshape(op: Op, origin: Operator | None) -> list[str]:
    """The XShape of the op whose gradient is being appended."""
    if origin is None or not origin.output("XShape"):
        raise ValueError(
            f"{op.name}: expected to be appended by append_backward, which knows the XShape of the "
            f"forward op, but got a call. Call {op.forward_op} and append_backward."
        )
    return origin.output("XShape")


def _as_variable(op: Op, name: str, attrs: dict[str, Any]) -> Variable:
    """The Variable for an attribute that a Program has as a Variable only."""
    kind = next(attr.kind for attr in op.attrs if attr.name == name)
    dtype = "int32" if kind is ScalarInt else attrs["dtype"]
    attrs = OPS["full"].complete({"shape": [1], "value": attrs.pop(name), "dtype": dtype})
    return append_phi_op(OPS["full"], [], attrs)[0]
