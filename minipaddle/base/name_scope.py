"""name_scope: names for parts of a model. Each op keeps the names around it, `/encoder/layer_1/`,
in its attribute `op_namescope`, for who reads or draws the program.

Paddle: NameScope and name_scope in python/paddle/base/framework.py.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator


class _Scope:
    """One part; it counts its children, so that each has a name of its own."""

    def __init__(self, full_name: str = "/") -> None:
        self.full_name = full_name
        self.children: Counter[str] = Counter()

    def child(self, prefix: str) -> _Scope:
        number = self.children[prefix]
        self.children[prefix] += 1
        return _Scope(
            f"{self.full_name}{prefix}_{number}/" if number else f"{self.full_name}{prefix}/"
        )


_current = _Scope()


def full_name() -> str:
    """The names around an op that is appended now, from the outside in: "/" outside all of them."""
    return _current.full_name


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Inside, ops belong to the part `prefix`; the second of that name is `prefix_1`.

    Raises:
        TypeError: the prefix is no text, or empty.
    """
    global _current
    if not isinstance(prefix, str) or not prefix:
        raise TypeError(
            f"name_scope: expected a name, but got {prefix!r}. Write name_scope('encoder')."
        )
    before = _current
    _current = before.child(prefix)
    try:
        yield
    finally:
        _current = before
