"""How values cross between the examiner and the student's process: as JSON, never as pickle.

Plain data crosses by value. So do minipaddle's own structures: a Tensor as its array, a MetaTensor,
a Program as its bytes, a PIR program as its text, a GradNode as a picture of its graph. Anything
else that comes back is an `Opaque`: it can be shown in a message, and is equal to nothing.

What arrives may be a lie, but it can't be code. Whoever reads it gets plain Python objects of known
types, or a CodecError.
"""

from __future__ import annotations

import base64
import builtins
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_KINDS = "biufc"  # of numpy's dtypes: bool, int, unsigned, float, complex
_SHOWN = 300


class CodecError(Exception):
    """A value can't cross, or what arrived can't be read."""


@dataclass(frozen=True)
class Opaque:
    """An object that stayed in the student's process: only its class and its text are here."""

    kind: str
    text: str

    def __repr__(self) -> str:
        return self.text or f"<{self.kind}>"


@dataclass(eq=False)
class GradNode:
    """What crosses of a GradNode: its name, and the nodes to which its edges lead."""

    kind: str
    next_functions: list[GradNode | None] = field(default_factory=list)

    def name(self) -> str:
        return self.kind

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def dumps(value: Any, function: Callable[[Any], str] | None = None, strict: bool = False) -> str:
    """`function` gives a function's name on the other side (the examiner's functions only).
    `strict`: an object of another kind is an error, not an Opaque.
    """
    encoder = _Encoder(function, strict)
    try:
        content = encoder.encode(value)
        return json.dumps({"value": content, "nodes": encoder.graph()})
    except RecursionError:
        raise CodecError("expected data, but got a value inside itself, or too deep.") from None


def loads(text: str, function: Callable[[str], Any] | None = None) -> Any:
    """Raises CodecError where the text is not what `dumps` writes."""
    try:
        message = json.loads(text)
        nodes = [GradNode(str(node["name"])) for node in message["nodes"]]
        for node, content in zip(nodes, message["nodes"]):
            node.next_functions = [None if n is None else nodes[n] for n in content["next"]]
        return _Decoder(nodes, function).decode(message["value"])
    except CodecError:
        raise
    except RecursionError:
        raise CodecError("expected data, but got lists too deep to be read.") from None
    except Exception as error:
        raise CodecError(f"expected data, but got {type(error).__name__}: {error}") from None


class _Encoder:
    def __init__(self, function: Callable[[Any], str] | None, strict: bool) -> None:
        self.function = function
        self.strict = strict
        self.nodes: dict[Any, int] = {}

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, float, str):
            return value
        if kind is int:
            return value if abs(value) < 2**63 else {"t": "int", "v": hex(value)}
        if kind in (list, tuple, set, frozenset):
            return {"t": kind.__name__, "v": [self.encode(item) for item in value]}
        if kind is dict:
            return {"t": "dict", "v": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if kind is bytes:
            return {"t": "bytes", "v": base64.b64encode(value).decode()}
        if kind is complex:
            return {"t": "complex", "v": [value.real, value.imag]}
        if kind is slice:
            return {
                "t": "slice",
                "v": [self.encode(p) for p in (value.start, value.stop, value.step)],
            }
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _KINDS:
            return self._array(value)
        if isinstance(value, np.dtype):
            return {"t": "dtype", "v": value.str}
        return self._framework(value) or self._other(value)

    def _array(self, value: Any) -> Any:
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        data = base64.b64encode(array.tobytes()).decode()
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        return {"t": kind, "dtype": array.dtype.str, "shape": list(array.shape), "v": data}

    def _framework(self, value: Any) -> Any:
        """minipaddle's structures. A process that never imported minipaddle has none."""
        module = type(value).__module__
        if not module.startswith("minipaddle."):
            return self._node(value)
        from minipaddle.base.framework import Program as ClassicProgram
        from minipaddle.common.dtype import DataType
        from minipaddle.eager.tensor import Tensor
        from minipaddle.phi.core.meta_tensor import MetaTensor
        from minipaddle.pir.core.block import Program

        if isinstance(value, Tensor):
            stop = bool(value.stop_gradient)
            return {"t": "tensor", "v": self._array(np.asarray(value.numpy())), "stop": stop}
        if isinstance(value, MetaTensor):
            shape = [int(size) for size in value.shape]
            return {"t": "meta", "shape": shape, "dtype": value.dtype.name}
        if isinstance(value, DataType):
            return {"t": "paddle dtype", "v": value.name}
        if type(value).__name__ == "Size" and isinstance(value, list):
            return {"t": "size", "v": [self.encode(item) for item in value]}
        if isinstance(value, ClassicProgram):
            data = base64.b64encode(value.serialize_to_string()).decode()
            return {"t": "program", "v": data}
        if isinstance(value, Program):
            return {"t": "pir", "v": str(value)}
        return self._node(value)

    def _node(self, value: Any) -> Any:
        if isinstance(value, type) or not callable(getattr(value, "name", None)):
            return None
        if not hasattr(value, "next_functions"):
            return None
        return {"t": "node", "v": self.nodes.setdefault(value, len(self.nodes))}

    def graph(self) -> list[dict[str, Any]]:
        """All nodes that can be reached from those in the value. Without recursion: a graph can be
        deep.
        """
        found = []
        queue = list(self.nodes)
        for node in queue:
            follow = list(node.next_functions)
            for after in follow:
                if after is not None and after not in self.nodes:
                    self.nodes[after] = len(self.nodes)
                    queue.append(after)
            ids = [None if after is None else self.nodes[after] for after in follow]
            found.append({"name": node.name(), "next": ids})
        return found

    def _other(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
            return {"t": "builtin", "v": value.__name__}
        if self.function is not None and callable(value) and hasattr(value, "__code__"):
            return {"t": "function", "v": self.function(value)}
        name = f"{kind.__module__}.{kind.__qualname__}"
        if self.strict:
            raise CodecError(
                f"expected plain data, Tensors, Programs or functions, but got a {name}. Make it "
                "inside an @experiment."
            )
        try:
            text = repr(value)[:_SHOWN]
        except Exception as error:
            text = f"<{name}; its repr raised {type(error).__name__}>"
        return {"t": "object", "kind": name, "v": text}


class _Decoder:
    def __init__(self, nodes: list[GradNode], function: Callable[[str], Any] | None) -> None:
        self.nodes = nodes
        self.function = function

    def decode(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        kind, content = value["t"], value.get("v")
        if kind in ("list", "tuple", "set", "frozenset"):
            make = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind]
            return make([self.decode(item) for item in content])
        if kind == "dict":
            return {self.decode(key): self.decode(item) for key, item in content}
        if kind == "int":
            return int(content, 16)
        if kind == "bytes":
            return base64.b64decode(content)
        if kind == "complex":
            return complex(*content)
        if kind == "slice":
            return slice(*(self.decode(part) for part in content))
        if kind in ("array", "scalar"):
            return _array(value)
        if kind == "dtype":
            return _dtype(content)
        if kind == "node":
            return self.nodes[content]
        if kind == "object":
            return Opaque(str(value["kind"]), str(content))
        if kind == "builtin":
            found = getattr(builtins, content)
            if not isinstance(found, type):
                raise CodecError(f"expected a built-in class, but got {content!r}.")
            return found
        if kind == "function" and self.function is not None:
            return self.function(content)
        return _framework(kind, value)


def _dtype(name: str) -> np.dtype:
    dtype = np.dtype(name)
    if dtype.kind not in _KINDS or dtype.hasobject:
        raise CodecError(f"expected a dtype of numbers, but got {name!r}.")
    return dtype


def _array(value: dict[str, Any]) -> Any:
    data = base64.b64decode(value["v"])
    array = np.frombuffer(data, _dtype(value["dtype"])).reshape(value["shape"]).copy()
    return array if value.get("t") != "scalar" else array[()]


def _framework(kind: str, value: dict[str, Any]) -> Any:
    content: Any = value.get("v")
    if kind == "tensor":
        from minipaddle.eager.tensor import Tensor

        tensor = Tensor(_array(content))
        tensor.stop_gradient = bool(value["stop"])
        return tensor
    if kind == "meta":
        from minipaddle.phi.core.meta_tensor import MetaTensor

        return MetaTensor(value["shape"], value["dtype"])
    if kind == "paddle dtype":
        from minipaddle.common.dtype import to_dtype

        return to_dtype(content)
    if kind == "size":
        from minipaddle.common.size import Size

        return Size([int(size) for size in content])
    if kind == "program":
        from minipaddle.base.framework import Program as ClassicProgram

        return ClassicProgram.parse_from_string(base64.b64decode(content))
    if kind == "pir":
        from minipaddle.pir.core.ir_parser import parse_program

        return parse_program(content)
    raise CodecError(f"expected data, but got the kind {kind!r}.")
