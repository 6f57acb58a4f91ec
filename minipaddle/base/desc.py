"""What scripts ask of the C++ side: `program.desc`, `block.desc`, `op.desc`, `var.desc`.

In Paddle a Program lives twice. C++ objects hold the description; Python's Program, Block, Operator
and Variable point to them. Here those hold it themselves (their `proto`), and a desc only looks at
one of them: what is a property in Python is a method here, and `set_...` changes the thing itself.

    block = core.ProgramDesc().block(0)
    op = block.append_op()
    op.set_type("relu")
    op.set_input("X", ["x"])

Paddle: the classes bound in paddle/fluid/pybind/protobuf.cc.
Left out: readers, LoD, dist attributes, ids, versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum
from typing import Any

from minipaddle.base.block import Block
from minipaddle.base.framework import Program
from minipaddle.base.framework_proto import ATTR_TYPES
from minipaddle.base.framework_proto import OpDesc as OpProto
from minipaddle.base.op_attrs import default_attrs
from minipaddle.base.operator import Operator
from minipaddle.base.variable import Variable, VarType
from minipaddle.common import dtype as dtypes

AttrType: Any = Enum("AttrType", {k.replace("BOOLEAN", "BOOL"): n for k, n in ATTR_TYPES.items()})


class _View:
    """Two views of one thing are equal, as two pointers to it are."""

    _of: Any = None

    def __init__(self, of: Any) -> None:
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _View) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Where nothing else is said below, the thing itself has a method or property of the
        name.
        """
        found = getattr(self._of, name)
        return found if callable(found) else lambda: found

    def serialize_to_string(self) -> bytes:
        return self._of.proto.SerializeToString()


def _setter(name: str) -> Callable[[Any, Any], None]:
    """The method that sets a field of the thing's message."""

    def set_field(self: Any, value: Any) -> None:
        setattr(self._of.proto, name, value)
        self._of.block.program._changed()

    return set_field


class ProgramDesc(_View):
    """Of a Program; default: a new one. Bytes and another ProgramDesc are copied."""

    def __init__(self, of: Program | ProgramDesc | bytes | None = None) -> None:
        if isinstance(of, ProgramDesc):
            of = of.serialize_to_string()
        is_program = isinstance(of, Program)
        super().__init__(
            of if is_program else Program() if of is None else Program.parse_from_string(of)
        )

    def block(self, index: int) -> BlockDesc:
        return BlockDesc(self._of.block(index))

    def append_block(self, parent: BlockDesc) -> BlockDesc:
        block = Block(self._of, len(self._of.blocks), parent.id)
        self._of.blocks.append(block)
        return BlockDesc(block)

    def need_update(self) -> bool:
        """Whether anything changed since the last `flush`."""
        return getattr(self._of, "_flushed", None) != self._of._version

    def flush(self) -> None:
        self._of._flushed = self._of._version

    def cached_hash_str(self) -> str:
        self.flush()
        return hashlib.sha256(self.serialize_to_string()).hexdigest()


class BlockDesc(_View):
    """Of a Block. Names of variables are bytes."""

    id = property(lambda self: self._of.idx)
    parent = property(lambda self: self._of.parent_idx)

    def get_forward_block_idx(self) -> int:
        return self._of.forward_block_idx

    def _set_forward_block_idx(self, index: int) -> None:
        self._of.forward_block_idx = index

    def var(self, name: bytes) -> VarDesc:
        """The variable of that name; a new one, a bool without a shape, if there is none."""
        text = _text(name)
        known = self._of.vars.get(text)
        return VarDesc(self._of.create_var(text, dtype="bool") if known is None else known)

    def find_var(self, name: bytes) -> VarDesc | None:
        known = self._of.vars.get(_text(name))
        return None if known is None else VarDesc(known)

    def find_var_recursive(self, name: bytes) -> VarDesc | None:
        known = self._of._find_var_recursive(_text(name))
        return None if known is None else VarDesc(known)

    def has_var(self, name: bytes) -> bool:
        return self.find_var(name) is not None

    def has_var_recursive(self, name: bytes) -> bool:
        return self.find_var_recursive(name) is not None

    def all_vars(self) -> list[VarDesc]:
        return [VarDesc(variable) for variable in self._of.vars.values()]

    def _rename_var(self, old: bytes, new: bytes) -> None:
        self._of._rename_var(_text(old), _text(new))

    def _remove_var(self, name: bytes) -> None:
        self._of._remove_var(_text(name))

    def op_size(self) -> int:
        return len(self._of.ops)

    def op(self, index: int) -> OpDesc:
        return OpDesc(self._of.ops[index])

    def append_op(self) -> OpDesc:
        return self._insert_op(len(self._of.ops))

    def _prepend_op(self) -> OpDesc:
        return self._insert_op(0)

    def _insert_op(self, index: int) -> OpDesc:
        """A new op without a type."""
        operator = Operator(self._of, OpProto(type=""))
        self._of.ops.insert(index, operator)
        self._of.program._changed()
        return OpDesc(operator)

    def _remove_op(self, start: int, end: int) -> None:
        del self._of.ops[start:end]
        self._of.program._changed()


class OpDesc(_View):
    """Of an Operator."""

    set_type = _setter("type")

    def block(self) -> BlockDesc:
        return BlockDesc(self._of.block)

    def inputs(self) -> dict[str, list[str]]:
        return {slot: self.input(slot) for slot in self.input_names()}

    def outputs(self) -> dict[str, list[str]]:
        return {slot: self.output(slot) for slot in self.output_names()}

    def set_input(self, slot: str, names: list[str] | None) -> None:
        _fill(self._of, self._of.proto.inputs, slot, names)

    def set_output(self, slot: str, names: list[str] | None) -> None:
        _fill(self._of, self._of.proto.outputs, slot, names)

    def remove_input(self, slot: str) -> None:
        self.set_input(slot, None)

    def remove_output(self, slot: str) -> None:
        self.set_output(slot, None)

    def get_attr_map(self) -> dict[str, Any]:
        return self._of.all_attrs()

    def remove_attr(self, name: str) -> None:
        self._of._remove_attr(name)

    def attr_type(self, name: str) -> Any:
        return AttrType(next(a.type for a in self._of.proto.attrs if a.name == name))

    def set_block_attr(self, name: str, block: BlockDesc) -> None:
        self.remove_attr(name)
        self._of.proto.attrs.add(name=name, type=ATTR_TYPES["BLOCK"], block_idx=block.id)

    def copy_from(self, other: OpDesc) -> None:
        self._of.proto.CopyFrom(other._of.proto)
        self._of.block.program._changed()

    def check_attrs(self) -> None:
        """Adds the attributes that were not given, with their default values."""
        for name, value in default_attrs(self._of).items():
            self._set_attr(name, value)

    def infer_shape(self, block: BlockDesc) -> None:
        """InferMeta decides the outputs' shapes and dtypes."""
        block._of._infer_shapes(self._of)

    infer_var_type = infer_shape


class VarDesc(_View):
    """Of a Variable."""

    VarType = VarType
    set_persistable, set_is_parameter = _setter("persistable"), _setter("is_parameter")
    set_stop_gradient, set_need_check_feed = _setter("stop_gradient"), _setter("need_check_feed")

    def need_check_feed(self) -> bool:
        return self._of.proto.need_check_feed

    def set_type(self, type: int) -> None:
        self._of.proto.type.type = type
        self._of.block.program._changed()

    def shape(self) -> list[int]:
        return list(self._tensor().dims)

    def set_shape(self, shape: list[int]) -> None:
        self._tensor().dims[:] = shape
        self._of.block.program._changed()

    def set_dtype(self, dtype: Any) -> None:
        self._tensor().data_type = dtypes.to_dtype(dtype).proto_number
        self._of.block.program._changed()

    def set_name(self, name: str) -> None:
        self._of.block._rename_var(self.name(), name, [])

    def _tensor(self) -> Any:
        kind = self._of.proto.type
        rows = kind.type == VarType.SELECTED_ROWS
        return kind.selected_rows if rows else kind.dense_tensor.tensor


def _text(name: bytes) -> str:
    if not isinstance(name, bytes):
        raise TypeError(
            f"BlockDesc: expected a name as bytes, but got {name!r}. Write b'x', or x.encode()."
        )
    return name.decode()


def _fill(operator: Operator, slots: Any, slot: str, names: list[str] | None) -> None:
    """Puts names into a slot in place of what was there; None takes the slot away."""
    for item in slots:
        if item.parameter == slot:
            slots.remove(item)
            break
    if names is not None:
        slots.add(parameter=slot, arguments=names)
    operator.block.program._changed()


Program.desc, Block.desc = property(ProgramDesc), property(BlockDesc)
Operator.desc, Variable.desc = property(OpDesc), property(VarDesc)
