"""DataParallel: each rank computes on its share of the batch; the gradients are averaged.

Each parameter has a hook: as soon as its gradient is complete, it is all-reduced. All ranks
walk the same graph, so the hooks run in the same order everywhere.

Paddle: python/paddle/distributed/parallel.py (DataParallel),
paddle/fluid/distributed/collective/reducer.cc.
Left out: buckets, overlap with the backward, unused parameters, no_sync.
"""

from __future__ import annotations

from typing import Any

from minipaddle.distributed.collective.communication import ReduceOp, all_reduce, broadcast
from minipaddle.distributed.collective.process_group import get_rank, get_world_size
from minipaddle.eager.tensor import Tensor
from minipaddle.io.dataloader import batch_sampler
from minipaddle.nn.layer.layers import Layer

# so that a DistributedBatchSampler knows its rank by itself
batch_sampler.current_rank = lambda: (get_rank(), get_world_size())


class ParallelEnv:
    """What `init_parallel_env` returns."""

    @property
    def rank(self) -> int:
        return get_rank()

    @property
    def world_size(self) -> int:
        return get_world_size()


def init_parallel_env() -> ParallelEnv:
    """Joins the group of ranks. Ranks that are threads have joined already when `spawn` starts
    them.
    """
    return ParallelEnv()


class DataParallel(Layer):
    """Wraps a Layer. All ranks start with rank 0's parameters.

    Raises:
        TypeError: `layers` is no Layer.
    """

    def __init__(self, layers: Layer) -> None:
        super().__init__()
        if not isinstance(layers, Layer):
            raise TypeError(
                f"DataParallel: expected a Layer, but got {type(layers).__name__}. Wrap your "
                "network's Layer."
            )
        self._layers = layers
        for parameter in layers.parameters():
            broadcast(parameter, 0)
            if not parameter.stop_gradient:
                parameter.register_hook(_average)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._layers(*inputs, **kwargs)


def _average(gradient: Tensor) -> Tensor:
    """The hook: the mean of all ranks' gradients."""
    mean = Tensor(gradient._data)
    all_reduce(mean, ReduceOp.AVG)
    return mean
