"""A worker: a process that makes batches for a DataLoader.

It waits for requests, one pipe in, one pipe out:

    ("epoch", seed, None)         start again from the dataset's beginning; no reply
    ("batch", number, indices)    reply: ("batch", data), ("end", None) or ("error", exception)

Arrays travel through the pipe as bytes. Every batch has a seed of its own, made of the epoch's
seed and the batch's number, so that random changes to the samples come out the same, whichever
worker makes the batch and however many there are.

Paddle: python/paddle/io/dataloader/worker.py. There a worker has one seed for all its batches, and
results go through shared memory.
Left out: shared memory; results that hold GPU Tensors.
"""

from __future__ import annotations

import contextlib
import pickle
import random
import signal
import traceback
import weakref
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from minipaddle.common.place import set_device
from minipaddle.io.dataloader.collate import as_array, map_arrays
from minipaddle.io.dataloader.dataset import Dataset, IterableDataset
from minipaddle.io.dataloader.fetcher import Job, create_fetcher
from minipaddle.phi.core.generator import seed as seed_generator

# The parent's ends of all workers' pipes. A forked worker inherits those of the workers before it,
# and must close them: while it holds one, the others don't see that the parent is gone.
PARENTS_ENDS: weakref.WeakSet[Any] = weakref.WeakSet()


@dataclass(frozen=True)
class WorkerInfo:
    """Who asks, in a worker: `id` counts from 0; `seed` is the epoch's; `dataset` is this
    worker's copy.
    """

    id: int
    num_workers: int
    dataset: Dataset
    seed: int


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The WorkerInfo of the worker that calls; None in the main process."""
    return _worker_info


def worker_loop(job: Job, worker_id: int, requests: Connection, results: Connection) -> None:
    """Answers requests until the other end is closed, or the parent process has ended."""
    for connection in list(PARENTS_ENDS):
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    set_device("cpu")  # a GPU can't be shared with a forked process
    parent: Any = parent_process()
    worker = _Worker(job, worker_id)
    with contextlib.suppress(EOFError, OSError):  # the other end is closed: nobody waits any more
        while requests in wait([requests, parent.sentinel]):
            kind, number, indices = pickle.loads(requests.recv_bytes())
            if kind == "epoch":
                worker.start_epoch(number)
            else:
                results.send_bytes(worker.reply(number, indices))


class _Worker:
    def __init__(self, job: Job, worker_id: int) -> None:
        self.job, self.id = job, worker_id
        self.is_stream = isinstance(job.dataset, IterableDataset)
        self.epoch_seed: int | None = None
        self.failure: bytes | None = None
        self.fetcher: Any = None

    def start_epoch(self, seed: int) -> None:
        global _worker_info
        is_first, self.epoch_seed = self.epoch_seed is None, seed
        _worker_info = WorkerInfo(self.id, self.job.num_workers, self.job.dataset, seed)
        _seed_all(seed, self.id)
        try:
            if is_first and self.job.worker_init_fn is not None:
                self.job.worker_init_fn(self.id)
            self.fetcher = create_fetcher(self.job)
        except Exception as error:  # told in the place of the first batch
            self.failure = _error_reply(error, self.id)

    def reply(self, number: int, indices: Any) -> bytes:
        if self.failure is not None:
            return self.failure
        try:
            if not self.is_stream:
                _seed_all(self.epoch_seed or 0, number)
            batch = self.fetcher.fetch(indices)
            return pickle.dumps(("batch", map_arrays(batch, as_array)), protocol=5)
        except StopIteration as error:
            if self.is_stream:
                return pickle.dumps(("end", None))
            return _error_reply(RuntimeError(f"StopIteration in a dataset: {error}"), self.id)
        except Exception as error:
            return _error_reply(error, self.id)


def _seed_all(*numbers: int) -> None:
    """Python's, numpy's and our own generator, from these numbers together."""
    seed = int(np.random.SeedSequence(numbers).generate_state(1)[0])
    random.seed(seed)
    np.random.seed(seed)
    seed_generator(seed)


def _error_reply(error: Exception, worker_id: int) -> bytes:
    """The exception, with the worker's traceback as a note; a RuntimeError in its place if it
    can't travel.
    """
    text = "".join(traceback.format_exception(error)).rstrip()
    note = f"raised in DataLoader worker {worker_id}:\n{text}"
    try:
        error.add_note(note)
        reply = pickle.dumps(("error", error))
        pickle.loads(reply)
        return reply
    except Exception:
        stand_in = RuntimeError(f"{type(error).__name__}: {error}")
        stand_in.add_note(note)
        return pickle.dumps(("error", stand_in))
