"""pir_utils: switches between the two kinds of static program.

Paddle: python/paddle/pir_utils.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from minipaddle.phi.core.world import world_guard


@contextlib.contextmanager
def OldIrGuard() -> Iterator[None]:
    """Inside, static programs are classic Programs."""
    with world_guard("program"):
        yield


@contextlib.contextmanager
def IrGuard() -> Iterator[None]:
    """Inside, static programs are PIR programs."""
    with world_guard("pir"):
        yield
