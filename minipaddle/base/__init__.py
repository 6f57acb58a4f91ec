"""base: the classic static graph. A Program is a description; an op call appends to it; an
Executor runs it.

    transpiler/                 programs that rewrite a program in place
    backward                    append_backward and gradients
    backward_control_flow       the gradients of conditional_block and while
    backward_plan               through which ops a gradient flows, and how many pieces it has
    backward_recompute          a backward that keeps checkpoints only, and computes the rest again
    backward_walk               one walk back over the ops of a plan
    block                       Block: ops and the variables that they use
    block_lowering              a block on its way to instructions
    call_stack                  where in the user's code an op was appended
    compiler                    CompiledProgram and BuildStrategy: passes before a run
    control_flow                ops that run a block: conditional_block and while
    control_flow_lowering       the same, on their way to instructions
    core                        what Python can ask about ops and their kernels
    desc                        `program.desc`, `block.desc`, `op.desc`, `var.desc`: the C++ side
    desc_checks                 is a description that was read from bytes well formed?
    executor                    Executor: runs a program with your feeds, gives your fetches
    framework                   Program: blocks of ops and variables; which programs are built now
    framework_proto             the messages of framework.proto
    fuse_elewise_add_act_pass   an elementwise_add and the relu or tanh after it become one op
    layer_helper                from the call of an op to an Operator; LayerHelper
    lowering                    from a Program to instructions
    name_scope                  names for parts of a model
    op_attrs                    attributes, from phi's names and values to a Program's, and back
    op_compat                   old names of ops, slots and attributes
    op_desc                     the pieces of an OpDesc message
    operator                    Operator: what it reads, what it writes, its attributes
    program_state               a program's numbers, taken out of a Scope and put back
    prune                       programs made smaller: what some targets need, or only the forward
    save_combine                arrays to bytes and back, in the format of .pdiparams
    variable                    Variable and Parameter
    xshape                      what `reshape2` and its like keep for their gradient

Paddle: python/paddle/base/, paddle/fluid/framework/.
"""

from __future__ import annotations

from typing import Any

from minipaddle.base import core
from minipaddle.base.backward import append_backward, grad_var_name
from minipaddle.base.control_flow import all_or_nothing
from minipaddle.base.executor import Executor
from minipaddle.base.framework import (
    Block,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from minipaddle.base.layer_helper import append_phi_op
from minipaddle.common import unique_name
from minipaddle.phi.core.op import Op
from minipaddle.phi.core.world import World, register_world
from minipaddle.phi.math_op_patch import patch_class


def _call_program(op: Op, args: Any, kwargs: dict[str, Any]) -> Any:
    """What calling an op means here: append it to the current block."""
    inputs, attrs = op.bind(args, kwargs)
    outputs = append_phi_op(op, inputs, attrs)
    return outputs[0] if len(outputs) == 1 else tuple(outputs) or None


def _call_operator(op: Op, inputs: Any, attrs: dict[str, Any]) -> Any:
    """What `x + y` means: the same, but the result has a name of its own, `tmp_0`."""
    names: dict[str, str | None] = {name: unique_name.generate("tmp") for name in op.outputs}
    return append_phi_op(op, list(inputs), op.complete(attrs), names)[0]


def _create_parameter(
    shape: Any, dtype: Any, initializer: Any, name: str, trainable: bool = True
) -> Variable:
    """A parameter of the main program; the startup program gets the op that makes its numbers.

    A name that the programs have already stands for the same parameter: two layers share it.

    Raises:
        ValueError: what has that name is no parameter, or has another shape or dtype.
    """
    startup, main = default_startup_program(), default_main_program().global_block()
    made = startup.global_block().vars
    for known in (main.vars.get(name), made.get(name)):
        if known is not None and not (
            known.is_parameter and list(known.shape) == list(shape) and known.dtype is dtype
        ):
            raise ValueError(
                f"create_parameter: expected a new name, or a parameter of shape {list(shape)} and "
                f"dtype {dtype.name} to share, but got {known}. Choose another name."
            )
    if name not in made:
        with all_or_nothing(startup):
            startup.global_block().create_parameter(shape, dtype, name, initializer, trainable)
    if name in main.vars:
        return main.vars[name]
    return main.create_parameter(shape, dtype, name, trainable=trainable)


patch_class(Variable, _call_operator)
register_world(World("program", _call_program, _create_parameter, default_main_program))
