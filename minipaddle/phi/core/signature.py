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
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple

from minipaddle.phi.core.attribute import CONVERTERS, MUTABLE

# Annotations of inputs; to a type checker they say "anything".
Optional = Annotated[Any, "may be None"]
TensorList = Annotated[Any, "a list of Tensors"]
NoNeedBuffer = Annotated[Any, "only shape and dtype are used, not the data"]
INPUT_MARKERS = (None, Optional, TensorList, NoNeedBuffer)


class Input(NamedTuple):
    """A Tensor input. `meta_only`: a gradient rule reads only its shape and dtype."""

    name: str
    is_list: bool = False
    optional: bool = False
    meta_only: bool = False


class Attr(NamedTuple):
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
    if skip and names[:1] != ("xp",):
        raise TypeError(
            f"op {function.__name__}: expected a kernel whose first parameter is xp, but got "
            f"{list(names[:1])}. xp is numpy or cupy: declare def {function.__name__}(xp, ...)."
        )
    inputs, attrs = [], []
    for name in names[skip : code.co_argcount]:
        note = _annotation(function, name)
        if note not in INPUT_MARKERS:
            raise TypeError(
                f"op {function.__name__}: expected the input {name!r} to have no annotation, or "
                f"Optional, TensorList or NoNeedBuffer, but got {note!r}. Attributes stand behind "
                f"a star: (..., *, {name}: ...)."
            )
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


def parameters(inputs: tuple[Input, ...], attrs: tuple[Attr, ...]) -> list[str]:
    """The parameters of a function that takes them all, as Python text: `x`, `axis=None`.

    A default that has no literal stands as `defaults["name"]`.
    """
    texts = [f"{item.name}=None" if item.optional else item.name for item in inputs]
    texts += [a.name if a.required else f"{a.name}={_default(a)}" for a in attrs]
    # an optional input in front of one that must be given can't be left out, only be None
    last_required = max((i for i, text in enumerate(texts) if "=" not in text), default=0)
    texts[:last_required] = [text.split("=")[0] for text in texts[:last_required]]
    return texts


def _default(attr: Attr) -> str:
    text = repr(attr.default)
    plain = attr.default is None or isinstance(attr.default, (bool, int, float, str, tuple))
    return text if plain and text not in ("inf", "-inf", "nan") else f'defaults["{attr.name}"]'


def require_known(who: str, what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises ValueError where a declaration names something that is not there."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(
            f"{who}: expected {what} among {sorted(known)}, but got {unknown}. Correct the name."
        )


def require_parameters(
    who: str, function: Callable, inputs: tuple[Input, ...], attrs: tuple[Attr, ...]
) -> None:
    """Raises TypeError where a function can't take an op's inputs and attributes."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    counted = code.co_argcount == len(inputs) or code.co_flags & inspect.CO_VARARGS
    keywords = set(names[code.co_argcount :])
    if counted and (keywords >= {a.name for a in attrs} or code.co_flags & inspect.CO_VARKEYWORDS):
        return
    wanted = ", ".join(
        [item.name for item in inputs] + ["*"] * bool(attrs) + [a.name for a in attrs]
    )
    raise TypeError(
        f"{who}: expected a function of ({wanted}), but got one of ({', '.join(names)}). Give it "
        "the inputs and attributes of the kernel; **attrs takes those that it does not read."
    )


def _annotation(function: Callable, name: str) -> Any:
    """A parameter's annotation. Under `from __future__ import annotations` it is a text."""
    note = function.__annotations__.get(name)
    if not isinstance(note, str):
        return note
    if note in function.__globals__:
        return function.__globals__[note]
    return getattr(builtins, note, None) or eval(note, function.__globals__)
