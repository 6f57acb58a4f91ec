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
from minipaddle.base.prune import sub_blocks
from minipaddle.common import dtype as dtypes
from minipaddle.common.errors import IRError


def check(message: Any) -> None:
    """Raises IRError if something is wrong with a ProgramDesc:

    - it has no block, or an index of one that is unknown or cyclic,
    - a Tensor has a dtype that is left out here, or an op's role is no int,
    - a name or a text is no UTF-8.
    """
    count = len(message.blocks)
    _require(count > 0, "at least one block", "none")
    for position, block in enumerate(message.blocks):
        where = f"blocks in order, block {position} at place {position}"
        _require(block.idx == position, where, f"block {block.idx}")
        parents = range(position) if position else [-1]
        parent = f"a parent from 0 to {position - 1}" if position else "no parent (-1)"
        where = f"block {position} to have {parent}"
        _require(block.parent_idx in parents, where, f"parent {block.parent_idx}")
        where = f"block {position} to be the gradient of one of {count} blocks"
        forward = block.forward_block_idx
        _require(-1 <= forward < count, where, f"forward block {forward}")
        for variable in block.vars:
            _check_variable(variable)
        for op in block.ops:
            _check_op(op)
            for index in sub_blocks(op):  # a block is made after the one in which its op stands
                last = f"from {position + 1} to {count - 1}"
                where = f"{op.type} in block {position} to run a block {last}"
                _require(position < index < count, where, f"block {index}")


def _check_variable(variable: Any) -> None:
    _check_texts(variable.name)
    dtype = variable.type.dense_tensor.tensor.data_type
    if variable.type.type == VAR_TYPES["DENSE_TENSOR"] and dtype not in dtypes.BY_PROTO:
        name = next(name for name, number in VAR_TYPES.items() if number == dtype)
        raise IRError(
            f"Program.parse_from_string: expected {variable.name!r} to be of a dtype that numpy "
            f"has, but got {name}. Write the program in another dtype."
        )


def _check_op(op: Any) -> None:
    _check_texts(op.type)
    for item in [*op.inputs, *op.outputs]:
        _check_texts(item.parameter, *item.arguments)
    for attr in op.attrs:
        _check_texts(attr.name, attr.s, *attr.strings)
        kind = attr.name == "op_role" and attr.type != ATTR_TYPES["INT"]
        _require(not kind, f"the op_role of {op.type} to be an int", f"type {attr.type}")


def _check_texts(*texts: Any) -> None:
    for text in texts:
        _require(isinstance(text, str), "names and texts in UTF-8", repr(text))


def _require(right: bool, expected: str, got: str) -> None:
    if not right:
        raise IRError(
            f"Program.parse_from_string: expected {expected}, but got {got}. The description is "
            "damaged: write it again with serialize_to_string()."
        )
