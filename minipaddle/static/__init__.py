"""static: the static-graph API, for both kinds of program.

As in Paddle 3, a program is a PIR program, except inside `paddle.pir_utils.OldIrGuard()`, where
it is the classic Program.

    nn/                 what only programs have: conditions, loops, layers as functions
    inference_program   a program for inference: a `feed` op per input, a `fetch` op per output
    io                  programs and parameters in files, in Paddle's formats

Paddle: python/paddle/static/.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minipaddle import base, pir
from minipaddle.base.backward import append_backward as append_backward_to_program
from minipaddle.base.backward import gradients as gradients_of_program
from minipaddle.base.compiler import BuildStrategy, CompiledProgram
from minipaddle.base.control_flow import all_or_nothing
from minipaddle.base.executor import Executor
from minipaddle.base.framework import Program as ClassicProgram
from minipaddle.base.framework import Variable
from minipaddle.base.name_scope import name_scope
from minipaddle.common import unique_name
from minipaddle.common.dtype import to_dtype
from minipaddle.common.place import CPU, UNDEFINED
from minipaddle.new_executor.scope import Scope, global_scope, scope_guard
from minipaddle.nn.param_attr import create_parameter
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world, in_pir_mode
from minipaddle.pir.core.builder import build, flags, insertion_point_at
from minipaddle.pir.core.value import Value
from minipaddle.pir.ir_backward import append_backward as append_backward_to_pir
from minipaddle.pir.ir_backward import grad as pir_grad
from minipaddle.static import nn
from minipaddle.static.io import (
    deserialize_persistables,
    deserialize_program,
    load,
    load_from_file,
    load_inference_model,
    load_program_state,
    normalize_program,
    save,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    set_program_state,
)
from minipaddle.static.nn.control_flow import Print
from minipaddle.tensor.indexing import setitem

__all__ = [
    "BuildStrategy",
    "CompiledProgram",
    "Executor",
    "Print",
    "Program",
    "Scope",
    "append_backward",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "global_scope",
    "gradients",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "save",
    "save_inference_model",
    "save_to_file",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
    "setitem",
]


def _require_static(who: str) -> str:
    world = current_world().name
    if world == "dygraph":
        raise RuntimeError(
            f"{who}: expected static mode, but got dygraph. Call paddle.enable_static() first."
        )
    return world


class Program:
    """Program(): a new program: PIR, or the classic one inside OldIrGuard."""

    parse_from_string = staticmethod(ClassicProgram.parse_from_string)

    def __new__(cls) -> Any:
        return ClassicProgram() if current_world().name == "program" else pir.Program()


def default_main_program() -> Any:
    """The program to which ops are appended."""
    return pir.default_main_program() if in_pir_mode() else base.default_main_program()


def default_startup_program() -> Any:
    """The program that makes the parameters."""
    return pir.default_startup_program() if in_pir_mode() else base.default_startup_program()


@contextlib.contextmanager
def program_guard(main_program: Any, startup_program: Any = None) -> Iterator[None]:
    """Inside, ops are appended to `main_program`, and parameters are made in `startup_program`.

    Raises:
        TypeError: the program is not of the kind that the current mode builds.
    """
    world = _require_static("program_guard")
    kind = ClassicProgram if world == "program" else pir.Program
    wanted = [main_program] if startup_program is None else [main_program, startup_program]
    for program in wanted:
        if not isinstance(program, kind):
            raise TypeError(
                f"program_guard: expected a {kind.__module__}.Program in this mode, but got "
                f"{type(program).__module__}.{type(program).__name__}. Classic Programs are built "
                "inside paddle.pir_utils.OldIrGuard()."
            )
    guard = base.program_guard if world == "program" else pir.program_guard
    with guard(main_program, startup_program):
        yield


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Any:
    """An input of the program, to be fed under `name`. None or -1 in the shape: any size.

    Raises:
        TypeError: the name is no text or empty, or the shape no list of ints.
        ValueError: a size is negative but not -1, or the program has a variable of that name.
    """
    world = _require_static("static.data")
    if not isinstance(name, str) or not name:
        raise TypeError(
            f"static.data: expected a name, but got {name!r}. Under the name you will feed it."
        )
    sizes = _sizes_of_data(name, shape)
    wanted = to_dtype(dtype or "float32")
    if world == "program":
        block = base.default_main_program().global_block()
        variable = block.create_var(name, sizes, wanted, stop_gradient=True)
        variable.proto.need_check_feed = True
        return variable
    if any(value.name == name for value in pir.default_main_program().list_vars()):
        raise ValueError(
            f"static.data: expected a new name, but got {name!r}, which the program has. Choose "
            "another name."
        )
    attributes = {
        "name": name,
        "shape": tuple(sizes),
        "dtype": wanted,
        "place": UNDEFINED,
        "stop_gradient": flags(True),
    }
    # inputs stand together: a new one comes after the last one, if there is one
    ops = pir.default_main_program().global_block().ops
    last = max((i for i, op in enumerate(ops) if op.name() == "pd_op.data"), default=None)
    with insertion_point_at(None if last is None else last + 1):
        op = build("pd_op.data", (), attributes, [pir.DenseTensorType(wanted, sizes)])
    return op.result(0)


def _sizes_of_data(name: str, shape: Any) -> list[int]:
    """The shape as ints, with -1 for any size."""
    if not isinstance(shape, (list, tuple)):
        raise TypeError(
            f"static.data: expected the shape of {name!r} to be a list, but got {shape!r}. Give "
            "one size for each axis."
        )
    sizes = [-1 if size is None else size for size in shape]
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"static.data: expected the shape of {name!r} to hold ints, but got {size!r}. "
                "Give a size, or None where any size may be fed."
            )
        if size < -1:
            raise ValueError(
                f"static.data: expected sizes of 0 or more in the shape of {name!r}, but got "
                f"{size}. Only -1 stands for any size."
            )
    return [int(size) for size in sizes]


def cpu_places(device_count: int | None = None) -> list[Any]:
    """So many times the CPU (default: once)."""
    return [CPU] * (device_count or 1)


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Any:
    """A Variable of the classic Program that the startup program fills with `value`.

    Args:
        persistable: it lives between runs.
        force_cpu: taken as it is in Paddle; here a variable lives where its program runs.

    Raises:
        NotImplementedError: in PIR programs, as in Paddle 3.3.
        TypeError: the shape is no list of ints.
        ValueError: the name is taken.
    """
    if _require_static("static.create_global_var") != "program":
        raise NotImplementedError(
            "static.create_global_var: expected a classic Program, but got a PIR program. Call it "
            "inside paddle.pir_utils.OldIrGuard()."
        )
    if not isinstance(shape, (list, tuple)):
        raise TypeError(
            f"static.create_global_var: expected the shape to be a list, but got {shape!r}. Give "
            "one size for each axis."
        )
    name, startup = name or unique_name.generate("_generated_var"), base.default_startup_program()
    with all_or_nothing(startup):
        with base.program_guard(startup):
            made = OPS["full"](shape=list(shape), value=value, dtype=dtype)
        startup.global_block()._rename_var(made.name, name)
        made.persistable = True
        block = base.default_main_program().global_block()
        return block.create_var(name, shape, dtype, persistable=persistable, stop_gradient=True)


def append_backward(
    loss: Any, parameter_list: Any = None, no_grad_set: Any = None, *, checkpoints: Any = None
) -> Any:
    """Appends the gradient ops of `loss`; returns (parameter, gradient) pairs.

    With `checkpoints` (classic Programs only): see `minipaddle.base.append_backward`.
    """
    if isinstance(loss, Variable) or current_world().name == "program":
        return append_backward_to_program(
            loss, parameter_list, no_grad_set, checkpoints=checkpoints
        )
    if checkpoints:
        raise NotImplementedError(
            "append_backward: expected no checkpoints for a PIR program, but got some. Build the "
            "program inside paddle.pir_utils.OldIrGuard()."
        )
    return append_backward_to_pir(loss, parameter_list, no_grad_set)


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Any = None
) -> list:
    """The gradients of `targets` with respect to `inputs`; None where there is none."""
    starts = targets if isinstance(targets, (list, tuple)) else [targets]
    if current_world().name == "program" or any(isinstance(item, Variable) for item in starts):
        return gradients_of_program(targets, inputs, target_gradients, no_grad_set)
    if not starts or not all(isinstance(value, Value) for value in starts):
        raise TypeError(
            "gradients: expected Values of a PIR program, but got "
            f"{[type(value).__name__ for value in starts]}. In dygraph call paddle.grad."
        )
    return pir_grad(targets, inputs, target_gradients, no_grad_set)
