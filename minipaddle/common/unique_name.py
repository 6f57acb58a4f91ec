"""Names for variables, parameters and layers: `linear_0.w_0`, `relu_0.tmp_0`.

Paddle: python/paddle/utils/unique_name.py.
Left out: prefixes for nested name scopes.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator

_counters: dict[str, int] = defaultdict(int)


def generate(key: str) -> str:
    """The next name that starts with `key`: "fc" gives "fc_0", then "fc_1"."""
    number = _counters[key]
    _counters[key] += 1
    return f"{key}_{number}"


@contextlib.contextmanager
def guard() -> Iterator[None]:
    """Inside, names start from 0 again; afterwards counting goes on as before."""
    global _counters
    before = _counters
    _counters = defaultdict(int)
    try:
        yield
    finally:
        _counters = before
