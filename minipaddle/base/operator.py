"""Operator: one op of a Block, with what it reads, what it writes and its attributes.

It holds its own message (OpDesc); what it knows stands in it.

Paddle: Operator in python/paddle/base/framework.py, paddle/fluid/framework/op_desc.h.
Left out: dist attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minipaddle.base.op_compat import compat_of, phi_name_of, slot_of
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

    def __init__(self, block: Block, desc: Any) -> None:
        self.block = block
        self.desc = desc

    @property
    def type(self) -> str:
        return self.desc.type

    @property
    def phi_op(self) -> Op:
        """The declaration behind the op. Raises KeyError if there is none."""
        return find_op(phi_name_of(self.type, self))

    def input(self, slot: str) -> list[str]:
        """The names in an input slot."""
        return slot_arguments(self.desc.inputs, slot)

    def phi_inputs(self, op: Op) -> list[list[str]]:
        """Per input of the op's declaration: the names in its slot.

        Raises:
            ValueError: a slot of a forward op is empty, and the op can't do without it.
        """
        compat, found = compat_of(op.name), []
        for item in op.inputs:
            slot = slot_of(compat, item.name)
            names = self.input(slot)
            # Paddle's gradient ops leave out what their kernels don't read
            if not (names or item.optional or item.is_list or op.forward_op):
                raise ValueError(
                    f"{self.type}: expected a variable in the input slot {slot!r}, but got none. "
                    f"The op has {self.input_names}: fill {slot!r}, too."
                )
            found.append(names)
        return found

    def output(self, slot: str) -> list[str]:
        """The names in an output slot."""
        return slot_arguments(self.desc.outputs, slot)

    @property
    def input_names(self) -> list[str]:
        return [item.parameter for item in self.desc.inputs]

    @property
    def output_names(self) -> list[str]:
        return [item.parameter for item in self.desc.outputs]

    @property
    def input_arg_names(self) -> list[str]:
        return [name for item in self.desc.inputs for name in item.arguments]

    @property
    def output_arg_names(self) -> list[str]:
        return [name for item in self.desc.outputs for name in item.arguments]

    @property
    def attr_names(self) -> list[str]:
        return [item.name for item in self.desc.attrs]

    def has_attr(self, name: str) -> bool:
        return name in self.attr_names

    def attr(self, name: str) -> Any:
        """An attribute's value. Raises ValueError if there is no such attribute."""
        for item in self.desc.attrs:
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
        for item in self.desc.attrs:
            if item.name == name:
                self.desc.attrs.remove(item)
                break
        write_attr(self.desc.attrs.add(), name, value)
        self.block.program._changed()

    def all_attrs(self) -> dict[str, Any]:
        return {item.name: attr_value(item) for item in self.desc.attrs}

    def _is_optimize_op(self) -> bool:
        """Whether an optimizer appended it."""
        return self.has_attr("op_role") and bool(self.attr("op_role") & OpRole.OPTIMIZE)

    def _rename(self, old: str, new: str) -> None:
        for item in [*self.desc.inputs, *self.desc.outputs]:
            for position, name in enumerate(item.arguments):
                if name == old:
                    item.arguments[position] = new

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
        outputs, inputs = slots(self.desc.outputs), slots(self.desc.inputs)
        return f"{{{outputs}}} = {self.type}(inputs={{{inputs}}}{shown})"

    __repr__ = __str__
