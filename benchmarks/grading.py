"""How long grading takes, beside plain nbgrader: 40 students' notebooks of one module.

    python -m benchmarks.grading                     prints the table
    python -m benchmarks.grading --write             and puts it into benchmarks/README.md
    python -m benchmarks.grading --students 8        fewer students, for a quick look

Both grade the same notebooks: solutions, blank ones and half-done ones, as files of different
students. Plain nbgrader runs `nbgrader autograde`, one kernel after the other, without
a sandbox. Ours runs `grader grade` with a worker for each core, in the sandbox. The time is the
wall time of one command, as an instructor waits for it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import psutil

from benchmarks.ratio import write_table
from grader.release import released

MODULE = "02_dygraph"
COURSE = Path(__file__).resolve().parent.parent / "course"

CONFIG = """
c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.course_id = "benchmark"
c.CourseDirectory.db_url = "sqlite:///" + {root!r} + "/gradebook.db"
c.KernelManager.transport = "ipc"
c.KernelManager.ip = {root!r} + "/kernel"  # an absolute folder, or the kernel never answers
"""
QUIET = {
    # Paddle's and Python's warnings would be taken for failed tests.
    "PYTHONWARNINGS": "ignore",
    "GLOG_minloglevel": "2",
    "OMP_NUM_THREADS": "1",
    "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),  # alembic
}


def submissions(students: int) -> list[tuple[str, bytes]]:
    """(student, notebook): the solutions, a blank one, and one with every second task left blank,
    over and over. None that hangs: it would measure time limits, not grading.
    """
    source = nbformat.read(COURSE / MODULE / "exercise.ipynb", as_version=4)
    blank = released(source)
    half = nbformat.from_dict(released(source))
    for number, cell in enumerate(half.cells):
        if cell.metadata.get("nbgrader", {}).get("solution") and number % 2:
            cell.source = source.cells[number].source
    kinds = itertools.cycle([source, blank, half])
    found = []
    for number, notebook in zip(range(students), kinds):
        notebook = nbformat.from_dict(notebook.copy())
        notebook.metadata["student"] = number  # so that no two files are the same
        found.append((f"student{number:02}", nbformat.writes(notebook).encode()))
    return found


def measured(command: list[str], folder: Path) -> tuple[float, float]:
    """Runs a command: (wall s, MiB held at most by all its processes)."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, **QUIET},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    most = [0]
    watcher = threading.Thread(target=_watch, args=(process, most))
    watcher.start()
    out, _ = process.communicate()
    watcher.join()
    if process.returncode != 0:
        raise SystemExit(f"benchmarks.grading: {' '.join(command)} failed:\n{out[-2000:]}")
    return time.monotonic() - started, most[0] / 2**20


def _watch(process: subprocess.Popen[str], most: list[int]) -> None:
    while process.poll() is None:
        total = 0
        try:
            parent = psutil.Process(process.pid)
            for one in [parent, *parent.children(recursive=True)]:
                total += one.memory_full_info().pss  # of shared pages, each its part
        except psutil.Error:
            continue
        most[0] = max(most[0], total)
        time.sleep(1.0)  # looking costs time, too: the kernel counts pages


class Nbgrader:
    """A course of plain nbgrader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "source" / MODULE).mkdir(parents=True)
        shutil.copy(COURSE / MODULE / "exercise.ipynb", folder / "source" / MODULE)
        (folder / "nbgrader_config.py").write_text(CONFIG.format(root=str(folder)))
        measured(["nbgrader", "generate_assignment", MODULE], folder)

    def grade(self, work: list[tuple[str, bytes]]) -> tuple[float, float]:
        shutil.rmtree(self.folder / "submitted", ignore_errors=True)
        for student, data in work:
            place = self.folder / "submitted" / student / MODULE
            place.mkdir(parents=True)
            (place / "exercise.ipynb").write_bytes(data)
        return measured(["nbgrader", "autograde", MODULE], self.folder)


class Ours:
    """A course of the grader here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.root = ["grader", "--root", str(folder), "--sources", str(COURSE)]
        measured([*self.root, "release", MODULE], folder)

    def grade(self, work: list[tuple[str, bytes]]) -> tuple[float, float]:
        handed_in = self.folder / "handed_in"
        shutil.rmtree(handed_in, ignore_errors=True)
        for student, data in work:
            place = handed_in / student / MODULE
            place.mkdir(parents=True)
            (place / "exercise.ipynb").write_bytes(data)
        measured([*self.root, "collect", str(handed_in)], self.folder)
        return measured([*self.root, "grade", MODULE], self.folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    work = submissions(arguments.students)
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = Nbgrader(Path(folder, "plain")), Ours(Path(folder, "ours"))
        seconds, memory = ours.grade(work)
        beside, _ = theirs.grade(work)
    print(f"{seconds:.1f} s, plain nbgrader {beside:.1f} s", file=sys.stderr)
    wall = seconds / beside
    table = "\n".join(
        [
            f"| {len(work)} notebooks, {os.cpu_count()} cores | grader / nbgrader | at most |",
            "|---|---|---|",
            f"| wall time | {wall:.2f} | 0.25 |",
            f"| memory of all processes together, MiB | {memory:.0f} | 1024 |",
        ]
    )
    print(table)
    if arguments.write:
        write_table("grading", table)


if __name__ == "__main__":
    main()
