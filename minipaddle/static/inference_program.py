"""A program for inference: what outputs need of it, with a `feed` op per input and a `fetch` op per
output.

    {Out=['x']} = feed(inputs={X=['feed']}, col = 0)          x is the first input
    ...
    {Out=['fetch']} = fetch(inputs={X=['out']}, col = 0)      out is the first output

Our Executor reads off them what to feed and what to fetch; they compute nothing.

Paddle: normalize_program in python/paddle/static/io.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base import Program
from minipaddle.base.framework import Block, Variable
from minipaddle.base.framework_proto import VAR_TYPES, VarDesc
from minipaddle.base.prune import set_is_test
from minipaddle.common.errors import IRError

# attributes that only who builds a program needs
_BUILD_ATTRS = ("op_callstack", "with_quant_attr")


def normalize_program(program: Program, feed_vars: Any, fetch_vars: Any) -> Program:
    """A new program for inference: only what `fetch_vars` need when `feed_vars` are given, as in a
    test, with a `feed` op per input and a `fetch` op per output.

    Raises:
        TypeError: program is no classic Program.
        ValueError: the variables are none, or not enough to compute what is fetched.
    """
    who = "normalize_program"
    program = classic(who, program)
    feeds = _variables(who, "feed_vars", feed_vars)
    fetches = _variables(who, "fetch_vars", fetch_vars)
    names = [variable.name for variable in feeds]
    if len(set(names)) < len(names):
        raise ValueError(
            f"{who}: expected each variable once in feed_vars, but got {names}. Leave the others "
            "out."
        )
    pruned = program._prune_with_input(names, fetches)
    message = pruned.proto
    set_is_test(message)
    result = pruned._derived(message)
    _require_inputs(who, result, names)
    block = result.global_block()
    for name in ("feed", "fetch"):
        desc = VarDesc(name=name, persistable=True)
        kind = "FEED_MINIBATCH" if name == "feed" else "FETCH_LIST"
        desc.type.type = VAR_TYPES[kind]
        block._add_var(desc)
    for col, name in enumerate(names):
        if not block.has_var(name):  # nothing reads it; still, it may be fed
            copy = VarDesc()
            copy.CopyFrom(feeds[col].proto)
            block._add_var(copy)
        block.append_op("feed", {"X": "feed"}, {"Out": name}, {"col": col})
        block.ops.insert(col, block.ops.pop())
    for col, variable in enumerate(fetches):
        block.append_op("fetch", {"X": variable.name}, {"Out": "fetch"}, {"col": col})
    return result


def columns(who: str, block: Block, kind: str) -> list[str]:
    """The variables of the `feed` or of the `fetch` ops, in the order of their columns."""
    found = {}
    for op in block.ops:
        if op.type == kind:
            names = op.output("Out") if kind == "feed" else op.input("X")
            if len(names) != 1 or not op.has_attr("col") or not block.has_var(names[0]):
                raise IRError(
                    f"{who}: expected {kind} ops with one variable and its column, but got {op}. "
                    "The model is damaged: save it again."
                )
            found[op.attr("col")] = names[0]
    return [found[column] for column in sorted(found)]


def model_bytes(normal: Program) -> bytes:
    """A program for inference without what only training and building need."""
    message = normal.proto
    for block in message.blocks:
        block.vars.sort(key=lambda variable: variable.name)
        for variable in block.vars:
            variable.ClearField("is_parameter")
            variable.ClearField("stop_gradient")
        for op in block.ops:
            kept = [attr for attr in op.attrs if attr.name not in _BUILD_ATTRS]
            del op.attrs[:]
            op.attrs.extend(kept)
    return message.SerializeToString()


def classic(who: str, program: Any) -> Program:
    if isinstance(program, Program):
        return program
    if hasattr(program, "global_block"):
        raise NotImplementedError(
            f"{who}: expected a classic Program, but got a PIR program, whose files are left out "
            "here. Build it inside paddle.pir_utils.OldIrGuard()."
        )
    raise TypeError(
        f"{who}: expected a Program, but got {type(program).__name__}. Pass "
        "paddle.static.default_main_program() or a Program of your own."
    )


def _variables(who: str, what: str, given: Any) -> list[Variable]:
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    wrong = [type(item).__name__ for item in found if not isinstance(item, Variable)]
    if wrong or not found:
        raise ValueError(
            f"{who}: expected {what} to be a Variable or a list of them, but got {wrong or '[]'}. "
            "Pass what paddle.static.data or an op returned."
        )
    return found


def _require_inputs(who: str, program: Program, feeds: Sequence[str]) -> None:
    """Raises ValueError if an op reads what nobody gives it."""
    block = program.global_block()
    known = {*feeds, *(v.name for v in block.vars.values() if v.persistable)}
    for operator in block.ops:
        missing = [name for name in operator.input_arg_names if name not in known]
        if missing:
            raise ValueError(
                f"{who}: expected feed_vars from which fetch_vars can be computed, but "
                f"{operator.type} needs {missing} too. Add them to feed_vars."
            )
        known.update(operator.output_arg_names)
