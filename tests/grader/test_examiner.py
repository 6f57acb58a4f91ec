"""The examiner: what crosses, what is judged where, and what a mistake or a hang costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import nbformat.v4 as v4
import pytest
from nbformat import NotebookNode

import minipaddle as paddle
from grader import grading
from grader.grading import grade
from grader.outcome import Job, Limits
from tests.grader.exam import LIMITS, assignment_of, exercise, graded, output, submission

SQUARE = exercise(
    """
with Checks("Task 1") as check:
    check.equal("two", lambda: answer(2), 4, look="Twice two.")
    check.equal("three", lambda: answer(3), 9)
    check.raises("a text", lambda: answer("a"), TypeError)
""",
    """
with Checks("Task 1", hidden=True) as check:
    check.equal("four", lambda: answer(4), 16, look="Any number.")
    check.equal("an array", lambda: answer(np.arange(3.0)), np.array([0.0, 1.0, 4.0]))
""",
)


def test_the_reference_gets_all_points() -> None:
    outcome = graded(SQUARE)
    assert (outcome.status, outcome.score, outcome.max_score) == ("graded", 4, 4)
    assert outcome.cells == {"task1_check": 2, "task1_hidden": 2} and outcome.sandbox == "none"
    assert "all 3 checks passed" in output(outcome, "task1_check")


def test_blank_work_gets_nothing() -> None:
    outcome = graded(SQUARE, "def answer(n):\n    raise NotImplementedError('task1')")
    assert outcome.score == 0 and outcome.cells == {"task1_check": 0, "task1_hidden": 0}
    assert "nothing is written here yet" in output(outcome, "task1_check")


def test_each_check_has_its_part_of_the_points() -> None:
    outcome = graded(SQUARE, "def answer(n):\n    return 9 if n == 3 else [][n]")
    assert [check.passed for check in outcome.checks] == [False, True, True, False, False]
    assert outcome.cells == {"task1_check": 1.3333, "task1_hidden": 0}
    first = outcome.checks[0]
    assert (first.points, first.max_points) == (0, 0.6667)
    assert "expected 4, but got IndexError" in first.message and first.look == "Twice two."


def test_hidden_checks_tell_the_idea_but_not_the_values() -> None:
    outcome = graded(SQUARE, "def answer(n):\n    return n + 2")
    shown = output(outcome, "task1_hidden")
    assert "FAIL  four. Any number." in shown and "16" not in shown
    assert all(not check.message.strip(".") for check in outcome.checks if check.hidden)


def test_nothing_of_hidden_checks_gets_into_what_is_shown() -> None:
    spy = """
import sys
seen = []
def answer(n):
    frame = sys._getframe(1)
    seen.append((n, sorted(str(key) for key in frame.f_locals)))
    return n * n
"""
    source = exercise(VISIBLE_ONLY, HIDDEN_EXPERIMENT)
    source.cells.append(v4.new_code_cell("print(seen, sorted(globals()))"))
    notebook = nbformat.reads(submission(source, spy).decode(), as_version=4)
    outcome = grade(Job(assignment_of(source), nbformat.writes(notebook).encode(), LIMITS, False))
    assert outcome.score == 4 and outcome.notebook is not None
    shown = str(outcome.notebook["cells"][-1]["outputs"])
    assert "(2, [" in shown and "777" not in shown and "secret" not in shown


VISIBLE_ONLY = """
with Checks("Task 1") as check:
    check.equal("two", lambda: answer(2), 4)
"""
HIDDEN_EXPERIMENT = """
@experiment
def secret_numbers():
    return [answer(n) for n in (777, 778)]

with Checks("Task 1", hidden=True) as check:
    check.equal("many", secret_numbers, [777**2, 778**2])
"""


def test_the_students_exceptions_are_told_with_kind_and_text() -> None:
    outcome = graded(SQUARE, "class Odd(TypeError): pass\ndef answer(n):\n    raise Odd('why')")
    assert [check.passed for check in outcome.checks][:3] == [False, False, True]
    assert "got Odd: why" in outcome.checks[0].message


def test_an_answer_cell_that_fails_leaves_its_name_undefined() -> None:
    outcome = graded(SQUARE, "def answer(n:")
    assert outcome.score == 0
    assert "NameError: name 'answer' is not defined (did the cell" in outcome.checks[0].message


EXPERIMENTS = exercise(
    """
import random
from fractions import Fraction

def build(n):
    return [helper(i) for i in range(n)]

def helper(i):
    return i + offset

@experiment
def tried(make, *args, times=1):
    values = [answer(value) for value in make(*args)] * times
    return values, random.Random(1).random() < 2, float(Fraction(1, 2))

with Checks("Task 1") as check:
    for offset in (0, 10):
        check.equal(
            f"from {offset}",
            lambda: tried(build, 3, times=2),
            ([i * i for i in build(3)] * 2, True, 0.5),
        )
""",
)


def test_an_experiment_runs_beside_the_answer_with_all_that_it_uses() -> None:
    assert graded(EXPERIMENTS).score == 2


def test_an_experiment_sees_the_answers_own_helpers() -> None:
    outcome = graded(
        EXPERIMENTS, "def answer(n):\n    return own(n)", added=["own = lambda n: n*n"]
    )
    assert outcome.score == 2


def test_programs_are_judged_outside() -> None:
    source = exercise(
        """
def build():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [2], "float32")
        paddle._pir_ops.fetch(paddle.scale(x, 2.0), "out", 0)
    return program

def run(program):
    feed = {"x": np.array([1, 2], "float32")}
    return paddle.static.Executor().run(program, feed=feed, fetch_list=["out"])[0]

@experiment
def changed():
    program = build()
    answer(program)
    return program

with Checks("Task 1") as check:
    check.equal("the numbers", lambda: run(changed()), np.array([2, 4], "float32"))
    check.equal("the text", lambda: str(changed()), str(build()))
""",
        setup="import numpy as np\nimport minipaddle as paddle\npaddle.enable_static()",
        answer="def answer(program):\n    return program",
    )
    assert graded(source).score == 2
    lies = """
def answer(program):
    paddle.static.Executor.run = lambda *a, **k: [np.array([2, 4], "float32")]
    for op in list(program.global_block().ops)[::-1]:
        op.erase()
"""
    outcome = graded(source, lies)
    assert outcome.score == 0, [check.message for check in outcome.checks]


def test_a_mistake_of_the_exercise_is_never_a_wrong_answer() -> None:
    source = exercise('with Checks("T") as check:\n    check.equal("a", lambda: answer(1), 1/0)')
    outcome = graded(source)
    assert (outcome.status, outcome.score, outcome.cells) == ("failed", None, {})
    assert "task1_check: the check cell itself failed in line" in outcome.reason


@pytest.mark.parametrize(
    ("visible", "message"),
    [
        ("check.equal('a', lambda: answer(object()), 1)", "Make it inside an @experiment"),
        ("check.equal('a', lambda: answer(lambda: 1), 1)", "Define it with `def`"),
        ("pass", "expected at least one check"),
    ],
)
def test_authors_are_told_what_cannot_cross(visible: str, message: str) -> None:
    outcome = graded(exercise(f'with Checks("T") as check:\n    {visible}'))
    if message.startswith("expected"):
        assert outcome.status == "failed" and "expected checks in the cell" in outcome.reason
    else:
        assert outcome.status == "failed" and message in outcome.reason


def test_a_set_up_cell_that_needs_an_answer_is_a_mistake_of_the_exercise() -> None:
    source = exercise('with Checks("T") as check:\n    check.equal("a", lambda: answer(1), 1)')
    bad = source.cells[0].copy()
    bad.metadata = {"nbgrader": {**bad.metadata["nbgrader"], "grade_id": "more"}}
    bad.source = "class More(answer): pass"
    source.cells.insert(2, v4.new_code_cell(bad.source, metadata=bad.metadata))
    outcome = graded(source)
    assert outcome.status == "failed" and "more: the set-up cell fails" in outcome.reason


TWO_TASKS = exercise('with Checks("One") as check:\n    check.equal("a", lambda: answer(2), 4)')
for _cell in exercise(
    'with Checks("Two") as check:\n    check.equal("b", lambda: second(2), 8)',
    answer="def second(n):\n    return n**3",
).cells[1:]:
    _cell.metadata.nbgrader.grade_id = _cell.metadata.nbgrader.grade_id.replace("1", "2")
    TWO_TASKS.cells.append(_cell)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("while True: pass", "task1: over 2 s"),
        ("def answer(n):\n    while True: pass", "task1_check: over 2 s"),
        ("import os\nos._exit(0)", "task1: Python ended"),
        ("def answer(n):\n    import os\n    os._exit(0)", "task1_check: Python ended"),
        (
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
            "task1: over 2 s",
        ),
        ("x = bytearray(10**9)\nx2 = bytearray(10**9)\nimport time\ntime.sleep(9)", "MemoryError"),
    ],
)
def test_a_hang_or_an_end_costs_its_own_task_only(answer: str, reason: str) -> None:
    limits = Limits(cell_seconds=2, submission_seconds=300, memory_mib=1024)
    job = Job(assignment_of(TWO_TASKS), with_second(answer), limits, sandbox=False)
    outcome = grade(job)
    assert outcome.cells == {"task1_check": 0, "task2_check": 2}
    assert reason in outcome.reason + str(outcome.notebook)


def with_second(answer: str) -> bytes:
    """`answer` for the first task, and the right one for the second."""
    notebook = nbformat.reads(submission(TWO_TASKS, answer).decode(), as_version=4)
    for cell in notebook.cells:
        if cell.metadata.nbgrader.grade_id == "task2":
            cell.source = "def second(n):\n    return n**3"
    return nbformat.writes(notebook).encode()


def test_the_time_of_a_submission_is_limited() -> None:
    sleeps = [f"import time; time.sleep({n})" for n in (1.5, 1.5, 1.5)]
    limits = Limits(cell_seconds=5, submission_seconds=3)
    outcome = graded(SQUARE, added=sleeps, limits=limits)
    assert (outcome.status, outcome.score) == ("graded", 0)
    assert "the 3 s for this notebook are used up" in outcome.reason


def test_outputs_are_kept_in_the_notebook_up_to_a_limit() -> None:
    limits = Limits(cell_seconds=60, submission_seconds=300, output_bytes=1000)
    added = [
        "print('hello'); 6 * 7",
        "from IPython.display import HTML; HTML('<b>bold</b>')",
        "1 / 0",
        "print('x' * 5000)",
        "print('no more')",
    ]
    outcome = graded(SQUARE, added=added, limits=limits)
    assert outcome.score == 4 and outcome.notebook is not None
    outs = [cell["outputs"] for cell in outcome.notebook["cells"][1:6]]
    assert outs[0][0]["text"] == "hello\n" and outs[0][1]["data"]["text/plain"] == "42"
    assert outs[1][0]["data"]["text/html"] == "<b>bold</b>"
    assert outs[2][0]["ename"] == "ZeroDivisionError"
    assert "output cut here" in outs[3][-1]["text"] and len(str(outs[3])) < 1500
    assert outs[4] == []


def test_what_an_answer_prints_is_shown_with_visible_checks_only() -> None:
    outcome = graded(SQUARE, "def answer(n):\n    print('called with', n)\n    return n * n")
    assert "called with 2" in output(outcome, "task1_check")
    assert "called with" not in output(outcome, "task1_hidden")


def test_a_player_in_a_cell_leaves_its_picture() -> None:
    setup = """
import minipaddle as paddle
from minipaddle import viz
x = paddle.to_tensor([1.0], stop_gradient=False)
viz.grad_graph(x * 2)
"""
    source = exercise(
        'with Checks("T") as check:\n    check.equal("a", lambda: answer(2), 4)', setup=setup
    )
    outcome = graded(source)
    assert outcome.notebook is not None
    data = outcome.notebook["cells"][0]["outputs"][0]["data"]
    assert "text/plain" in data and any("svg" in str(value) for value in data.values())


def test_an_outcome_is_a_function_of_its_job() -> None:
    first, second = graded(SQUARE), graded(SQUARE)
    first.seconds = second.seconds = 0
    assert first == second
    other = Job(assignment_of(SQUARE), submission(SQUARE, "x = 1"), sandbox=False)
    assert other.key != first.key


def test_state_does_not_pass_from_one_submission_to_the_next() -> None:
    right = "def answer(n):\n    return n * n"
    dirty = f"import minipaddle\nminipaddle.enable_static()\nnp.pi = 3\n{right}"
    assert graded(SQUARE, dirty).score == 4
    clean = "def answer(n):\n    assert np.pi > 3.1\n    return n * n"
    assert graded(SQUARE, clean).score == 4
    assert paddle.in_dynamic_mode()


def test_a_check_cell_finds_its_own_text_also_after_another_exercise() -> None:
    """Two exercises with cells of the same names, graded in turn: tracebacks show these lines."""

    def one(number: int) -> NotebookNode:
        return exercise(
            "import inspect\n"
            f"def number():\n    return {number}\n"
            'with Checks("Task 1") as check:\n'
            f'    check.true("{number}", lambda: " {number}" in inspect.getsource(number), "so")\n'
        )

    for number in (1, 2, 1):
        outcome = graded(one(number))
        assert (outcome.status, outcome.score) == ("graded", 2), output(outcome, "task1_check")


def test_the_notebook_of_another_exercise_is_not_gradable() -> None:
    titled = exercise(VISIBLE_ONLY)
    titled.cells.insert(0, v4.new_markdown_cell("# 1 · exercise: Squares"))
    other = exercise('with Checks("T") as check:\n    check.equal("a", lambda: answer(3), 9)')
    other.cells[0].source = "import math"
    other.cells.insert(0, v4.new_markdown_cell("# 2 · exercise: Cubes"))
    outcome = grade(Job(assignment_of(titled), submission(other), LIMITS, False))
    assert (outcome.status, outcome.score) == ("not gradable", 0)
    assert "but got '2 · exercise: Cubes'" in outcome.reason
    renamed = nbformat.reads(submission(titled).decode(), as_version=4)
    renamed.cells[0].source = "# My notes"
    job = Job(assignment_of(titled), nbformat.writes(renamed).encode(), LIMITS, False)
    assert grade(job).score == 2


def test_a_grader_in_the_current_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "grader").mkdir()
    (tmp_path / "grader" / "__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    examiner = grading.Examiner(sandbox=False)
    try:
        job = Job(assignment_of(SQUARE), submission(SQUARE), LIMITS, False)
        assert examiner.grade(job).score == 4
    finally:
        examiner.close()
    assert not (tmp_path / "ran").exists()


def test_a_library_that_can_t_be_imported_is_named_in_one_line(tmp_path: Path) -> None:
    """As in the middle of an update."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['minipaddle.viz'] = None")
    place = os.pathsep.join([str(tmp_path), str(Path(grading.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader.warm"],
        input="{}\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": place},
    )
    assert done.stderr == ""
    [line] = done.stdout.splitlines()
    assert json.loads(line)["ended"].startswith("it can't start: ModuleNotFoundError: import of")


def test_what_an_examiner_that_is_killed_had_in_temporary_files_is_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    examiner = grading.Examiner(sandbox=False)
    slow = Job(assignment_of(SQUARE), submission(SQUARE, added=["while True: pass"]), LIMITS, False)
    asked = threading.Thread(target=examiner.grade, args=(slow,), daemon=True)
    asked.start()
    end = time.monotonic() + 600
    while not list(tmp_path.glob("*/grader-*")):
        assert time.monotonic() < end, "no examiner has begun"
        time.sleep(0.01)
    examiner.close()
    asked.join()
    assert list(tmp_path.iterdir()) == []


def test_a_cell_that_is_no_python_is_a_reason() -> None:
    job = Job(assignment_of(TWO_TASKS), with_second("def answer(n:\n    return n"), LIMITS, False)
    outcome = grade(job)
    assert outcome.cells == {"task1_check": 0, "task2_check": 2}
    assert outcome.reason == "task1: no valid Python"


def test_a_name_that_only_a_check_cell_defines_is_explained() -> None:
    source = exercise(
        "def double(n):\n    return 2 * n\n\n\n"
        'with Checks("Task 1") as check:\n'
        '    check.equal("two", lambda: answer(2), 4)',
        "def secret(n):\n    return n\n\n\n"
        'with Checks("Task 1", hidden=True) as check:\n'
        '    check.equal("three", lambda: answer(3), 9)',
    )
    for used, said in [
        ("double", "a check cell defines it, and the grader runs those apart: define it yourself)"),
        ("secret", "did the cell that defines it run?"),  # nobody is told what hidden cells define
        ("tripel", "did the cell that defines it run?"),
    ]:
        answer = f"def answer(n):\n    return {used}(n)"
        outcome = grade(Job(assignment_of(source), submission(source, answer), LIMITS, False))
        assert outcome.score == 0
        [visible, hidden] = outcome.checks
        assert f"got NameError: name '{used}' is not defined ({said}" in visible.message
        assert hidden.message == "."


@pytest.mark.parametrize("dead", [False, True])
def test_a_parent_that_was_started_before_is_used_if_it_lives(dead: bool) -> None:
    grading.warm_up(1, sandbox=False)
    [started] = grading._STARTED
    if dead:
        started.process.kill()
        started.process.wait()
    job, used = Job(assignment_of(SQUARE), submission(SQUARE), LIMITS, False), []

    def work() -> None:  # threads of the tests before have parents of their own
        used.extend([grade(job).score, grading._LOCAL.examiner is started])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    started.close()
    assert used == [4, not dead] and not grading._STARTED


def test_a_parent_learns_of_another_assignment() -> None:
    examiner = grading.Examiner(sandbox=False)
    two = Job(assignment_of(TWO_TASKS), submission(TWO_TASKS), LIMITS, False)
    one = Job(assignment_of(SQUARE), submission(SQUARE), LIMITS, False)
    try:
        assert [examiner.grade(job).score for job in (one, two, two, one)] == [4, 2, 2, 4]
        assert set(examiner.grade(two).cells) == {"task1_check", "task2_check"}
    finally:
        examiner.close()


@pytest.mark.parametrize("line", ['{"ended": "code -9"}', '{"so_far": {"key"{"ended": "code -9"}'])
def test_no_outcome_is_given_to_a_later_job(line: str) -> None:
    """An examiner that is killed when its outcome is told, or in the middle of it."""
    graded(SQUARE)
    grading._LOCAL.examiner.lines.put(f"{line}\n")
    assert graded(SQUARE).status == "failed"
    assert graded(SQUARE, "def answer(n):\n    return 0").score == 0
    assert graded(SQUARE).score == 4
