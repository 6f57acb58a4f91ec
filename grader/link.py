"""The examiner's end of the pipes to a student's process.

What comes through them is not trusted: a frame has a limit, an answer has a deadline, and what
can't be read is the student's error. A process that hangs is interrupted; one that ends, or doesn't
stop, or uses too much memory, is replaced by a new one, in which the cells before are run again. So
it costs the cell in which it happened, and not the tasks after it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from grader.outcome import Limits
from grader.sandbox import launch, said
from grader.student import HEADER

MAX_FRAME = 64 * 2**20  # bytes
MAX_WAITING = 1  # frames not taken yet: a student's process can send what nobody asked for
RESTARTS = 3
PATIENCE = 5  # how many times its limit a cell may take, where it waits for a processor
LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # Linux, mostly
AT_WORK = 4  # more threads than these at work, and a process has its own share of the processors


class StudentError(Exception):
    """What the student's process answered instead of a value. `kinds`: the classes of the exception
    there, "builtins.ValueError" and its bases. `why_no_name`: of a NameError, where that is known.
    """

    def __init__(self, text: str, kinds: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.kinds = kinds
        self.why_no_name = ""

    @property
    def kind(self) -> str:
        return self.kinds[0].rpartition(".")[2] if self.kinds else ""


class StudentStopped(StudentError):
    """The process did not answer in time, ended, or used too much memory: `why`, in a few words."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class CannotStart(Exception):
    """The student's process did not start: the grader's failure, not the student's."""


class Link:
    """One submission's process, and its successors."""

    def __init__(self, limits: Limits, files: Path, sandbox: bool) -> None:
        self.limits = limits
        self.files = files
        self.sandbox = sandbox
        self.deadline = time.monotonic() + limits.submission_seconds
        self.cell_deadline = self.deadline
        self.done: list[
            str
        ] = []  # the cells that ran to their end, to be run again after a restart
        self.restarts = 0
        self.calls = 0
        self.over = ""  # why nothing is run any more
        self.process: subprocess.Popen[bytes] | None = None

    def begin_cell(self) -> None:
        """The time of a cell starts. All calls of a check cell share it."""
        self.cell_deadline = time.monotonic() + self.limits.cell_seconds

    # -- requests ------------------------------------------------------------------------------

    def run(self, source: str) -> list[dict[str, Any]]:
        """Runs a cell; returns its outputs. Raises StudentStopped."""
        answer = self._ask({"do": "run", "source": source})
        self.done.append(source)
        outputs = answer.get("outputs")
        return outputs if isinstance(outputs, list) else []

    def call(self, define: list[str], name: str, args: str) -> dict[str, Any]:
        """Calls a function. Returns "value" (a text of codec.dumps) or "error", and "outputs"."""
        self.calls += 1
        request = {"do": "call", "define": define, "name": name, "args": args, "id": self.calls}
        return self._ask(request)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.over:
            raise StudentStopped(self.over)
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.over = f"the {self.limits.submission_seconds:g} s for this notebook are used up"
            self.close()
            raise StudentStopped(self.over)
        if self.process is None:
            self._start()
            self.begin_cell()
        seconds = min(self.cell_deadline - time.monotonic(), left)
        late = f"over {min(self.limits.cell_seconds, left):.0f} s"
        if seconds <= 0:
            raise StudentStopped(late)
        self._send(request, 2 * seconds)
        try:
            return self._answer_in(seconds)
        except queue.Empty:
            self._interrupt()
            raise StudentStopped(late) from None

    # -- the process ---------------------------------------------------------------------------

    def _start(self) -> None:
        if self.restarts > RESTARTS:
            self.over = "Python ended too often"
            raise StudentStopped(self.over)
        self.restarts += 1
        self.why, self.read_by = "", math.inf
        try:
            process = self.process = launch(self.limits, self.files, self.sandbox)
        except OSError as error:
            raise CannotStart(f"the student's process did not start: {error}") from None
        self.student = _student(process)
        self.frames: queue.Queue[bytes | None] = queue.Queue(MAX_WAITING)
        self.reader = threading.Thread(
            target=_read, args=(process.stdout, self.frames), daemon=True
        )
        self.reader.start()
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()
        try:
            ready = self._answer(60.0)
        except (queue.Empty, StudentStopped):
            ready = {}
        if not ready.get("ready"):
            text = said(process)
            self.close()
            raise CannotStart(f"the student's process did not start: {text or 'no reason given'}")
        for source in self.done:
            self._send({"do": "run", "source": source}, self.limits.cell_seconds)
            try:
                self._answer(self.limits.cell_seconds)
            except (queue.Empty, StudentStopped):
                self.over = "an earlier cell ran once, but not a second time"
                self.close()
                raise StudentStopped(self.over) from None

    def _send(self, request: dict[str, Any], seconds: float) -> None:
        data = json.dumps(request).encode("utf-8", "surrogatepass")
        assert self.process is not None and self.process.stdin is not None
        # A pipe that nobody reads would hold us up for ever: `_watch` sees to that.
        self.read_by = time.monotonic() + seconds
        try:
            self.process.stdin.write(HEADER.pack(len(data)) + data)
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended: the answer says so
        finally:
            self.read_by = math.inf

    def _end(self, process: subprocess.Popen[bytes], why: str) -> None:
        self.why = why
        self._kill(process)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """With all that it started, which may hold its pipes open too."""
        if not self.sandbox:  # with one, the rest ends with bubblewrap
            for child in _children(process):
                with contextlib.suppress(psutil.Error):
                    child.kill()
        process.kill()

    def _answer_in(self, seconds: float) -> dict[str, Any]:
        """As `_answer`. Time in which the process waited for a processor is given back, up to a
        limit: another submission may have taken them all. Not to one that takes them itself.
        """
        before = _waited(self.student)
        last = min(self.deadline, time.monotonic() + PATIENCE * self.limits.cell_seconds)
        while True:
            try:
                return self._answer(seconds)
            except queue.Empty:
                after = _waited(self.student)
                seconds = min(after - before, last - time.monotonic())
                before = after
                if seconds < 0.1 or _running(self.process) > AT_WORK:
                    raise
                self.cell_deadline += seconds

    def _answer(self, seconds: float) -> dict[str, Any]:
        """Raises queue.Empty when it is late, StudentStopped when the process has ended."""
        frame = self.frames.get(timeout=seconds)
        if frame is None:
            why = self.why or "Python ended"
            self.close()
            raise StudentStopped(why)
        try:
            answer = json.loads(frame)
        except (ValueError, RecursionError, MemoryError):
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise StudentStopped("the answer can't be read")
        return answer

    def _interrupt(self) -> None:
        """As the stop button does; where that doesn't help, the process is ended."""
        if self.process is not None and os.name == "posix":
            with contextlib.suppress(psutil.Error):
                psutil.Process(self.student).send_signal(signal.SIGINT)
            try:
                if self.frames.get(timeout=2.0) is not None:
                    return
            except queue.Empty:
                pass
        self.close()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Ends a process that doesn't read what it is sent, or whose whole group uses too much
        memory.
        """
        limit = self.limits.memory_mib * 2**20
        while process.poll() is None:
            if time.monotonic() > self.read_by:
                self._end(process, "it did not read the request")
                return
            # Twice, for a child that is just being born has its parent's memory (vfork): it would
            # count double.
            if _holds_more(process, limit) and _holds_more(process, limit):
                self._end(process, f"over {self.limits.memory_mib} MiB of memory")
                return
            time.sleep(0.1)

    def close(self) -> None:
        """Ends the process and all that it started."""
        process, self.process = self.process, None
        if process is None:
            return
        self._kill(process)
        process.wait()
        limit = time.monotonic() + 1.0
        while self.reader.is_alive() and time.monotonic() < limit:
            with contextlib.suppress(queue.Empty):  # it may wait with frames that nobody takes
                self.frames.get(timeout=0.02)
        for stream in (process.stdin, process.stdout):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass


def _read(stream: Any, frames: queue.Queue[bytes | None]) -> None:
    """Frames from the pipe into the queue; None at its end, or where a frame is too long."""
    try:
        while True:
            header = stream.read(HEADER.size)
            if len(header) < HEADER.size:
                break
            (length,) = HEADER.unpack(header)
            if length > MAX_FRAME:
                break
            data = stream.read(length)
            if len(data) < length:
                break
            frames.put(data)
    except (OSError, ValueError, MemoryError):
        pass
    frames.put(None)


def _student(process: subprocess.Popen[bytes]) -> int:
    """The id of the process that is student.py. In a sandbox it is not bubblewrap's child: the
    nursery has forked it.
    """
    return getattr(process, "student", process.pid)


def _children(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """All processes that a student's process has started, itself too where it is in a sandbox."""
    found: dict[int, psutil.Process] = {}
    for pid in {process.pid, _student(process)}:
        with contextlib.suppress(psutil.Error):
            parent = psutil.Process(pid)
            found.update({child.pid: child for child in parent.children(recursive=True)})
            if pid != process.pid:
                found[pid] = parent
    return list(found.values())


def _waited(pid: int) -> float:
    """Seconds in which a process was ready to run, but had no processor."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0  # Linux only, and not every one


def _running(process: subprocess.Popen[bytes] | None) -> int:
    """How many threads of a process, and of all that it started, are at work."""
    children = _children(process) if process else []
    stats = (stat for child in children for stat in _of_threads(child.pid, "stat"))
    return sum(stat.rpartition(b")")[2].split()[0] == b"R" for stat in stats)


def _of_threads(pid: int, name: str) -> Iterator[bytes]:
    """A file of the kernel's for each thread of a process, without those that end meanwhile. As
    bytes: a process may give itself a name that is no text.
    """
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                yield Path(f"/proc/{pid}/task/{thread}/{name}").read_bytes()


def _holds_more(process: subprocess.Popen[bytes], limit: int) -> bool:
    """True if a process and all that it started hold more bytes than `limit`: their own, and
    shared among them. Files that are read from disk don't count.

    Exact is each one's part of the pages that it shares, and the kernel counts all pages for that.
    So first comes what is quick and never less: the same with shared pages counted for each.
    """
    pids = _family(process)
    return sum(map(_rss, pids)) > limit and sum(map(_pss, pids)) > limit


def _family(process: subprocess.Popen[bytes]) -> set[int]:
    """The ids of a process and of all that it started.

    It is asked ten times a second, so the kernel is asked about these processes only. psutil looks
    at all of the machine's: a fifth of an examiner's time. A child that starts just now may be
    missing; it is there the next time.
    """
    if not LISTS_CHILDREN:
        return {process.pid, *(child.pid for child in _children(process))}
    found: set[int] = set()
    todo = [process.pid, _student(process)]
    while todo:
        pid = todo.pop()
        if pid in found:
            continue
        found.add(pid)
        for children in _of_threads(pid, "children"):
            todo += map(int, children.split())
    return found


def _rss(pid: int) -> int:
    if os.path.isdir("/proc/self/task"):
        return _bytes(pid, "status", (b"RssAnon:", b"RssShmem:"))
    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).memory_info().rss  # no Linux
    return 0


def _pss(pid: int) -> int:
    found = _bytes(pid, "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:"))
    return found or _rss(pid)  # not allowed, or not there


def _bytes(pid: int, name: str, kinds: tuple[bytes, ...]) -> int:
    """The sum of these lines of a file of the kernel's; 0 where it has ended. Of a thread that has
    ended, as the first may, the file says nothing: the others of the process hold the same.

    Only a newline ends a line: a process may give itself a name with any other byte.
    """
    for text in _of_threads(pid, name):
        fields = (line.split() for line in text.split(b"\n"))
        total = sum(int(words[1]) * 1024 for words in fields if words and words[0] in kinds)
        if total:
            return total
    return 0
