"""spawn: runs a function on several ranks.

Paddle: python/paddle/distributed/spawn.py. There each rank is a process, and spawn returns its
context; here a rank is a thread, and spawn returns what the ranks returned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from minipaddle.distributed.collective.process_group import ProcessGroup, here


class SpawnResult(list):
    """What each rank returned, in order; `group` has the messages that were sent."""

    def __init__(self, results: list[Any], group: ProcessGroup) -> None:
        super().__init__(results)
        self.group = group


def spawn(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    nprocs: int = 2,
    join: bool = True,
    backend: str = "threads",
    timeout: float = 30.0,
) -> SpawnResult:
    """Calls `func(*args)` on ranks 0 to nprocs - 1 at the same time, and waits for all.

    Args:
        timeout: how long a rank waits for another one in a collective; s.

    Returns:
        A list: what each rank returned.

    Raises:
        ValueError: nprocs is below 1, or the backend is unknown.
        Exception: what the first failing rank raised (a note says which rank).
    """
    if nprocs < 1:
        raise ValueError(f"spawn: expected nprocs of at least 1, but got {nprocs}. Use 1 or more.")
    if backend != "threads":
        raise ValueError(
            f"spawn: expected backend 'threads', but got {backend!r}. It is the only backend here "
            "so far."
        )
    if not join:
        raise ValueError(
            "spawn: expected join=True, but got False. Ranks that are threads are always waited "
            "for."
        )
    group = ProcessGroup(nprocs, timeout)
    results: list[Any] = [None] * nprocs
    failures: list[tuple[int, BaseException]] = []

    def run(rank: int) -> None:
        here.group, here.rank = group, rank
        how = "has ended"
        try:
            results[rank] = func(*args)
        except BaseException as error:  # handed on to the caller below
            failures.append((rank, error))
            how = f"has failed with {type(error).__name__}: {error}"
        finally:
            group.end(rank, how)

    threads = [
        threading.Thread(target=run, args=(rank,), name=f"rank {rank}") for rank in range(nprocs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        rank, error = failures[0]  # the first to fail; others fail because it is gone
        error.add_note(f"raised on rank {rank} of {nprocs}")
        raise error
    return SpawnResult(results, group)
