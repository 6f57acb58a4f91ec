"""Nothing is lost and nothing is done twice: workers are killed, the command is killed, the grader
fails.

The stand-ins for grading are in tiny.py (`cheap`, `slow`): the tests that use them say so. Where
the sample exercise is used, everything is real.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner

from grader import gradebook
from grader.cli import main
from grader.collect import collect
from grader.course import Course
from grader.errors import GraderError
from grader.grade import Options, grade
from grader.outcome import FAILED, Job, Limits, Outcome
from grader.verdict import Verdict, load_all
from tests.grader import sample, tiny
from tests.grader.tiny import MODULE, cheap, make_course

REPOSITORY = Path(__file__).resolve().parents[2]
HANGS = 600  # seconds


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.grade.PAUSES", (0.1, 0.1))


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Dask gives up what is not there in time: on a busy machine that is no mistake."""
    import dask
    import distributed  # noqa: F401  its settings have to be there before they are changed

    monkeypatch.setattr("grader.schedule.CONNECT_SECONDS", HANGS)
    monkeypatch.setattr("grader.schedule.WORKER_SECONDS", HANGS)
    seconds = f"{HANGS}s"
    with dask.config.set(
        {"distributed.comm.timeouts.connect": seconds, "distributed.comm.timeouts.tcp": seconds}
    ):
        yield


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """The tiny course, with nothing handed in."""
    return make_course(tmp_path / "root")


def scores(course: Course) -> dict[str, float]:
    """Student -> points, from the gradebook."""
    with course.gradebook() as book:
        return {s.student_id: s.score for s in book.assignment_submissions(MODULE)}


# ---- one run (the work is a stand-in)


def test_a_second_run_does_nothing_and_regrade_does_all(course: Course) -> None:
    ran: list[str] = []

    def work(job: Job) -> Outcome:
        ran.append(job.submission.decode())
        return cheap(job)

    for student, text in [("anna", "3 a"), ("bo", "2 b")]:
        tiny.hand_in(course, student, text)
    for again, expected in [
        (False, ["2 b", "3 a"]),
        (False, []),
        (True, ["2 b", "3 a"]),
    ]:
        ran.clear()
        told: list[Verdict] = []
        found = grade(course, options=Options(again), work=work, done=told.append)
        assert sorted(ran) == expected
        assert [v.student for v in found] == ["anna", "bo"]
        assert sorted(v.student for v in told) == ["anna", "bo"]
        assert scores(course) == {"anna": 3.5, "bo": 2.5}
    tiny.hand_in(course, "bo", "1 b")
    ran.clear()
    grade(course, work=work)
    assert ran == ["1 b"] and scores(course) == {"anna": 3.5, "bo": 1.5}
    ran.clear()
    grade(course, student="anna", options=Options(again=True), work=work)
    assert ran == ["3 a"]


@pytest.mark.parametrize("change", ["limits", "sandbox", "exercise"])
def test_what_decides_about_points_has_changed_so_it_runs_again(
    course: Course, change: str
) -> None:
    tiny.hand_in(course, "anna", "3 a")
    [before] = grade(course, work=cheap)
    options = Options()
    if change == "limits":
        options = Options(limits=Limits(cell_seconds=5.0))
    elif change == "sandbox":
        options = Options(sandbox=False)
    else:
        text = course.assignment(MODULE).read_text()
        course.assignment(MODULE).write_text(text.replace('"check"', '"check "', 1))
    [after] = grade(course, options=options, work=cheap)
    assert after.key != before.key


def test_the_same_bytes_run_once_and_count_for_everybody(course: Course) -> None:
    ran: list[str] = []

    def work(job: Job) -> Outcome:
        ran.append(job.submission.decode())
        return cheap(job)

    for student in ("anna", "bo", "chen"):
        tiny.hand_in(course, student, "3 same")
    grade(course, work=work)
    assert ran == ["3 same"]
    assert scores(course) == {"anna": 3.5, "bo": 3.5, "chen": 3.5}


def test_what_fails_is_given_again_and_then_counts(course: Course) -> None:
    tries: Counter[str] = Counter()
    said: list[str] = []

    def work(job: Job) -> Outcome:
        name = job.submission.decode()
        tries[name] += 1
        if name == "3 fails once" and tries[name] < 2:
            return Outcome(job.key, FAILED, "no process")
        if name == "3 raises twice" and tries[name] < 3:
            raise ValueError("a mistake in the grader")
        return cheap(job)

    for number, text in enumerate(["3 fails once", "3 raises twice", "3 fine", "fail always"]):
        tiny.hand_in(course, f"s{number}", text)
    found = grade(course, options=Options(workers=2), work=work, say=said.append)
    assert [v.status for v in found] == ["graded", "graded", "graded", "failed"]
    assert tries == {"3 fails once": 2, "3 raises twice": 3, "3 fine": 1, "fail always": 3}
    assert scores(course) == {"s0": 3.5, "s1": 3.5, "s2": 3.5}
    assert said == [
        "The grader failed on 3 submissions. Again in 0.1 s.",
        "The grader failed on 2 submissions. Again in 0.1 s.",
    ]


def test_a_failure_keeps_the_points_and_the_exit_code_says_so(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(job: Job) -> Outcome:
        raise OSError("no more processes")

    def run(*args: str) -> tuple[int, str]:
        result = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["--root", str(course.root), *args])
        return result.exit_code, result.output

    monkeypatch.setattr("grader.grading.grade", cheap)
    tiny.hand_in(course, "anna", "3 a")
    code, output = run("grade")
    assert (code, scores(course)) == (0, {"anna": 3.5})
    monkeypatch.setattr("grader.grading.grade", broken)
    code, output = run("regrade", "--student", "anna")
    assert (code, scores(course)) == (1, {"anna": 3.5})
    assert "failed" in output and "OSError: no more processes" in output
    assert "1 of 1 failed, and have no new points." in output
    assert output.splitlines()[-1] == f"Next: grader --root {course.root} grade {MODULE}"
    monkeypatch.setattr("grader.grading.grade", cheap)
    code, output = run("grade")
    assert code == 0 and load_all(course)[0].status == "graded"


def test_without_a_sandbox_every_place_says_so(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(job: Job) -> Outcome:
        made = cheap(job)
        made.sandbox = "bubblewrap" if job.sandbox else "none"
        return made

    monkeypatch.setattr("grader.grading.grade", work)
    tiny.hand_in(course, "anna", "3 a")
    for arguments, kind in [([], "bubblewrap"), (["--no-sandbox"], "none")]:
        result = CliRunner(env={"COLUMNS": "200"}).invoke(
            main, ["--root", str(course.root), "grade", *arguments]
        )
        assert result.exit_code == 0, result.output
        assert ("graded, no sandbox" in result.output) == (kind == "none")
        assert [v.sandbox for v in load_all(course)] == [kind]


def test_a_missing_sandbox_stops_at_once(course: Course) -> None:
    ran = []

    def work(job: Job) -> Outcome:
        ran.append(job)
        raise GraderError("grader: expected bubblewrap")

    for number in range(50):
        tiny.hand_in(course, f"s{number}", f"1 {number}")
    with pytest.raises(GraderError, match="expected bubblewrap"):
        grade(course, options=Options(workers=2), work=work)
    assert len(ran) <= 2 and not load_all(course)


def test_a_file_that_changes_while_it_is_graded_gets_no_points_of_another(course: Course) -> None:
    tiny.hand_in(course, "anna", "3 a")
    path = tiny.hand_in(course, "bo", "1 b")

    def work(job: Job) -> Outcome:
        path.write_text("4 changed")  # anna's is graded first
        return cheap(job)

    found = grade(course, options=Options(workers=1), work=work)
    assert [v.status for v in found] == ["graded", "failed"]
    assert "to be the same" in found[1].reason and scores(course) == {"anna": 3.5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grade"], "expected submissions in"),
        (["grade", "--student", "zoe"], "expected submissions of zoe in"),
        (["grade", "02"], "expected a module of the course"),
        (["grade", "--workers", "0"], "x>=1"),
        (["grade", "--scheduler", "tcp://127.0.0.1:1"], "expected a Dask scheduler"),
        (["grade", "--scheduler", "127.0.0.1"], "expected a Dask scheduler"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(
    course: Course, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr("grader.schedule.CONNECT_SECONDS", 0.5)
    if "--scheduler" in arguments:
        tiny.hand_in(course, "anna", "3 a")
    result = CliRunner().invoke(main, ["--root", str(course.root), *arguments])
    assert result.exit_code == 2 and message in result.output, result.output
    assert "Traceback" not in result.output


def test_an_exercise_that_was_not_released_is_said(course: Course) -> None:
    tiny.hand_in(course, "anna", "3 a")
    for text in ("{}", "half"):
        course.assignment(MODULE).write_text(text)
        with pytest.raises(GraderError, match=f"Run grader release {MODULE} first"):
            grade(course, work=cheap)


# ---- killed workers


def warm_parents() -> list[psutil.Process]:
    """The youngest last: an earlier test may have left one that has nothing to do any more."""
    found = []
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # one that has just ended
            if "grader.warm" in process.cmdline():
                found.append(process)
    return sorted(found, key=lambda process: process.create_time())


def test_killed_workers_cost_nothing_but_time(released_root: Path, tmp_path: Path) -> None:
    """Real grading of two dozen submissions, while its processes are killed."""
    root = tmp_path / "sample"
    shutil.copytree(released_root, root)
    real = Course.at(root)
    for number in range(24):
        answers = {"task1": f"# {number}\n{sample.RIGHT['task1']}"} if number % 2 else {}
        sample.hand_in(tmp_path / "in", f"s{number:02}", sample.answered(real, answers))
    collect(real, tmp_path / "in")
    stored: Counter[str] = Counter()
    killed = 0

    def done(verdict: Verdict) -> None:
        nonlocal killed
        stored[verdict.student] += 1
        if sum(stored.values()) in (3, 15, 18, 21):
            for process in warm_parents()[-1:]:
                process.kill()
                killed += 1

    found = grade(real, options=Options(workers=2), done=done)
    assert killed >= 3
    assert set(stored.values()) == {1} and len(stored) == 24
    assert [v.status for v in found] == ["graded"] * 24
    assert [v.score for v in found] == [4.0 * (number % 2) for number in range(24)]


def test_300_submissions_on_a_cluster_whose_workers_are_killed(
    course: Course, patience: None
) -> None:
    """The work is a stand-in; the cluster, its killed processes, files and gradebook are real."""
    from distributed import LocalCluster

    for number in range(300):
        tiny.hand_in(course, f"s{number:04}", f"{number % 5} {number}")
    stored: Counter[str] = Counter()
    killed: list[int] = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:

        def done(verdict: Verdict) -> None:
            stored[verdict.student] += 1
            if sum(stored.values()) in (30, 90, 150, 210):
                alive = [w.pid for w in cluster.workers.values() if w.pid]  # one may be starting
                killed.append(alive[len(killed) % len(alive)])
                os.kill(killed[-1], signal.SIGKILL)

        options = Options(scheduler=cluster.scheduler_address)
        found = grade(course, options=options, work=cheap, done=done)
    assert len(killed) == 4
    assert len(found) == 300 and {v.status for v in found} == {"graded"}
    assert set(stored.values()) == {1} and len(stored) == 300
    assert scores(course) == {f"s{number:04}": number % 5 + 0.5 for number in range(300)}
    assert len(list(course.work.glob("verdicts/*/*.json"))) == 300


def test_real_grading_on_a_cluster(released_root: Path, tmp_path: Path, patience: None) -> None:
    from distributed import LocalCluster

    root = tmp_path / "sample"
    shutil.copytree(released_root, root)
    real = Course.at(root)
    for student, answers in [("anna", sample.RIGHT), ("bo", sample.WRONG), ("chen", {})]:
        sample.hand_in(tmp_path / "in", student, sample.answered(real, answers))
    collect(real, tmp_path / "in")
    with LocalCluster(
        n_workers=1, threads_per_worker=2, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        found = grade(real, options=Options(scheduler=cluster.scheduler_address))
    assert [(v.status, v.score) for v in found] == [("graded", 8), ("graded", 0), ("graded", 0)]


# ---- the command itself is killed, or stopped

COMMAND = """
import sys
from grader.course import Course
from grader.grade import Options, grade
from tests.grader.test_schedule import noted

grade(Course.at(sys.argv[1]), options=Options(workers=2), work=noted)
"""


def noted(job: Job) -> Outcome:
    """A stand-in that keeps a list of what was run. Where STOP is set, it never comes further than
    to the twentieth.
    """
    with open(os.environ["RUNS"], "a") as file:
        file.write(job.submission.decode() + "\n")
    if "STOP" in os.environ and int(job.submission.split()[1]) >= 20:
        threading.Event().wait()
    return cheap(job)


def test_a_killed_command_goes_on_where_it_ended(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    for number in range(40):
        tiny.hand_in(course, f"s{number:02}", f"{number % 5} {number}")
    command = [sys.executable, "-c", COMMAND, str(course.root)]
    process = subprocess.Popen(command, cwd=REPOSITORY, env={**os.environ, "STOP": "1"})
    wait_for(lambda: len(verdict_files(course)) >= 10, process)
    process.kill()
    process.wait()
    assert 10 <= len(verdict_files(course)) <= 20
    grade(course, options=Options(workers=2), work=noted)
    assert scores(course) == {f"s{number:02}": number % 5 + 0.5 for number in range(40)}
    assert len(verdict_files(course)) == 40
    ran = Counter((tmp_path / "runs").read_text().splitlines())
    again = {text for text, times in ran.items() if times > 1}
    assert len(ran) == 40 and len(again) <= 4, "only what was at work, or not yet stored"
    assert {v.attempts for v in load_all(course)} == {1}


def test_a_killed_command_leaves_no_process_and_no_folder(
    released_root: Path, tmp_path: Path
) -> None:
    """Real grading, of one that would go on for an hour and of one that ends."""
    root, temporary = tmp_path / "sample", tmp_path / "temporary"
    temporary.mkdir()
    shutil.copytree(released_root, root)
    real = Course.at(root)
    for name, task1 in (("endless", "while True: pass"), ("right", sample.RIGHT["task1"])):
        sample.hand_in(tmp_path / "in", name, sample.answered(real, {"task1": task1}))
    collect(real, tmp_path / "in")
    command = [sys.executable, "-m", "grader", "--root", str(root), "grade", "--workers", "2"]
    command += ["--cell-timeout", "3600", "--timeout", "3600"]
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_for(lambda: len(verdict_files(real)) >= 1, process)
    family = psutil.Process(process.pid).children(recursive=True)
    assert family and list(temporary.iterdir())
    process.kill()
    said = process.communicate()[0]
    gone, alive = psutil.wait_procs(family, timeout=HANGS)
    assert not alive and list(temporary.iterdir()) == []
    assert "Traceback" not in said


WAITS_AFTER_THREE = """
import sys, threading
from pathlib import Path
from grader import cli, store

save, saved = store.Store.save, []

def save_three(*args, **options):
    if len(saved) == 3:
        Path(sys.argv.pop(1)).touch()
        threading.Event().wait()
    saved.append(save(*args, **options))
    return saved[-1]

store.Store.save = save_three
cli.main(sys.argv[2:])
"""


def test_ctrl_c_says_what_is_stored_and_leaves_no_process(
    released_root: Path, tmp_path: Path
) -> None:
    """Real grading, by the real command. It never ends by itself: the first submission goes on and
    on, and the others wait for Ctrl-C after the third.
    """
    root = tmp_path / "sample"
    shutil.copytree(released_root, root)
    real = Course.at(root)
    for number in range(12):
        answers = {"task1": f"# {number}\n{sample.RIGHT['task1']}"}
        sample.hand_in(tmp_path / "in", f"s{number:02}", sample.answered(real, answers))
    endless = sample.answered(real, {"task1": "while True: pass"})
    sample.hand_in(tmp_path / "in", "s00", endless)
    collect(real, tmp_path / "in")
    limits = ["--cell-timeout", "3600", "--timeout", "3600"]
    command = ["--root", str(root), "grade", "--workers", "2", *limits]
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS_AFTER_THREE, str(tmp_path / "waits"), *command],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_for((tmp_path / "waits").exists, process)
    family = psutil.Process(process.pid).children(recursive=True)
    assert family
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == 130, output
    assert "Stopped. 3 of 12 submissions are graded and stored." in output
    assert len(verdict_files(real)) == 3
    assert f"Run grader --root {root} grade: it goes on from there." in output
    assert "Traceback" not in output and "failed" not in output
    assert not psutil.wait_procs(family, timeout=HANGS)[1], "a process was left behind"
    right = sample.answered(real, {"task1": sample.RIGHT["task1"]})
    sample.hand_in(tmp_path / "in", "s00", right)
    collect(real, tmp_path / "in")
    command = [sys.executable, "-m", "grader", *command]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [v.score for v in load_all(real)] == [4.0] * 12


def verdict_files(course: Course) -> list[Path]:
    return list(course.work.glob("verdicts/*/*.json"))


def wait_for(ready: Callable[[], bool], process: subprocess.Popen) -> None:
    end = time.monotonic() + HANGS
    while not ready():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("command", ["release", "collect", "export", "report"])
def test_ctrl_c_ends_every_command_with_130(
    course: Course, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Course, "at", stopped)
    words = [command, "."] if command == "collect" else [command]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stderr) == (130, "Stopped. Run the same command again.\n")


def test_ctrl_c_while_points_are_stored_waits_for_them(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a statement, the database's library would print a traceback."""
    tiny.hand_in(course, "anna", "3")
    write = gradebook.write_points

    def interrupted(*args: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return write(*args)

    monkeypatch.setattr(gradebook, "write_points", interrupted)
    # As in a terminal: a run in the background, such as this one may be, ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            grade(course, work=cheap)
        assert scores(course) == {"anna": 3.5}
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("command", "next_step"),
    [
        ("grade", "grade: it goes on from there."),
        ("regrade", "regrade: it starts again; until then the rest has its old points."),
    ],
)
def test_ctrl_c_says_which_command_runs_the_rest(
    course: Course, monkeypatch: pytest.MonkeyPatch, command: str, next_step: str
) -> None:
    """After a stopped regrade, `grade` would find every submission graded, and run none."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    tiny.hand_in(course, "anna", "3")
    monkeypatch.setattr("grader.grade.grade", stopped)
    done = CliRunner().invoke(main, ["--root", str(course.root), command])
    assert done.exit_code == 130
    assert done.stderr.rstrip().endswith(next_step)
