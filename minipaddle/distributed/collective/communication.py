"""The collectives that users call.

Paddle: python/paddle/distributed/communication/.
Left out: all_to_all, reduce_scatter and scatter; groups of some ranks and sync_op=False, which are
refused; objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.distributed.collective.process_group import (
    Message,
    ProcessGroup,
    get_group,
    get_rank,
)
from minipaddle.distributed.collective.ring import ring_all_reduce
from minipaddle.eager.tensor import Tensor


class ReduceOp:
    """How values are combined."""

    SUM = 0
    MAX = 1
    MIN = 2
    PROD = 3
    AVG = 4


COMBINE = {
    ReduceOp.SUM: np.add,
    ReduceOp.MAX: np.maximum,
    ReduceOp.MIN: np.minimum,
    ReduceOp.PROD: np.multiply,
    ReduceOp.AVG: np.add,
}


def _all_ranks(who: str, group: Any, sync_op: Any = True) -> ProcessGroup:
    """The group of all ranks, the only one that is here.

    Raises:
        NotImplementedError: another group is asked for, or a call that does not wait.
    """
    here = get_group()
    if (group is not None and group is not here) or sync_op is not True:
        raise NotImplementedError(
            f"{who}: expected group=None (all ranks) and sync_op=True, but got group={group!r} and "
            f"sync_op={sync_op!r}. Groups of some ranks and calls that do not wait are not part of "
            "minipaddle: leave both out."
        )
    return here


def _require_tensor(who: str, tensor: Any) -> Tensor:
    if not isinstance(tensor, Tensor):
        raise ValueError(
            f"{who}: expected a Tensor, but got {type(tensor).__name__}. Make one with "
            "paddle.to_tensor."
        )
    return tensor


def _set(tensor: Tensor, array: np.ndarray) -> None:
    """Gives a Tensor new data, as an in-place op does."""
    tensor._data = array
    tensor._version[0] += 1


def send(tensor: Tensor, dst: int = 0, group: Any = None, sync_op: bool = True) -> None:
    """Sends a Tensor to rank `dst`.

    Raises:
        ValueError: there is no such rank, or it is this one.
    """
    _require_tensor("send", tensor)
    here = _all_ranks("send", group, sync_op)
    here.check_rank("send", "dst", dst)
    if dst == get_rank():
        raise ValueError(
            f"send: expected another rank, but got {dst}, which is this one. Send to another rank."
        )
    array = tensor._data
    here.put(Message("send/recv", 0, get_rank(), dst, "all", array.nbytes), array)


def recv(tensor: Tensor, src: int = 0, group: Any = None, sync_op: bool = True) -> None:
    """Waits for a Tensor from rank `src` and writes it into `tensor`.

    Raises:
        ValueError: there is no such rank.
        CollectiveError: nothing comes, or it has another shape or dtype.
    """
    _require_tensor("recv", tensor)
    here = _all_ranks("recv", group, sync_op)
    here.check_rank("recv", "src", src)
    _set(tensor, here.take("send/recv", src, get_rank(), tensor._data))


def all_reduce(
    tensor: Tensor, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> None:
    """Every rank's `tensor` becomes the combination of all of them, by the ring algorithm.

    Raises:
        ValueError: `tensor` is no Tensor, `op` is unknown, or the mean of integers is asked for.
        CollectiveError: a rank does not take part, or has another shape or dtype.
    """
    _require_tensor("all_reduce", tensor)
    if op not in COMBINE:
        raise ValueError(
            f"all_reduce: expected one of ReduceOp's values, but got {op!r}. Use ReduceOp.SUM."
        )
    here = _all_ranks("all_reduce", group, sync_op)
    if here.world_size == 1:
        return
    if op == ReduceOp.AVG and not tensor.dtype.is_floating:
        raise ValueError(
            f"all_reduce: expected floating-point numbers for ReduceOp.AVG, but got "
            f"{tensor.dtype.name}. Cast the Tensor, or use ReduceOp.SUM."
        )
    result = ring_all_reduce(here, get_rank(), tensor._data, COMBINE[op])
    _set(tensor, result / here.world_size if op == ReduceOp.AVG else result)


def broadcast(tensor: Tensor, src: int = 0, group: Any = None, sync_op: bool = True) -> None:
    """Every rank's `tensor` becomes that of rank `src`. Raises ValueError if there is no such
    rank.
    """
    _require_tensor("broadcast", tensor)
    here = _all_ranks("broadcast", group, sync_op)
    here.check_rank("broadcast", "src", src)
    if get_rank() == src:
        for rank in range(here.world_size):
            if rank != src:
                array = tensor._data
                here.put(Message("broadcast", 0, src, rank, "all", array.nbytes), array)
    else:
        _set(tensor, here.take("broadcast", src, get_rank(), tensor._data))


def reduce(
    tensor: Tensor, dst: int = 0, op: int = ReduceOp.SUM, group: Any = None, sync_op: bool = True
) -> None:
    """Rank `dst` gets the combination of all; the others keep what they have."""
    _all_ranks("reduce", group, sync_op).check_rank("reduce", "dst", dst)
    copy = Tensor(_require_tensor("reduce", tensor).numpy())
    all_reduce(copy, op)
    if get_rank() == dst:
        _set(tensor, copy._data)


def all_gather(tensor_list: list, tensor: Tensor, group: Any = None, sync_op: bool = True) -> None:
    """Appends every rank's Tensor to `tensor_list`, in the order of the ranks."""
    _require_tensor("all_gather", tensor)
    here, rank = _all_ranks("all_gather", group, sync_op), get_rank()
    for other in range(here.world_size):
        if other != rank:
            array = tensor._data
            here.put(Message("all_gather", 0, rank, other, "all", array.nbytes), array)
    for other in range(here.world_size):
        array = tensor._data.copy() if other == rank else here.take("all_gather", other, rank)
        tensor_list.append(Tensor(array))


def barrier(group: Any = None) -> None:
    """Waits until every rank is here."""
    _all_ranks("barrier", group)
    all_gather([], Tensor(np.zeros((), np.int32)))
