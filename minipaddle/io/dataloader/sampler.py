"""Samplers: in which order the samples of a dataset are taken.

All randomness comes from the generator of `paddle.seed`.

Paddle: python/paddle/io/dataloader/sampler.py. RandomSampler and WeightedRandomSampler there take
`numpy.random`, which `paddle.seed` doesn't reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import Any

import numpy as np

from minipaddle.phi.core.generator import default_generator

__all__ = [
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """Base class: define `__iter__`, which yields indices, and `__len__`."""

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"Sampler: {type(self).__name__} has no __iter__. Write it.")

    def __len__(self) -> int:
        raise NotImplementedError(f"Sampler: {type(self).__name__} has no __len__. Write it.")


class SequenceSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """A new random order each time.

    Args:
        replacement: draw each index anew, so that one may come several times.
        num_samples: how many; default: as many as there are.
        generator: an iterator of indices to take instead.

    Raises:
        ValueError: num_samples is below 1, or more than there are without replacement.
        TypeError: replacement is no bool.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(
                f"RandomSampler: expected replacement True or False, but got {replacement!r}. "
                "Use one of them."
            )
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(self.num_samples, int) or self.num_samples < 1:
            raise ValueError(
                f"RandomSampler: expected num_samples of at least 1, but got {self.num_samples}. "
                "Give it samples to choose from, or another number."
            )
        if not replacement and self.num_samples > len(data_source):
            raise ValueError(
                f"RandomSampler: expected num_samples of at most {len(data_source)}, as many as "
                f"there are, but got {num_samples}. Set replacement=True."
            )

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, wanted = len(self.data_source), self.num_samples
        if self.generator is not None:
            for _, index in zip(range(wanted), self.generator):
                yield index
        elif self.replacement:
            yield from default_generator().integers(0, size, wanted).tolist()
        else:
            yield from default_generator().permutation(size)[:wanted].tolist()

    def __len__(self) -> int:
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """Index i comes with a probability in proportion to weights[i].

    Args:
        weights: [N], or [G, N]: then num_samples of each row, row by row.

    Raises:
        ValueError: num_samples is below 1, weights has another form, a weight is negative or not
            finite, or a row has too few weights above 0.
        TypeError: replacement is no bool.
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        if not isinstance(num_samples, int) or num_samples < 1:
            raise ValueError(
                f"WeightedRandomSampler: expected num_samples of at least 1, but got "
                f"{num_samples!r}. Name how many indices to draw."
            )
        if not isinstance(replacement, bool):
            raise TypeError(
                f"WeightedRandomSampler: expected replacement True or False, but got "
                f"{replacement!r}. Use one of them."
            )
        rows = np.asarray(weights, "float64")
        if rows.ndim not in (1, 2) or not np.isfinite(rows).all() or (rows < 0).any():
            raise ValueError(
                "WeightedRandomSampler: expected weights [N] or [G, N], finite and not negative, "
                f"but got {weights}. Correct them."
            )
        self.weights, self.num_samples, self.replacement = weights, num_samples, replacement
        self._rows = rows.reshape(-1, rows.shape[-1])
        needed = 1 if replacement else num_samples
        if ((self._rows > 0).sum(axis=1) < needed).any():
            raise ValueError(
                f"WeightedRandomSampler: expected at least {needed} weights above 0 in each row, "
                f"but got {weights}. Correct them, or set replacement=True."
            )

    def __iter__(self) -> Iterator[int]:
        for row in self._rows:
            chosen = default_generator().choice(
                len(row), self.num_samples, self.replacement, row / row.sum()
            )
            yield from chosen.tolist()

    def __len__(self) -> int:
        return self.num_samples * len(self._rows)


class SubsetRandomSampler(Sampler):
    """The given indices in a new random order each time. Raises ValueError if there are none."""

    def __init__(self, indices: Sequence[int]) -> None:
        if not len(indices):
            raise ValueError(
                "SubsetRandomSampler: expected indices, but got none. Give one or more."
            )
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        for position in default_generator().permutation(len(self.indices)):
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)
