"""pir: Paddle's SSA IR. Every value is written once and knows its uses; a program is a text that
can be read back.

    core/          types, attributes, values, operations, blocks, programs
    drr            declarative rewrite rules: draw the pattern, draw what replaces it
    ir_backward    gradients of a PIR program
    lowering       from a PIR program to instructions
    pass_manager   Pass and PassManager: programs that rewrite programs

Paddle: paddle/pir/, paddle/fluid/pir/, python/paddle/pir/.
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import Op
from minipaddle.phi.core.world import World, register_world
from minipaddle.phi.math_op_patch import patch_class
from minipaddle.pir.core.attribute import Attribute
from minipaddle.pir.core.block import Block, Program
from minipaddle.pir.core.builder import (
    append_phi_op,
    build,
    default_main_program,
    default_startup_program,
    flags,
    insertion_point_at,
    program_guard,
    reset_insertion_point_to_end,
    reset_insertion_point_to_start,
    set_insertion_point,
    set_insertion_point_after,
)
from minipaddle.pir.core.ir_parser import parse_program
from minipaddle.pir.core.operation import Operation
from minipaddle.pir.core.type import DenseTensorType, Type, VectorType
from minipaddle.pir.core.value import OpOperand, OpResult, Value
from minipaddle.pir.drr import DrrPatternContext
from minipaddle.pir.pass_manager import Pass, PassManager

__all__ = [
    "Attribute",
    "Block",
    "DenseTensorType",
    "DrrPatternContext",
    "OpOperand",
    "OpResult",
    "Operation",
    "Pass",
    "PassManager",
    "Program",
    "Type",
    "Value",
    "VectorType",
    "default_main_program",
    "default_startup_program",
    "fetch",
    "parse_program",
    "program_guard",
    "reset_insertion_point_to_end",
    "reset_insertion_point_to_start",
    "set_insertion_point",
    "set_insertion_point_after",
]


def fetch(value: Value, name: str, col: int = 0) -> Value:
    """Marks a value as wanted: passes keep what it depends on, and `fetch_list=[name]` finds it."""
    attributes = {"name": name, "col": col, "stop_gradient": flags(True)}
    return build("pd_op.fetch", [value], attributes, [value.type()]).result(0)


def _call_pir(op: Op, args: Any, kwargs: dict[str, Any]) -> Any:
    """What calling an op means here: insert an operation at the insertion point."""
    inputs, attrs = op.bind(args, kwargs)
    results = append_phi_op(op, inputs, attrs)
    return results[0] if len(results) == 1 else tuple(results) or None


def _create_parameter(
    shape: Any, dtype: Any, initializer: Any, name: str, trainable: bool = True
) -> Value:
    """A parameter: set in the startup program, read at the beginning of the main program."""
    with program_guard(default_startup_program()):
        value = initializer(shape, dtype)
        value.persistable = True
        build("builtin.set_parameter", [value], {"parameter_name": name})
    attributes = {
        "parameter_name": name,
        "is_distributed": flags(False),
        "is_parameter": flags(True),
        "need_clip": flags(True),
        "persistable": flags(True),
        "stop_gradient": flags(not trainable),
        "trainable": flags(trainable),
    }
    with insertion_point_at(0):
        return build("builtin.parameter", (), attributes, [DenseTensorType(dtype, shape)]).result(0)


patch_class(Value, _call_pir)
register_world(World("pir", _call_pir, _create_parameter, default_main_program))
