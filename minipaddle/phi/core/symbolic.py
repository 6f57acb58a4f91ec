"""Symbolic: a Tensor that will exist when a program runs: base's Variable, and pir's Value. And
the programs that are built now.

Paddle: the methods of math_op_patch.py in python/paddle/base/layers/ and in python/paddle/pir/ that
only say what can't be done; program_guard in python/paddle/base/framework.py.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator
from typing import Any


class Symbolic:
    """What a Variable and a Value have in common.

    Attributes:
        shape: the dimensions; -1 for one that is not known yet.
    """

    is_symbolic = True  # no data before the program runs
    shape: Any

    def _in_words(self) -> tuple[str, str, str]:
        """Its class, which one it is, and what to write in a fetch_list."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements. Raises ValueError where a dimension is not known yet."""
        kind, which, _ = self._in_words()
        if -1 in self.shape:
            raise ValueError(
                f"{kind}.size: expected known dimensions, but got {list(self.shape)} for {which}. "
                "Use an op that asks for the shape when the program runs."
            )
        return math.prod(self.shape)

    def _no_data(self, advice: str, method: str = "") -> str:
        kind, which, _ = self._in_words()
        return (
            f"{kind}{method}: expected a Tensor, but got {which}, which has no data before the "
            f"program runs. {advice}"
        )

    def backward(self, *args: Any, **kwargs: Any) -> None:
        advice = "Call paddle.static.append_backward(loss) instead."
        raise RuntimeError(self._no_data(advice, ".backward"))

    def __bool__(self) -> bool:
        raise TypeError(self._no_data("paddle.where chooses without an `if`."))

    def numpy(self, *args: Any) -> Any:
        run = f"Executor().run(program, feed={{...}}, fetch_list=[{self._in_words()[2]}])"
        raise TypeError(self._no_data(f"Fetch it: (array,) = {run}."))

    item = tolist = __float__ = __int__ = numpy


class CurrentPrograms(threading.local):
    """The programs that are built now. Each thread has its own: ranks that run as threads don't
    disturb each other. All start with the same ones.
    """

    def __init__(self, main: Any, startup: Any) -> None:
        self.main, self.startup = main, startup

    @contextlib.contextmanager
    def guard(self, main: Any, startup: Any = None) -> Iterator[None]:
        """Inside, ops go to `main` and the making of parameters goes to `startup`."""
        before = self.main, self.startup
        self.main, self.startup = main, startup or self.startup
        try:
            yield
        finally:
            self.main, self.startup = before
