"""Conditions and loops in programs.

    y = cond(paddle.mean(x) > 0, lambda: x * 2.0, lambda: x - 1.0)
    i, y = while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y + y], [i, y])

In dygraph they are Python's `if` and `while`. In a classic Program each function is called once,
while the program is built, and its ops land in a block of their own.

A loop of a classic Program writes its results into the variables that it is given, as in Paddle:
afterwards they are what it returns. So a body must not read one of them by another name: in
`while_loop(..., lambda i, a: [i + 1, a + y], [i, y])` a and y are the same variable.

Paddle: python/paddle/static/nn/control_flow.py.
Left out: PIR programs, Switch; variables that only one branch defines (`UndefinedVar`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from minipaddle.base.control_flow import (
    all_or_nothing,
    conditional_block,
    copied,
    let_gradients_pass,
    must_be_copied,
    returned,
    select_input,
    while_block,
)
from minipaddle.base.framework import Variable, default_main_program
from minipaddle.common.enforce import require_type
from minipaddle.phi.core.attribute import is_symbolic
from minipaddle.phi.core.op import OPS
from minipaddle.phi.core.world import current_world, in_dynamic_mode
from minipaddle.static.nn.structure import flatten, map_structure, pack, same_structure
from minipaddle.tensor.creation import full
from minipaddle.tensor.logic import equal, logical_not
from minipaddle.tensor.manipulation import cast


def Assert(
    cond: Any, data: Sequence[Any] | None = None, summarize: int = 20, name: str | None = None
) -> None:
    """Stops the program with a ValueError when it runs and `cond` is false.

    Args:
        cond: one bool.
        data: Variables or Values whose numbers the error shows.
        summarize: how many numbers of each; -1: all.

    Raises:
        TypeError: cond is not of dtype bool.
    """
    OPS["assert"](cond, list(data or []), summarize=summarize)


def Print(
    input: Any,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Any:
    """A copy of `input`, whose numbers are shown each time the program runs.

    Args:
        input: a Variable or Value of a program.
        first_n: only so many times; 0 or less: always.
        message: is shown, too.
        summarize: how many numbers; -1: all.
        print_tensor_name, ...: what is shown beside them.
        print_phase: "forward": the numbers, "backward": those of the gradient, "both".

    Raises:
        TypeError: input is no Variable or Value, or an argument is of another kind.
        ValueError: there is no such phase.
    """
    if in_dynamic_mode() or not is_symbolic(input):
        raise TypeError(
            f"Print: expected a Variable or Value of a program, but got {type(input).__name__}. "
            "Python's print shows a Tensor."
        )
    return OPS["print"](
        input,
        first_n,
        message or "",
        summarize,
        print_tensor_name,
        print_tensor_type,
        print_tensor_shape,
        print_tensor_layout,
        print_tensor_lod,
        print_phase.upper(),
    )


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """`true_fn()` if pred is true, else `false_fn()`; None stands for a function that does nothing.

    Args:
        pred: one bool.
        true_fn, false_fn: return the same nest of lists, tuples and dicts, with Tensors or numbers
            in it; or both None. Where dtype or number of dimensions differ, the program says those
            of true_fn; when it runs, there is what the branch has made.
        return_names: what errors call the returned values.

    Raises:
        TypeError: pred is no bool Tensor, a function is not callable, or returns something else.
        ValueError: the two return different structures.
        NotImplementedError: in a PIR program.
    """
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is not None and not callable(function):
            raise TypeError(
                f"cond: expected {what} to be callable, but got {type(function).__name__}. Pass a "
                "function without parameters."
            )
    _check_bool("cond", "pred", pred)
    if in_dynamic_mode():
        function = true_fn if pred.item() else false_fn
        return None if function is None else function()
    require_type("cond", "name to be a str", name, str | None, "Leave it out.")
    with all_or_nothing(default_main_program()):
        true = _branch(pred, true_fn)
        false = None if false_fn is None else _branch(logical_not(pred), false_fn)
        if true is None and false is None:
            return None
        if true is None or false is None:
            raise ValueError(
                "cond: expected true_fn and false_fn to return the same structure, but got "
                f"{'None' if true is None else 'a value'} if true and "
                f"{'None' if false is None else 'a value'} if false. Let both return something."
            )
        difference = same_structure(true, false)
        if difference:
            raise ValueError(
                "cond: expected true_fn and false_fn to return the same structure, but got "
                f"{difference}. Let both return as many values, in the same lists."
            )
        mask = cast(pred, "int32")
        pairs = list(zip(flatten(false), flatten(true), strict=True))
        names = _names_of(return_names, true, len(pairs))
        merged = [_merged(what, *pair, mask) for what, pair in zip(names, pairs, strict=True)]
        return pack(false, merged)


def _branch(condition: Any, function: Callable[[], Any] | None) -> Any:
    """Builds the block of one branch; gives the variables outside that hold what it returns."""
    if function is None:
        return None
    with conditional_block(condition):
        result = function()
        return map_structure(lambda v: returned(v) if isinstance(v, Variable) else v, result)


def _names_of(return_names: Sequence[str] | None, result: Any, count: int) -> list[str]:
    """A name for each value of a flat result."""
    if return_names is None:
        return [f"value {number}" for number in range(count)]
    parts = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(return_names) != len(parts):
        raise ValueError(
            f"cond: expected a name for each of {len(parts)} values, but got "
            f"{list(return_names)}. Pass as many return_names as the functions return."
        )
    return [n for n, part in zip(return_names, parts, strict=True) for _ in flatten(part)]


def _merged(what: str, false: Any, true: Any, mask: Any) -> Any:
    """One returned value: that of the branch which has run."""
    kinds = [isinstance(item, Variable) for item in (false, true)]
    if not any(kinds) and (false is true or (type(false) is type(true) and false == true)):
        return true
    for item in (false, true):
        if not isinstance(item, (Variable, bool, int, float)):
            raise TypeError(
                f"cond: expected true_fn and false_fn to return Tensors or numbers, but got "
                f"{type(item).__name__} as {what}. Return None from both, or a Tensor."
            )
    dtype = false.dtype if kinds[0] else true.dtype if kinds[1] else None
    first, second = [i if isinstance(i, Variable) else full([], i, dtype) for i in (false, true)]
    return select_input(first, second, mask)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """`while cond(*loop_vars): loop_vars = body(*loop_vars)`; returns the last loop_vars.

    Args:
        cond: gives one bool.
        body: gives as many values as there are loop_vars, of the same structure. Their dtypes and
            shapes may change from turn to turn; the program says -1 for a size that does.
        loop_vars: Tensors, or lists, tuples and dicts of Tensors.
        is_test: kept in the op; the values for a gradient are only kept where one is wanted.

    Raises:
        TypeError: cond or body is not callable, loop_vars is no list or tuple or holds no Tensors,
            or cond gives no bool.
        ValueError: loop_vars is empty, or body returns another structure.
        RuntimeError: when it runs: more turns than FLAGS_max_while_turns, in a program.
        NotImplementedError: in a PIR program.
    """
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(
                f"while_loop: expected {what} to be callable, but got {type(function).__name__}. "
                "Pass a function that takes the loop_vars."
            )
    expected, advice = "loop_vars to be a list or tuple", "Write [variable]."
    require_type("while_loop", expected, loop_vars, (list, tuple), advice)
    if not loop_vars:
        raise ValueError(
            "while_loop: expected at least one of loop_vars, but got none. Without one, the "
            "condition never changes."
        )
    if in_dynamic_mode():
        return _while_now(cond, body, loop_vars)
    _refuse_pir("while_loop")
    for variable in flatten(loop_vars):
        advice = "A number becomes one with paddle.full."
        expected = "loop_vars to hold Variables of a Program"
        require_type("while_loop", expected, variable, Variable, advice)
    with all_or_nothing(default_main_program()):
        given = flatten(loop_vars)
        own: list[Variable] = []
        for variable in given:
            again = any(variable is other for other in own)
            own.append(copied(variable) if again or must_be_copied(variable) else variable)
        loop_vars = pack(loop_vars, own)
        condition = cond(*loop_vars)
        _check_bool("while_loop", "what cond returns", condition)
        if must_be_copied(condition) or any(condition is variable for variable in own):
            condition = copied(condition)
        with while_block(condition, is_test) as block:
            results = _body_results(body, loop_vars)
            following = cond(*results)
            _check_bool("while_loop", "what cond returns", following)
            values = flatten(results)
            # a value that another assignment is going to overwrite
            values = [
                copied(value) if any(value is other for other in own[:number]) else value
                for number, value in enumerate(values)
            ]
            for value, variable in zip(values, own, strict=True):
                before = variable.shape
                variable._assign_from(value)
                if len(before) == value.ndim:  # a size that changes from turn to turn is not known
                    sizes = zip(before, value.shape, strict=True)
                    variable.desc.set_shape([a if a == b else -1 for a, b in sizes])
            condition._assign_from(following)
            let_gradients_pass(block)
        return list(loop_vars)


def _body_results(body: Callable[..., Any], loop_vars: Any) -> Any:
    """What body returns, checked against loop_vars."""
    results = body(*map_structure(lambda variable: variable, loop_vars))
    if not isinstance(results, (list, tuple)):
        results = [results]
    results = type(loop_vars)(results) if type(results) in (list, tuple) else results
    difference = same_structure(loop_vars, results)
    if difference:
        raise ValueError(
            "while_loop: expected body to return the structure of loop_vars, but got "
            f"{difference}. Return one value for each of loop_vars."
        )
    pairs = zip(flatten(loop_vars), flatten(results), strict=True)
    values = []
    for number, (variable, value) in enumerate(pairs):
        if isinstance(value, (bool, int, float)):
            value = full(variable.shape, value, variable.dtype)
        if not isinstance(value, Variable):
            raise TypeError(
                f"while_loop: expected body to return Variables, but got {type(value).__name__} "
                f"for loop variable {number}. Return what ops have made."
            )
        values.append(value)
    return pack(loop_vars, values)


def _while_now(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any) -> list[Any]:
    """The loop in dygraph."""
    condition = cond(*loop_vars)
    _check_bool("while_loop", "what cond returns", condition)
    while condition.item():
        results = body(*loop_vars)
        results = results if isinstance(results, (list, tuple)) else [results]
        if len(results) != len(loop_vars):
            raise ValueError(
                f"while_loop: expected body to return {len(loop_vars)} values, but got "
                f"{len(results)}. Return one for each of loop_vars."
            )
        loop_vars = results
        condition = cond(*loop_vars)
    return list(loop_vars)


def case(
    pred_fn_pairs: Sequence[tuple[Any, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of the first true condition returns.

    Args:
        pred_fn_pairs: (one bool, function) pairs.
        default: called where no condition is true; None: the last pair's function.

    Raises:
        TypeError: no list of pairs, a condition is no bool, or a function is not callable.
        ValueError: the list is empty, or the functions return different structures.
    """
    expected, advice = "a list of (condition, function)", "Write [(pred, fn)]."
    require_type("case", expected, pred_fn_pairs, (list, tuple), advice)
    if not pred_fn_pairs:
        raise ValueError("case: expected at least one pair, but got none. Add (condition, fn).")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"case: expected pairs (condition, function), but got {pair!r}. Write (pred, fn)."
            )
        _check_bool("case", "each condition", pair[0])
        _check_callable("case", "each function", pair[1])
    pairs: list[Any] = list(pred_fn_pairs)
    function: Any = pairs.pop()[1] if default is None else default
    _check_callable("case", "default", function)
    for pred, true_fn in reversed(pairs):
        function = partial(cond, pred, true_fn, function)
    return function()


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function with the number `branch_index` returns.

    Args:
        branch_index: one int32, int64 or uint8.
        branch_fns: functions, or (number, function) pairs, or a dict of them.
        default: called where there is no such number; None: the function with the highest one.

    Raises:
        TypeError: branch_index is no int Tensor, or branch_fns is no such list or dict.
        ValueError: branch_fns is empty, or has a number twice.
    """
    dtype = getattr(getattr(branch_index, "dtype", None), "name", type(branch_index).__name__)
    if dtype not in ("uint8", "int32", "int64"):
        raise TypeError(
            f"switch_case: expected branch_index to be a Tensor of uint8, int32 or int64, but got "
            f"{dtype}. Cast it."
        )
    expected, advice = "branch_fns to be a list, tuple or dict", "Write {0: fn_0, 1: fn_1}."
    require_type("switch_case", expected, branch_fns, (list, tuple, dict), advice)
    pairs: list[Any] = (
        list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    )
    if not pairs:
        raise ValueError("switch_case: expected at least one function, but got none. Add one.")
    if all(callable(pair) for pair in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], int):
            raise TypeError(
                f"switch_case: expected pairs (int, function), but got {pair!r}. Write (0, fn)."
            )
        _check_callable("switch_case", f"the function of {pair[0]}", pair[1])
    numbers = [number for number, _ in pairs]
    if len(set(numbers)) < len(numbers):
        raise ValueError(
            f"switch_case: expected each number once, but got {numbers}. Use other numbers."
        )
    if dtype != "int64":
        branch_index = cast(branch_index, "int64")
    function: Any = default
    if default is None:
        pairs.sort(key=lambda pair: pair[0])
        function = pairs.pop()[1]
    _check_callable("switch_case", "default", function)
    chosen = [(equal(branch_index, full([1], number, "int64")), fn) for number, fn in pairs]
    for pred, true_fn in chosen:
        function = partial(cond, pred, true_fn, function)
    return function()


# -- checks ------------------------------------------------------------------------------------


def _check_bool(who: str, what: str, value: Any) -> None:
    """Raises TypeError if it is no Tensor, or Variable of a classic Program, of one bool."""
    _refuse_pir(who)
    dtype = getattr(value, "dtype", None)
    if dtype is None or getattr(dtype, "name", "") != "bool":
        kind = type(value).__name__ if dtype is None else f"dtype {getattr(dtype, 'name', dtype)}"
        raise TypeError(
            f"{who}: expected {what} to be a bool Tensor, but got {kind}. Compare something."
        )
    if math.prod(value.shape) not in (1, -1):
        raise TypeError(
            f"{who}: expected {what} to hold one element, but got shape {list(value.shape)}. Use "
            "paddle.all or paddle.any."
        )


def _check_callable(who: str, what: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(
            f"{who}: expected {what} to be callable, but got {type(function).__name__}. Pass a "
            "function without parameters."
        )


def _refuse_pir(who: str) -> None:
    if current_world().name == "pir":
        raise NotImplementedError(
            f"{who}: expected dygraph or a classic Program, but got a PIR program: PIR programs "
            "have no if and while here yet. Build the program inside paddle.pir_utils.OldIrGuard()."
        )
