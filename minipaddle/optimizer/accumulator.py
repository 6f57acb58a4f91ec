"""What an optimizer keeps from step to step, made in each of the three worlds.

In dygraph it is a Tensor. A static program has a variable that lives in the scope between runs: the
startup program fills it, the main program reads it and writes it in place.

Paddle: _add_accumulator and _create_master_weight in python/paddle/optimizer/optimizer.py,
create_persistable_value in python/paddle/pir/core.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base import framework as base
from minipaddle.common import dtype as dtypes
from minipaddle.common.place import UNDEFINED
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world
from minipaddle.pir.core import builder
from minipaddle.pir.core.type import DenseTensorType
from minipaddle.pir.core.value import Value


def create_global_var(name: str, shape: Sequence[int], value: float, dtype: Any) -> Any:
    """A Tensor, Variable or Value that lives between steps, filled with one number at first."""

    def fill() -> Any:
        return OPS["full"](shape=list(shape), value=float(value), dtype=dtype)

    world = current_world().name
    if world == "dygraph":
        return _named(fill(), name)
    return (_program_var if world == "program" else _pir_value)(name, shape, dtype, fill)


def create_master_weight(name: str, parameter: Any) -> Any:
    """A copy of a parameter in float32, filled from it where it starts."""
    world = current_world().name
    if world == "dygraph":
        return _named(_as_float32(parameter), name)
    if world == "program":
        held = base.default_startup_program().global_block().var(parameter.name)
        return _program_var(name, parameter.shape, "float32", lambda: _as_float32(held))
    held = next(
        op.operand_source(0)
        for op in builder.default_startup_program().global_block().ops
        if op.name() == "builtin.set_parameter"
        and op.attributes["parameter_name"].value == parameter.name
    )
    return _pir_value(name, parameter.shape, "float32", lambda: _as_float32(held))


def create_scheduled_rate(name: str, value: float, dtype: Any) -> Value:
    """The learning rate of a PIR program with a scheduler: a parameter that the Executor sets."""
    startup = builder.default_startup_program()
    with builder.program_guard(startup):
        made = OPS["full"](shape=[], value=value, dtype=dtype)
        made.persistable = True
        builder.build("builtin.set_parameter", [made], {"parameter_name": name})
    attributes = {
        "parameter_name": name,
        "persistable": builder.flags(True),
        "stop_gradient": builder.flags(True),
    }
    kind = DenseTensorType(dtypes.to_dtype(dtype), [])
    return builder.build("builtin.parameter", (), attributes, [kind]).result(0)


def _as_float32(value: Any) -> Any:
    return OPS["cast"](value, dtype="float32")


def _named(tensor: Any, name: str) -> Any:
    tensor.name, tensor.persistable = name, True
    return tensor


def _program_var(name: str, shape: Sequence[int], dtype: Any, make: Any) -> base.Variable:
    startup = base.default_startup_program()
    with base.program_guard(startup):
        made = make()
    block = startup.global_block()
    block._rename_var(made.name, name)
    block.var(name).persistable = True
    block.var(name).stop_gradient = True
    main = base.default_main_program().global_block()
    return main.create_var(name, shape, dtype, persistable=True)


def _pir_value(name: str, shape: Sequence[int], dtype: Any, make: Any) -> Value:
    startup = builder.default_startup_program()
    with builder.program_guard(startup):
        made = make()
        made.persistable = True
        builder.build("builtin.shadow_output", [made], {"output_name": name})
    wanted = dtypes.to_dtype(dtype)
    attributes = {
        "name": name,
        "shape": tuple(shape),
        "dtype": wanted,
        "place": UNDEFINED,
        "persistable": builder.flags(True),
        "stop_gradient": builder.flags(True),
    }
    with builder.insertion_point_at(0):
        kind = DenseTensorType(wanted, shape)
        return builder.build("pd_op.data", (), attributes, [kind]).result(0)
