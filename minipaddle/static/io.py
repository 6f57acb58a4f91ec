"""Programs and parameters in files, in Paddle's formats: real Paddle reads ours, we read theirs.

| file | written by | holds |
|---|---|---|
| `.pdmodel` | `save_inference_model` | a ProgramDesc with `feed` and `fetch` ops: inference |
| `.pdiparams` | `save_inference_model` | its parameters, sorted by name (see save_combine.py) |
| `.pdmodel` | `save` | the whole program, with backward and optimizer |
| `.pdparams`, `.pdopt` | `save` | a pickle: name -> array; parameters, and the rest |

A file gets its name when it is complete, so an older one of that name is never half overwritten.
What is read is checked before anything is changed.

Paddle: python/paddle/static/io.py.
Left out: PIR programs (their files are JSON), models in memory, other file names than these,
save_vars and load_vars.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle import framework
from minipaddle.base import Program, default_main_program
from minipaddle.base.framework import Block, Variable
from minipaddle.base.framework_proto import VAR_TYPES, VarDesc
from minipaddle.base.program_state import persistables, put, require_fit, set_state
from minipaddle.base.prune import set_is_test
from minipaddle.base.save_combine import from_bytes, to_bytes
from minipaddle.common.errors import IRError
from minipaddle.framework.io import writing
from minipaddle.new_executor.scope import global_scope
from minipaddle.phi.core.world import current_world

__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "normalize_program",
    "save",
    "save_inference_model",
    "save_to_file",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]

# attributes that only who builds a program needs
_BUILD_ATTRS = ("op_callstack", "with_quant_attr")


# -- for inference -----------------------------------------------------------------------------


def normalize_program(program: Program, feed_vars: Any, fetch_vars: Any) -> Program:
    """A new program for inference: only what `fetch_vars` need when `feed_vars` are given, as in a
    test, with a `feed` op per input and a `fetch` op per output.

    Raises:
        TypeError: program is no classic Program.
        ValueError: the variables are none, or not enough to compute what is fetched.
    """
    who = "normalize_program"
    program = _classic(who, program)
    feeds = _variables(who, "feed_vars", feed_vars)
    fetches = _variables(who, "fetch_vars", fetch_vars)
    names = [variable.name for variable in feeds]
    pruned = program._prune_with_input(names, fetches)
    message = pruned.desc
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
            copy.CopyFrom(feeds[col].desc)
            block._add_var(copy)
        block.append_op("feed", {"X": "feed"}, {"Out": name}, {"col": col})
        block.ops.insert(col, block.ops.pop())
    for col, variable in enumerate(fetches):
        block.append_op("fetch", {"X": variable.name}, {"Out": "fetch"}, {"col": col})
    return result


def serialize_program(
    feed_vars: Any, fetch_vars: Any, program: Program | None = None, **kwargs: Any
) -> bytes:
    """The program for inference, as bytes of a ProgramDesc. `program`: default: the main one."""
    normal = normalize_program(_or_main("serialize_program", program), feed_vars, fetch_vars)
    return _model_bytes(normal)


def serialize_persistables(
    feed_vars: Any,
    fetch_vars: Any,
    executor: Any = None,
    program: Program | None = None,
    **kwargs: Any,
) -> bytes:
    """The parameters that the program for inference has, as bytes.

    Raises:
        RuntimeError: a parameter has no value yet.
    """
    normal = normalize_program(_or_main("serialize_persistables", program), feed_vars, fetch_vars)
    return _parameter_bytes(normal)


def deserialize_program(data: bytes) -> Program:
    """The program of such bytes. Raises IRError if they are no program."""
    return Program.parse_from_string(data)


def deserialize_persistables(program: Program, data: bytes, executor: Any = None) -> None:
    """Puts the parameters of such bytes into the global scope.

    Raises:
        ValueError: the bytes are cut off, or don't belong to the program. The scope stays as it
            is.
    """
    put(_parameters("deserialize_persistables", program, data))


def save_inference_model(
    path_prefix: str,
    feed_vars: Any,
    fetch_vars: Any,
    executor: Any = None,
    program: Program | None = None,
    **kwargs: Any,
) -> None:
    """Writes `<path_prefix>.pdmodel` and, if there are parameters, `<path_prefix>.pdiparams`.

    Args:
        path_prefix: a path without ending. Its folder is made.
        feed_vars: Variables that will be fed, or one.
        fetch_vars: Variables that will be fetched, or one.
        executor: not needed here.
        program: default: the default main program.

    Raises:
        ValueError: the path is a folder, or the variables don't fit the program.
        RuntimeError: a parameter has no value yet.
        OSError: the files can't be written; older files of these names stay.
    """
    who = "save_inference_model"
    prefix = _prefix(who, path_prefix)
    normal = normalize_program(_or_main(who, program), feed_vars, fetch_vars)
    files = {f"{prefix}.pdmodel": _model_bytes(normal)}
    if persistables(normal):
        files[f"{prefix}.pdiparams"] = _parameter_bytes(normal)
    _write(who, files)


def load_inference_model(path_prefix: str, executor: Any = None, **kwargs: Any) -> list[Any]:
    """Reads what `save_inference_model`, here or in real Paddle, has written; the parameters go
    into the global scope.

    Returns:
        [program, the names to feed, the Variables to fetch].

    Raises:
        FileNotFoundError: there are no such files.
        IRError, ValueError: a file is cut off or something else, or the two don't belong together.
            The scope stays as it is.
    """
    who = "load_inference_model"
    prefix = _prefix(who, path_prefix)
    program = Program.parse_from_string(_read(who, f"{prefix}.pdmodel"))
    block = program.global_block()
    feeds, fetches = _columns(who, block, "feed"), _columns(who, block, "fetch")
    if not fetches:
        raise ValueError(
            f"{who}: expected a program with fetch ops, but got one without, in "
            f"{prefix + '.pdmodel'!r}. Did static.save write it? Then read it with static.load."
        )
    if persistables(program):
        put(_parameters(who, program, _read(who, f"{prefix}.pdiparams")))
    return [program, feeds, [block.var(name) for name in fetches]]


# -- to go on training -------------------------------------------------------------------------


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Writes `<model_path>.pdparams`, `.pdopt` and `.pdmodel`.

    Raises:
        ValueError: the path ends with no name, or a variable has no value yet.
        OSError: a file can't be written.
    """
    program = _classic("static.save", program)
    prefix = _prefix("static.save", model_path)
    parameters, rest = program.state_dict("param"), program.state_dict("opt")
    framework.save(parameters, f"{prefix}.pdparams", protocol)
    framework.save(rest, f"{prefix}.pdopt", protocol)
    _write("static.save", {f"{prefix}.pdmodel": program.serialize_to_string()})


def load(program: Program, model_path: str, executor: Any = None, var_list: Any = None) -> None:
    """Puts the numbers that `save` wrote into the global scope: all of them, or none.

    Args:
        var_list: Variables; only they. Default: all of the program.

    Raises:
        FileNotFoundError: there are no such files.
        ValueError: a variable of the program is missing there, or has another shape or dtype, or a
            file is broken.
    """
    program = _classic("static.load", program)
    wanted = persistables(program) if var_list is None else list(var_list)
    state = _read_state("static.load", _prefix("static.load", model_path))
    missing = [variable.name for variable in wanted if variable.name not in state]
    if missing:
        raise ValueError(
            f"static.load: expected numbers for {missing}, but got none in {model_path!r}. It has "
            f"{sorted(state)}: is it of this program? Nothing was changed."
        )
    for variable in wanted:
        require_fit("static.load", variable, state[variable.name])
    put({variable.name: state[variable.name] for variable in wanted})


def load_program_state(model_path: str, var_list: Any = None) -> dict[str, np.ndarray]:
    """What `save` wrote, as a dict of name: array. `var_list`: only these Variables."""
    state = _read_state("load_program_state", _prefix("load_program_state", model_path))
    if var_list is None:
        return state
    names = {variable.name for variable in var_list}
    return {name: array for name, array in state.items() if name in names}


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Puts such a dict into the global scope: see Program.set_state_dict."""
    set_state("set_program_state", _classic("set_program_state", program), state_dict, None)


# -- bytes and files ---------------------------------------------------------------------------


def save_to_file(path: str, content: bytes) -> None:
    """Writes bytes; the file appears when it is complete.

    Raises:
        ValueError: content is no bytes.
        OSError: the file can't be written.
    """
    if not isinstance(content, bytes):
        raise ValueError(
            f"save_to_file: expected bytes, but got {type(content).__name__}. Pass what "
            "serialize_program or serialize_persistables returned."
        )
    _write("save_to_file", {path: content})


def load_from_file(path: str) -> bytes:
    """Reads bytes. Raises FileNotFoundError if there is no such file."""
    return _read("load_from_file", path)


def _write(who: str, files: dict[str, bytes]) -> None:
    """Writes all files, and only then gives them their names."""
    with contextlib.ExitStack() as stack:
        for path, content in files.items():
            if os.path.isdir(path):
                raise IsADirectoryError(
                    f"{who}: expected to write a file at {path!r}, but got a folder of that name. "
                    "Choose another name."
                )
            file = stack.enter_context(writing(who, path))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a full disk is noticed here, before any file has its name


def _read(who: str, path: str) -> bytes:
    if not os.path.isfile(path):
        got = "a folder" if os.path.isdir(path) else "nothing"
        raise FileNotFoundError(
            f"{who}: expected a file at {path!r}, but got {got}. Check the path."
        )
    with open(path, "rb") as file:
        return file.read()


def _read_state(who: str, prefix: str) -> dict[str, np.ndarray]:
    """The arrays of `.pdparams` and, if it is there, `.pdopt`."""
    prefix = prefix.removesuffix(".pdparams")
    state: dict[str, np.ndarray] = {}
    for ending in (".pdparams", ".pdopt"):
        path = prefix + ending
        if ending == ".pdopt" and not os.path.exists(path):
            continue
        _read(who, path)  # says clearly what is not there
        found = framework.load(path, return_numpy=True)
        if not isinstance(found, dict) or not all(map(_is_array, found.values())):
            raise ValueError(
                f"{who}: expected a dict of arrays in {path!r}, but got something else. Was it "
                "written by static.save?"
            )
        state.update(found)
    return state


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _columns(who: str, block: Block, kind: str) -> list[str]:
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


def _model_bytes(normal: Program) -> bytes:
    """A program for inference without what only training and building need."""
    message = normal.desc
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


def _parameter_bytes(normal: Program) -> bytes:
    scope = global_scope()
    names = sorted(variable.name for variable in persistables(normal))
    return to_bytes(np.asarray(scope.get(name)) for name in names)


def _parameters(who: str, program: Program, data: Any) -> dict[str, np.ndarray]:
    """The arrays of a program's parameters; they fit."""
    if not isinstance(data, bytes):
        raise ValueError(
            f"{who}: expected the parameters as bytes, but got {type(data).__name__}. Pass what "
            "serialize_persistables or load_from_file returned."
        )
    own = {variable.name: variable for variable in persistables(_classic(who, program))}
    arrays = from_bytes(who, data, sorted(own))
    for name, array in arrays.items():
        require_fit(who, own[name], array)
    return arrays


# -- what a user gives -------------------------------------------------------------------------


def _classic(who: str, program: Any) -> Program:
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


def _or_main(who: str, program: Any) -> Program:
    if program is None:
        program = (current_world().main_program or default_main_program)()
    return _classic(who, program)


def _variables(who: str, what: str, given: Any) -> list[Variable]:
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    wrong = [type(item).__name__ for item in found if not isinstance(item, Variable)]
    if wrong or not found:
        raise ValueError(
            f"{who}: expected {what} to be a Variable or a list of them, but got {wrong or '[]'}. "
            "Pass what paddle.static.data or an op returned."
        )
    return found


def _prefix(who: str, path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(
            f"{who}: expected a path without ending, but got {type(path).__name__}. Write "
            "'folder/name'."
        )
    text = os.fspath(path)
    if not os.path.basename(text):
        raise ValueError(
            f"{who}: expected a path that ends with a name, but got {text!r}. Add the name of "
            "the model: 'folder/name'."
        )
    return text


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
