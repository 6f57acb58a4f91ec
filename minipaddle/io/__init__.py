"""io: datasets, and batches out of them.

Paddle: python/paddle/io/.
Left out: workers, samplers of one's own, iterable datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minipaddle.eager.tensor import Tensor, to_tensor
from minipaddle.phi.core.generator import default_generator

__all__ = ["DataLoader", "Dataset", "TensorDataset"]


class Dataset:
    """Base class: define `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"Dataset: {type(self).__name__} has no __getitem__. Write it.")

    def __len__(self) -> int:
        raise NotImplementedError(f"Dataset: {type(self).__name__} has no __len__. Write it.")


class TensorDataset(Dataset):
    """Rows of Tensors. Raises ValueError if they have different numbers of rows."""

    def __init__(self, tensors: list[Tensor]) -> None:
        if len({len(tensor) for tensor in tensors}) != 1:
            raise ValueError(
                "TensorDataset: expected Tensors of one length, but got "
                f"{[len(t) for t in tensors]}. Cut them to one."
            )
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple:
        return tuple(tensor._data[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class DataLoader:
    """Batches of a dataset: for each field of a sample one Tensor [batch, ...]; just one Tensor
    where a sample is no tuple.

    Args:
        shuffle: in a new random order each time; `paddle.seed` makes it repeatable.
        drop_last: leave out a last batch that is not full.
    """

    def __init__(
        self, dataset: Dataset, batch_size: int = 1, shuffle: bool = False, drop_last: bool = False
    ) -> None:
        if batch_size < 1:
            raise ValueError(
                f"DataLoader: expected batch_size of at least 1, but got {batch_size}. Use 1 or "
                "more."
            )
        self.dataset, self.batch_size = dataset, batch_size
        self.shuffle, self.drop_last = shuffle, drop_last

    def __len__(self) -> int:
        full, rest = divmod(len(self.dataset), self.batch_size)
        return full + bool(rest and not self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(len(self.dataset))
        if self.shuffle:
            default_generator().shuffle(order)
        for number in range(len(self)):
            chosen = order[number * self.batch_size : (number + 1) * self.batch_size]
            samples = [self.dataset[int(index)] for index in chosen]
            if isinstance(samples[0], (tuple, list)):
                yield [_batch(field) for field in zip(*samples, strict=True)]
            else:
                yield _batch(samples)


def _batch(items: Sequence[Any]) -> Tensor:
    return to_tensor(np.stack([np.asarray(item) for item in items]))
