"""Feeds: what a user gives to a run is checked against what the program asks for.

Paddle: _as_lodtensor and check_feed_shape_type in python/paddle/base/executor.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minipaddle.common.dtype import DataType


class MissingFeedError(KeyError):
    """A KeyError, as in Paddle, that reads like a sentence."""

    def __str__(self) -> str:
        return str(self.args[0])


def feeds_and_reads(
    inputs: Iterable[tuple[str, Any]], feed_names: Sequence[str], lives_in_scope: Any
) -> tuple[dict[str, tuple[str, Callable]], dict[str, str]]:
    """Where what a program reads comes from: `feeds` and `scope_reads` of an InstructionList.

    Args:
        inputs: what it reads: (name in the generated function, the Variable or Value).
        lives_in_scope: says of a Variable or Value whether it need not be fed.

    Raises:
        KeyError: what must be fed is not.
    """
    feeds, reads = {}, {}
    for number, item in inputs:
        name = item.name
        if name in feed_names:
            feeds[name] = number, check_feed(name, item.shape, item.dtype)
        elif lives_in_scope(item):
            reads[name] = number
        else:
            raise MissingFeedError(
                f"Executor.run: the program needs feed {name!r} ({item.dtype.name}, "
                f"{list(item.shape)}), but feed has {sorted(feed_names)}. Add {name!r} to feed."
            )
    return feeds, reads


def refuse_extra_feeds(feed_names: Sequence[str], known: Iterable[str]) -> None:
    """Raises ValueError if a feed has a name that the program does not have.

    A feed that the program has but does not need for this fetch is fine. Paddle only warns of an
    unknown one, for a PIR program not even that.
    """
    extra = sorted(set(feed_names).difference(known))
    if extra:
        raise ValueError(
            f"Executor.run: expected feeds that the program has, but got {extra}, which it does "
            "not have. Leave them out, or check the spelling."
        )


def refuse_computed_feeds(feed_names: Sequence[str], computed: Iterable[str]) -> None:
    """Raises ValueError if a feed would be overwritten before anybody reads it.

    In Paddle it is overwritten, and nothing is said.
    """
    lost = sorted(set(feed_names).intersection(computed))
    if lost:
        raise ValueError(
            f"Executor.run: expected feeds of inputs, but got {lost}, which the program computes "
            "itself, so that what you feed would be lost. Feed the program's inputs."
        )


def check_feed(name: str, shape: Sequence[int], dtype: DataType) -> Callable[[Any], Any]:
    """Makes the check of one feed: `check(value)` returns the array to use.

    An array or a Tensor must have the program's dtype. A list or a number takes it, if that loses
    nothing but precision (2 for a float32, but not 1.5 for an int64). -1 in `shape` fits every
    size.
    """
    wanted_shape, wanted, ndarray = tuple(shape), dtype.numpy_dtype, np.ndarray
    any_size = -1 in wanted_shape

    def check(value: Any) -> Any:
        if type(value) is not ndarray:
            value = _as_array(name, value, dtype)
        found = value.dtype
        if found is not wanted and found != wanted:
            raise ValueError(
                f"Executor.run: expected feed {name!r} of dtype {dtype.name}, but got "
                f"{found}. Cast it first: {name}.astype('{dtype.name}')."
            )
        got_shape = value.shape
        if got_shape != wanted_shape and not (
            any_size
            and len(got_shape) == len(wanted_shape)
            and all(want in (-1, got) for want, got in zip(wanted_shape, got_shape, strict=True))
        ):
            raise ValueError(
                f"Executor.run: expected feed {name!r} of shape {list(wanted_shape)}, but got "
                f"{list(got_shape)}. -1 stands for any size; the others must agree."
            )
        return value

    return check


def _as_array(name: str, value: Any, dtype: DataType) -> Any:
    """An array of what is no numpy array: a Tensor, a list, a number."""
    if isinstance(value, (list, tuple, bool, int, float, complex, np.generic)):
        try:
            array = np.asarray(value)
        except ValueError as error:  # rows of different lengths
            raise ValueError(
                f"Executor.run: expected feed {name!r} as an array or a regular list, but got a "
                f"list that is none ({error}). Give all rows the same length."
            ) from error
        if array.size and not np.can_cast(array.dtype, dtype.numpy_dtype, "same_kind"):
            return array
        fitting = array.astype(dtype.numpy_dtype)
        return array if fitting.dtype.kind in "iu" and (fitting != array).any() else fitting
    if isinstance(value, np.ndarray):  # a np.matrix or a masked array computes in its own way
        return np.asarray(value)
    if hasattr(value, "numpy"):
        return value.numpy()
    if hasattr(value, "dtype") and hasattr(value, "shape"):  # cupy's
        return value
    raise TypeError(
        f"Executor.run: expected feed {name!r} as an array, a Tensor, a list or a number, but got "
        f"{type(value).__name__}. Make an array of it: np.asarray(...)."
    )
