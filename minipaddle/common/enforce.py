"""Checks that many functions make of what a user gives. Those of shapes and dtypes are in
phi/infermeta/enforce.py.

Paddle: paddle/common/enforce.h; check_type and its like, python/paddle/base/data_feeder.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def require_one_of(
    who: str, name: str, value: Any, choices: Iterable[Any], advice: str = "Use one of them."
) -> None:
    """Raises ValueError unless `value`, which the user knows as `name`, is one of `choices`."""
    known = list(choices)
    if value not in known:
        *most, last = map(repr, known)
        listed = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(f"{who}: expected {name} {listed}, but got {value!r}. {advice}")


def require_type(who: str, expected: str, value: Any, kinds: Any, advice: str) -> None:
    """Raises TypeError unless `value` is of one of the types `kinds`; `expected` says it in words:
    "feed to be a dict".
    """
    if not isinstance(value, kinds):
        raise TypeError(f"{who}: expected {expected}, but got {type(value).__name__}. {advice}")
