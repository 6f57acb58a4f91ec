"""Starts the student's process: inside bubblewrap, or without it where the instructor says so.

Inside there is no network, no other process, and of the file system only: the system's programs and
libraries, Python's, minipaddle, the few modules of the grader that student.py needs (all
read-only), and three folders in memory with a limit. So there is no course, no gradebook, and no
other student's file to be found. As root, each process gets a user id of its own; the kernel counts
processes per user. What may be asked of the kernel is limited by seccomp.py.

Limits on memory and time of the whole group are kept from outside (examiner.py).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader import seccomp
from grader.errors import GraderError
from grader.nursery import Nursery
from grader.outcome import Limits
from grader.student import limits_of

HERE = Path(__file__).resolve().parent
FOLDER = "/home/student"
# The process that keeps the sandbox open, until its input ends. It is number 1 in there: no signal
# from inside ends it. It has the student's limits, and holds nothing but its input: where it and a
# student's process are of the same user, that one may change it.
WAIT = ["/bin/sh", "-c", "cd /run; echo up; exec cat >/dev/null 2>&1"]
# What student.py imports of the grader. Not the folder: beside it lie submissions and gradebooks.
MODULES = ["__init__.py", "checks.py", "codec.py", "errors.py", "progress.py", "student.py"]
SYSTEM = ["/usr", "/lib", "/lib64", "/bin", "/sbin"]
SETTINGS = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts"]
# What Python needs of its folder. Not all: an environment made with `python -m venv .` is the
# course's folder.
PYTHON = ["bin", "lib", "lib64", "pyvenv.cfg"]
INSTALL = "apt-get install bubblewrap"


class NoSandbox(GraderError):
    """Bubblewrap is not there, or doesn't work here."""


def check_sandbox() -> None:
    """Raises NoSandbox, with what to do, where bubblewrap can't be used."""
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandbox(
            "grader: expected bubblewrap, which keeps student code away from your files, but got "
            f"no program `bwrap`. Install it (Debian: {INSTALL}), or pass --no-sandbox if you "
            "would run this code yourself."
        )
    done = subprocess.run(
        [program, "--ro-bind", "/", "/", *_namespaces(), "true"], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise NoSandbox(
            "grader: expected bubblewrap to work, but got: "
            f"{done.stderr.strip()[:300]}. Allow user namespaces on this machine, or pass "
            "--no-sandbox if you would run this code yourself."
        )


def _namespaces() -> list[str]:
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    spaces += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    spaces += ["--cap-drop", "ALL", "--as-pid-1"]
    if os.geteuid() == 0:  # student.py gives them away with its first lines
        return [*spaces, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    spaces += [
        "--disable-userns"
    ] * _can_disable_namespaces()  # for bubblewrap's own process inside
    return [*spaces, "--unshare-user", "--uid", "65534", "--gid", "65534"]


@functools.cache
def _can_disable_namespaces() -> bool:
    """Bubblewrap 0.8 and later can. The filter of seccomp.py does it for all but one process."""
    done = subprocess.run(["bwrap", "--help"], capture_output=True, text=True)
    return "--disable-userns" in done.stdout


def launch(limits: Limits, files: Path, sandbox: bool) -> subprocess.Popen[bytes]:
    """Starts student.py. `files`: a folder whose content is handed out beside the notebook. Raises
    OSError where it can't be started.
    """
    settings: dict[str, Any] = {
        "folder": FOLDER if sandbox else str(files),
        "output_bytes": limits.output_bytes,
        "memory_bytes": limits.memory_mib * 2**20,
        "file_bytes": limits.file_mib * 2**20,
        "cpu_seconds": int(limits.submission_seconds) + 1,
        # without a sandbox they would be counted together with all of the user's own
        "processes": limits.processes if sandbox else None,
        "uid": 100_000 + os.getpid() % 400_000 if sandbox and os.geteuid() == 0 else None,
    }
    # What goes wrong before student.py takes over is told on stderr: a missing library, say.
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by the garbage collector with Popen)
    if sandbox:
        process = _in_bubblewrap(limits, files, settings, errors)
    else:
        library = HERE.parent
        settings["library"] = str(library)
        process = subprocess.Popen(
            [sys.executable, "-sP", str(library / "grader" / "student.py"), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=_environment(str(files)),
        )
    process.errors = errors  # pyright: ignore[reportAttributeAccessIssue]
    return process


def _in_bubblewrap(
    limits: Limits, files: Path, settings: dict[str, Any], errors: Any
) -> subprocess.Popen[bytes]:
    """A sandbox in which a process waits, and a student's process beside it. Its pipes take the
    place of the other's.
    """
    library = nursery().library
    told, tell = os.pipe()
    filter_ = _filter()
    options = ["--info-fd", str(tell)]
    options += [option for end in filter_ for option in ("--seccomp", str(end))]
    environment = _environment(FOLDER)
    command = [*_bubblewrap(limits, files, library, environment), *options, "--", *WAIT]
    with contextlib.ExitStack() as closing:
        for end in (told, *filter_):
            closing.callback(os.close, end)
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=(tell, *filter_),
            )
        finally:
            os.close(tell)
        assert process.stdin is not None and process.stdout is not None
        process.errors = errors  # pyright: ignore[reportAttributeAccessIssue]
        if process.stdout.readline() != b"up\n":
            process.wait()
            return process  # it has ended, and `said` knows why
        inside = json.loads(os.read(told, 65536))["child-pid"]
    requests, to_student = os.pipe()
    from_student, answers = os.pipe()
    try:
        import resource  # not on Windows

        for which, value in limits_of(settings).items():
            resource.prlimit(inside, which, (value, value))
        student = nursery().fork(inside, settings, [requests, answers, errors.fileno()])
    except OSError:
        process.kill()
        process.wait()
        os.close(to_student)
        os.close(from_student)
        raise
    finally:
        os.close(requests)
        os.close(answers)
    process.student = student  # pyright: ignore[reportAttributeAccessIssue]
    process.waiting = process.stdin  # pyright: ignore[reportAttributeAccessIssue]
    process.stdout.close()
    process.stdin, process.stdout = os.fdopen(to_student, "wb"), os.fdopen(from_student, "rb")
    return process


_nurseries: list[Nursery] = []


def start_nursery() -> Nursery:
    """That of this process, or of the process that has forked it; started where there is none. It
    imports for half a second; `wait` for it.
    """
    if not _nurseries or not _nurseries[0].usable():
        _nurseries[:] = [Nursery([*MODULES, "nursery.py", "seccomp.py"], _environment(FOLDER))]
    return _nurseries[0]


def nursery() -> Nursery:
    """The same, when it is ready."""
    found = start_nursery()
    found.wait()
    return found


def _filter() -> tuple[int, ...]:
    """The end of a pipe from which bubblewrap reads the filter; nothing where there is none."""
    program = seccomp.program()
    if not program:
        return ()
    read, write = os.pipe()
    os.write(write, program)
    os.close(write)
    return (read,)


def said(process: subprocess.Popen[bytes]) -> str:
    """What a process that did not start wrote on stderr."""
    errors: Any = process.errors  # pyright: ignore[reportAttributeAccessIssue]
    errors.seek(0)
    return errors.read(2000).decode("utf-8", "replace").strip()


def _bubblewrap(
    limits: Limits, files: Path, library: Path, environment: dict[str, str]
) -> list[str]:
    import minipaddle

    size = str(limits.file_mib * 2**20)
    command = [shutil.which("bwrap") or "bwrap", *_namespaces(), "--hostname", "sandbox"]
    command += _folders(Path("/etc"))
    for path in SYSTEM + SETTINGS:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    # before Python's: its environment may lie in /tmp
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run"]
    # /dev/zero, mapped, is memory that could not be counted (see seccomp.py)
    command += ["--dev-bind", "/dev/null", "/dev/zero"]
    for folder in ("/tmp", "/dev/shm", FOLDER):
        command += ["--perms", "1777", "--size", size, "--tmpfs", folder]
    for path in sorted({sys.base_prefix, sys.prefix}):
        if not path.startswith("/usr/"):
            command += _folders(Path(path))
            for part in (os.path.join(path, name) for name in PYTHON):
                command += ["--ro-bind", part, part] * os.path.exists(part)
    command += ["--perms", "0755", "--tmpfs", str(library)]
    command += _folders(library / "grader" / "__pycache__")
    framework = Path(minipaddle.__file__).resolve().parent
    command += ["--ro-bind", str(framework), f"{library}/minipaddle"]
    for name in MODULES:
        command += ["--ro-bind", str(HERE / name), f"{library}/grader/{name}"]
        compiled = Path(importlib.util.cache_from_source(str(HERE / name)))
        if compiled.exists():
            place = f"{library}/grader/__pycache__/{compiled.name}"
            command += ["--ro-bind", str(compiled), place]
    for path in sorted(files.iterdir()):
        command += ["--ro-bind", str(path), f"{FOLDER}/{path.name}"]
    for folder in ("/run", "/dev", str(library), "/"):
        command += ["--remount-ro", folder]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return command


def _folders(path: Path) -> list[str]:
    """Makes the folder and those above it, so that everybody may read them: bubblewrap's own are
    for root.
    """
    made = []
    for folder in [*reversed(path.parents), path]:
        if str(folder) != "/":
            made += ["--perms", "0755", "--dir", str(folder)]
    return made


def _environment(home: str) -> dict[str, str]:
    """The same for every submission: seeds fixed, no warnings, nothing of the instructor's."""
    return {
        "HOME": home,
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONWARNINGS": "ignore",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_NO_INDEX": "1",  # there is no network: `!pip install` fails at once, and the rest runs
        "PYTHONUTF8": "1",
        "IPYTHONDIR": f"{home}/.ipython",
        "GLOG_minloglevel": "2",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **({"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {}),
    }
