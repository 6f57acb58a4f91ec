"""Collate: many samples become one batch.

Paddle: python/paddle/io/dataloader/collate.py.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minipaddle.common.place import module_of
from minipaddle.eager.tensor import Tensor, to_tensor


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Stacks the samples, field by field: arrays, Tensors and numbers to one array [batch, ...];
    tuples and lists to a list of fields; dicts to a dict; text stays a list.

    Raises:
        TypeError: a sample is something else.
        RuntimeError: samples have different numbers of fields.
        ValueError: samples have different shapes.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        arrays = [sample._data for sample in batch]
        return Tensor(_stacked(arrays, module_of(first._data)))
    if isinstance(first, np.ndarray):
        return _stacked(batch, np)
    if isinstance(first, (numbers.Number, np.generic)):
        return np.array(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate_fn([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        lengths = {len(sample) for sample in batch}
        if len(lengths) != 1:
            raise RuntimeError(
                "default_collate_fn: expected samples with equally many fields, but got "
                f"{sorted(lengths)} fields. Pad them in a collate_fn of your own."
            )
        return [default_collate_fn(fields) for fields in zip(*batch)]
    raise TypeError(
        "default_collate_fn: expected samples of arrays, Tensors, numbers, text, lists and dicts, "
        f"but got {type(first).__name__}. Convert it in the dataset, or give a collate_fn."
    )


def default_convert_fn(batch: Any) -> Any:
    """What stands in the place of collating where there are no batches: one sample, unchanged."""
    return batch


def _stacked(arrays: Sequence[Any], xp: Any) -> Any:
    shapes = {array.shape for array in arrays}
    if len(shapes) != 1:
        raise ValueError(
            "default_collate_fn: expected samples of one shape, but got "
            f"{' and '.join(str(list(shape)) for shape in sorted(shapes))}. Pad or resize them in "
            "the dataset, or give a collate_fn."
        )
    return xp.stack(arrays)


def map_arrays(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The same nest of lists and dicts, with `change` applied to each array and Tensor. Tuples
    become lists, as in Paddle.
    """
    if isinstance(batch, (Tensor, np.ndarray, np.generic)):
        return change(batch)
    if isinstance(batch, Mapping):
        return {key: map_arrays(value, change) for key, value in batch.items()}
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        return [map_arrays(value, change) for value in batch]
    return batch


def as_tensor(array: Any) -> Tensor:
    """What the user gets for an array: a Tensor where `paddle.set_device` says. A Tensor stays."""
    return array if isinstance(array, Tensor) else to_tensor(array)


def as_array(array: Any) -> np.ndarray:
    """What a worker sends: arrays travel between processes, Tensors don't."""
    return np.asarray(array)
