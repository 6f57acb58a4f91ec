"""Fetchers: get the samples of one batch and collate them.

Paddle: python/paddle/io/dataloader/fetcher.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minipaddle.io.dataloader.collate import as_tensor, map_arrays
from minipaddle.io.dataloader.dataset import Dataset, IterableDataset


@dataclass(frozen=True)
class Job:
    """What the maker of batches must know; it travels to a spawned worker."""

    dataset: Dataset
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    worker_init_fn: Callable[[int], Any] | None
    num_workers: int


@dataclass(frozen=True)
class MapFetcher:
    """Samples by their numbers."""

    dataset: Dataset
    collate_fn: Callable[[Any], Any]

    def fetch(self, indices: Any) -> Any:
        """indices: a list of numbers for a batch; one number for a sample alone."""
        if isinstance(indices, Sequence):
            return self.collate_fn([self.dataset[index] for index in indices])
        return self.collate_fn(self.dataset[indices])


class IterableFetcher:
    """The next samples; raises StopIteration at the end."""

    def __init__(
        self, dataset: IterableDataset, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.collate_fn, self.drop_last = collate_fn, drop_last
        self.iterator = iter(dataset)

    def fetch(self, batch_size: int | None) -> Any:
        """batch_size: how many; None for a sample alone."""
        if batch_size is None:
            return self.collate_fn(next(self.iterator))
        samples = list(itertools.islice(self.iterator, batch_size))
        if not samples or (self.drop_last and len(samples) < batch_size):
            raise StopIteration
        return self.collate_fn(samples)


def create_fetcher(job: Job) -> MapFetcher | IterableFetcher:
    """The fetcher for this kind of dataset."""
    if isinstance(job.dataset, IterableDataset):
        return IterableFetcher(job.dataset, job.collate_fn, job.drop_last)
    return MapFetcher(job.dataset, job.collate_fn)


def iterate_single_process(job: Job, requests: Iterable[Any]) -> Iterator[Any]:
    """Makes each batch when it is asked for."""
    fetcher = create_fetcher(job)
    for request in requests:
        try:
            batch = fetcher.fetch(request)
        except StopIteration:
            if isinstance(job.dataset, IterableDataset):
                return
            raise  # out of a __getitem__: a mistake, which Python makes a RuntimeError
        yield map_arrays(batch, as_tensor)
