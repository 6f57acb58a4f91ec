"""The nursery: one process that has imported everything, and forks students' processes.

Importing numpy, IPython and minipaddle is most of the time of a short notebook. The nursery does it
once, before there is any student's text, and forks for each process that is wanted:

    examiner      starts bubblewrap around a process that only waits: the sandbox
                  asks the nursery, and hands it the ends of two pipes
    nursery       forks
    the child     joins the namespaces of the sandbox, forks once more (a process can't move into a
                  namespace of processes, its children are born there), and ends
    its child     gives up all rights, takes on the filter of seccomp.py, and is student.py

The sandbox is bubblewrap's: no network, no files but its own. Killing bubblewrap ends all that is
in it. The nursery itself runs no student's text and reads nothing from a student's process. Its
environment has nothing of the instructor's.

Linux only, as bubblewrap is.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NAMESPACES = ["cgroup", "ipc", "uts", "net", "pid", "mnt"]  # /proc is the old one until the last
PARENT_OF = 0xB702  # ioctl NS_GET_PARENT
NO_NEW_PRIVS, SECCOMP, FILTER, ADOPTS = 38, 22, 2, 36  # of prctl
CAPABILITIES_VERSION_3 = 0x20080522
WARM = [
    "IPython.core.interactiveshell",
    "minipaddle.viz",
    "minipaddle.optimizer",
    "minipaddle.static",
    "minipaddle.utils",
]
_LONGEST = 65536  # bytes of a request


class Nursery:
    """The examiner's end. It is inherited by the examiners that a warm parent forks.

    Attributes:
        library: where minipaddle and the grader's modules lie, for the nursery and in the sandbox:
            a path with nothing of the instructor's in it, for tracebacks show it.
    """

    def __init__(self, modules: list[str], environment: dict[str, str]) -> None:
        """`modules`: of the grader, what the nursery and the students' processes import."""
        self.owner = os.getpid()
        self.asked = 0
        self.is_ready = False
        self.end, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.folder = tempfile.TemporaryDirectory(prefix="library-")
        self.library = _linked(Path(self.folder.name).resolve(), modules)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-sP", str(self.library / "grader" / "nursery.py"), self.library],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=environment,
            )

    def wait(self) -> None:
        """Until all is imported, or it has ended: then `fork` says so."""
        if not self.is_ready:
            self.end.recv(_LONGEST)
            self.is_ready = True
            self.folder.cleanup()

    def usable(self) -> bool:
        """True until it ends, as far as this process can know: only who has started it can."""
        return os.getpid() != self.owner or self.process.poll() is None

    def fork(self, sandbox: int, settings: dict[str, Any], pipes: list[int]) -> int:
        """Forks a student's process into a sandbox, and returns its id. Raises OSError where that
        is not possible.

        `sandbox`: id of a process in it. `pipes`: for the new process: where requests come from,
        where answers go, and where it says what went wrong.
        """
        self.asked += 1
        name = f"{os.getpid()}.{self.asked}"
        request = {"name": name, "sandbox": sandbox, "settings": settings}
        socket.send_fds(self.end, [json.dumps(request).encode()], pipes)
        told = ""
        while told != name:  # an examiner that was killed may have left its answer
            answer = self.end.recv(_LONGEST).decode("utf-8", "replace")
            if not answer:
                raise OSError("the nursery has ended")
            told, _, said = answer.partition(" ")
        if not said.isdigit():
            raise OSError(said)
        return int(said)


def _linked(library: Path, modules: list[str]) -> Path:
    import minipaddle

    (library / "minipaddle").symlink_to(Path(minipaddle.__file__).resolve().parent)
    (library / "grader").mkdir()
    here = Path(__file__).resolve().parent
    for name in [*modules, "__pycache__"]:
        (library / "grader" / name).symlink_to(here / name)
    return library


# -- the nursery's own process -----------------------------------------------------------------


def main() -> None:
    from grader import codec, seccomp, student  # noqa: F401

    gc.disable()  # what is imported is no garbage
    student.without_widgets()
    for name in WARM:
        importlib.import_module(name)
    student.rehearse(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    filter_ = seccomp.program()
    libc.prctl(ADOPTS, 1, 0, 0, 0)  # the parents of students' processes end at once
    # Who has ended is forgotten at once: as long as one is not, its sandbox stays, with its files.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()  # a child that collects garbage would copy what it looks at
    gc.enable()
    gc.set_threshold(10_000)  # 700, Python's own, looks at a graph of 50,000 nodes again and again
    end = socket.socket(fileno=0)
    end.send(b"ready")
    while True:
        request, pipes, _, _ = socket.recv_fds(end, _LONGEST, 3)
        if not request:
            return  # no examiner is left
        child = os.fork()
        if child == 0:
            _be_born(json.loads(request), pipes, end, libc, filter_)
        for pipe in pipes:
            os.close(pipe)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)  # it has answered


def _be_born(
    request: dict[str, Any], pipes: list[int], end: socket.socket, libc: Any, filter_: bytes
) -> None:
    from grader import student

    try:
        _join(request["sandbox"], libc)
        if process := os.fork():
            end.send(f"{request['name']} {process}".encode())
            os._exit(0)
    except BaseException as error:
        end.send(f"{request['name']} {type(error).__name__}: {error}".encode()[:_LONGEST])
        os._exit(1)
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end.detach()
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.setsid()
        _give_up_rights(request["settings"], libc, filter_)
        sys.argv = ["student.py"]
        student.start(request["settings"])
    finally:
        os._exit(1)


def _join(process: int, libc: Any) -> None:
    """Joins the namespaces of a process."""
    import fcntl  # not on Windows, where this file is imported but forks nothing

    folder = f"/proc/{process}/ns"
    ends = []
    own = os.readlink("/proc/self/ns/user")
    if os.readlink(f"{folder}/user") != own:
        user = os.open(f"{folder}/user", os.O_RDONLY)
        above: list[int] = []  # namespaces of users within each other, the outermost first
        while _name(user) != own:
            above.insert(0, user)
            user = fcntl.ioctl(user, PARENT_OF)
        ends += above
    inner = ends[1:]
    ends = ends[:1]
    for name in NAMESPACES:
        if os.readlink(f"{folder}/{name}") != os.readlink(f"/proc/self/ns/{name}"):
            ends.append(os.open(f"{folder}/{name}", os.O_RDONLY))
    for end in [*ends, *inner]:
        if libc.setns(end, 0) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"setns: {os.strerror(code)}")


def _name(namespace: int) -> str:
    return os.readlink(f"/proc/self/fd/{namespace}")


def _give_up_rights(settings: dict[str, Any], libc: Any, filter_: bytes) -> None:
    """What bubblewrap does to the processes that it starts itself."""
    from grader import student

    student.limit(settings)  # as root: takes on a user id of its own, and with it no capability
    header = array.array("I", [CAPABILITIES_VERSION_3, 0])
    nothing = array.array("I", [0] * 6)
    lines = ctypes.create_string_buffer(filter_)
    program = _Filter(len(filter_) // 8, ctypes.cast(lines, ctypes.c_void_p))
    for what, failed in (
        ("capset", libc.capset(_address(header), _address(nothing))),
        ("no_new_privs", libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)),
        ("seccomp", filter_ and libc.prctl(SECCOMP, FILTER, ctypes.byref(program), 0, 0)),
    ):
        if failed:
            raise OSError(ctypes.get_errno(), what)


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]


def _address(numbers: array.array) -> ctypes.c_void_p:
    return ctypes.c_void_p(numbers.buffer_info()[0])


if __name__ == "__main__":
    sys.path[:] = [sys.argv[1], *(p for p in sys.path if p != sys.argv[1])]
    with contextlib.suppress(KeyboardInterrupt):
        main()
