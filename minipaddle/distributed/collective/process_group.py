"""ProcessGroup: the ranks that talk to each other. This one's ranks are threads.

A message is put into the mailbox of (source, destination); `recv` waits for it. All collectives
are written on these two, in communication.py, so each byte that moves can be counted: `messages`
lists them.

Paddle: paddle/phi/core/distributed/collective/process_group.h (ProcessGroupNCCL,
ProcessGroupGloo).
Left out: streams, asynchronous tasks.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from minipaddle.common.errors import CollectiveError


@dataclass(frozen=True)
class Message:
    """One message that was sent: by which operation, in which of its steps, what part of the
    data.
    """

    operation: str
    step: int
    source: int
    destination: int
    part: str
    nbytes: int


class ProcessGroup:
    """`world_size` ranks in one process.

    Args:
        timeout: how long a rank waits for another one; s.
    """

    def __init__(self, world_size: int, timeout: float = 30.0) -> None:
        self.world_size = world_size
        self.timeout = timeout
        self.messages: list[Message] = []
        self._mail: dict[tuple[int, int], deque] = defaultdict(deque)
        self._changed = threading.Condition()
        self._ended: dict[int, str] = {}  # rank -> how it ended

    def check_rank(self, who: str, name: str, rank: int) -> None:
        """Raises ValueError if there is no such rank."""
        if not isinstance(rank, int) or not 0 <= rank < self.world_size:
            raise ValueError(
                f"{who}: expected 0 <= {name} < {self.world_size}, but got {rank}. "
                f"This group has {self.world_size} ranks, and the first is 0."
            )

    def put(self, message: Message, array: np.ndarray, whole: np.ndarray | None = None) -> None:
        """Sends a copy of the array; the shape and dtype of `whole`, of which it is a part, go
        along.
        """
        whole = array if whole is None else whole
        with self._changed:
            self.messages.append(message)
            self._mail[message.source, message.destination].append(
                (message, array.copy(), (list(whole.shape), whole.dtype.name))
            )
            self._changed.notify_all()

    def take(
        self, operation: str, source: int, destination: int, like: np.ndarray | None = None
    ) -> np.ndarray:
        """Waits for the next message from `source`.

        Args:
            like: this rank's array; the other's must have its shape and dtype.

        Raises:
            CollectiveError: none came in time, the other rank has ended, it is in another
                operation, or its array is not like this rank's.
        """
        deadline = time.monotonic() + self.timeout
        with self._changed:
            mailbox = self._mail[source, destination]
            while not mailbox:
                if source in self._ended:
                    raise CollectiveError(
                        f"{operation}: rank {destination} expected a message from rank {source}, "
                        f"but rank {source} "
                        f"{self._ended[source]}. Call {operation} on every rank, in the same order."
                    )
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not self._changed.wait(remaining):
                    raise CollectiveError(
                        f"{operation}: rank {destination} expected a message from rank {source} "
                        "within "
                        f"{self.timeout:g} s, but got none. Call {operation} on every rank, in "
                        "the same order."
                    )
            message, array, (shape, dtype) = mailbox.popleft()
        if message.operation != operation:
            raise CollectiveError(
                f"{operation}: rank {destination} expected rank {source} to be in {operation} "
                "too, but got a message of "
                f"{message.operation}. Call the same operations on every rank, in the same order."
            )
        if like is not None and (shape, dtype) != (list(like.shape), like.dtype.name):
            raise CollectiveError(
                f"{operation}: expected shape {list(like.shape)} and dtype {like.dtype.name} on "
                f"every rank, but got {shape} and {dtype} from rank {source}. Use Tensors of one "
                "shape and dtype."
            )
        return array

    def end(self, rank: int, how: str) -> None:
        """Notes that a rank has ended, so that nobody waits for it."""
        with self._changed:
            self._ended[rank] = how
            self._changed.notify_all()

    def sorted_messages(self) -> list[Message]:
        """All messages in an order that does not depend on which thread was faster."""
        return sorted(self.messages, key=lambda m: (m.step, m.source, m.destination))


class _Here(threading.local):
    """Which rank this thread is. Outside `spawn`: the only one."""

    group: Any = None
    rank = 0


here = _Here()
_alone = ProcessGroup(1)


def get_group() -> ProcessGroup:
    """The group of this thread."""
    return here.group or _alone


def get_rank() -> int:
    """This rank's number, from 0."""
    return here.rank


def get_world_size() -> int:
    """How many ranks there are."""
    return get_group().world_size
