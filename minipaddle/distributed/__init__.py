"""distributed: several ranks that compute together.

Here a rank is a thread of this process (backend "threads"): collectives are deterministic and can
be watched from a notebook. The interface is Paddle's, so other backends can stand behind it.

    collective/   collective operations and the groups that carry them out
    fleet/        what training of large models needs
    parallel      DataParallel: each rank computes on its share of the batch
    spawn         runs a function on several ranks

Paddle: python/paddle/distributed/.
Left out: a random generator and unique names per rank (ranks share them), MPI and NCCL
backends, groups of some of the ranks, asynchronous calls, sharding, pipelines, auto-parallel.
"""

from minipaddle.distributed import fleet
from minipaddle.distributed.collective.communication import (
    ReduceOp,
    all_gather,
    all_reduce,
    barrier,
    broadcast,
    recv,
    reduce,
    send,
)
from minipaddle.distributed.collective.process_group import get_rank, get_world_size
from minipaddle.distributed.parallel import DataParallel, init_parallel_env
from minipaddle.distributed.spawn import spawn

__all__ = [
    "DataParallel",
    "ReduceOp",
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "fleet",
    "get_rank",
    "get_world_size",
    "init_parallel_env",
    "recv",
    "reduce",
    "send",
    "spawn",
]
