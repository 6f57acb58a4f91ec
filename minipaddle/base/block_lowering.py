"""A block on its way to instructions: what its variables are called in the generated function, and
which kernels its ops call. The ops that run a block of their own are in control_flow_lowering.py.

A sub-block sees the variables of the blocks around it. A gradient block sees, besides, those of its
forward block, as they were when that ran: they are saved.

Paddle: paddle/fluid/framework/new_executor/interpreter/interpreter_util.cc (BuildOpFuncList);
Scope::FindVar in paddle/fluid/framework/scope.cc: there names are looked up when the program runs.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from minipaddle.base.control_flow_lowering import CONTROL_FLOW_LOWERING
from minipaddle.base.framework import Block, Operator
from minipaddle.base.op_attrs import attr_variables, phi_attrs
from minipaddle.base.op_compat import compat_of, slot_of
from minipaddle.base.xshape import RESHAPE_BACK, XSHAPE
from minipaddle.common.errors import IRError
from minipaddle.new_executor.instruction import Instruction

# ops that only say, in a program for inference, what is fed and what is fetched
FEED_AND_FETCH = ("feed", "fetch")


@dataclass
class Lowering:
    """What all blocks of one program share.

    Attributes:
        feed_names: what the user feeds.
        names: name in the generated function -> name in the Program.
        bound: names in the generated function that an instruction has written so far.
        blocks: index -> the blocks that are lowered already, for those that compute their gradient.
    """

    feed_names: Container[str]
    names: dict[str, str] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    blocks: dict[int, BlockLowering] = field(default_factory=dict)

    def new(self, name: str) -> str:
        variable = f"v{len(self.names)}"
        self.names[variable] = name
        return variable


class BlockLowering:
    """One block. Called with a variable's name, it gives the name in the generated function.

    Attributes:
        forward: of a gradient block: its forward block.
        carried: of a loop: variables around it whose value at the beginning of a turn counts.
        own: the variables of this block.
        saved: of a gradient block: variable of the forward block -> what it is called here.
        kept: of `own` and `carried`, those that a gradient reads: names in the generated function.
    """

    def __init__(
        self,
        block: Block,
        shared: Lowering,
        outer: BlockLowering | None = None,
        forward: BlockLowering | None = None,
        carried: Container[str] = (),
    ) -> None:
        self.block = block
        self.shared = shared
        self.outer = outer
        self.forward = forward
        self.carried = carried
        self.own: dict[str, str] = {}
        self.saved: dict[str, str] = {}
        self.kept: dict[str, None] = {}

    def __call__(self, name: str) -> str:
        if name not in self.own:
            if self.outer is not None and name not in self.block.vars:
                forward = self.forward
                if forward is None or not (name in forward.block.vars or name in forward.carried):
                    return self.outer(name)
                self.saved[forward(name)] = self.shared.new(name)
                self.own[name] = self.saved[forward(name)]
            else:
                self.own[name] = self.shared.new(name)
        return self.own[name]

    def has_value(self, name: str) -> bool:
        """True if the variable has a value before the next instruction."""
        variable = self.block._find_var_recursive(name)
        return (
            self(name) in self.shared.bound
            or name in self.shared.feed_names
            or (variable is not None and variable.persistable)
        )

    def sub_block(self, operator: Operator, carried: Container[str] = ()) -> BlockLowering:
        """The block that one of the ops runs. Raises IRError if a gradient has no forward block."""
        block, shared = operator._block_attr("sub_block"), self.shared
        if not operator.type.endswith("_grad"):
            shared.blocks[block.idx] = BlockLowering(block, shared, self, carried=carried)
            return shared.blocks[block.idx]
        if block.forward_block_idx not in shared.blocks:
            raise IRError(
                f"{operator.type}: expected block {block.idx} to be the gradient of a block that "
                f"runs before, but got block {block.forward_block_idx}. The description is damaged."
            )
        return BlockLowering(block, shared, self, shared.blocks[block.forward_block_idx])

    def instructions(self) -> list[Any]:
        """The instructions of the block. Raises KeyError if an op is not declared."""
        found: list[Any] = []
        for position, operator in enumerate(self.block.ops):
            if operator.type in FEED_AND_FETCH:
                continue
            lower = CONTROL_FLOW_LOWERING.get(operator.type)
            made = self._kernel_calls(operator) if lower is None else [lower(operator, self)]
            for instruction in made:
                instruction.place = (self.block.idx, position)
                self.shared.bound.update(instruction.writes())
            found += made
        return found

    def _kernel_calls(self, operator: Operator) -> list[Instruction]:
        """The call of an op's kernel, and of what comes with it."""
        op, keys = operator.phi_op, operator.phi_slots()

        def named(key: str, is_list: bool) -> Any:
            found = [self(name) for name in keys[key]]
            return found if is_list else found[0] if found else None

        inputs = [named(item.name, item.is_list) for item in op.inputs]
        outputs = [named(name, name in op.list_outputs) or None for name in op.outputs]
        computed, attrs = attr_variables(operator), phi_attrs(operator)
        attrs = {name: value for name, value in attrs.items() if name not in computed}
        if op.name == "print":  # what its kernel can't know
            attrs["first_n"] = [attrs["first_n"] or -1]
            attrs["print_tensor_name"] = attrs["print_tensor_name"] and keys["x"][0]
        compat = compat_of(op.name)
        if any(slot_of(compat, item.name) == "XShape" for item in op.inputs):
            op, attrs = RESHAPE_BACK, {}
        attr_inputs = {attr: self(name) for attr, name in computed.items()}
        where = operator.type, operator.call_stack
        calls = [Instruction(op, inputs, outputs, attrs, attr_inputs, *where)]
        if operator.output("XShape"):
            shapes = [self(name) for name in operator.output("XShape")]
            calls.append(Instruction(XSHAPE, inputs, shapes, op_type=operator.type))
        return calls
