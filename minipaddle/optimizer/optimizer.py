"""Optimizer: what all optimizers share: parameters, the learning rate, one step in each world.

An optimizer says once which op updates a parameter (`_append_update`); dygraph runs it now, a
Program and a PIR program get it as an op.

Paddle: python/paddle/optimizer/optimizer.py.
Left out: learning-rate schedulers, clipping, weight decay, accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.base.backward import append_backward as append_backward_to_program
from minipaddle.base.framework import (
    OpRole,
    Variable,
    default_startup_program,
    program_guard,
)
from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.common.place import UNDEFINED
from minipaddle.eager import no_grad
from minipaddle.eager.tensor import Tensor, to_tensor
from minipaddle.nn.initializer import Constant
from minipaddle.phi.core.world import in_dynamic_mode, world_guard
from minipaddle.pir.core import builder
from minipaddle.pir.core.type import DenseTensorType
from minipaddle.pir.core.value import Value
from minipaddle.pir.ir_backward import append_backward as append_backward_to_pir


class Optimizer:
    """Base class. A subclass defines `_append_update`."""

    def __init__(
        self, learning_rate: float = 0.001, parameters: Sequence[Any] | None = None
    ) -> None:
        if parameters is None and in_dynamic_mode():
            raise AttributeError(
                f"{type(self).__name__}: expected parameters in dygraph, but got None. "
                "Pass parameters=model.parameters()."
            )
        self._learning_rate = float(learning_rate)
        self._parameter_list = None if parameters is None else list(parameters)
        self._lr_tensor: Tensor | None = None
        self._lr_name = ""  # of the variable that holds the learning rate in a static program

    def get_lr(self) -> float:
        return self._learning_rate

    def set_lr(self, value: float) -> None:
        """Changes the learning rate. In a static program that runs already, it is also set in the
        scope.
        """
        self._learning_rate = float(value)
        self._lr_tensor = None
        if self._lr_name:
            from minipaddle.new_executor.scope import global_scope

            global_scope().set(self._lr_name, np.asarray(value, dtypes.get_default_dtype()))

    def _append_update(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        """Calls the op that updates one parameter."""
        raise NotImplementedError(
            f"Optimizer: expected {type(self).__name__} to define _append_update(), but it does "
            "not. Write it."
        )

    # -- dygraph -------------------------------------------------------------------------------

    def step(self) -> None:
        """Updates every parameter that has a gradient."""
        if self._lr_tensor is None:
            self._lr_tensor = to_tensor(self._learning_rate)
        with no_grad():
            for parameter in self._parameter_list or ():
                if parameter.grad is not None and not parameter.stop_gradient:
                    self._append_update(parameter, parameter.grad, self._lr_tensor)

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Sets the gradients to zeros, or drops them."""
        for parameter in self._parameter_list or ():
            parameter.clear_gradient(set_to_zero)

    # -- both ----------------------------------------------------------------------------------

    def minimize(self, loss: Any) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Static: appends backward and the updates. Dygraph: one step, after your loss.backward().

        Returns:
            (the update ops, the (parameter, gradient) pairs).

        Raises:
            TypeError: loss is neither Tensor, Variable nor Value.
        """
        if isinstance(loss, Tensor):
            self.step()
            return [], [(p, p.grad) for p in self._parameter_list or () if p.grad is not None]
        if isinstance(loss, Variable):
            return self._minimize_program(loss)
        if isinstance(loss, Value):
            return self._minimize_pir(loss)
        raise TypeError(
            "minimize: expected loss to be a Tensor, Variable or Value, but got "
            f"{type(loss).__name__}. "
            "Pass what the network computes."
        )

    def _minimize_program(self, loss: Variable) -> tuple[list[Any], list[tuple[Any, Any]]]:
        pairs = append_backward_to_program(loss, self._parameter_list)
        pairs.sort(key=lambda pair: pair[0].name)
        program = loss.block.program
        self._lr_name = unique_name.generate("learning_rate")
        with world_guard("program"), program_guard(program, default_startup_program()):
            startup = default_startup_program()
            with program_guard(startup):
                made = Constant(self._learning_rate)([], dtypes.float32)
            startup.global_block()._rename_var(made.name, self._lr_name)
            startup.global_block().var(self._lr_name).persistable = True
            rate = program.global_block().create_var(
                self._lr_name, [], "float32", persistable=True, stop_gradient=True
            )
            first = len(program.global_block().ops)
            with program._role_guard(OpRole.OPTIMIZE):
                for number, (parameter, gradient) in enumerate(pairs):
                    self._append_update(parameter, gradient, rate)
                    op = program.global_block().ops[-1]
                    op._set_attr("op_role_var", [parameter.name, gradient.name])
                    op._set_attr("op_namescope", f"/optimizer{f'_{number}' if number else ''}/")
        return program.global_block().ops[first:], pairs

    def _minimize_pir(self, loss: Value) -> tuple[list[Any], list[tuple[Any, Any]]]:
        block = loss.get_defining_op().parent
        assert block is not None
        with no_grad():
            pairs = append_backward_to_pir(loss, self._parameter_list)
        self._lr_name = unique_name.generate("learning_rate")
        startup = builder.default_startup_program()
        with world_guard("pir"), builder.program_guard(block.program, startup):
            with builder.program_guard(startup):
                value = Constant(self._learning_rate)([], dtypes.float32)
                value.persistable = True
                builder.build("builtin.shadow_output", [value], {"output_name": self._lr_name})
            attributes = {
                "name": self._lr_name,
                "shape": (),
                "dtype": dtypes.float32,
                "place": UNDEFINED,
                "persistable": builder.flags(True),
                "stop_gradient": builder.flags(True),
            }
            with builder.insertion_point_at(0):
                rate = builder.build(
                    "pd_op.data", (), attributes, [DenseTensorType("float32", [])]
                ).result(0)
            first = len(block.ops)
            for parameter, gradient in pairs:
                self._append_update(parameter, gradient, rate)
        return block.ops[first:], pairs
