"""Names for variables, parameters and layers: `linear_0.w_0`, `relu_0.tmp_0`.

Paddle: python/paddle/utils/unique_name.py.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any


class _Names:
    """Counts, for each key, the names that were given."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counters: dict[str, int] = defaultdict(int)


_names = _Names()


def generate(key: str) -> str:
    """The next name that starts with `key`: "fc" gives "fc_0", then "fc_1"."""
    number = _names.counters[key]
    _names.counters[key] += 1
    return f"{_names.prefix}{key}_{number}"


def switch(new_names: Any = None) -> Any:
    """From now on, names start from 0 again; or go on from what an earlier call returned."""
    global _names
    before = _names
    _names = new_names if isinstance(new_names, _Names) else _Names(new_names or "")
    return before


@contextlib.contextmanager
def guard(new_generator: str | None = None) -> Iterator[None]:
    """Inside, names start from 0 again, with `new_generator` in front if it is given; afterwards
    counting goes on as before.
    """
    before = switch(new_generator)
    try:
        yield
    finally:
        switch(before)
