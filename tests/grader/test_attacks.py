"""All attacks of attacks.py in one batch, with honest students before, between and after them.
Nobody gets a point that wasn't earned, nothing outside the sandbox changes, the honest get theirs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
import pytest

from grader.collect import collect
from grader.course import Course
from grader.grade import Options, grade
from grader.outcome import Limits
from grader.release import release
from grader.verdict import Verdict
from tests.grader.attacks import ALL, ATTACKS, NOTHING, STUDENTS
from tests.grader.exam import needs_sandbox
from tests.grader.sample import MODULE, RIGHT, answered, hand_in

pytestmark = needs_sandbox

LIMITS = Limits(cell_seconds=2, submission_seconds=20, memory_mib=700, processes=100)
HONEST = ["00-anna", "50-mona", "99-zoe"]
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Batch:
    """What a batch left behind, and what was there before it."""

    course: Course
    verdicts: dict[str, Verdict]
    changed: list[str]  # files that were not to change
    connections: int
    processes: list[str]
    shared: list[str]  # what an attack names its files, in /dev/shm

    def notebook(self, student: str) -> str:
        path = self.course.step("autograded", student, MODULE) / "exercise.ipynb"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def printed(self, student: str) -> str:
        """All that the cells of a student have shown."""
        text = self.notebook(student)
        cells = json.loads(text)["cells"] if text else []
        return json.dumps([cell["outputs"] for cell in cells if cell["cell_type"] == "code"])


class Listener:
    """Servers that an attack would like to reach: TCP, a socket in a folder, one without a file."""

    def __init__(self, folder: Path) -> None:
        self.connections = 0
        tcp = socket.create_server(("127.0.0.1", 0))
        self.port = tcp.getsockname()[1]
        self.sockets = [tcp]
        for address in (str(folder / "socket"), f"\0course-socket-{self.port}"):
            server = socket.socket(socket.AF_UNIX)
            server.bind(address)
            server.listen()
            self.sockets.append(server)
        for server in self.sockets:
            threading.Thread(target=self._accept, args=(server,), daemon=True).start()

    def _accept(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                server.accept()[0].close()
                self.connections += 1

    def close(self) -> None:
        for server in self.sockets:
            server.close()


def digests(*folders: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _forked_by_the_nursery(process: psutil.Process) -> bool:
    """It has the nursery's command, and so has its parent. The nursery itself stays."""
    parent = process.parent()
    return parent is not None and all(
        "nursery.py" in " ".join(one.cmdline()) for one in (process, parent)
    )


def left_behind(outside: Path) -> list[str]:
    """Student processes that are still there: ours, and wherever they went the daemons of an
    attack, which carry this test's folder in their command. Other graders may be at work here.
    """
    ours = psutil.Process().children(recursive=True)
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if str(outside) in line or (process in ours and _forked_by_the_nursery(process)):
                found.append(line)
    return found


@pytest.fixture(scope="module")
def batch(released_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    root = tmp_path_factory.mktemp("attacked")
    course = Course.at(root, released_root / "course")
    release(course)
    folder, outside, home = (tmp_path_factory.mktemp(name) for name in ("in", "outside", "home"))
    (home / ".bashrc").write_text("# mine\n")
    listener = Listener(outside)
    places = {
        "COURSE": str(released_root),
        "OUTSIDE": str(outside),
        "HOME": str(home),
        "REPOSITORY": str(REPOSITORY),
        "PORT": str(listener.port),
    }
    for student in HONEST:
        nb = answered(course, {**RIGHT, "task1": f"# {student}\n{RIGHT['task1']}"})
        hand_in(folder, student, nb)
    for name, attack in ATTACKS.items():
        nb = answered(course, {"task1": RIGHT["task1"]})
        changed = attack.change(nb)
        data = changed if isinstance(changed, bytes) else nbformat.writes(changed or nb).encode()
        for word, place in places.items():
            data = data.replace(word.encode(), place.encode())
        hand_in(folder, STUDENTS[name], data)
    collect(course, folder)
    kept = [released_root, outside, home, course.submitted, course.work / "assignments"]
    kept += [REPOSITORY / name for name in ("minipaddle", "grader", "course")]
    before = digests(*kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "SECRET_TOKEN of the instructor")
        patch.setenv("HOME", str(home))
        found = grade(course, options=Options(workers=2, limits=LIMITS))
    after = digests(*kept)
    listener.close()
    yield Batch(
        course,
        {verdict.student: verdict for verdict in found},
        sorted(str(name) for name, _ in before.items() ^ after.items()),
        listener.connections,
        left_behind(outside),
        [name for name in os.listdir("/dev/shm") if name.startswith("big")],
    )


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_the_points_of_its_honest_part(batch: Batch, name: str) -> None:
    verdict = batch.verdicts[STUDENTS[name]]
    attack = ATTACKS[name]
    cells = {**NOTHING, **verdict.cells}  # a file that was refused has none
    assert cells == attack.points, verdict.reason
    assert (verdict.score, verdict.max_score) == (sum(attack.points.values()), 8)
    assert verdict.status in ("graded", "not gradable")
    assert attack.reason in verdict.reason


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_wins_nothing(batch: Batch, name: str) -> None:
    assert "WON" not in batch.printed(STUDENTS[name])
    assert len(batch.notebook(STUDENTS[name])) < 10 * 2**20


@pytest.mark.parametrize("student", HONEST)
def test_honest_students_get_all_their_points(batch: Batch, student: str) -> None:
    verdict = batch.verdicts[student]
    assert (verdict.status, verdict.reason, verdict.cells) == ("graded", "", ALL)


def test_nothing_outside_has_changed(batch: Batch) -> None:
    assert batch.changed == []
    assert batch.connections == 0
    assert batch.processes == []
    assert batch.shared == []


def test_the_batch_ends_by_itself(batch: Batch) -> None:
    assert len(batch.verdicts) == len(ATTACKS) + len(HONEST)
