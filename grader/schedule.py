"""Runs Jobs: on this machine, or on the machines of a Dask cluster.

Both ways take jobs as they find time for them, and yield each result as it comes, in any order. So
neither all submissions nor all results are in memory at once, and only the caller writes.

On this machine there is a thread for every worker. The work is not done in the thread: grading.py
starts a process for it (and in that one the sandbox), and waits.

A worker that is killed costs time. Here its result is "failed", and the caller gives the job again;
Dask gives it to another worker by itself, three times at most.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from grader.errors import GraderError
from grader.outcome import FAILED, Job, Outcome

Work = Callable[[Job], Outcome]
Jobs = Iterable[tuple[str, Job]]
Results = Iterator[tuple[str, Outcome]]

CONNECT_SECONDS = 10
WORKER_SECONDS = 60


def here(work: Work, jobs: Jobs, workers: int) -> Results:
    """Yields (key, outcome) for each (key, job), from `workers` threads."""
    todo: queue.Queue[tuple[str, Job] | None] = queue.Queue()
    done: queue.Queue[tuple[str, Outcome | GraderError]] = queue.Queue()
    rest = iter(jobs)
    running = 0
    # Daemons: Ctrl-C doesn't wait for them. What they started ends with the command (grading.py).
    threads: list[threading.Thread] = []
    try:
        while True:
            while running < workers and (item := next(rest, None)) is not None:
                if len(threads) < workers:
                    thread = threading.Thread(target=_work, args=(work, todo, done), daemon=True)
                    threads.append(thread)
                    thread.start()
                todo.put(item)
                running += 1
            if not running:
                return
            key, outcome = done.get()
            running -= 1
            if isinstance(outcome, GraderError):
                raise outcome
            yield key, outcome
    finally:
        for _ in threads:
            todo.put(None)


def _work(work: Work, todo: queue.Queue[Any], done: queue.Queue[Any]) -> None:
    while (item := todo.get()) is not None:
        key, job = item
        try:
            outcome = work(job)
        except GraderError as error:  # no sandbox here: no other job would fare better
            outcome = error
        except Exception as error:
            outcome = _failed(key, error)
        done.put((key, outcome))


def on_cluster(work: Work, jobs: Jobs, address: str) -> Results:
    """The same, on the workers of the Dask scheduler at `address` (tcp://host:8786).

    Raises:
        GraderError: there is no scheduler, it has no worker, or it went away.
    """
    from distributed import Client, as_completed
    from distributed.client import FutureCancelledError

    client = _client(Client, address)
    try:
        rest = iter(jobs)
        keys: dict[Any, str] = {}
        running = as_completed(loop=client.loop)
        most = 0
        while True:
            # Some jobs wait for every thread, so that none waits for a job. Workers come and go.
            if len(keys) <= most // 2:
                most = max(4, 4 * sum(client.nthreads().values()))
                for key, job in itertools.islice(rest, max(0, most - len(keys))):
                    future = client.submit(work, job, pure=False)
                    keys[future] = key
                    running.add(future)
            if not keys:
                return
            future = next(running)
            key = keys.pop(future)
            try:
                outcome = future.result()
            except GraderError:
                raise
            except FutureCancelledError:
                raise GraderError(
                    f"grader: expected the Dask scheduler at {address} to stay, but got: the "
                    "connection is lost. What was graded is stored. Start the scheduler, then run "
                    "the same command again: it goes on where it ended."
                ) from None
            except Exception as error:
                outcome = _failed(key, error)
            yield key, outcome
    finally:
        client.close()


def _client(make: Any, address: str) -> Any:
    try:
        client = make(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        raise GraderError(
            f"grader: expected a Dask scheduler at {address!r}, but got: {error}. Start one with "
            "`dask scheduler`, and pass the tcp:// address that it prints."
        ) from None
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        client.close()
        raise GraderError(
            f"grader: expected a worker at the Dask scheduler {address}, but got none in "
            f"{WORKER_SECONDS} s. Start some: `dask worker {address}`, with the same grader "
            "installed."
        ) from None
    return client


def _failed(key: str, error: Exception) -> Outcome:
    text = str(error).strip() or "no text"
    return Outcome(key, FAILED, f"the grader itself failed: {type(error).__name__}: {text[:300]}")
