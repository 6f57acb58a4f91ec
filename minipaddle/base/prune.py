"""Programs that are made smaller: only the ops that some targets need, or only the forward ops.

Both work on the description (a ProgramDesc message), as in Paddle, and leave the given one as it
is. The walk goes backwards, from the last op to the first: an op stays if it is a target, or if it
writes a name that an op after it needs. So does each block that an op that stays has of its own.

Paddle: paddle/fluid/framework/prune.cc.
Left out: readers. What Paddle gets wrong is right here: from the block of a
conditional_block_grad it drops every op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minipaddle.base.framework_proto import ATTR_TYPES, ProgramDesc

_BACKWARD, _OPTIMIZE = 1, 2  # bits of op_role
# attributes that say of which block an op is, or where its block is
_BLOCK_ATTRS = (ATTR_TYPES["BLOCK"], ATTR_TYPES["BLOCKS"])


def prune(program: Any, targets: set[int], names: set[str], feeds: set[str]) -> Any:
    """A new ProgramDesc with the ops that `targets` need.

    Args:
        program: a ProgramDesc.
        targets: positions of ops in block 0.
        names: variables that stay, though perhaps no op that stays reads or writes them.
        feeds: names that are fed, so that the ops which compute them are not needed.
    """
    pruning = _Pruning(program, lambda block, position, op: block == 0 and position in targets)
    return pruning.run(names, feeds)


def prune_backward(program: Any) -> Any:
    """A new ProgramDesc without the ops of the backward pass and of the optimizer."""
    return _Pruning(program, lambda block, position, op: is_forward(op)).run(set(), set())


def set_is_test(program: Any) -> None:
    """Makes dropout, batch_norm and their like behave as in a test: changes the given ProgramDesc.

    batch_norm loses its output ReserveSpace, which only a gradient reads.
    """
    for block in program.blocks:
        for op in block.ops:
            for attr in op.attrs:
                if attr.name == "is_test":
                    attr.b = True
            if op.type == "batch_norm":
                kept = [item for item in op.outputs if item.parameter != "ReserveSpace"]
                del op.outputs[:]
                op.outputs.extend(kept)


def is_forward(op: Any) -> bool:
    """Whether an OpDesc belongs to neither the backward pass nor the optimizer."""
    role = next((attr.i for attr in op.attrs if attr.name == "op_role"), 0)
    return not role & (_BACKWARD | _OPTIMIZE)


def sub_blocks(op: Any) -> list[int]:
    """The indices of the blocks that an OpDesc runs."""
    found: list[int] = []
    for attr in op.attrs:
        if attr.type in _BLOCK_ATTRS:
            found += [attr.block_idx] if attr.type == ATTR_TYPES["BLOCK"] else attr.blocks_idx
    return found


def reads_of(op: Any) -> set[str]:
    """The names in the input slots of an OpDesc."""
    return {name for item in op.inputs for name in item.arguments}


def writes_of(op: Any) -> set[str]:
    """The names in the output slots of an OpDesc."""
    return {name for item in op.outputs for name in item.arguments}


class _Pruning:
    """One pruning: which ops of which blocks stay."""

    def __init__(self, program: Any, is_target: Callable[[int, int, Any], bool]) -> None:
        self.program = program
        self.is_target = is_target
        self.kept: dict[int, list[int]] = {}  # block -> positions of the ops that stay
        self.touched: dict[int, set[str]] = {}  # block -> names that they read or write
        # block -> names that its gradient's block reads
        self.for_gradient: dict[int, set[str]] = {}

    def run(self, names: set[str], feeds: set[str]) -> Any:
        self.walk(0, set(), feeds)
        self.touched[0] |= names
        return self.build()

    def walk(self, index: int, needed: set[str], feeds: set[str]) -> None:
        """Decides for one block. `needed`: the names that are needed after it."""
        block = self.program.blocks[index]
        needed, kept = needed | self.for_gradient.get(index, set()), []
        self.kept[index], self.touched[index] = kept, set()
        for position in range(len(block.ops) - 1, -1, -1):
            op = block.ops[position]
            reads, writes = reads_of(op), writes_of(op)
            if not self.is_target(index, position, op) and needed.isdisjoint(writes):
                continue
            kept.append(position)
            self.touched[index] |= reads | writes
            for inner in sub_blocks(op):
                self.walk_sub_block(op, inner, reads | writes, feeds)
                own = {variable.name for variable in self.program.blocks[inner].vars}
                reads |= self.touched[inner] - own  # also what the op does not list
                self.touched[index] |= self.touched[inner] - own
            needed |= reads - feeds
        kept.reverse()

    def walk_sub_block(self, op: Any, inner: int, needed: set[str], feeds: set[str]) -> None:
        if op.type.endswith("_grad"):
            # it gives its gradients other names than its block does: nothing can be left out
            needed = {name for each in self.program.blocks[inner].ops for name in writes_of(each)}
        self.walk(inner, needed, feeds)
        forward = self.program.blocks[inner].forward_block_idx
        self.for_gradient.setdefault(forward, set()).update(self.touched[inner])

    def build(self) -> Any:
        """The ops and blocks that stay, with the blocks numbered anew, and their variables by
        name.
        """
        numbers = {old: new for new, old in enumerate(sorted(self.kept))}
        result = ProgramDesc()
        result.CopyFrom(self.program)
        del result.blocks[:]
        for old in sorted(self.kept):
            source = self.program.blocks[old]
            block = result.blocks.add()
            block.idx = numbers[old]
            block.parent_idx = numbers.get(source.parent_idx, -1)
            block.forward_block_idx = numbers.get(source.forward_block_idx, -1)
            used = [variable for variable in source.vars if variable.name in self.touched[old]]
            block.vars.extend(sorted(used, key=lambda variable: variable.name))
            for position in self.kept[old]:
                op = block.ops.add()
                op.CopyFrom(source.ops[position])
                for attr in op.attrs:
                    if attr.type == ATTR_TYPES["BLOCK"]:
                        attr.block_idx = numbers[attr.block_idx]
                    elif attr.type == ATTR_TYPES["BLOCKS"]:
                        attr.blocks_idx[:] = [numbers[each] for each in attr.blocks_idx]
        return result
