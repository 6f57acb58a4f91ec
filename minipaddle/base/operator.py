"""Operator: one op of a Block, with what it reads, what it writes and its attributes.

It holds its own message (OpDesc); what it knows stands in it.

Paddle: Operator in python/paddle/base/framework.py, paddle/fluid/framework/op_desc.h.
Left out: dist attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minipaddle.base.op_compat import compat_of, output_slot, phi_name_of, slot_of
from minipaddle.base.op_desc import attr_value, slot_arguments, write_attr
from minipaddle.phi.core.op import Op, find_op

if TYPE_CHECKING:
    from minipaddle.base.block import Block


class OpRole:
    """What an op is for; roles add up as bits. Paddle: paddle/fluid/framework/op_proto_maker.h."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMIZE = 2
    LOSS = 256


class Operator:
    """One op of a Block, in the old names of op_compat.py."""

    desc: Any  # see desc.py

    def __init__(self, block: Block, proto: Any) -> None:
        self.block = block
        self.proto = proto

    @property
    def type(self) -> str:
        return self.proto.type

    @property
    def phi_op(self) -> Op:
        """The declaration behind the op. Raises KeyError if there is none."""
        return find_op(phi_name_of(self.type, self))

    @property
    def declaration(self) -> Op | None:
        """The same; None if there is none: such an op can stand in a Program, too."""
        try:
            return self.phi_op
        except KeyError:
            return None

    def input(self, slot: str) -> list[str]:
        """The names in an input slot."""
        return slot_arguments(self.proto.inputs, slot)

    def phi_slots(self) -> dict[str, list[str]]:
        """Input or output of the op's declaration -> the names in its slot.

        Raises:
            ValueError: a slot of a forward op is empty, and the op can't do without it.
        """
        op, compat = self.phi_op, compat_of(self.phi_op.name)
        found = {name: self.output(output_slot(compat, name)) for name in op.outputs}
        for item in op.inputs:
            slot = slot_of(compat, item.name)
            found[item.name] = self.input(slot)
            # Paddle's gradient ops leave out what their kernels don't read
            if not (found[item.name] or item.optional or item.is_list or op.forward_op):
                raise ValueError(
                    f"{self.type}: expected a variable in the input slot {slot!r}, but got none. "
                    f"The op has {self.input_names}: fill {slot!r}, too."
                )
        return found

    def require_slots(self) -> None:
        """Raises ValueError if a slot is filled that the op does not have, or with too much."""
        op, compat = self.phi_op, compat_of(self.phi_op.name)
        grad = op.forward_op is not None  # lists of gradients are not declared
        inputs = {slot_of(compat, item.name): item.is_list or grad for item in op.inputs}
        inputs |= {compat.tensor_slot(attr.name): False for attr in op.attrs if attr.mutable}
        outputs = {output_slot(compat, name): op.is_list(name) or grad for name in op.outputs}
        if compat.xshape:
            inputs["XShape"] = outputs["XShape"] = False
        for kind, known, given in (
            ("input", inputs, self.proto.inputs),
            ("output", outputs, self.proto.outputs),
        ):
            for item in given:
                names, is_list = list(item.arguments), known.get(item.parameter)
                if names and (is_list is None or not is_list and len(names) > 1):
                    raise ValueError(
                        f"{self.type}: expected {kind} slots among {list(known)}, and one variable "
                        f"in a slot without a list, but got {item.parameter}={names}. Look at the "
                        "slot's name, and what is in it."
                    )
        if outputs and not self.output_arg_names:
            raise ValueError(
                f"{self.type}: expected a variable in an output slot of {list(outputs)}, but got "
                "none. Say where the result goes."
            )

    def output(self, slot: str) -> list[str]:
        """The names in an output slot."""
        return slot_arguments(self.proto.outputs, slot)

    @property
    def input_names(self) -> list[str]:
        return [item.parameter for item in self.proto.inputs]

    @property
    def output_names(self) -> list[str]:
        return [item.parameter for item in self.proto.outputs]

    @property
    def input_arg_names(self) -> list[str]:
        return [name for item in self.proto.inputs for name in item.arguments]

    @property
    def output_arg_names(self) -> list[str]:
        return [name for item in self.proto.outputs for name in item.arguments]

    def reads(self) -> list[str]:
        """The same as an Instruction says it, so that one search for last uses serves both."""
        return self.input_arg_names

    def writes(self) -> list[str]:
        return self.output_arg_names

    @property
    def attr_names(self) -> list[str]:
        return [item.name for item in self.proto.attrs]

    def attr_type(self, name: str) -> Any:
        """What kind of value an attribute holds: one of core.AttrType."""
        return self.desc.attr_type(name)

    @property
    def idx(self) -> int:
        """Where in its block the op stands."""
        return self.block.ops.index(self)

    def has_attr(self, name: str) -> bool:
        return name in self.attr_names

    def attr(self, name: str) -> Any:
        """An attribute's value. Raises ValueError if there is no such attribute."""
        for item in self.proto.attrs:
            if item.name == name:
                return attr_value(item)
        raise ValueError(
            f"Operator.attr: expected an attribute of {self.type}, but got {name!r}. It has "
            f"{self.attr_names}."
        )

    @property
    def call_stack(self) -> list[str]:
        """Where in the user's code the op was appended; empty if that is not known."""
        return self.attr("op_callstack") if self.has_attr("op_callstack") else []

    def _block_attr_id(self, name: str) -> int:
        """The index of the block that the op runs; the attribute is `sub_block`."""
        return self.attr(name)

    def _block_attr(self, name: str) -> Block:
        """The block that the op runs."""
        return self.block.program.block(self.attr(name))

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attribute; the type is read off the value."""
        self._remove_attr(name)
        write_attr(self.proto.attrs.add(), name, value)

    def _remove_attr(self, name: str) -> None:
        for item in self.proto.attrs:
            if item.name == name:
                self.proto.attrs.remove(item)
                break
        self.block.program._changed()

    def all_attrs(self) -> dict[str, Any]:
        return {item.name: attr_value(item) for item in self.proto.attrs}

    def _is_optimize_op(self) -> bool:
        """Whether an optimizer appended it."""
        return self.has_attr("op_role") and bool(self.attr("op_role") & OpRole.OPTIMIZE)

    def _rename_input(self, old: str, new: str) -> None:
        self._rename(old, new, self.proto.inputs)

    def _rename_output(self, old: str, new: str) -> None:
        self._rename(old, new, self.proto.outputs)

    def _rename(self, old: str, new: str, slots: Any = None) -> None:
        """In `slots`; default: wherever it stands."""
        for item in [*self.proto.inputs, *self.proto.outputs] if slots is None else slots:
            for position, name in enumerate(item.arguments):
                if name == old:
                    item.arguments[position] = new
        self.block.program._changed()

    def to_string(self, throw_on_error: bool) -> str:
        """The description, field by field."""
        return str(self.proto)

    def __str__(self) -> str:
        def slots(items: Any) -> str:
            ordered = sorted(items, key=lambda item: item.parameter)
            return ", ".join(f"{item.parameter}={list(item.arguments)}" for item in ordered)

        attrs = sorted(self.all_attrs().items())
        shown = "".join(
            f", {name} = block[{value}]" if name == "sub_block" else f", {name} = {value}"
            for name, value in attrs
            if name != "op_callstack"
        )
        outputs, inputs = slots(self.proto.outputs), slots(self.proto.inputs)
        return f"{{{outputs}}} = {self.type}(inputs={{{inputs}}}{shown})"

    __repr__ = __str__
