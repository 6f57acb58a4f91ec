"""One pass over a dataset with workers. (Without them: iterate_single_process in fetcher.py.)

Requests go round: batch 0 to worker 0, batch 1 to worker 1, ... So each batch's
worker is known beforehand, and taking the answers in the same order gives the batches in order.

Paddle: python/paddle/io/dataloader/dataloader_iter.py.
Left out: the buffer reader (a thread that copies batches to the GPU ahead of time), shared memory.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any

from minipaddle.io.dataloader.collate import as_tensor, map_arrays
from minipaddle.io.dataloader.fetcher import Job
from minipaddle.io.dataloader.worker import PARENTS_ENDS, worker_loop

# Requests that wait in a pipe must fit into it (the smallest there are hold 8 KiB): otherwise this
# process could wait for a worker to read while the worker waits for this process to read.
PIPE_BYTES = 4096

GRACE = 1.0  # s: how long a worker may take to end by itself


def iterate_multi_process(
    workers: Workers, requests: Iterable[Any], seed: int, keep: bool
) -> Iterator[Any]:
    """Has batches made ahead of time. The workers end with the iteration, also if it stops early,
    unless `keep`.

    Raises:
        RuntimeError: a worker has died, or took longer than the timeout.
        Exception: what a dataset or a collate_fn raised; the worker's traceback is a note on it.
    """
    try:
        workers.start_epoch(enumerate(requests), seed)
        epoch = workers.epoch
        while workers.order:
            kind, data = workers.next_reply()
            if kind == "batch":
                yield map_arrays(data, as_tensor)
                if epoch != workers.epoch:
                    raise RuntimeError(
                        "DataLoader: expected one iteration at a time with persistent_workers, but "
                        "another one has started. Make a second DataLoader."
                    )
        keep_now = keep
    except GeneratorExit:
        keep_now = keep
        raise
    except BaseException:
        keep_now = False
        raise
    finally:
        if not keep_now:
            workers.close()


class _Worker:
    """This process's view of one worker.

    Attributes:
        unsent: requests for it that are still here.
        sent: the sizes of those that it has not answered; bytes.
        replies: its answers that nobody has asked for yet.
    """

    def __init__(self, context: Any, job: Job, number: int) -> None:
        self.number = number
        self.unsent: deque[bytes] = deque()
        self.sent: deque[int] = deque()
        self.replies: deque[bytes] = deque()
        self.at_end = self.is_gone = False
        requests, self.requests = context.Pipe(duplex=False)
        self.results, results = context.Pipe(duplex=False)
        PARENTS_ENDS.update((self.requests, self.results))
        self.process = context.Process(
            target=worker_loop,
            args=(job, number, requests, results),
            name=f"DataLoader worker {number}",
            daemon=True,  # Python ends it when it ends itself
        )
        try:
            self.process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                f"DataLoader: expected a dataset and functions that can be sent to a worker, but "
                f"got: {error}. Define them at the top of a module, or set num_workers=0."
            ) from error
        finally:
            requests.close()
            results.close()

    def flush(self) -> None:
        """Sends what fits into the pipe."""
        while self.unsent and (not self.sent or sum(self.sent) + len(self.unsent[0]) <= PIPE_BYTES):
            request = self.unsent.popleft()
            self.sent.append(len(request))
            self.send(request)

    def send(self, request: bytes) -> None:
        with contextlib.suppress(OSError):  # it has died: whoever waits for its answer finds out
            self.requests.send_bytes(request)

    def read(self) -> None:
        """Takes one answer out of the pipe."""
        try:
            self.replies.append(self.results.recv_bytes())
            self.sent.popleft()
        except (EOFError, OSError):
            self.is_gone = True
        self.flush()


class Workers:
    """All workers of a DataLoader.

    Args:
        timeout: how long to wait for a batch; s; 0: for ever.
        prefetch_factor: how many batches each worker is asked for ahead.
    """

    def __init__(self, job: Job, timeout: float, prefetch_factor: int) -> None:
        self.timeout, self.prefetch_factor = timeout, prefetch_factor
        self.epoch, self.owner = 0, os.getpid()
        self.order: deque[_Worker] = deque()  # whose answers come next
        self.workers: list[_Worker] = []
        try:
            for number in range(job.num_workers):
                context: Any = multiprocessing.get_context()
                self.workers.append(_Worker(context, job, number))
        except BaseException:
            self.close()
            raise

    def start_epoch(self, requests: Iterator[tuple[int, Any]], seed: int) -> None:
        """Asks for the first batches. What an earlier epoch has left is thrown away."""
        self.epoch += 1
        self.requests = requests
        self.order.clear()
        for worker in self.workers:
            worker.unsent.clear()
            while worker.sent:
                self._wait_for(worker)
                worker.replies.popleft()
            worker.replies.clear()
            worker.at_end = False
            worker.send(pickle.dumps(("epoch", seed, None)))
        for _ in range(self.prefetch_factor):
            for worker in self.workers:
                self._ask(worker)

    def _ask(self, worker: _Worker) -> None:
        request = next(self.requests, None)
        if request is not None:
            worker.unsent.append(pickle.dumps(("batch", *request)))
            worker.flush()
            self.order.append(worker)

    def next_reply(self) -> tuple[str, Any]:
        """The next answer in order, and another request to the worker that gave it."""
        worker = self.order.popleft()
        self._wait_for(worker)
        kind, data = pickle.loads(worker.replies.popleft())
        if kind == "error":
            raise data
        worker.at_end = worker.at_end or kind == "end"
        if not worker.at_end:
            self._ask(worker)
        return kind, data

    def _wait_for(self, worker: _Worker) -> None:
        """Returns when `worker` has an answer. Meanwhile, takes in those of the others."""
        end = time.monotonic() + self.timeout if self.timeout else None
        while not worker.replies:
            pipes = {one.results: one for one in self.workers if not one.is_gone}
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = wait([*pipes, worker.process.sentinel], left)
            if not ready:
                raise RuntimeError(
                    f"DataLoader: expected a batch within {self.timeout} s, but worker "
                    f"{worker.number} has sent none. Set a longer timeout, or 0 to wait for ever."
                )
            found = [pipes[pipe] for pipe in ready if pipe in pipes]
            for one in found:
                one.read()
            if worker.is_gone or not found:  # its last words, if any, have been read
                raise _death_of(worker)

    def close(self) -> None:
        """Ends all workers: first by closing their pipes, then by force."""
        if os.getpid() != self.owner:
            return  # a forked copy: these are not its children
        for worker in self.workers:
            worker.requests.close()
            worker.results.close()
        end = time.monotonic() + GRACE
        for worker in self.workers:
            worker.process.join(max(0.0, end - time.monotonic()))
            if worker.process.is_alive():
                worker.process.terminate()
                worker.process.join()
        self.workers.clear()
        self.order.clear()

    def __del__(self) -> None:
        self.close()


def _death_of(worker: _Worker) -> RuntimeError:
    worker.process.join(GRACE)
    code = worker.process.exitcode
    how = f"exit code {code}" if code is None or code >= 0 else f"signal {-code}"
    advice: dict[int | None, str] = {
        -9: "Was there too little memory? Use fewer workers or smaller batches.",
        1: "Look for its error above. Where processes are spawned (Windows, macOS), a script "
        "needs `if __name__ == '__main__':`.",
    }
    return RuntimeError(
        f"DataLoader: expected a batch from worker {worker.number}, but its process has ended "
        f"({how}). {advice.get(code, 'Set num_workers=0 to see where it happens.')}"
    )
