"""What `pytest --quick` runs: a case of each op, a lesson of each module, each core.

It says in a minute or so whether a change broke something large. `make test` says the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest

# All tests of these files or folders, which are quick and at the core of something.
WHOLE = (
    "tests/base/test_clone_prune.py",
    "tests/base/test_control_flow.py",
    "tests/base/test_executor.py",
    "tests/base/test_program.py",
    "tests/distributed/",
    "tests/eager/test_backward.py",
    "tests/eager/test_grad.py",
    "tests/eager/test_hooks.py",
    "tests/eager/test_inplace.py",
    "tests/grader/test_checks.py",
    "tests/io/test_samplers.py",
    "tests/jit/",
    "tests/new_executor/test_garbage_collection.py",
    "tests/nn/test_nn.py",
    "tests/optimizer/test_lr.py",
    "tests/pir/",
    "tests/static/",
    "tests/tensor/test_type_promotion.py",
    "tests/test_floors.py",
    "tests/transforms/",
    "tests/viz/test_frame.py",
    "tests/viz/test_layout.py",
)
# Of a table of ops: the first case of each op, on numpy.
TABLES = ("tests/phi/test_declarations.py", "tests/phi/test_signatures.py")
# Of the course: what needs no run of a notebook, and the first lesson of each module.
LESSON = re.compile(r"tests/test_course\.py::\w+\[\d\d_\w+/01_\w+\]$")


def quick(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Those of `items` that belong to it."""
    seen = set()
    for item in items:
        if item.nodeid.startswith(WHOLE) or LESSON.match(item.nodeid):
            yield item
        elif item.nodeid.startswith(TABLES):
            function, _, case = item.nodeid.partition("[")
            if not case.startswith(("double-", "cupy-")):
                op = (function, case.removeprefix("numpy-").partition("-")[0])
                if op not in seen:
                    seen.add(op)
                    yield item
