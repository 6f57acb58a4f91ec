"""Datasets: where samples come from, by number (Dataset) or one after the other (IterableDataset).

Paddle: python/paddle/io/dataloader/dataset.py.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.generator import default_generator

__all__ = [
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]


class Dataset:
    """Base class: define `__getitem__` (a sample by its number) and `__len__`."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"Dataset: {type(self).__name__} has no __getitem__. Write it.")

    def __len__(self) -> int:
        raise NotImplementedError(f"Dataset: {type(self).__name__} has no __len__. Write it.")


class IterableDataset(Dataset):
    """Base class of a dataset without numbers, such as a stream: define `__iter__`.

    With workers, every worker iterates its own copy: split the work with `get_worker_info()`,
    or each sample comes once from each worker.
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            f"IterableDataset: {type(self).__name__} has no __iter__. Write it."
        )

    def __getitem__(self, idx: int) -> Any:
        raise RuntimeError(
            "IterableDataset: expected to be iterated, but got an index. Use a Dataset for "
            "samples with numbers."
        )

    def __len__(self) -> int:
        raise TypeError(  # Paddle: RuntimeError; but list(stream) asks for it, and allows this one
            "IterableDataset: its length is not known, but len() was called. Iterate it, or use a "
            "Dataset."
        )


class TensorDataset(Dataset):
    """Sample i is row i of each Tensor. Raises ValueError if their lengths differ."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        if len({len(tensor) for tensor in tensors}) != 1:
            raise ValueError(
                "TensorDataset: expected Tensors of one length, but got "
                f"{[len(t) for t in tensors]}. Cut them to one."
            )
        self.tensors = tensors

    def __getitem__(self, idx: int) -> tuple[Tensor, ...]:
        # not tensor[idx]: a row of a dataset needs no op and no gradient
        return tuple(Tensor(tensor._data[idx]) for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ComposeDataset(Dataset):
    """Several datasets side by side: sample i has the fields of sample i of each.

    Raises:
        ValueError: no dataset is given, or they have different lengths.
        TypeError: one of them has no numbers.
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = _with_numbers("ComposeDataset", datasets)
        lengths = [len(dataset) for dataset in self.datasets]
        if len(set(lengths)) != 1:
            raise ValueError(
                f"ComposeDataset: expected datasets of one length, but got {lengths}. Take a "
                "Subset of the longer ones."
            )

    def __getitem__(self, idx: int) -> tuple:
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields += sample if isinstance(sample, (tuple, list)) else [sample]
        return tuple(fields)

    def __len__(self) -> int:
        return len(self.datasets[0])


class ConcatDataset(Dataset):
    """Several datasets one after the other, of any lengths. Raises as ComposeDataset does."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _with_numbers("ConcatDataset", datasets)
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __getitem__(self, idx: int) -> Any:
        position = idx + len(self) if idx < 0 else idx
        if not 0 <= position < len(self):
            # `for sample in dataset` needs IndexError to end; for a negative index Paddle has this
            raise (ValueError if idx < 0 else IndexError)(
                f"ConcatDataset: expected an index between {-len(self)} and {len(self) - 1}, but "
                f"got {idx}. It has {len(self)} samples."
            )
        number = bisect.bisect_right(self.cumulative_sizes, position)
        before = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][position - before]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """Several IterableDatasets one after the other.

    Raises:
        ValueError: no dataset is given.
        TypeError: one of them is no IterableDataset.
    """

    def __init__(self, datasets: Sequence[IterableDataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ChainDataset: expected datasets, but got none. Give one or more.")
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise TypeError(
                    f"ChainDataset: expected IterableDatasets, but got {type(dataset).__name__}. "
                    "Use ConcatDataset for datasets with numbers."
                )

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class Subset(Dataset):
    """The samples of a dataset that `indices` names, in that order."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: int) -> Any:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset, lengths: Sequence[float], generator: Any | None = None
) -> list[Subset]:
    """Cuts a dataset into parts, in a random order; `paddle.seed` makes it repeatable.

    Args:
        lengths: how many samples each part gets; or shares that add up to 1. What is left over
            from rounding down goes to the first parts, one each.
        generator: not used, as in Paddle.

    Raises:
        ValueError: the lengths don't add up to the dataset's, or a share is not in [0, 1].
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if any(not 0 <= share <= 1 for share in lengths):
            raise ValueError(
                f"random_split: expected shares between 0 and 1, but got {list(lengths)}. Name "
                "each part's share of the whole."
            )
        counts = [math.floor(total * share) for share in lengths]
        for number in range(total - sum(counts)):
            counts[number % len(counts)] += 1
    else:
        counts = [int(length) for length in lengths]
    if sum(counts) != total:
        raise ValueError(
            f"random_split: expected lengths that add up to {total}, the dataset's, but got "
            f"{list(lengths)}. Change one of them."
        )
    order = default_generator().permutation(total).tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]


def _with_numbers(who: str, datasets: Iterable[Dataset]) -> list[Dataset]:
    found = list(datasets)
    if not found:
        raise ValueError(f"{who}: expected datasets, but got none. Give one or more.")
    for dataset in found:
        if not isinstance(dataset, Dataset) or isinstance(dataset, IterableDataset):
            raise TypeError(
                f"{who}: expected Datasets with __getitem__ and __len__, but got "
                f"{type(dataset).__name__}. ChainDataset joins IterableDatasets."
            )
    return found
