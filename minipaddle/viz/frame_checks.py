"""What the constructors of frames refuse, in words: a wrong type is named where it was given.

Paddle has no counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any


def listed(who: str, what: str, value: Any) -> list[Any]:
    """`value` as a list. Raises TypeError for what is none, a string above all."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(
            f"{who}: expected {what} to be a list, but got {_short(value)}. Write [...] around it."
        )
    return list(value)


def numbered(who: str, what: str, value: Any) -> list[int]:
    """One whole number or several, sorted, each once."""
    numbers = [value] if hasattr(value, "__index__") else listed(who, what, value)
    return sorted({whole(who, what, number) for number in numbers})


def whole(who: str, what: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{who}: expected {what} to be a whole number, but got {_short(value)}. "
            "Numbers like 3 count lines, rows or columns."
        )
    return int(value)


def made(who: str, constructor: Callable[..., Any], data: Any) -> Any:
    """A node, edge, cluster or pane from its fields (a dict) or a short form (a tuple, an id)."""
    fields, needed, in_order = _fields(constructor)
    if isinstance(data, Mapping):
        if needed <= data.keys() <= fields.keys():
            return constructor(**data)
        got = ", ".join(map(str, data)) or "none of them"
    else:
        parts = [data] if isinstance(data, (str, int)) else data
        if isinstance(parts, Sequence) and len(needed) <= len(parts) <= in_order:
            return constructor(*parts)
        got = _short(data)
    name = constructor.__name__
    raise TypeError(
        f"{who}: expected {'an' if name[0] in 'aeiou' else 'a'} {name} with the fields "
        f"{', '.join(fields)}, but got {got}. Make it with viz.{name}(...)."
    )


@cache
def _fields(constructor: Callable[..., Any]) -> tuple[dict[str, None], set[str], int]:
    """All parameters, those that must be given, and how many may be given by their place."""
    parameters = signature(constructor).parameters
    needed = {name for name, one in parameters.items() if one.default is Parameter.empty}
    in_order = [one for one in parameters.values() if one.kind is not Parameter.KEYWORD_ONLY]
    return dict.fromkeys(parameters), needed, len(in_order)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:58] + " …"
