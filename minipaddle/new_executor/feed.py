"""Feeds: what a user gives to a run is checked against what the program asks for.

Paddle: check_feed_shape_type in python/paddle/base/executor.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.common.dtype import DataType, to_dtype


class MissingFeedError(KeyError):
    """A KeyError, as in Paddle, that reads like a sentence."""

    def __str__(self) -> str:
        return str(self.args[0])


def missing_feed(
    name: str, shape: Sequence[int], dtype: DataType, feed_names: Sequence[str]
) -> MissingFeedError:
    """The error for a feed that is not there."""
    return MissingFeedError(
        f"Executor.run: the program needs feed {name!r} ({dtype.name}, {list(shape)}), "
        f"but feed has {sorted(feed_names)}. Add {name!r} to feed."
    )


def check_feed(name: str, shape: Sequence[int], dtype: DataType) -> Callable[[Any], Any]:
    """Makes the check of one feed: shape (-1 fits everything) and dtype."""
    wanted_shape, wanted = tuple(shape), dtype.numpy_dtype

    def check(array: Any) -> Any:
        if array.dtype != wanted:
            got = to_dtype(array.dtype).name if array.dtype.kind in "biuf" else str(array.dtype)
            raise ValueError(
                f"Executor.run: expected feed {name!r} of dtype {dtype.name}, but got {got}. "
                f"Cast it first: {name}.astype('{dtype.name}')."
            )
        fits = len(array.shape) == len(wanted_shape) and all(
            want in (-1, got) for want, got in zip(wanted_shape, array.shape, strict=False)
        )
        if not fits:
            raise ValueError(
                f"Executor.run: expected feed {name!r} of shape {list(wanted_shape)}, but got "
                f"{list(array.shape)}. -1 stands for any size; the others must agree."
            )
        return array

    return check
