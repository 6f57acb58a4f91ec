"""Nests of lists, tuples and dicts: what the functions of cond and while_loop return.

Paddle: python/paddle/utils/layers_utils.py (flatten, pack_sequence_as, map_structure).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def flatten(nest: Any) -> list[Any]:
    """The values in a nest, in order; dicts in the order of their keys."""
    if isinstance(nest, dict):
        return [value for key in sorted(nest) for value in flatten(nest[key])]
    if isinstance(nest, (list, tuple)):
        return [value for item in nest for value in flatten(item)]
    return [nest]


def pack(nest: Any, values: Sequence[Any]) -> Any:
    """A nest like `nest` with other values, in the order of `flatten`."""
    return _pack(nest, iter(values))


def _pack(nest: Any, values: Iterator[Any]) -> Any:
    if isinstance(nest, dict):
        filled = {key: _pack(nest[key], values) for key in sorted(nest)}
        return {key: filled[key] for key in nest}
    if isinstance(nest, (list, tuple)):
        items = [_pack(item, values) for item in nest]
        named = hasattr(nest, "_fields")  # a namedtuple takes its fields one by one
        return type(nest)(*items) if named else type(nest)(items)
    return next(values)


def map_structure(function: Callable[[Any], Any], nest: Any) -> Any:
    """A nest like `nest` with `function(value)` for each value."""
    return pack(nest, [function(value) for value in flatten(nest)])


def same_structure(first: Any, second: Any) -> str:
    """In what two nests differ, as a text; empty if they have the same structure.

    A list and a tuple are the same.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        if sorted(first) != sorted(second):
            return f"the keys {sorted(first)} and {sorted(second)}"
        pairs = [(first[key], second[key]) for key in sorted(first)]
    elif isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        if len(first) != len(second):
            return f"{len(first)} and {len(second)} values"
        pairs = list(zip(first, second, strict=True))
    elif isinstance(first, (dict, list, tuple)) or isinstance(second, (dict, list, tuple)):
        return f"{type(first).__name__} and {type(second).__name__}"
    else:
        return ""
    return next((found for pair in pairs if (found := same_structure(*pair))), "")
