"""Which tests stay together when `make test` shares them out to several processes (pytest-xdist).

A part is what one process runs from its first test to its last. A file is a part: its fixtures
start once, and its tests meet in the order in which they stand there. A table of thousands of
independent cases is cut, one part for each test function. What must not run beside its like is
one part: two Chromiums would only wait for each other.

The longest parts are handed out first, so that no process is left alone with one at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/browser/",)
TABLES = ("tests/phi/",)
LONG = (
    "tests/browser/",
    "tests/grader/test_audit.py",
    "tests/test_course.py",
    "tests/grader/",
    "tests/phi/",
)


def part_of(nodeid: str) -> str:
    """The part to which a test belongs, by its name."""
    for folder in TOGETHER:
        if nodeid.startswith(folder):
            return folder
    if nodeid.startswith(TABLES):
        return nodeid.partition("[")[0]
    return nodeid.partition("::")[0]


def longest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests in the order in which they are handed out."""

    def rank(item: pytest.Item) -> int:
        return next((i for i, start in enumerate(LONG) if item.nodeid.startswith(start)), len(LONG))

    return sorted(items, key=rank)


class Parts(LoadScopeScheduling):
    """Hands out part after part; who is done with one gets the next."""

    def _split_scope(self, nodeid: str) -> str:
        return part_of(nodeid)
