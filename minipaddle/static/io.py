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
from io import BytesIO
from typing import Any

import numpy as np

from minipaddle import framework
from minipaddle.base import Program, Variable, default_main_program
from minipaddle.base.program_state import persistables, put, require_fit, set_state
from minipaddle.base.save_combine import from_bytes, to_bytes
from minipaddle.common.enforce import require_type
from minipaddle.framework.io import writing
from minipaddle.phi.core.world import current_world
from minipaddle.static.inference_program import (
    classic,
    columns,
    model_bytes,
    normalize_program,
)

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


# -- for inference -----------------------------------------------------------------------------


def serialize_program(feed_vars: Any, fetch_vars: Any, program: Program | None = None) -> bytes:
    """The program for inference, as bytes of a ProgramDesc. `program`: default: the main one."""
    normal = normalize_program(_or_main("serialize_program", program), feed_vars, fetch_vars)
    return model_bytes(normal)


def serialize_persistables(
    feed_vars: Any,
    fetch_vars: Any,
    executor: Any = None,
    program: Program | None = None,
) -> bytes:
    """The parameters that the program for inference has, as bytes.

    Raises:
        ValueError: a parameter has no value yet.
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
    put(_parameters("deserialize_persistables", program, data), executor=executor)


def save_inference_model(
    path_prefix: str,
    feed_vars: Any,
    fetch_vars: Any,
    executor: Any = None,
    program: Program | None = None,
) -> None:
    """Writes `<path_prefix>.pdmodel` and, if there are parameters, `<path_prefix>.pdiparams`.

    Args:
        path_prefix: a path without ending. Its folder is made.
        feed_vars: Variables that will be fed, or one.
        fetch_vars: Variables that will be fetched, or one.
        executor: not needed here.
        program: default: the default main program.

    Raises:
        ValueError: the path is a folder, the variables don't fit the program, or a parameter has no
            value yet.
        OSError: the files can't be written; older files of these names stay.
    """
    who = "save_inference_model"
    prefix = _prefix(who, path_prefix)
    normal = normalize_program(_or_main(who, program), feed_vars, fetch_vars)
    files = {f"{prefix}.pdmodel": model_bytes(normal)}
    if persistables(normal):
        files[f"{prefix}.pdiparams"] = _parameter_bytes(normal)
    _write(who, files)


def load_inference_model(path_prefix: str, executor: Any = None) -> list[Any]:
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
    feeds, fetches = columns(who, block, "feed"), columns(who, block, "fetch")
    if not fetches:
        raise ValueError(
            f"{who}: expected a program with fetch ops, but got one without, in "
            f"{prefix + '.pdmodel'!r}. Did static.save write it? Then read it with static.load."
        )
    if persistables(program):
        data = _read(who, f"{prefix}.pdiparams")
        put(_parameters(who, program, data), executor=executor)
    return [program, feeds, [block.var(name) for name in fetches]]


# -- to go on training -------------------------------------------------------------------------


def save(program: Program, model_path: str, protocol: int = 4) -> None:
    """Writes `<model_path>.pdparams`, `.pdopt` and `.pdmodel`.

    Raises:
        ValueError: the path ends with no name, or a variable has no value yet.
        OSError: a file can't be written.
    """
    program = classic("static.save", program)
    prefix = _prefix("static.save", model_path)
    files = {f"{prefix}.pdmodel": program.serialize_to_string()}
    for ending, mode in ((".pdparams", "param"), (".pdopt", "opt")):
        buffer = BytesIO()
        framework.save(program.state_dict(mode), buffer, protocol)
        files[prefix + ending] = buffer.getvalue()
    _write("static.save", files)


def load(program: Program, model_path: str, executor: Any = None, var_list: Any = None) -> None:
    """Puts the numbers that `save` wrote into the global scope: all of them, or none.

    Args:
        var_list: Variables; only they. Default: all of the program.

    Raises:
        TypeError: var_list holds something else, or executor is no Executor.
        FileNotFoundError: there are no such files.
        ValueError: a variable of the program is missing there, or has another shape or dtype, or a
            file is broken.
    """
    program = classic("static.load", program)
    wanted = persistables(program) if var_list is None else _listed("static.load", var_list)
    state = _read_state("static.load", _prefix("static.load", model_path))
    missing = [variable.name for variable in wanted if variable.name not in state]
    if missing:
        raise ValueError(
            f"static.load: expected numbers for {missing}, but got none in {model_path!r}. It has "
            f"{sorted(state)}: is it of this program? Nothing was changed."
        )
    for variable in wanted:
        require_fit("static.load", variable, state[variable.name])
    put({variable.name: state[variable.name] for variable in wanted}, executor=executor)


def load_program_state(model_path: str, var_list: Any = None) -> dict[str, np.ndarray]:
    """What `save` wrote, as a dict of name: array. `var_list`: only these Variables."""
    state = _read_state("load_program_state", _prefix("load_program_state", model_path))
    if var_list is None:
        return state
    names = {variable.name for variable in _listed("load_program_state", var_list)}
    return {name: array for name, array in state.items() if name in names}


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Puts such a dict into the global scope: see Program.set_state_dict."""
    set_state("set_program_state", classic("set_program_state", program), state_dict, None)


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


def _parameter_bytes(normal: Program) -> bytes:
    state = normal.state_dict()
    return to_bytes(state[name] for name in sorted(state))


def _parameters(who: str, program: Program, data: Any) -> dict[str, np.ndarray]:
    """The arrays of a program's parameters; they fit."""
    if not isinstance(data, bytes):
        raise ValueError(
            f"{who}: expected the parameters as bytes, but got {type(data).__name__}. Pass what "
            "serialize_persistables or load_from_file returned."
        )
    own = {variable.name: variable for variable in persistables(classic(who, program))}
    arrays = from_bytes(who, data, sorted(own))
    for name, array in arrays.items():
        require_fit(who, own[name], array)
    return arrays


# -- what a user gives -------------------------------------------------------------------------


def _or_main(who: str, program: Any) -> Program:
    if program is None:
        program = (current_world().main_program or default_main_program)()
    return classic(who, program)


def _listed(who: str, var_list: Any) -> list[Variable]:
    found = list(var_list) if isinstance(var_list, (list, tuple)) else [var_list]
    for item in found:
        advice = "Pass Variables of the program."
        require_type(who, "var_list to hold Variables", item, Variable, advice)
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
