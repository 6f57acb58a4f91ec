"""The numbers of a program: its persistable variables, taken out of a Scope and put back.

Paddle: Program.state_dict and set_state_dict in python/paddle/base/framework.py.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minipaddle.base.framework_proto import VAR_TYPES
from minipaddle.common.enforce import require_one_of, require_type
from minipaddle.common.place import current_place
from minipaddle.new_executor.scope import Scope, global_scope

MODES = ("param", "opt", "all")
# under this key, paddle.save writes the names of a Layer's parameters
NAME_TABLE = "StructuredToParameterName@@"


def persistables(program: Any, mode: str = "all") -> list[Any]:
    """The variables that live between runs: parameters ("param"), the others, such as the state of
    an optimizer ("opt"), or all of them.

    Raises:
        ValueError: mode is something else.
    """
    require_one_of("Program.state_dict", "mode", mode, MODES, "'all' is the default.")
    found = [
        variable
        for variable in program.list_vars()
        if variable.persistable and variable.proto.type.type == VAR_TYPES["DENSE_TENSOR"]
    ]
    return [v for v in found if mode == "all" or v.is_parameter == (mode == "param")]


def state_of(program: Any, mode: str, scope: Scope | None) -> dict[str, np.ndarray]:
    """Copies of the numbers, by name. Raises ValueError if a variable has none yet, TypeError if
    scope is no Scope.
    """
    return {
        v.name: tensor_of("Program.state_dict", v.name, scope).numpy()
        for v in persistables(program, mode)
    }


def tensor_of(who: str, name: str, scope: Scope | None) -> Any:
    """The Tensor of that name in the scope. Raises ValueError if it has no numbers yet."""
    held = _scope_or_global(scope).find_var(name)
    if held is None or not held.get_tensor()._is_initialized():
        raise ValueError(
            f"{who}: expected numbers for {name!r} in the scope, but got none. Run "
            "the startup program first: exe.run(startup_program)."
        )
    return held.get_tensor()


def set_state(who: str, program: Any, state: Any, scope: Scope | None) -> None:
    """Puts numbers into the scope: all of them, or none if one doesn't fit.

    Names that the program does not have are left out, with a warning.

    Raises:
        TypeError: state is no dict.
        ValueError: an array has another shape or dtype than its variable.
    """
    advice = "Pass what state_dict() or paddle.load returned."
    require_type(who, "a dict of name: array", state, dict, advice)
    own = {variable.name: variable for variable in persistables(program)}
    unknown = sorted(name for name in state if name not in own and name != NAME_TABLE)
    arrays = {name: _array(value) for name, value in state.items() if name in own}
    for name, array in arrays.items():
        require_fit(who, own[name], array)
    if unknown:
        warnings.warn(
            f"{who}: {unknown} are not variables of the program, and are left out.", stacklevel=3
        )
    put(arrays, scope)


def put(arrays: dict[str, np.ndarray], scope: Scope | None = None, executor: Any = None) -> None:
    """Writes arrays into the scope, on the Executor's place (default: the current one).

    Raises:
        TypeError: it is no Executor.
    """
    if not (executor is None or hasattr(executor, "place")):
        raise TypeError(
            f"executor: expected an Executor, but got {type(executor).__name__}. Leave it out for "
            "the current place. Nothing was changed."
        )
    scope = _scope_or_global(scope)
    place = current_place() if executor is None else executor.place
    for name, array in arrays.items():
        scope.var(name).get_tensor().set(array, place)


def require_fit(who: str, variable: Any, array: np.ndarray) -> None:
    """Raises ValueError if an array is not what the variable's description says."""
    wanted = list(variable.shape), variable.dtype.numpy_dtype
    if list(array.shape) != wanted[0] or array.dtype != wanted[1]:
        raise ValueError(
            f"{who}: expected {variable.name!r} of shape {wanted[0]} and dtype {wanted[1]}, but "
            f"got {list(array.shape)} and {array.dtype}. Is it the state of another program? "
            "Nothing was changed."
        )


def _scope_or_global(scope: Any) -> Scope:
    advice = "Leave it out for the global one, or make one with paddle.static.Scope()."
    require_type("scope", "a Scope", scope, Scope | None, advice)
    return global_scope() if scope is None else scope


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
