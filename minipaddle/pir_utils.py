"""pir_utils: switches between the two kinds of static program.

Paddle: python/paddle/pir_utils.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from minipaddle.phi.core.world import state, world_guard


@contextlib.contextmanager
def OldIrGuard() -> Iterator[None]:
    """Inside, static programs are classic Programs."""
    with _static_world("program"):
        yield


@contextlib.contextmanager
def IrGuard() -> Iterator[None]:
    """Inside, static programs are PIR programs."""
    with _static_world("pir"):
        yield


@contextlib.contextmanager
def _static_world(name: str) -> Iterator[None]:
    """Inside, `name` is the world, also after disable_static and enable_static."""
    before, state.static_world = state.static_world, name
    try:
        with world_guard(name):
            yield
    finally:
        state.static_world = before
