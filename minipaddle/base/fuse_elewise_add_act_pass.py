"""fuse_elewise_add_act: an elementwise_add and the relu or tanh after it become one op.

    {Out=['t']} = elementwise_add(X=['x'], Y=['b'])
    {Out=['o']} = relu(X=['t'])
    ->
    {IntermediateOut=['t'], Out=['o']} = fused_elemwise_add_activation(X=['x'], Y=['b'],
                                             functor_list = ['relu', 'elementwise_add'])

The sum is then never written to memory. That is only right if nobody else reads it.

Paddle: paddle/fluid/framework/ir/fuse_elewise_add_act_pass.cc.
Left out: an activation before the sum; gradient ops; scale as an activation (Paddle 3.3.1 loses its
bias there, and computes something else).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from minipaddle.base.framework import Block, Operator, Program
from minipaddle.base.framework_proto import OpDesc
from minipaddle.base.op_desc import write_attr
from minipaddle.phi.ops.fused import ACTIVATIONS

FUSED = "fused_elemwise_add_activation"


def fuse_elewise_add_act(program: Program, kept: Iterable[str] = ()) -> int:
    """Rewrites all blocks of the program, in place.

    Args:
        kept: names that will be fetched, so that somebody reads them.

    Returns:
        How many pairs became one op.
    """
    ops = [operator for block in program.blocks for operator in block.ops]
    readers = Counter(name for operator in ops for name in set(operator.input_arg_names))
    writers = Counter(name for operator in ops for name in set(operator.output_arg_names))
    readers.update(kept)
    count = 0
    for block in program.blocks:
        changed: dict[int, Operator | None] = {}  # id of an op -> what comes in its place
        for add, activation in _pairs(block):
            (total,) = add.output("Out")
            private = readers[total] == writers[total] == 1 and total in block.vars
            if private and not block.vars[total].persistable and _keeps_axis(block, add):
                changed |= {id(add): None, id(activation): _fused(block, add, activation)}
        replaced = [changed.get(id(operator), operator) for operator in block.ops]
        block.ops = [operator for operator in replaced if operator is not None]
        count += len(changed) // 2
    program._changed()
    return count


def _pairs(block: Block) -> list[tuple[Operator, Operator]]:
    """Each activation with the sum that it reads, if what the sum reads is the same at both."""
    sums: dict[str, tuple[int, Operator]] = {}
    written: dict[str, int] = {}  # name -> the last op so far that writes it
    pairs = []
    for position, operator in enumerate(block.ops):
        if operator.type in ACTIVATIONS and operator.input("X")[0] in sums:
            since, add = sums.pop(operator.input("X")[0])
            if all(written.get(name, -1) < since for name in add.input_arg_names):
                pairs.append((add, operator))
        written.update(dict.fromkeys(operator.output_arg_names, position))
        if operator.type == "elementwise_add":
            sums[operator.output("Out")[0]] = position, operator
    return pairs


def _keeps_axis(block: Block, add: Operator) -> bool:
    """Whether the shapes line up at their ends, as numpy's do."""
    ranks = [block._var_recursive(add.input(slot)[0]).ndim for slot in "XY"]
    return not add.has_attr("axis") or add.attr("axis") in (-1, ranks[0] - ranks[1])


def _fused(block: Block, add: Operator, activation: Operator) -> Operator:
    desc = OpDesc(type=FUSED)
    desc.inputs.add(parameter="X", arguments=add.input("X"))
    desc.inputs.add(parameter="Y", arguments=add.input("Y"))
    desc.outputs.add(parameter="IntermediateOut", arguments=add.output("Out"))
    desc.outputs.add(parameter="Out", arguments=activation.output("Out"))
    own: dict[str, Any] = {
        "axis": add.attr("axis") if add.has_attr("axis") else -1,
        "functor_list": [activation.type, "elementwise_add"],
        "save_intermediate_out": False,
        "scale": 0.0,
    }
    for name, value in own.items():
        write_attr(desc.attrs.add(), name, value)
    desc.attrs.extend(activation.proto.attrs)  # its role, where it comes from
    return Operator(block, desc)
