"""Conditions in programs.

Paddle: python/paddle/static/nn/control_flow.py.
Left out: cond, while_loop, case, switch_case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.phi.core.op import OPS


def Assert(
    cond: Any, data: Sequence[Any] | None = None, summarize: int = 20, name: str | None = None
) -> None:
    """Stops the program with a ValueError when it runs and `cond` is false.

    Args:
        cond: one bool.
        data: Variables or Values whose numbers the error shows.
        summarize: how many numbers of each; -1: all.

    Raises:
        TypeError: cond is not of dtype bool.
    """
    OPS["assert"](cond, list(data or []), summarize=summarize)
