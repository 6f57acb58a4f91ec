"""The type of `Tensor.shape`.

Paddle: the `Size` class of paddle/fluid/pybind/size.cc.
"""

from __future__ import annotations

import math


class Size(list):
    """A shape: a list of ints that prints as Paddle's does, and compares with lists and tuples."""

    def __repr__(self) -> str:
        return f"paddle.Size({super().__repr__()})"

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other)) if isinstance(other, (list, tuple)) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)
