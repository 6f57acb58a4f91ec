"""A declaration's signature: which inputs and attributes an op has, read off its kernel.

    def layer_norm(xp, x, scale: Optional, *, epsilon: float = 1e-5): ...

Positional parameters are Tensors, keyword-only ones attributes. What stands behind the colon says
the kind: of an input one of the markers below, of an attribute a type or a marker of attribute.py.

Paddle: the `args` of an entry in paddle/phi/ops/yaml/ops.yaml, read by
paddle/fluid/pir/dialect/op_generator/op_gen.py.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from minipaddle.phi.core.attribute import CONVERTERS, MUTABLE

# Annotations of inputs; to a type checker they say "anything".
Optional = Annotated[Any, "may be None"]
TensorList = Annotated[Any, "a list of Tensors"]
NoNeedBuffer = Annotated[Any, "only shape and dtype are used, not the data"]


@dataclass(frozen=True)
class Input:
    """A Tensor input. `meta_only`: a gradient rule reads only its shape and dtype."""

    name: str
    is_list: bool = False
    optional: bool = False
    meta_only: bool = False


@dataclass(frozen=True)
class Attr:
    """An attribute. `kind` is a type or one of the markers of attribute.py."""

    name: str
    kind: Any
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def mutable(self) -> bool:
        """True where PIR shows the attribute as an operand."""
        return self.kind in MUTABLE


def read_signature(function: Callable, skip: int) -> tuple[tuple[Input, ...], tuple[Attr, ...]]:
    """Reads inputs and attributes off a signature; `skip` parameters in front are neither.

    It reads the code object itself: `inspect.signature` takes 50 times as long, and this runs for
    every op at every import.
    """
    code, defaults = function.__code__, function.__kwdefaults__ or {}
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    inputs, attrs = [], []
    for name in names[skip : code.co_argcount]:
        note = _annotation(function, name)
        inputs.append(
            Input(
                name,
                is_list=note is TensorList,
                optional=note is Optional,
                meta_only=note is NoNeedBuffer,
            )
        )
    for name in names[code.co_argcount :]:
        note = _annotation(function, name)
        if note not in CONVERTERS:
            raise TypeError(
                f"op {function.__name__}: expected the attribute {name!r} to be annotated with one "
                "of bool, int, float, str, DataType, Place or a marker of attribute.py, but got "
                f"{note!r}. Annotate it."
            )
        attrs.append(Attr(name, note, defaults.get(name, inspect.Parameter.empty)))
    return tuple(inputs), tuple(attrs)


def _annotation(function: Callable, name: str) -> Any:
    """A parameter's annotation. Under `from __future__ import annotations` it is a text."""
    note = function.__annotations__.get(name)
    if not isinstance(note, str):
        return note
    if note in function.__globals__:
        return function.__globals__[note]
    return getattr(builtins, note, None) or eval(note, function.__globals__)
