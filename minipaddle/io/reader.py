"""DataLoader: batches out of a dataset.

Paddle: python/paddle/io/reader.py.
Left out: copies to several devices (`places`). `use_buffer_reader`, `reader_buffer_size` and
`use_shared_memory` change nothing here: they are ways to copy faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from minipaddle.io.dataloader.batch_sampler import BatchSampler
from minipaddle.io.dataloader.collate import default_collate_fn, default_convert_fn
from minipaddle.io.dataloader.dataloader_iter import Workers, iterate_multi_process
from minipaddle.io.dataloader.dataset import Dataset, IterableDataset
from minipaddle.io.dataloader.fetcher import Job, iterate_single_process
from minipaddle.phi.core.generator import default_generator
from minipaddle.phi.core.world import in_dynamic_mode

__all__ = ["DataLoader"]


class DataLoader:
    """Iterates batches of a dataset: for each field of a sample one Tensor [batch, ...]; a list of
    them where a sample is a tuple or a list, a dict where it is a dict.

        for x, y in tqdm.tqdm(loader):  # a progress bar: it asks for len(loader)
            ...

    `paddle.seed` makes an epoch repeatable: the order, and what is random in the dataset, for any
    number of workers from 1 on.

    Args:
        feed_list: with return_list=False: variables (or names) that a batch is for.
        return_list: outside dygraph, False gives [{name: Tensor}], to be fed to an Executor.
        batch_sampler: yields lists of indices; in the place of batch_size, shuffle, drop_last.
        batch_size: None: samples alone, not collated.
        shuffle: in a new random order each time.
        drop_last: leave out a last batch that is not full.
        collate_fn: makes a batch of a list of samples.
        num_workers: processes that make batches; 0: none. Where Python spawns processes (Windows,
            macOS), the dataset must be defined in a module, and a script needs
            `if __name__ == "__main__":`.
        prefetch_factor: how many batches each worker is asked for ahead.
        timeout: how long to wait for a worker; s; 0: for ever.
        worker_init_fn: called in each worker with its number.
        persistent_workers: keep the workers for the next epoch.

    Raises:
        ValueError: an argument is out of range, or two of them contradict each other.
    """

    def __init__(
        self,
        dataset: Dataset,
        feed_list: Sequence[Any] | None = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        limits = (
            ("num_workers", num_workers, 0),
            ("prefetch_factor", prefetch_factor, 1),
            ("timeout", timeout, 0),
            ("batch_size", batch_size, 1),
        )
        for name, value, least in limits:
            is_number = isinstance(value, (int, float) if name == "timeout" else int)
            if value is not None and not (is_number and value >= least):
                raise ValueError(
                    f"DataLoader: expected {name} of at least {least}, but got {value!r}. Use "
                    f"{least} or more."
                )
        is_stream = isinstance(dataset, IterableDataset)
        if is_stream and (shuffle or batch_sampler is not None):
            raise ValueError(
                "DataLoader: expected no shuffle and no batch_sampler with an IterableDataset, but "
                "got one. Its __iter__ decides the order."
            )
        if batch_sampler is not None and (batch_size != 1 or shuffle or drop_last):
            raise ValueError(
                "DataLoader: expected only batch_sampler, but got batch_size, shuffle or drop_last "
                "too. Give them to the batch_sampler."
            )
        if not return_list and not in_dynamic_mode() and feed_list is None:
            raise ValueError(
                "DataLoader: expected feed_list with return_list=False, but got None. Name the "
                "variables that the batches are for."
            )
        self.dataset, self.feed_list, self.return_list = dataset, feed_list, return_list
        self.batch_size = None if batch_sampler is not None else batch_size
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None and not is_stream:
            self.batch_sampler = BatchSampler(dataset, None, shuffle, batch_size, drop_last)
        collates = self.batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate_fn if collates else default_convert_fn)
        self.num_workers, self.timeout = num_workers, timeout
        self.prefetch_factor = prefetch_factor
        self._persistent_workers = persistent_workers
        self._workers: Workers | None = None
        self._job = Job(dataset, self.collate_fn, drop_last, worker_init_fn, num_workers)

    def __len__(self) -> int:
        """The number of batches. Raises ValueError for an IterableDataset."""
        if isinstance(self.dataset, IterableDataset):
            raise ValueError(
                "DataLoader: the length of an IterableDataset is not known, but len() was called. "
                "Iterate it."
            )
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        # drawn without workers too, so that the order is the same for any number of them
        seed = int(default_generator().integers(2**31))
        if self.num_workers == 0:
            batches = iterate_single_process(self._job, self._requests())
        else:
            workers, keep = self._workers, self._persistent_workers
            if workers is None or not workers.workers:
                workers = Workers(self._job, self.timeout, self.prefetch_factor)
                self._workers = workers if keep else None
            batches = iterate_multi_process(workers, self._requests(), seed, keep)
        if self.return_list or in_dynamic_mode() or self.feed_list is None:
            return batches
        names = [getattr(variable, "name", variable) for variable in self.feed_list]
        return ([dict(zip(names, _as_list(batch)))] for batch in batches)

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def _requests(self) -> Iterable[Any]:
        """What a fetcher is asked for, batch by batch."""
        if isinstance(self.dataset, IterableDataset):
            return itertools.repeat(self.batch_size)
        return range(len(self.dataset)) if self.batch_sampler is None else self.batch_sampler


def _as_list(batch: Any) -> list[Any]:
    return batch if isinstance(batch, list) else [batch]
