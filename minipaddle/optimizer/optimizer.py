"""Optimizer: what all optimizers share: parameters in groups, the learning rate, clipping, weight
decay, state, and one step in each world.

A subclass says once which op updates a parameter (`_append_optimize_op`) and which state that needs
(`_create_accumulators`). Dygraph runs the op now; a Program and a PIR program get it appended. The
order is always: clip the gradients, add the decay, update.

Paddle: python/paddle/optimizer/optimizer.py.
Left out: updates of many parameters in one op, sparse gradients.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from minipaddle.base import framework as base
from minipaddle.base.backward import append_backward as append_backward_to_program
from minipaddle.base.framework import OpRole, Variable
from minipaddle.base.layer_helper import append_named
from minipaddle.common import dtype as dtypes
from minipaddle.common import unique_name
from minipaddle.eager import no_grad
from minipaddle.eager.tensor import Tensor, to_tensor
from minipaddle.optimizer.accumulator import (
    create_global_var,
    create_master_weight,
    create_scheduled_rate,
)
from minipaddle.optimizer.lr import LRScheduler
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world, in_dynamic_mode, world_guard
from minipaddle.pir.core import builder
from minipaddle.pir.core.value import Value
from minipaddle.pir.ir_backward import append_backward as append_backward_to_pir
from minipaddle.regularizer import L2Decay

Pairs = list[tuple[Any, Any]]  # (parameter, its gradient)


class Optimizer:
    """Base class. A subclass defines `_append_optimize_op`, and `_create_accumulators` if it has
    state.

    Args:
        learning_rate: a float or a LRScheduler.
        parameters: a list; or a list of dicts {"params": [...], "learning_rate": a factor,
            "weight_decay": ..., "grad_clip": ..., and options of the optimizer}. May be None in
            static mode: all parameters of the program.
        weight_decay: a float (for L2Decay), L1Decay or L2Decay. A parameter's own regularizer comes
            first.
        grad_clip: one of nn.ClipGradByValue, ClipGradByNorm, ClipGradByGlobalNorm.
        name: goes into the names of the state.
        options: what a group may say otherwise, such as Adam's beta1.

    Raises:
        AttributeError: there are no parameters, in dygraph.
        TypeError: an argument is of the wrong kind.
        ValueError: a parameter is in two groups.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> None:
        who = type(self).__name__
        if parameters is None and in_dynamic_mode():
            raise AttributeError(
                f"{who}: expected parameters in dygraph, but got None. "
                "Pass parameters=model.parameters()."
            )
        if isinstance(parameters, (Tensor, dict)):
            raise TypeError(
                f"{who}: expected a list of parameters, but got one {type(parameters).__name__}. "
                "Put it into a list."
            )
        if parameters is not None and not hasattr(parameters, "__iter__"):
            raise TypeError(
                f"{who}: expected a list of parameters, but got {type(parameters).__name__}. "
                "Pass parameters=model.parameters()."
            )
        if not isinstance(learning_rate, (float, LRScheduler)):
            raise TypeError(
                f"{who}: expected learning_rate to be a float or a LRScheduler, but got "
                f"{learning_rate!r}. Pass a number with a point, such as 0.1."
            )
        if grad_clip is not None and not callable(grad_clip):
            raise TypeError(
                f"{who}: expected grad_clip to be a ClipGradBy..., but got {grad_clip!r}. "
                "Pass paddle.nn.ClipGradByGlobalNorm(1.0), say."
            )
        self._learning_rate: float | LRScheduler = learning_rate
        self.regularization = self._as_regularizer(weight_decay)
        self._grad_clip = grad_clip
        self._name = name
        self._multi_precision = False
        self._default_dict = {**options, "weight_decay": weight_decay, "grad_clip": grad_clip}
        self._param_groups: list[dict[str, Any]] = []
        self._options_of: dict[str, dict[str, Any]] = {}  # by parameter, for those in groups
        given = None if parameters is None else list(parameters)
        if given and isinstance(given[0], dict):
            for group in given:
                self._add_param_group(dict(group))
            given = [parameter for group in self._param_groups for parameter in group["params"]]
        else:
            self._param_groups.append({**self._default_dict, "params": given})
        self._parameter_list = given
        self._accumulators: dict[str, dict[str, Any]] = {}
        self._accumulators_holder: dict[str, Any] = {}  # a loaded state that waits for its Tensors
        self._already_create_accumulator: set[str] = set()
        self._master_weights: dict[str, Any] = {}
        self._learning_rate_map: dict[Any, Any] = {}  # program -> its variable
        self._rate: tuple[float, Any] = (-1.0, None)  # of dygraph: its value, and as a Tensor

    # -- what a subclass says ------------------------------------------------------------------

    def _append_optimize_op(self, parameter: Any, gradient: Any, learning_rate: Any) -> Any:
        """Calls the op that updates one parameter."""
        raise NotImplementedError(
            f"Optimizer: expected {type(self).__name__} to define _append_optimize_op(), but it "
            "does not. Write it."
        )

    def _create_accumulators(self, parameter: Any) -> None:
        """Calls `_add_accumulator` for each piece of state of a parameter."""

    def _option(self, parameter: Any, name: str) -> Any:
        """What the parameter's group says, or else the optimizer."""
        return self._options_of.get(parameter.name, self._default_dict)[name]

    # -- parameter groups ----------------------------------------------------------------------

    def _add_param_group(self, group: dict[str, Any]) -> None:
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                f"{type(self).__name__}: expected a list of parameters in a group, but got a set. "
                "A set has no order."
            )
        group["params"] = list(params) if isinstance(params, (list, tuple)) else [params]
        group = {**self._default_dict, **group}
        for parameter in group["params"]:
            if parameter.name in self._options_of:
                raise ValueError(
                    f"{type(self).__name__}: expected each parameter in one group, but got "
                    f"{parameter.name!r} in two. Leave it in one."
                )
            self._options_of[parameter.name] = group
            parameter.optimize_attr = {"learning_rate": group.get("learning_rate", 1.0)}
        self._set_group_decay(group)
        self._param_groups.append(group)

    def _set_group_decay(self, group: dict[str, Any]) -> None:
        for parameter in group["params"]:
            parameter.regularizer = self._as_regularizer(group["weight_decay"])

    @staticmethod
    def _as_regularizer(weight_decay: Any) -> Any:
        if isinstance(weight_decay, (int, float)):
            return L2Decay(float(weight_decay))
        return weight_decay

    # -- the learning rate ---------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate of now."""
        rate = self._learning_rate
        return rate() if isinstance(rate, LRScheduler) else rate

    def set_lr(self, value: float) -> None:
        """Changes the learning rate; a static program gets it at its next run.

        Raises:
            TypeError: value is no number.
            RuntimeError: a scheduler says what the rate is.
        """
        if not isinstance(value, (int, float)):
            raise TypeError(
                f"set_lr: expected a number, but got {value!r}. For a scheduler call "
                "set_lr_scheduler."
            )
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                "set_lr: expected an optimizer without scheduler, but got one with "
                f"{type(self._learning_rate).__name__}, which would overwrite the rate. "
                "Call set_lr_scheduler."
            )
        self._learning_rate = float(value)
        for program in self._learning_rate_map:
            program.lr_scheduler = self.get_lr

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """From now on, the scheduler says the rate. Raises TypeError if it is no LRScheduler."""
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(
                f"set_lr_scheduler: expected a LRScheduler, but got {type(scheduler).__name__}. "
                "Pass one of paddle.optimizer.lr."
            )
        self._learning_rate = scheduler
        for program in self._learning_rate_map:
            program.lr_scheduler = self.get_lr

    def _global_learning_rate(self, dtype: Any) -> Any:
        """The learning rate as a Tensor, Variable or Value; made if it is not there."""
        dtype = dtypes.float32 if dtype is dtypes.float16 else dtype
        if in_dynamic_mode():
            value = self.get_lr()
            if value != self._rate[0] or self._rate[1].dtype is not dtype:
                self._rate = value, to_tensor(value, dtype)
            return self._rate[1]
        program = _current_program()
        if program not in self._learning_rate_map:
            name = unique_name.generate("learning_rate")
            scheduled = isinstance(self._learning_rate, LRScheduler)
            if scheduled and current_world().name == "pir":
                made = create_scheduled_rate(name, self.get_lr(), dtype)
            else:
                made = create_global_var(name, [], self.get_lr(), dtype)
                made.stop_gradient = True
            program.lr_var = self._learning_rate_map[program] = made
            program.lr_scheduler = self.get_lr if scheduled else None
        return self._learning_rate_map[program]

    def _create_param_lr(self, parameter: Any, learning_rate: Any) -> Any:
        """The learning rate times the parameter's own factor."""
        factor = parameter.optimize_attr["learning_rate"]
        return learning_rate if factor == 1.0 else learning_rate * factor

    # -- state ---------------------------------------------------------------------------------

    def _add_accumulator(
        self,
        name: str,
        parameter: Any,
        dtype: Any = None,
        fill_value: float = 0.0,
        shape: Sequence[int] | None = None,
    ) -> None:
        """Adds state for a parameter: `linear_0.w_0_moment1_0`, of the parameter's shape."""
        name = name if self._name is None else f"{self._name}_{name}"
        full_name = unique_name.generate(f"{parameter.name}_{name}")
        own = parameter.shape if shape is None else shape
        made = create_global_var(full_name, own, fill_value, dtype or parameter.dtype)
        if self._accumulators_holder and in_dynamic_mode():
            made.set_value(_loaded(self._accumulators_holder, full_name))
        self._accumulators.setdefault(name, {})[parameter.name] = made

    def _get_accumulator(self, name: str, parameter: Any) -> Any:
        """The state of that name; of the master weight, if there is one."""
        name = name if self._name is None else f"{self._name}_{name}"
        master = self._master_weights.get(parameter.name)
        return self._accumulators[name][parameter.name if master is None else master.name]

    def _prepare(self, parameter: Any) -> None:
        """Makes the parameter's state, and its master weight if it needs one."""
        if self._multi_precision and parameter.dtype is dtypes.float16:
            name = unique_name.generate(f"{parameter.name}_fp32_master")
            master = self._master_weights.get(parameter.name)
            master = create_master_weight(name, parameter) if master is None else master
            self._master_weights[parameter.name] = master
            self._create_accumulators(master)
        else:
            self._create_accumulators(parameter)
        self._already_create_accumulator.add(parameter.name)

    def state_dict(self) -> dict[str, Any]:
        """All state by name; "LR_Scheduler" and "master_weights" too, if there are any."""
        state: dict[str, Any] = {
            tensor.name: tensor for held in self._accumulators.values() for tensor in held.values()
        }
        if not state:
            state.update(self._accumulators_holder)
        if self._master_weights:
            state["master_weights"] = self._master_weights
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a saved state. What is not made yet gets its numbers at the first step.

        Raises:
            KeyError: a name is missing.
            TypeError: there are no names.
        """
        if not isinstance(state_dict, dict):
            raise TypeError(
                f"set_state_dict: expected a dict of names and numbers, but got "
                f"{type(state_dict).__name__}. Pass what state_dict() or paddle.load returned."
            )
        state = dict(state_dict)
        rates = state.pop("LR_Scheduler", None)
        if isinstance(self._learning_rate, LRScheduler) and rates is not None:
            self._learning_rate.set_state_dict(rates)
        for name, weight in state.pop("master_weights", {}).items():
            held = self._master_weights.setdefault(name, weight)
            if held is not weight:
                held.set_value(weight)
        self._accumulators_holder = state
        for held in self._accumulators.values():
            for tensor in held.values():
                tensor.set_value(_loaded(state, tensor.name))

    load_state_dict = set_state_dict

    # -- one step ------------------------------------------------------------------------------

    def step(self) -> None:
        """Dygraph: updates every parameter that has a gradient."""
        with no_grad():
            for group in self._param_groups:
                self._apply_optimize(_with_gradients(group["params"]), group["grad_clip"])

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Sets the gradients to zeros, or drops them."""
        for parameter in self._parameter_list or ():
            if not parameter.stop_gradient:
                parameter.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """clear_grad, by the name that torch has."""
        self.clear_grad(set_to_zero=not set_to_none)

    def _apply_optimize(self, pairs: Pairs, grad_clip: Any) -> list[Any]:
        """Clips, decays and updates, in any world. Returns the ops that were appended to update."""
        if not pairs:
            return []
        if grad_clip is not None:
            with self._stage("gradient_clip", None):
                pairs = grad_clip(pairs)
        pairs = self.append_regularization_ops(pairs, self.regularization)
        block = None if in_dynamic_mode() else _current_program().global_block()
        last = block.ops[-1] if block else None
        rate = self._global_learning_rate(pairs[0][0].dtype)
        for parameter, _ in pairs:
            if parameter.name not in self._already_create_accumulator:
                self._prepare(parameter)
        if block is None:
            for parameter, gradient in pairs:
                own_rate = self._create_param_lr(parameter, rate)
                self._append_optimize_op(parameter, gradient, own_rate)
            return []
        for number, (parameter, gradient) in enumerate(pairs):
            with self._stage(f"optimizer{f'_{number}' if number else ''}", (parameter, gradient)):
                own_rate = self._create_param_lr(parameter, rate)
                self._append_optimize_op(parameter, gradient, own_rate)
        return block.ops[block.ops.index(last) + 1 :]

    def append_regularization_ops(self, pairs: Pairs, regularization: Any = None) -> Pairs:
        """The pairs, with the decay added to the gradients."""
        return [
            (parameter, self._create_regularization_of_grad(parameter, gradient, regularization))
            for parameter, gradient in pairs
        ]

    def _create_regularization_of_grad(
        self, parameter: Any, gradient: Any, regularization: Any
    ) -> Any:
        regularizer = parameter.regularizer or regularization
        if regularizer is None:
            return gradient
        with self._stage("regularization", (parameter, gradient)):
            master = self._master_weights.get(parameter.name)
            differs = parameter.dtype is not gradient.dtype and master is not None
            term = regularizer(master if differs else parameter)
            if isinstance(gradient, Variable):  # a Program adds it to the gradient's own variable
                return append_named("add_n", [[gradient, term]], gradient.name)
            return OPS["add_n"]([gradient, term])

    @contextlib.contextmanager
    def _stage(self, scope: str, pair: tuple[Any, Any] | None) -> Iterator[None]:
        """Notes in a classic Program what the ops made inside are for."""
        if current_world().name != "program":
            yield
            return
        block = base.default_main_program().global_block()
        first = len(block.ops)
        yield
        for op in block.ops[first:]:
            op._set_attr("op_namescope", f"/{scope}/")
            if pair is not None:
                op._set_attr("op_role_var", [variable.name for variable in pair])

    # -- static programs -----------------------------------------------------------------------

    def backward(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> Pairs:
        """The first half of minimize: (parameter, gradient) pairs. Static: appends the backward.

        Raises:
            TypeError: loss is neither Tensor, Variable nor Value.
        """
        parameters = parameters or self._parameter_list
        if isinstance(loss, Tensor):
            return _with_gradients(parameters)
        if isinstance(loss, Variable):
            return append_backward_to_program(loss, parameters, no_grad_set)
        if isinstance(loss, Value):
            with no_grad():
                return append_backward_to_pir(loss, parameters, no_grad_set)
        raise TypeError(
            "minimize: expected loss to be a Tensor, Variable or Value, but got "
            f"{type(loss).__name__}. Pass what the network computes."
        )

    def apply_gradients(self, params_grads: Pairs) -> list[Any]:
        """The second half of minimize: updates the parameters, or appends the ops that do.

        Returns:
            the ops that were appended, without those that clip and decay.
        """
        if in_dynamic_mode():
            with no_grad():
                return self._apply_groups(params_grads)
        program = _current_program()
        if isinstance(program, base.Program):
            params_grads = sorted(params_grads, key=lambda pair: pair[0].name)
        # state lives in the scope; here are only the variables of the program that is built
        self._accumulators, self._master_weights = {}, {}
        self._already_create_accumulator.clear()
        guard = program._role_guard(OpRole.OPTIMIZE) if hasattr(program, "_role_guard") else None
        with guard or contextlib.nullcontext():
            return self._apply_groups(params_grads)

    def _apply_groups(self, pairs: Pairs) -> list[Any]:
        ops: list[Any] = []
        for group in self._param_groups:
            own = group["params"] if self._options_of else None
            names = None if own is None else {parameter.name for parameter in own}
            chosen = [pair for pair in pairs if names is None or pair[0].name in names]
            ops += self._apply_optimize(chosen, group["grad_clip"])
        return ops

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], Pairs]:
        """Static: appends backward and the updates. Dygraph: one step, after your loss.backward().

        Returns:
            (the update ops, the (parameter, gradient) pairs).

        Raises:
            TypeError: loss is neither Tensor, Variable nor Value.
        """
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        with _program_of(loss, startup_program):
            return self.apply_gradients(pairs), pairs


def _current_program() -> Any:
    """The program that is being built."""
    main_program = current_world().main_program
    assert main_program is not None  # not asked in dygraph
    return main_program()


@contextlib.contextmanager
def _program_of(loss: Any, startup: Any) -> Iterator[None]:
    """Inside, ops go to the program of the loss."""
    if isinstance(loss, Tensor):
        yield
    elif isinstance(loss, Variable):
        guard = base.program_guard(loss.block.program, startup or base.default_startup_program())
        with world_guard("program"), guard:
            yield
    else:
        block = loss.get_defining_op().parent
        startup = startup or builder.default_startup_program()
        with world_guard("pir"), builder.program_guard(block.program, startup):
            yield


def _with_gradients(parameters: Any) -> Pairs:
    """(parameter, gradient) of those that are trained and have a gradient."""
    return [
        (parameter, gradient)
        for parameter in parameters or ()
        if (gradient := parameter.grad) is not None and not parameter.stop_gradient
    ]


def _loaded(state: dict[str, Any], name: str) -> Any:
    """The numbers of that name. A model that is made a second time has other numbers at the ends of
    its names, so `w_moment1_1` also takes `w_moment1_0`.
    """
    if name not in state:
        stem = re.sub(r"_\d+$", "", name)
        name = next((key for key in state if re.sub(r"_\d+$", "", key) == stem), name)
    if name not in state:
        raise KeyError(
            f"set_state_dict: expected {name!r} in the state, but got {sorted(state)}. "
            "Pass what state_dict() of an optimizer of this model returned."
        )
    return state[name]
