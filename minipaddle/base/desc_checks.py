"""Is a ProgramDesc's tree of blocks a tree, are its texts texts, and its dtypes dtypes? Checked
when a description is read from bytes.

A block knows its parent, and an op of control flow knows the block that it runs. Both are indices,
so a damaged file could send the Executor round in circles.

Paddle: the checks of BlockDesc indices in paddle/fluid/framework/program_desc.cc; there a wrong
index ends the process.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base.framework_proto import ATTR_TYPES, VAR_TYPES
from minipaddle.common import dtype as dtypes
from minipaddle.common.errors import IRError

_BLOCK_KINDS = (ATTR_TYPES["BLOCK"], ATTR_TYPES["BLOCKS"])


def check_blocks(message: Any) -> None:
    """Raises IRError if the ProgramDesc has no block, or an index that is unknown or cyclic."""
    if not message.blocks:
        raise IRError(
            "Program.parse_from_string: expected at least one block, but got none. "
            "Pass what serialize_to_string() returned."
        )
    count = len(message.blocks)
    for position, block in enumerate(message.blocks):
        if block.idx != position:
            _refuse(f"blocks in order, block {position} at place {position}", f"block {block.idx}")
        if block.parent_idx != -1 if position == 0 else not 0 <= block.parent_idx < position:
            _refuse(
                f"block {position} to have "
                + ("no parent (-1)" if position == 0 else f"a parent from 0 to {position - 1}"),
                f"parent {block.parent_idx}",
            )
        if not -1 <= block.forward_block_idx < count:
            _refuse(
                f"block {position} to be the gradient of one of {count} blocks",
                f"forward block {block.forward_block_idx}",
            )
        for op in block.ops:
            for attr in op.attrs:
                if attr.type not in _BLOCK_KINDS:
                    continue
                single = attr.type == ATTR_TYPES["BLOCK"]
                for index in [attr.block_idx] if single else attr.blocks_idx:
                    # a block is made after the one in which its op stands
                    if not position < index < count:
                        _refuse(
                            f"{op.type} in block {position} to run a block from {position + 1} to "
                            f"{count - 1}",
                            f"{attr.name} = {index}",
                        )


def check_kinds(message: Any) -> None:
    """Raises IRError if a Tensor has a dtype that is left out here, or an op's role is no int."""
    names = {number: name for name, number in VAR_TYPES.items()}
    for block in message.blocks:
        for variable in block.vars:
            if variable.type.type != VAR_TYPES["DENSE_TENSOR"]:
                continue
            dtype = variable.type.dense_tensor.tensor.data_type
            if dtype not in dtypes.BY_PROTO:
                raise IRError(
                    f"Program.parse_from_string: expected {variable.name!r} to be of a dtype that "
                    f"numpy has, but got {names[dtype]}. Write the program in another dtype."
                )
        for op in block.ops:
            for attr in op.attrs:
                if attr.name == "op_role" and attr.type != ATTR_TYPES["INT"]:
                    _refuse(f"the op_role of {op.type} to be an int", f"type {attr.type}")


def check_texts(message: Any) -> None:
    """Raises IRError if a name or a text of the ProgramDesc is no UTF-8."""
    for block in message.blocks:
        texts = [variable.name for variable in block.vars]
        for op in block.ops:
            texts.append(op.type)
            for item in [*op.inputs, *op.outputs]:
                texts += [item.parameter, *item.arguments]
            for attr in op.attrs:
                texts += [attr.name, attr.s, *attr.strings]
        for text in texts:
            if not isinstance(text, str):
                _refuse("names and texts in UTF-8", repr(text))


def _refuse(expected: str, got: str) -> None:
    raise IRError(
        f"Program.parse_from_string: expected {expected}, but got {got}. The description is "
        "damaged: write it again with serialize_to_string()."
    )
