"""The nursery: what a process that it has forked into a sandbox is, has, and may do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from grader.link import (
    CannotStart,
    Link,
    StudentStopped,
    _children,
    _family,
    _holds_more,
    _pss,
    _rss,
    _running,
)
from grader.outcome import Limits
from grader.sandbox import FOLDER, _environment, nursery
from tests.grader.exam import needs_sandbox

pytestmark = needs_sandbox
HANGS = 600  # seconds


@pytest.fixture(autouse=True, scope="module")
def no_nursery_is_left() -> Iterator[None]:
    """Other tests look whether a process was left behind."""
    yield
    process = nursery().process
    process.kill()
    process.wait()


@pytest.fixture
def link(tmp_path: Path) -> Iterator[Link]:
    found = Link(Limits(), tmp_path, sandbox=True)
    yield found
    found.close()


def printed(link: Link, source: str) -> str:
    return "".join(output.get("text", str(output)) for output in link.run(source)).strip()


def test_it_has_everything_imported_but_nothing_of_the_instructors(link: Link) -> None:
    said = printed(
        link,
        "import os, sys\n"
        "print('minipaddle.viz' in sys.modules, os.getcwd(), sys.argv)\n"
        "print(sorted(os.environ))",
    )
    assert said.splitlines() == [
        "True /home/student ['student.py']",
        str(sorted(_environment("/home/student"))),
    ]


def test_nothing_of_the_rehearsal_is_left_but_what_it_imported(link: Link) -> None:
    said = printed(
        link,
        "import sys\n"
        "from minipaddle.phi.core.op import OPS\n"
        "print('stack_data' in sys.modules, OPS['add'].dygraph_function is not None)\n"
        "print('fails' in globals(), sys.modules['__main__'].__dict__ is globals(), _)\n"
        "shell = get_ipython()\n"
        "print(shell.ipython_dir, shell.profile_dir.location)\n"
        "print([name for name in vars(sys) if name.startswith('last_')])",
    )
    assert said.splitlines() == [
        "True True",
        "False True ",
        f"{FOLDER}/.ipython {FOLDER}/.ipython/profile_default",
        "[]",
    ]
    [output] = link.run("1 / 0")
    assert "Cell In[1], line 1" in "".join(output["traceback"]) and output["ename"] != "ValueError"


def test_an_op_that_is_changed_is_written_anew(link: Link) -> None:
    """The nursery has called none, but has written the function of each."""
    said = printed(
        link,
        "import minipaddle as paddle\n"
        "from minipaddle.phi.core.op import OPS\n"
        "@OPS['square'].vjp\n"
        "def _(x, out_grad):\n"
        "    return (out_grad * 7.0,)\n"
        "x = paddle.to_tensor([3.0], stop_gradient=False)\n"
        "paddle.square(x).backward()\n"
        "print(x.grad.numpy())",
    )
    assert said == "[7.]"


def test_memory_is_counted_over_all_that_a_process_has_started(link: Link) -> None:
    hold = "b = bytearray(150 << 20); print(1, flush=True); input()"
    start = "c = subprocess.Popen([sys.executable, '-c', hold], stdin=-1, stdout=-1)"
    start += "; c.stdout.readline()"
    link.run(f"import subprocess, sys, threading\nhold, start = {hold!r}, {start!r}")
    link.run("exec(start)")
    # and one by a thread of a child
    link.run(
        "text = f'import subprocess, sys, threading; hold = {hold!r}; start = {start!r}\\n'\n"
        "text += 'threading.Thread(target=exec, args=(start, globals())).start(); input()'\n"
        "d = subprocess.Popen([sys.executable, '-c', text], stdin=-1)"
    )
    assert link.process is not None
    end = time.monotonic() + HANGS
    while not _holds_more(link.process, 300 * 2**20):
        assert time.monotonic() < end, "the child's child is not seen"
        time.sleep(0.1)
    found = _family(link.process)
    assert found == {link.process.pid, *(child.pid for child in _children(link.process))}
    assert len(found) >= 5  # bubblewrap, what waits in it, student.py, a child, and its child
    assert not _holds_more(link.process, 600 * 2**20)


@pytest.mark.parametrize("name", [b"\xff\xfe", b"\rRssAnon: x", b"\x0bRssAnon:", b") R \n"])
def test_no_name_hides_what_a_process_holds(link: Link, name: bytes) -> None:
    """It gives itself one of 15 bytes, which the kernel's files tell as they are."""
    link.run("b = bytearray(150 << 20)")
    link.run(f"import ctypes; ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0)")
    assert link.process is not None
    assert 150 * 2**20 < _rss(link.student) < 700 * 2**20
    assert _holds_more(link.process, 150 * 2**20)
    assert _running(link.process) <= 1


def test_a_process_whose_first_thread_has_ended_still_holds_its_memory(link: Link) -> None:
    hold = (
        "import ctypes, threading, time\n"
        "def hold():\n"
        "    while '\\tZ' not in open('/proc/self/status').read(): time.sleep(0.01)\n"
        "    b = bytearray(150 << 20)\n"
        "    print(1, flush=True)\n"
        "    input()\n"
        "threading.Thread(target=hold).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    link.run(f"import subprocess, sys; hold = {hold!r}")
    link.run(
        "c = subprocess.Popen([sys.executable, '-c', hold], stdin=-1, stdout=-1)\n"
        "c.stdout.readline()"
    )
    assert link.process is not None
    [holder] = _family(link.process) - {link.student, link.process.pid, _waiting(link)}
    assert "\nState:\tZ" in Path(f"/proc/{holder}/status").read_text()
    assert _rss(holder) > 150 * 2**20 and _pss(holder) > 150 * 2**20


def _waiting(link: Link) -> int:
    """The process that keeps the sandbox open."""
    assert link.process is not None
    return psutil.Process(link.process.pid).children(recursive=True)[-1].pid


def test_children_that_end_at_once_do_not_end_the_watch() -> None:
    text = (
        "import os, time\n"
        "end = time.monotonic() + 2\n"
        "for _ in range(5): os.fork()\n"
        "while time.monotonic() < end:\n"
        "    if (child := os.fork()) == 0: os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text]) as process:
        while process.poll() is None:
            _family(process)
            _running(process)


def test_a_child_that_is_just_being_born_does_not_count_double(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From vfork to exec it has its parent's memory. That is over when the watch asks again."""
    asked: list[bool] = []

    def every_other_time(*_: object) -> bool:
        asked.append(not (asked and asked[-1]))
        return asked[-1]

    monkeypatch.setattr("grader.link._holds_more", every_other_time)
    while len(asked) < 5:
        assert printed(link, "import time; time.sleep(0.1); print(1)") == "1"
    monkeypatch.setattr("grader.link._holds_more", lambda *_: True)
    with pytest.raises(StudentStopped, match="over 2048 MiB of memory"):
        link.run("time.sleep(3600)")


def test_a_request_that_nobody_reads_is_given_up_also_without_a_sandbox(tmp_path: Path) -> None:
    """A child of the student's process holds the pipe open."""
    link = Link(Limits(cell_seconds=1), tmp_path, sandbox=False)
    link.run(
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    time.sleep(3600)\n"
        "    os._exit(0)\n"
        "sys.modules['grader.student']._receive = lambda stream: time.sleep(3600)"
    )
    link.begin_cell()
    with pytest.raises(StudentStopped, match="it did not read the request"):
        link.run("#" * 10**6)
    link.close()


def test_memory_that_could_not_be_counted_is_refused(link: Link) -> None:
    """Shared memory without a file stays when it is unmapped, and belongs to no process then."""
    said = printed(
        link,
        "import mmap\n"
        "def tried(*args, **kwargs):\n"
        "    try:\n"
        "        return len(mmap.mmap(*args, **kwargs))\n"
        "    except OSError as error:\n"
        "        return error.strerror\n"
        "private, shared = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.MAP_SHARED\n"
        "print(tried(-1, 4096), tried(-1, 4096, flags=private), sep='; ')\n"
        "zero = open('/dev/zero', 'r+b', buffering=0)\n"
        "print(tried(zero.fileno(), 4096, flags=shared))\n"
        "file = open('/dev/shm/file', 'w+b')\n"  # these files have a limit of their own
        "file.truncate(4096)\n"
        "print(tried(file.fileno(), 4096))",
    )
    assert said.splitlines() == ["Operation not permitted; 4096", "No such device", "4096"]


def test_a_copy_that_a_cell_forks_does_not_answer(link: Link) -> None:
    """It has the same pipes. Where it fails, or only comes to the end of the cell, it is back in
    the loop.
    """
    for _ in range(5):
        assert printed(link, "import os\nif os.fork() == 0: raise OSError('in the child')") == ""
        assert printed(link, "os.fork()\nprint(1)") == "1"
        for number in range(5):
            assert printed(link, f"print({number})") == str(number)
    assert link.restarts == 1


def test_it_has_no_rights(link: Link) -> None:
    said = printed(link, "print(open('/proc/self/status').read())")
    status = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
    assert all(int(status[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))
    assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2"
    assert status["Groups"].strip() in ("", "65534")
    user = int(status["Uid"].split()[0])
    assert user >= 100_000 or os.geteuid() != 0


def test_it_is_in_every_namespace_of_the_sandbox(link: Link) -> None:
    link.run("1")
    assert link.process is not None
    inside = psutil.Process(link.process.pid).children(recursive=True)[-1].pid
    for name in ("ipc", "uts", "net", "pid", "mnt", "cgroup"):
        place = os.readlink(f"/proc/{link.student}/ns/{name}")
        assert place == os.readlink(f"/proc/{inside}/ns/{name}"), name
        assert place != os.readlink(f"/proc/self/ns/{name}"), name


def test_it_holds_its_pipes_and_no_other_file(link: Link) -> None:
    said = printed(
        link,
        "import os\n"
        "for n in sorted(os.listdir('/proc/self/fd'), key=int):\n"
        "    try: print(os.readlink(f'/proc/self/fd/{n}').split(':')[0])\n"
        "    except OSError: pass",
    )
    assert sorted(said.split()) == ["/dev/null"] * 3 + ["pipe"] * 2


def test_two_know_nothing_of_each_other(link: Link, tmp_path: Path) -> None:
    other = Link(Limits(), tmp_path, sandbox=True)
    try:
        link.run("import minipaddle; minipaddle.left = 1; open('/tmp/left', 'w').write('1')")
        said = printed(other, "import os, minipaddle\nprint(hasattr(minipaddle, 'left'), end='')")
        assert said == "False"
        assert printed(other, "print(os.path.exists('/tmp/left'))") == "False"
    finally:
        other.close()


def test_it_ends_with_its_sandbox_and_nothing_waits_to_be_forgotten(link: Link) -> None:
    link.run("1")
    assert link.process is not None
    inside = [child.pid for child in psutil.Process(link.process.pid).children(recursive=True)]
    link.close()
    limit = time.monotonic() + HANGS
    # of bubblewrap's own child, this machine's process 1 has to be told
    while psutil.pid_exists(link.student) or any(_status(p) != "zombie" for p in inside):
        assert time.monotonic() < limit, "it is still there"
        time.sleep(0.02)


def _status(pid: int) -> str:
    try:
        return psutil.Process(pid).status()
    except psutil.Error:
        return "zombie"


def test_where_the_nursery_has_ended_there_is_a_new_one(link: Link, tmp_path: Path) -> None:
    before = nursery()
    before.process.kill()
    before.process.wait()
    assert printed(link, "print(2)") == "2" and nursery() is not before


def test_a_nursery_that_ends_meanwhile_is_the_graders_failure(
    link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = nursery()
    monkeypatch.setattr(one, "usable", lambda: True)
    one.process.kill()
    one.process.wait()
    with pytest.raises(CannotStart, match=r"did not start: .*(nursery has ended|pipe)"):
        link.run("1")
    monkeypatch.undo()


def test_nothing_else_in_the_sandbox_can_be_ended(link: Link) -> None:
    """The process that keeps it open is number 1: no signal from inside ends that."""
    assert printed(link, "import os\nprint([p for p in os.listdir('/proc') if p.isdigit()])") == (
        "['1', '2']"
    )
    link.run("import contextlib, signal")
    for pid in (-1, 1):
        link.run(f"with contextlib.suppress(OSError): os.kill({pid}, signal.SIGKILL)")
    assert printed(link, "print(3)") == "3" and link.restarts == 1


def test_the_process_that_keeps_the_sandbox_open_has_the_same_limits(link: Link) -> None:
    """Where both are of one user (not root), a student's process could work as that one."""
    said = printed(
        link,
        "for p in ('1', 'self'):\n"
        "    text = open(f'/proc/{p}/limits').read()\n"
        "    print(sorted(l for l in text.splitlines() if l.startswith(KINDS)))".replace(
            "KINDS", repr(LIMITED)
        ),
    )
    first, second = said.splitlines()
    assert first == second and all(name in first for name in LIMITED)


LIMITED = (
    "Max cpu time",
    "Max file size",
    "Max data size",
    "Max core file size",
    "Max processes",
    "Max open files",
)


def test_its_library_can_t_be_changed(link: Link) -> None:
    said = printed(
        link,
        "import grader, os, pathlib\n"
        "top = pathlib.Path(grader.__file__).parent.parent\n"
        "for place in (top, top / 'grader', top / 'grader' / '__pycache__', top / 'minipaddle'):\n"
        "    print(bool(os.statvfs(place).f_flag & os.ST_RDONLY))",
    )
    assert said.split() == ["True"] * 4


def test_a_cell_is_interrupted_also_where_the_grader_was_told_to_ignore_ctrl_c() -> None:
    """As a shell does for `grader grade &`. Its names are still there: nothing was started anew."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'trap \'\' INT; exec "$0" -c "$1"', sys.executable, IGNORES],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["stopped", "3", "1"], done.stderr


IGNORES = """
import tempfile
from pathlib import Path
from grader.link import Link, StudentStopped
from grader.outcome import Limits

with tempfile.TemporaryDirectory() as folder:
    link = Link(Limits(cell_seconds=1), Path(folder), sandbox=True)
    link.run("x = 3")
    link.begin_cell()
    try:
        link.run("while True: pass")
    except StudentStopped:
        print("stopped")
    link.begin_cell()
    print(link.run("print(x)")[0]["text"], link.restarts)
    link.close()
"""


def test_without_unix_modules_the_grader_can_still_be_imported() -> None:
    """On Windows notebooks are graded without a sandbox."""
    missing = ("fcntl", "resource", "pwd", "grp", "termios")
    # psutil, sqlalchemy and the others have versions of their own for Windows: they come first
    code = "import psutil, nbgrader.api, IPython.core.interactiveshell, dask, minipaddle.viz\n"
    code += f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
    code += "import grader.cli, grader.grading, grader.sandbox, grader.warm, grader.student"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
