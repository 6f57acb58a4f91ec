"""Datasets and samplers: which samples, in which order."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import io
from minipaddle.compare import both, real_paddle

needs_paddle = pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed")


class Range(io.Dataset):
    def __init__(self, start, stop):
        self.items = list(range(start, stop))

    def __getitem__(self, index):
        return self.items[index]

    def __len__(self):
        return len(self.items)


class Stream(io.IterableDataset):
    def __iter__(self):
        return iter([1, 2])


def test_datasets():
    rows = io.TensorDataset([paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([5.0, 6.0])])
    assert len(rows) == 2 and [field.tolist() for field in rows[1]] == [[3, 4], 6.0]
    assert isinstance(rows[0][0], paddle.Tensor)
    a, b = Range(0, 3), Range(10, 12)
    assert list(io.ConcatDataset([a, b])) == [0, 1, 2, 10, 11]
    assert io.ConcatDataset([a, b])[-1] == 11 and len(io.ConcatDataset([a, b])) == 5
    assert io.ComposeDataset([b, rows, b])[0][0] == 10 and len(io.ComposeDataset([b, rows])[1]) == 3
    assert list(io.Subset(a, [2, 0])) == [2, 0]
    assert list(io.ChainDataset([Stream(), Stream()])) == [1, 2, 1, 2]


def test_random_split():
    for lengths, wanted in (([7, 3], [7, 3]), ([0.5, 0.25, 0.25], [6, 2, 2]), ([1.0], [10])):
        paddle.seed(3)
        parts = io.random_split(Range(0, 10), lengths)
        assert [len(part) for part in parts] == wanted
        assert sorted(x for part in parts for x in part) == list(range(10))
        paddle.seed(3)
        again = io.random_split(Range(0, 10), lengths)
        assert [list(part) for part in parts] == [list(part) for part in again]


def test_samplers():
    data = Range(0, 50)
    assert list(io.SequenceSampler(data)) == list(range(50))
    for sampler in (
        io.RandomSampler(data),
        io.RandomSampler(data, num_samples=20),
        io.RandomSampler(data, replacement=True, num_samples=80),
        io.WeightedRandomSampler([0.0, 1.0, 3.0], 60),
        io.WeightedRandomSampler(np.ones((2, 9)), 4, replacement=False),
        io.SubsetRandomSampler([7, 8, 9]),
    ):
        paddle.seed(1)
        first, second = list(sampler), list(sampler)
        paddle.seed(1)
        assert first == list(sampler) != second
        assert len(first) == len(sampler) and all(type(index) is int for index in first)
    assert sorted(io.RandomSampler(data)) == list(range(50))
    assert len(set(io.RandomSampler(data, num_samples=20))) == 20
    weighted = list(io.WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    assert weighted.count(0) == 0 and 2 < weighted.count(2) / weighted.count(1) < 4
    rows = list(io.WeightedRandomSampler(np.ones((2, 9)), 9, replacement=False))
    assert sorted(rows[:9]) == sorted(rows[9:]) == list(range(9))
    assert list(io.RandomSampler(data, num_samples=3, generator=iter([4, 4, 1, 9]))) == [4, 4, 1]
    batches = io.BatchSampler(sampler=io.SubsetRandomSampler([7, 8, 9]), batch_size=2)
    assert [len(batch) for batch in batches] == [2, 1] and len(batches) == 2


@needs_paddle
def test_distributed_batches_are_paddles():
    """Every rank's batches, for many sizes; also the order of a shuffled epoch."""
    result = both("""
        for length in (1, 5, 8, 17):
            for ranks in (1, 2, 3):
                for shuffle in (False, True):
                    for drop_last in (False, True):
                        for rank in range(ranks):
                            sampler = paddle.io.DistributedBatchSampler(
                                range(length), 2, ranks, rank, shuffle, drop_last)
                            first = list(sampler)
                            sampler.set_epoch(5)
                            print(length, ranks, rank, len(sampler), first, list(sampler))
    """)
    assert result.same and "Error" not in result.paddle, result


def test_distributed_batches_know_their_rank():
    def batches():
        return list(io.DistributedBatchSampler(range(8), 2))

    assert paddle.distributed.spawn(batches, nprocs=2) == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert batches() == [[0, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: io.Dataset()[0], NotImplementedError, "Dataset has no __getitem__"),
        (lambda: len(io.Dataset()), NotImplementedError, "Dataset has no __len__"),
        (lambda: iter(io.IterableDataset()), NotImplementedError, "has no __iter__"),
        (lambda: Stream()[0], RuntimeError, "expected to be iterated"),
        (lambda: len(Stream()), TypeError, "length is not known"),
        (lambda: io.TensorDataset([paddle.ones([2]), paddle.ones([3])]), ValueError, "one length"),
        (lambda: io.ComposeDataset([Range(0, 2), Range(0, 3)]), ValueError, r"got \[2, 3\]"),
        (lambda: io.ComposeDataset([]), ValueError, "got none"),
        (lambda: io.ConcatDataset([Stream()]), TypeError, "but got Stream"),
        (lambda: io.ConcatDataset([Range(0, 2)])[2], IndexError, "between -2 and 1"),
        (lambda: io.ConcatDataset([Range(0, 2)])[-3], ValueError, "but got -3"),
        (lambda: io.ChainDataset([Range(0, 2)]), TypeError, "expected IterableDatasets"),
        (lambda: io.random_split(Range(0, 9), [4, 4]), ValueError, "add up to 9"),
        (lambda: io.random_split(Range(0, 9), [1.5, -0.5]), ValueError, "between 0 and 1"),
        (lambda: io.RandomSampler(Range(0, 0)), ValueError, "at least 1, but got 0"),
        (lambda: io.RandomSampler(Range(0, 2), num_samples=3), ValueError, "at most 2"),
        (lambda: io.RandomSampler(Range(0, 2), 1), TypeError, "replacement"),
        (lambda: io.WeightedRandomSampler([-1.0], 1), ValueError, "not negative"),
        (lambda: io.WeightedRandomSampler([0.0, 1.0], 2, False), ValueError, "at least 2 weights"),
        (lambda: io.WeightedRandomSampler([1.0], 0), ValueError, "num_samples of at least 1"),
        (lambda: io.SubsetRandomSampler([]), ValueError, "got none"),
        (lambda: io.BatchSampler(), ValueError, "but got neither"),
        (lambda: io.BatchSampler(Stream()), TypeError, "got an IterableDataset"),
        (lambda: io.BatchSampler(sampler=[1], shuffle=True), ValueError, "shuffle=False"),
        (lambda: io.BatchSampler(sampler=3), TypeError, "but got int"),
        (lambda: io.DistributedBatchSampler([1], 1, 2, 2), ValueError, "rank < num_replicas"),
    ],
)
def test_wrong_arguments(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
