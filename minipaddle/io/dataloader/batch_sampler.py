"""Batch samplers: which samples make one batch.

Paddle: python/paddle/io/dataloader/batch_sampler.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

import numpy as np

from minipaddle.io.dataloader.dataset import IterableDataset
from minipaddle.io.dataloader.sampler import RandomSampler, Sampler, SequenceSampler

__all__ = ["BatchSampler", "DistributedBatchSampler"]

# (rank, number of ranks) of whoever calls; the floor above, `distributed`, puts its own here
current_rank: Callable[[], tuple[int, int]] = lambda: (0, 1)  # noqa: E731


class BatchSampler(Sampler):
    """Lists of batch_size indices, out of a dataset or out of a sampler.

    Args:
        dataset, sampler: one of them.
        shuffle: with a dataset: in a random order.
        drop_last: leave out a last batch that is not full.

    Raises:
        ValueError: not exactly one of dataset and sampler is given, shuffle is set with a
            sampler, or batch_size is below 1.
        TypeError: the dataset has no numbers, or the sampler can't be iterated.
    """

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        if (dataset is None) == (sampler is None):
            got = "neither" if dataset is None else "both"
            raise ValueError(
                f"BatchSampler: expected a dataset or a sampler, but got {got}. Give one of them."
            )
        if isinstance(dataset, IterableDataset):
            raise TypeError(
                "BatchSampler: expected a dataset with numbers, but got an IterableDataset. Give "
                "DataLoader a batch_size instead."
            )
        if sampler is not None and shuffle:
            raise ValueError(
                "BatchSampler: expected shuffle=False with a sampler, but got True. Shuffle in "
                "the sampler: RandomSampler."
            )
        if sampler is not None and not isinstance(sampler, (Sampler, Iterable)):
            raise TypeError(
                f"BatchSampler: expected a sampler that yields indices, but got "
                f"{type(sampler).__name__}. Write a Sampler."
            )
        _check("BatchSampler", batch_size)
        self.sampler: Any = sampler
        if dataset is not None:
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return _in_batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return _number_of_batches(len(self.sampler), self.batch_size, self.drop_last)


class DistributedBatchSampler(BatchSampler):
    """Each rank's share of the batches. All ranks get equally many: where the dataset can't be
    divided evenly, its first samples come twice.

    Of each `batch_size * num_replicas` samples in a row, rank 0 gets the first batch_size, rank 1
    the next, and so on. The order of an epoch depends on its number alone, so that all ranks
    agree on it.

    Args:
        num_replicas, rank: default: those of the process group that calls.

    Raises:
        ValueError: batch_size or num_replicas is below 1, or rank is not below num_replicas.
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        _check("DistributedBatchSampler", batch_size)
        own_rank, ranks = current_rank()
        self.nranks = ranks if num_replicas is None else num_replicas
        self.local_rank = own_rank if rank is None else rank
        if self.nranks < 1 or not 0 <= self.local_rank < self.nranks:
            raise ValueError(
                f"DistributedBatchSampler: expected 0 <= rank < num_replicas, but got rank "
                f"{self.local_rank} and num_replicas {self.nranks}. Ranks count from 0."
            )
        self.dataset, self.batch_size = dataset, batch_size
        self.shuffle, self.drop_last = shuffle, drop_last
        self.epoch = 0
        self.num_samples = -(-len(dataset) // self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        indices = [number % len(self.dataset) for number in range(self.total_size)]
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(indices)
            self.epoch += 1
        return _in_batches(self._share(indices), self.batch_size, self.drop_last)

    def _share(self, indices: list[int]) -> list[int]:
        """This rank's part: a batch out of every round, and its piece of the rest."""
        round_size = self.batch_size * self.nranks
        rest = self.total_size % round_size
        full, share = self.total_size - rest, []
        for start in range(self.local_rank * self.batch_size, full, round_size):
            share += indices[start : start + self.batch_size]
        piece = rest // self.nranks
        start = full + self.local_rank * piece
        return share + indices[start : start + piece]

    def __len__(self) -> int:
        return _number_of_batches(self.num_samples, self.batch_size, self.drop_last)

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch, on which the order depends. Each iteration adds 1 by itself."""
        self.epoch = epoch


def _in_batches(indices: Iterable[int], batch_size: int, drop_last: bool) -> Iterator[list[int]]:
    iterator = iter(indices)
    while batch := list(itertools.islice(iterator, batch_size)):
        if len(batch) == batch_size or not drop_last:
            yield batch


def _number_of_batches(samples: int, batch_size: int, drop_last: bool) -> int:
    full, rest = divmod(samples, batch_size)
    return full + bool(rest and not drop_last)


def _check(who: str, batch_size: Any) -> None:
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(
            f"{who}: expected batch_size of at least 1, but got {batch_size!r}. Use 1 or more."
        )
