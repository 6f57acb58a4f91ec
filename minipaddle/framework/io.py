"""paddle.save and paddle.load.

A file is a pickle, in the form of real Paddle, which reads it and whose files we read:

- a state_dict (a dict of Tensors): {key: numpy array}, and under "StructuredToParameterName@@"
  the name of each Tensor;
- anything else: as it is, with a tuple (name, numpy array) in the place of each Tensor.

Paddle: python/paddle/framework/io.py.
Left out: Layers and Programs, `use_binary_format`, `safetensors`, async_save. bfloat16, which numpy
lacks, is read as float32: all its numbers are float32 numbers too.
"""

from __future__ import annotations

import contextlib
import copyreg
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from minipaddle.eager.tensor import Tensor, to_tensor
from minipaddle.framework.unpickler import RefusedError, safe_load
from minipaddle.nn.layer.layers import Layer

__all__ = ["load", "save"]

NAME_TABLE = "StructuredToParameterName@@"
# protocols 2 and 3 can't hold 4 GiB at once: Paddle cuts such arrays, and says here how
CUT_ARRAYS = "UnpackBigParamInfor@@"

_PLAIN = (type(None), bool, int, float, complex, str)  # not bytes: real Paddle refuses them


def save(obj: Any, path: str | os.PathLike | BytesIO, protocol: int = 4, **configs: Any) -> None:
    """Writes Tensors, arrays, numbers, text, and dicts, lists, tuples and sets of them: a
    state_dict, a checkpoint.

    The file appears only when it is complete: until then, it has another name. Folders of `path`
    are made.

    Args:
        protocol: the version of pickle's format, 2 to 4.

    Raises:
        ValueError: the path names no file, protocol or an option is unknown, or obj has a Layer.
        TypeError: obj has something that `load` would refuse.
    """
    if configs:
        raise ValueError(
            f"paddle.save: expected no options, but got {sorted(configs)}. They are left out here."
        )
    if type(protocol) is not int or not 2 <= protocol <= 4:
        raise ValueError(f"paddle.save: expected protocol 2, 3 or 4, but got {protocol!r}. Use 4.")
    _check(obj, "obj")
    if _is_state_dict(obj):
        names = {key: value.name for key, value in obj.items() if isinstance(value, Tensor)}
        obj = {key: _array(value) for key, value in obj.items()} | {NAME_TABLE: names}
    with writing("paddle.save", path) as file:
        pickler = pickle.Pickler(file, protocol)
        pickler.dispatch_table = copyreg.dispatch_table | dict.fromkeys(
            _subclasses(Tensor), _reduce_tensor
        )
        pickler.dump(obj)


def load(path: str | os.PathLike | BytesIO, **configs: Any) -> Any:
    """Reads what `save`, here or in real Paddle, has written.

    Only arrays, numbers, text and containers of them are read. A file that asks for anything else
    is refused, as it could run code: see unpickler.py.

    Args:
        return_numpy: numpy arrays in the place of Tensors.
        keep_name_table: leave the Tensors' names in a state_dict.

    Raises:
        ValueError: there is no such file, it is cut off or of another kind, it is refused, or an
            option is unknown.
    """
    unknown = configs.keys() - {"return_numpy", "keep_name_table"}
    if unknown:
        raise ValueError(
            f"paddle.load: expected options return_numpy and keep_name_table, but got "
            f"{sorted(unknown)}. The others are left out here."
        )
    as_numpy = configs.get("return_numpy", False)
    with _reading(path) as file:
        found = _parsed(file, path)
    if isinstance(found, dict) and isinstance(names := found.get(NAME_TABLE), dict):
        for key, name in names.items():
            if isinstance(found.get(key), np.ndarray) and not as_numpy:
                found[key] = _tensor(found[key], name)
        if not configs.get("keep_name_table", False):
            del found[NAME_TABLE]
        return found
    if _has(found, _is_named_array):
        return _changed(found, _is_named_array, lambda t: t[1] if as_numpy else _tensor(t[1], t[0]))
    return _changed(found, _is_array, lambda a: a if as_numpy else _tensor(a))


# -- writing -----------------------------------------------------------------------------------


def _check(value: Any, where: str) -> None:
    """Raises if `load` would refuse the file."""
    if isinstance(value, Layer):
        raise ValueError(
            f"paddle.save: expected Tensors, but got the Layer {type(value).__name__} at {where}. "
            "Save its state_dict()."
        )
    if type(value) in (dict, OrderedDict):
        for key, item in value.items():
            _check(key, f"a key of {where}")
            _check(item, f"{where}[{key!r}]")
    elif type(value) in (list, tuple, set):
        for number, item in enumerate(value):
            _check(item, f"{where}[{number}]")
    elif not (
        type(value) in _PLAIN
        or isinstance(value, Tensor)
        or (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc")
    ):
        raise TypeError(
            "paddle.save: expected Tensors, arrays, numbers, text, and dicts, lists, tuples and "
            f"sets of them, but got {type(value).__name__} at {where}. Save its numbers only."
        )


def _is_state_dict(obj: Any) -> bool:
    """Whether the values are Tensors; there may be dicts without Tensors too, such as the state of
    a learning rate scheduler.
    """
    return isinstance(obj, dict) and all(
        isinstance(value, Tensor)
        or (isinstance(value, dict) and not _has(value, lambda item: isinstance(item, Tensor)))
        for value in obj.values()
    )


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, Tensor) else value


def _reduce_tensor(tensor: Tensor) -> tuple:
    return tuple, ((tensor.name, tensor.numpy()),)


def _subclasses(cls: type) -> Iterator[type]:
    yield cls
    for subclass in cls.__subclasses__():
        yield from _subclasses(subclass)


@contextlib.contextmanager
def writing(who: str, path: str | os.PathLike | BytesIO) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete; until then, an older one of that name stays.

    Raises:
        ValueError: the path names no file.
        OSError: the file can't be written.
    """
    if isinstance(path, BytesIO):
        yield path
        return
    text = _path_text(who, path)
    if not os.path.basename(text):
        raise ValueError(
            f"{who}: expected a path that ends with a file's name, but got {text!r}. Add it: "
            "'model.pdparams'."
        )
    target = os.path.realpath(text)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    unfinished = f"{target}.{os.urandom(8).hex()}.tmp"
    try:
        with open(unfinished, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # the data first, then the name
        os.replace(unfinished, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)


def _path_text(who: str, path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(
            f"{who}: expected a path or a BytesIO, but got {type(path).__name__}. Give a path."
        )
    return os.fspath(path)


# -- reading -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _reading(path: Any) -> Iterator[BinaryIO]:
    """The file; a BytesIO that can't be read keeps its position."""
    if isinstance(path, BytesIO):
        start = path.tell()
        try:
            yield path
        except BaseException:
            path.seek(start)
            raise
        return
    text = _path_text("paddle.load", path)
    if not os.path.isfile(text):
        longer = [text + end for end in (".pdparams", ".pdopt") if os.path.isfile(text + end)]
        advice = f"Did you mean {' or '.join(map(repr, longer))}?" if longer else "Check the path."
        got = "a folder" if os.path.isdir(text) else "nothing"
        raise ValueError(f"paddle.load: expected a file at {text!r}, but got {got}. {advice}")
    with open(text, "rb") as file:
        yield file


def _parsed(file: BinaryIO, path: Any) -> Any:
    name = "the BytesIO" if isinstance(path, BytesIO) else repr(os.fspath(path))
    try:
        found = safe_load(file)
        if isinstance(found, dict):
            _join_cut_arrays(found)
        return found
    except MemoryError as error:
        raise MemoryError(
            f"paddle.load: expected numbers that fit into memory, but {name} asks for more. Is it "
            "damaged? Save or copy it again."
        ) from error
    except RefusedError as error:
        raise ValueError(
            f"paddle.load: expected arrays, numbers, text and containers of them, but {name} asks "
            f"for {error}. That could run any code, so it is not loaded. Save the numbers only."
        ) from None
    except Exception as error:  # a broken pickle fails in any way: IndexError, KeyError, ...
        cut_off = isinstance(error, EOFError) or "truncated" in str(error)
        how = "ends too early" if cut_off else "is something else"
        raise ValueError(
            f"paddle.load: expected what paddle.save writes, but {name} {how}. Save or copy it "
            "again."
        ) from error


def _join_cut_arrays(found: dict) -> None:
    """Puts the pieces of big arrays together."""
    for key, how in found.pop(CUT_ARRAYS, {}).items():
        pieces = [found.pop(piece) for piece in how["slices"]]
        found[key] = np.concatenate(pieces).reshape(how["OriginShape"])


def _tensor(array: np.ndarray, name: str | None = None) -> Tensor:
    if array.dtype == np.uint16:  # how Paddle writes bfloat16: the upper half of a float32
        array = (array.astype(np.uint32) << 16).view(np.float32)
    tensor = to_tensor(array)
    if name:
        tensor.name = name
    return tensor


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _is_named_array(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], np.ndarray)
    )


def _has(value: Any, wanted: Callable[[Any], bool]) -> bool:
    if wanted(value):
        return True
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, (dict, list, tuple)) and any(_has(item, wanted) for item in items)


def _changed(value: Any, wanted: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    if wanted(value):
        return change(value)
    if isinstance(value, dict):
        return type(value)((key, _changed(v, wanted, change)) for key, v in value.items())
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(item, wanted, change) for item in value)
    return value
