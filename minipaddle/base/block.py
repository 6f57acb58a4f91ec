"""Block: a list of ops and the variables that they use. Appending an op decides shapes and dtypes.

Paddle: Block in python/paddle/base/framework.py, paddle/fluid/framework/block_desc.h.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from minipaddle.base.framework_proto import VAR_TYPES, BlockDesc, OpDesc, VarDesc
from minipaddle.base.name_scope import full_name as scope_name
from minipaddle.base.op_attrs import default_attrs, phi_attrs
from minipaddle.base.op_compat import EMPTY_SLOTS, compat_of, slot_of
from minipaddle.base.op_desc import EMPTY, write_attr
from minipaddle.base.operator import Operator
from minipaddle.base.variable import DENSE_TENSOR, Parameter, Variable, names_of
from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.common.enforce import require_type
from minipaddle.common.errors import name_op_in_error
from minipaddle.phi.core.meta_tensor import MetaTensor

if TYPE_CHECKING:
    from minipaddle.base.framework import Program


class Block:
    """A list of ops and the variables that they use. Control flow has blocks of its own."""

    desc: Any  # see desc.py

    def __init__(self, program: Program, idx: int, parent_idx: int = -1) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self.forward_block_idx = -1
        self.runs_inside = False  # an op of control flow is going to run it
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []

    @property
    def proto(self) -> Any:
        """The block as a BlockDesc message."""
        proto = BlockDesc(idx=self.idx, parent_idx=self.parent_idx)
        proto.forward_block_idx = self.forward_block_idx
        proto.vars.extend(variable.proto for variable in self.vars.values())
        proto.ops.extend(operator.proto for operator in self.ops)
        return proto

    def create_var(
        self,
        name: str | None = None,
        shape: Any = (),
        dtype: Any = "float32",
        persistable: bool = False,
        stop_gradient: bool = False,
        is_parameter: bool = False,
        type: int = DENSE_TENSOR,
    ) -> Variable:
        """Adds a Variable.

        Args:
            name: default: a new one.
            type: what it is when the program runs: one of VAR_TYPES.

        Raises:
            ValueError: the name is taken, or there is no such type.
            TypeError: the name is no text, or the shape no list of ints.
        """
        name = unique_name.generate("_generated_var") if name is None else name
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"Block.create_var: expected a name, but got {name!r}. Give a text that is not "
                "empty."
            )
        if name in self.vars:
            raise ValueError(
                f"Block.create_var: expected a new name, but got {name!r}, which block {self.idx} "
                "has. Choose another name."
            )
        if type not in VAR_TYPES.values():
            raise ValueError(
                f"Block.create_var: expected a type of {VAR_TYPES}, but got {type!r}. Leave it "
                "out for a Tensor."
            )
        desc = VarDesc(name=name, persistable=persistable, stop_gradient=stop_gradient)
        desc.is_parameter = is_parameter
        desc.type.type = type
        if type == DENSE_TENSOR:
            tensor = desc.type.dense_tensor.tensor
            tensor.data_type = dtypes.to_dtype(dtype).proto_number
            tensor.dims.extend(_sizes(name, shape))
        return self._add_var(desc)

    def create_parameter(
        self,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        initializer: Any = None,
        trainable: bool = True,
        optimize_attr: dict[str, Any] | None = None,
        regularizer: Any = None,
        need_clip: bool = True,
    ) -> Variable:
        """Adds a Parameter to the program's block 0, and to this block the op of its initializer.

        Args:
            initializer: called with (shape, dtype); None: the numbers come from elsewhere.
            optimize_attr, regularizer, need_clip: what an optimizer asks it.

        Raises:
            ValueError: the name is taken, shape or dtype is None, or a size is negative.
        """
        name = unique_name.generate("_generated_var") if name is None else name
        if shape is None or dtype is None or any(size < 0 for size in _sizes(name, shape)):
            raise ValueError(
                f"Block.create_parameter: expected a dtype and known sizes for {name!r}, but got "
                f"{dtype} {shape}. A parameter has all its sizes from the start."
            )
        home, wanted = self.program.global_block(), dtypes.to_dtype(dtype)
        made: Any = home.create_var(name, shape, wanted, True, not trainable, is_parameter=True)
        made.optimize_attr = {"learning_rate": 1.0} if optimize_attr is None else optimize_attr
        made.regularizer, made.need_clip = regularizer, need_clip
        if initializer is not None:
            with self.program._building(self):
                value = initializer(list(shape), wanted)
            del self.vars[value.name]
            operator = self.ops[-1]
            operator._rename_output(value.name, name)
            if operator.has_attr("seed") and not operator.attr("seed"):
                operator._set_attr("seed", self.program.random_seed)
        return made

    def _add_var(self, desc: Any) -> Variable:
        variable = (Parameter if desc.is_parameter else Variable)(self, desc)
        self.vars[desc.name] = variable
        self.program._changed()
        return variable

    def var(self, name: str) -> Variable:
        """The Variable of that name. Raises ValueError if there is none."""
        if name not in self.vars:
            raise ValueError(
                f"Block.var: expected a variable of block {self.idx}, but got {name!r}. "
                f"It has {list(self.vars)}."
            )
        return self.vars[name]

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def _find_var_recursive(self, name: str) -> Variable | None:
        """The Variable of that name in this block or the nearest block around it, or None.

        A gradient block sees its forward block, too.
        """
        near: list[Block] = [self]
        for block in near:
            if name in block.vars:
                return block.vars[name]
            for index in (block.parent_idx, block.forward_block_idx):
                if index >= 0 and self.program.block(index) not in near:
                    near.append(self.program.block(index))
        return None

    def _var_recursive(self, name: str, who: str = "Block.append_op") -> Variable:
        """The same. Raises ValueError if there is none."""
        found = self._find_var_recursive(name)
        if found is None:
            inside = next((b.idx for b in self.program.blocks if name in b.vars), None)
            where, advice = "", "Make it in this Program first."
            if inside is not None:
                where = f", which only block {inside} sees"
                advice = "Use what cond or while_loop returned."
            raise ValueError(
                f"{who}: expected a variable of block {self.idx} or of a block around it, but got "
                f"{name!r}{where}. {advice}"
            )
        return found

    @property
    def backward_block_idx(self) -> int:
        """The block that computes this one's gradients, or -1."""
        return next((b.idx for b in self.program.blocks if b.forward_block_idx == self.idx), -1)

    def all_parameters(self) -> list[Parameter]:
        return [variable for variable in self.vars.values() if isinstance(variable, Parameter)]

    def append_op(
        self,
        type: str | None = None,
        inputs: dict[str, Any] | None = None,
        outputs: dict[str, Any] | None = None,
        attrs: dict[str, Any] | None = None,
    ) -> Operator:
        """Adds an op by its old names; inputs and outputs are Variables, names, or lists of
        them; the attribute `sub_block` is a Block.

        Raises:
            TypeError: a slot or an attribute holds something else.
            ValueError: there is no such op or slot, an input is missing or out of sight of this
                block, or InferMeta refuses.
        """
        if not isinstance(type, str) or not type:
            raise ValueError(
                f"Block.append_op: expected the type of an op, but got {type!r}. Give its name."
            )
        for what, given in (("inputs", inputs), ("outputs", outputs), ("attrs", attrs)):
            advice = f"Write {what}={{name: value}}."
            require_type(type, f"{what} to be a dict", given or {}, dict, advice)
        attrs = attrs or {}
        runs_block = "sub_block" in attrs
        if runs_block:
            self._require_inner(type, attrs["sub_block"])
        slots = [
            None
            if given is None
            else {slot: names_of(type, repr(slot), v) for slot, v in given.items()}
            for given in (inputs, outputs)
        ]
        operator = self._operator(type, slots[0], slots[1] or {}, attrs)
        try:
            if not runs_block and type not in ("feed", "fetch"):
                self._complete(operator)
                self._infer_shapes(operator)
        except Exception as error:
            name_op_in_error(error, type, operator.attr("op_callstack"))
            raise
        if not runs_block:
            _pass_stop_gradient(inputs or {}, outputs or {})
        return self._append(operator)

    def _operator(
        self,
        type: str,
        inputs: dict[str, list[str]] | None,
        outputs: dict[str, list[str]],
        attrs: dict[str, Any],
    ) -> Operator:
        """An Operator with these names in its slots, and with what the Program knows of it."""
        desc, origin = OpDesc(type=type), self.program._origin
        if inputs is not None:
            inputs = {**dict.fromkeys(EMPTY_SLOTS.get(type, ()), []), **inputs}
        for slots, given in ((desc.inputs, inputs or {}), (desc.outputs, outputs)):
            for slot, names in given.items():
                slots.add(parameter=slot, arguments=names)
        common = {
            "op_role": self.program._role,
            "op_role_var": [],
            "op_namescope": origin.attr("op_namescope") if origin else scope_name(),
            "op_callstack": self.program._call_stack(),
            "op_device": "",
            "with_quant_attr": False,
        }
        if origin is not None and type == f"{origin.type}_grad" and "sub_block" not in attrs:
            taken = origin.all_attrs()  # it has the forward op's too
            attrs = {name: value for name, value in attrs.items() if name not in taken} | taken
        for name, value in {**attrs, **common}.items():
            write_attr(desc.attrs.add(), name, value.idx if isinstance(value, Block) else value)
        return Operator(self, desc)

    def _append(self, operator: Operator) -> Operator:
        self.ops.append(operator)
        self.program._changed()
        return operator

    def _insert_op(self, index: int, *args: Any, **kwargs: Any) -> Operator:
        """append_op, but the op stands at place `index`."""
        self.append_op(*args, **kwargs)
        self.ops.insert(index, self.ops.pop())
        return self.ops[index]

    def _prepend_op(self, *args: Any, **kwargs: Any) -> Operator:
        return self._insert_op(0, *args, **kwargs)

    def _complete(self, operator: Operator) -> None:
        """Adds default attributes. Raises ValueError if there is no such op or slot."""
        if operator.declaration is None:
            raise ValueError(
                f"Block.append_op: expected the type of an op, but got {operator.type!r}. Declare "
                "it with @op, or use one of core.get_all_op_names()."
            )
        # a gradient op has the forward op's attributes, and may be given more than its rule reads
        if not operator.type.endswith("_grad"):
            operator.require_slots()
            for name, value in default_attrs(operator).items():
                write_attr(operator.proto.attrs.add(), name, value)

    def _infer_shapes(self, operator: Operator) -> None:
        """InferMeta decides the outputs' shapes and dtypes, whatever they were before."""
        op, keys = operator.phi_op, operator.phi_slots()
        compat = compat_of(op.name)
        metas: list[Any] = []
        for item in op.inputs:
            given = [name for name in keys[item.name] if name != EMPTY]
            found = [self._var_recursive(name, operator.type).meta() for name in given]
            if slot_of(compat, item.name) == "XShape":
                found = [MetaTensor(meta.shape[1:], meta.dtype) for meta in found]
            metas.append(found if item.is_list else found[0] if found else None)
        for name, meta in zip(op.outputs, op.infer_metas(metas, phi_attrs(operator)), strict=True):
            several = meta if isinstance(meta, list) else [meta]
            for target, found in zip(keys[name], several):
                variable = self._find_var_recursive(target)
                if found is not None and variable is not None:
                    variable._set_meta(found)

    def _require_inner(self, op_type: str, block: Any) -> None:
        """Raises ValueError if an op of this block can't run `block`: that would be a circle."""
        known = isinstance(block, Block) and block in self.program.blocks
        if not known or block.idx <= self.idx:
            got = f"block {block.idx}" if isinstance(block, Block) else f"{block!r}"
            raise ValueError(
                f"{op_type}: expected sub_block to be a Block of this Program that was made after "
                f"block {self.idx}, but got {got}. Make one with Program._create_block."
            )

    def _remove_op(self, index: int) -> None:
        del self.ops[index]
        self.program._changed()

    def _remove_var(self, name: str) -> None:
        del self.vars[name]
        self.program._changed()

    def _rename_var(self, old: str, new: str, ops: list[Operator] | None = None) -> None:
        """Renames a variable. `ops`: those that use it, where that is known (default: all)."""
        variable = self.vars.pop(old)
        variable._rename(new)
        self.vars[new] = variable
        for operator in self.ops if ops is None else ops:
            operator._rename(old, new)
        self.program._changed()

    def __str__(self) -> str:
        head = (
            f"{{ // block_idx:{self.idx}  parent_idx:{self.parent_idx}  "
            f"forward_idx:{self.forward_block_idx}  backward_idx:{self.backward_block_idx}\n"
        )
        variables = "".join(f"    {variable}\n" for variable in self.vars.values())
        ops = "".join(f"    {operator}\n" for operator in self.ops)
        return f"{head}{variables}\n{ops}}}\n"


def _pass_stop_gradient(inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    """No gradient reaches what is computed from inputs that all stop it. (What is given by name
    stays as it is.)
    """
    read, written = (
        [v for value in slots.values() for v in (value if isinstance(value, list) else [value])]
        for slots in (inputs, outputs)
    )
    if all(not isinstance(item, str) and item.stop_gradient for item in read):
        for item in written:
            if isinstance(item, Variable):
                item.stop_gradient = True


# -- what a user gives -------------------------------------------------------------------------


def _sizes(name: str, shape: Any) -> list[int]:
    """A shape as ints."""
    sizes: list[Any] = list(shape) if isinstance(shape, Iterable) else [None]
    if not all(isinstance(size, (int, np.integer)) for size in sizes):
        raise TypeError(
            f"Block.create_var: expected the shape of {name!r} to be a list of ints, but got "
            f"{shape!r}. Give one size for each axis."
        )
    return [int(size) for size in sizes]
