"""The nursery: what a process that it has forked into a sandbox is, has, and may do."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from grader.link import CannotStart, Link, StudentStopped
from grader.outcome import Limits
from grader.sandbox import _environment, nursery
from tests.grader.exam import needs_sandbox

pytestmark = needs_sandbox


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
        assert printed(other, "print(os.path.exists('/tmp/left'), os.listdir('/tmp')[1:])") == (
            "False []"
        )
    finally:
        other.close()


def test_it_ends_with_its_sandbox(link: Link) -> None:
    link.run("1")
    student = psutil.Process(link.student)
    link.close()
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        with contextlib.suppress(psutil.Error):
            if student.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.02)
                continue
        return
    pytest.fail(f"it is {student.status()}")


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


def test_the_end_of_all_other_processes_in_the_sandbox_is_its_own(link: Link) -> None:
    with contextlib.suppress(StudentStopped):
        link.run("import os, signal\nos.kill(-1, signal.SIGKILL)")
    assert printed(link, "print(3)") == "3"  # it goes on, or a new one has taken its place
