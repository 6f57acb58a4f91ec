"""Ring all-reduce: every rank gets the sum of all, and no rank is a bottleneck.

The data is cut into N parts, one per rank; the ranks stand in a ring and only talk to the next one.

    reduce-scatter, N-1 steps:  rank r sends part r - step on, and adds what comes in; afterwards
    each rank has the whole sum of
                                one part
    all-gather, N-1 steps:      the finished parts go round

Each rank sends 2 (N-1)/N of the data, however many ranks there are.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", 2009. Paddle leaves this to NCCL and Gloo.
"""

from __future__ import annotations

import numpy as np

from minipaddle.distributed.collective.process_group import Message, ProcessGroup

NAME = "all_reduce"


def ring_all_reduce(
    group: ProcessGroup, rank: int, array: np.ndarray, combine: np.ufunc
) -> np.ndarray:
    """The combination of all ranks' arrays, in a new array.

    Args:
        array: any shape; the same on all ranks.
        combine: np.add, np.maximum, np.minimum or np.multiply.

    Raises:
        CollectiveError: a rank does not take part, or its array has another shape or dtype.
    """
    size = group.world_size
    parts = [part.copy() for part in np.array_split(array.ravel(), size)]
    after, before = (rank + 1) % size, (rank - 1) % size

    def pass_on(step: int, sent: int) -> np.ndarray:
        message = Message(NAME, step, rank, after, f"part {sent}", parts[sent].nbytes)
        group.put(message, parts[sent], array)
        return group.take(NAME, before, rank, array)

    for step in range(size - 1):
        sent, received = (rank - step) % size, (rank - step - 1) % size
        # the part has come round from the ranks behind: theirs first, so that the order of the sum
        # is fixed
        parts[received] = combine(pass_on(step, sent), parts[received])
    for step in range(size - 1):
        sent, received = (rank + 1 - step) % size, (rank - step) % size
        parts[received] = pass_on(size - 1 + step, sent)
    return np.concatenate(parts).reshape(array.shape)
