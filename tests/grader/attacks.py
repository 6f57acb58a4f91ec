"""Submissions that want points without the work, or want to do harm: what each tries, and the
points that its honest part has earned.

All answer the sample exercise of `fixtures/`. Those that are code in an answer cell stand in
`fixtures/attacks_points.py` and `fixtures/attacks_harm.py`. An attack prints WON where it got hold
of something; words in CAPITALS stand for a place that the test knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import nbformat.v4 as v4
from nbformat import NotebookNode, writes

from tests.grader.sample import FIXTURES, RIGHT

ALL: dict[str, float] = {"task1_check": 2, "task1_hidden": 2, "task2_check": 2, "task2_hidden": 2}
TASK1: dict[str, float] = {**ALL, "task2_check": 0, "task2_hidden": 0}
SEEN: dict[str, float] = {**TASK1, "task2_check": 2}
NOTHING: dict[str, float] = dict.fromkeys(ALL, 0)
EARNED = {"all": ALL, "task1": TASK1, "seen": SEEN, "nothing": NOTHING}

WRONG = {
    "task1": "def broadcast_shape(x, y):\n    return list(x)\n",
    "task2": "def sum_to(grad, shape):\n    return grad\n",
}

# In front of each attack. Without a sandbox it ends here: it is only safe inside.
PRELUDE = """
import gc, io, json, os, struct, sys

os.path.isdir("/home/student") and os.getuid() or os._exit(3)


def won(*what):
    print("\\x57ON", *what)


def machine():
    return sys.modules["grader.student"]


def pipe():
    return next(o for o in gc.get_objects() if isinstance(o, io.BufferedWriter) and o.fileno() > 2)


def send(message):
    data = json.dumps(message).encode()
    pipe().write(struct.pack(">I", len(data)) + data)
    pipe().flush()


"""


@dataclass(frozen=True)
class Attack:
    """`change` gets the notebook with the first task answered right, and changes it, or gives other
    bytes. `points`: what is earned. `reason`: words of the reason that the student is told.
    """

    change: Callable[[NotebookNode], NotebookNode | bytes | None]
    points: dict[str, float]
    reason: str = ""


def cell(nb: NotebookNode, name: str) -> NotebookNode:
    return next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def written(text: str, earned: str, reason: str = "") -> Attack:
    """An attack in an answer cell: see the files in `fixtures/`."""

    def change(nb: NotebookNode) -> None:
        own = PRELUDE + text
        if earned == "nothing":
            cell(nb, "task1").source = own if "broadcast_shape" in text else own + WRONG["task1"]
            cell(nb, "task2").source = WRONG["task2"]
        else:
            cell(nb, "task2").source = own + (RIGHT["task2"] if earned == "all" else "")

    return Attack(change, EARNED[earned], reason)


def from_file(name: str) -> dict[str, Attack]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    _, *parts = re.split(r"^# %% ", text, flags=re.MULTILINE)
    attacks = {}
    for part in parts:
        head, _, body = part.partition("\n")
        title, earned, reason = [*head.split(" | "), ""][:3]
        attacks[title] = written(body, earned, reason)
    return attacks


def answers(expression: str) -> Attack:
    """Answers every call of a check with `expression`, which may use the request's `args`."""
    return written(
        f"""
import numpy as np


def answer(shell, request, codec):
    args, kwargs = codec.loads(request["args"], lambda name: None)
    return {{"value": codec.dumps({expression}), "outputs": []}}


machine()._call = answer
""",
        "nothing",
    )


def forge_cells(nb: NotebookNode) -> None:
    for name in ALL:
        cell(nb, name).source = "pass"
        cell(nb, name).metadata.nbgrader.update(points=100, grade=False, solution=True)
        cell(nb, name).metadata.nbgrader.update(score=100, checksum="0" * 32)
        cell(nb, name).outputs = [v4.new_output("stream", name="stdout", text="all checks passed")]
    cell(nb, "task2").source = WRONG["task2"]
    cell(nb, "task2").metadata.nbgrader.update(points=100, grade=True)
    nb.metadata.update(score=100, nbgrader={"points": 100})


def forge_kernel(nb: NotebookNode) -> None:
    nb.metadata.kernelspec = {"name": "sh", "argv": ["/bin/sh", "-c", "touch OUTSIDE/kernel"]}
    nb.metadata.language_info = {"name": "sh"}
    cell(nb, "task2").source = WRONG["task2"]


def delete_checks(nb: NotebookNode) -> None:
    nb.cells = [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in ALL]
    cell(nb, "task2").source = WRONG["task2"]


def turn_checks_raw(nb: NotebookNode) -> None:
    for name in ALL:
        cell(nb, name).cell_type = "raw"
    cell(nb, "task2").source = WRONG["task2"]


def named_as_ours(nb: NotebookNode) -> None:
    """More cells with the ids of the checks, worth more points, which always pass."""
    for name in ALL:
        extra = v4.new_code_cell("from grader.checks import Checks\n1 + 1")
        extra.metadata.nbgrader = {**cell(nb, name).metadata.nbgrader, "points": 50}
        nb.cells.append(extra)
    cell(nb, "task2").source = WRONG["task2"]


def the_right_cell_as_a_check(nb: NotebookNode) -> None:
    """Swaps the ids, so that a check would be taken for the answer."""
    answer, check = cell(nb, "task2"), cell(nb, "task2_check")
    answer.source = WRONG["task2"]
    answer.metadata.nbgrader.grade_id = "task2_check"
    check.metadata.nbgrader.grade_id = "task2"


def fake_set_up(nb: NotebookNode) -> None:
    """Takes the name of what the checks use, before and after the set-up cell."""
    fake = "class np:\n    array = full = ones = staticmethod(lambda *a, **k: 1)\n"
    nb.cells.insert(0, v4.new_code_cell(fake))
    cell(nb, "setup").source = fake
    nb.cells.insert(3, v4.new_code_cell(fake + "from grader import checks\nchecks.np = np"))
    for name, text in WRONG.items():
        cell(nb, name).source = text


def live_markup(nb: NotebookNode) -> None:
    evil = "<script>alert('evil')</script><img src=x onerror=alert(1)>"
    nb.cells.append(v4.new_markdown_cell(evil + "\n[x](javascript:alert(1))"))
    cell(nb, "task2").source = (
        f"from IPython.display import HTML, Javascript, Markdown, display\nEVIL = {evil!r}\n"
        "display(HTML(EVIL), Markdown(EVIL), Javascript('alert(1)'))\n"
        "print('\\x1b]0;title\\x07\\x1b[2J', EVIL)\n"
        "def sum_to(grad, shape):\n    raise ValueError('\\x1b[2J[red]' + EVIL)"
    )


def many_cells(nb: NotebookNode) -> bytes:
    return json.dumps({"cells": [{}] * 2_000_000, "metadata": {}, "nbformat": 4}).encode()


def many_answers(nb: NotebookNode) -> bytes:
    """Every cell is a copy of an answer cell."""
    content = json.loads(writes(nb))
    [answer] = [c for c in content["cells"] if "def sum_to" in "".join(c["source"])]
    content["cells"] += [answer] * 20_000
    return json.dumps(content).encode()


def deep_metadata(nb: NotebookNode) -> bytes:
    return b'{"nbformat": 4, "metadata": ' + b'{"a": ' * 100_000 + b"1" + b"}" * 100_000 + b"}"


def huge_number(nb: NotebookNode) -> bytes:
    return b'{"cells": [], "nbformat": ' + b"9" * 1_000_000 + b"}"


def too_large(nb: NotebookNode) -> bytes:
    return b" " * (21 * 2**20)


LIAR = """
import numpy as np

class Liar({base}):
    __hash__ = object.__hash__
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __array__(self, *a, **k): return np.ones(3)
    def __array_ufunc__(self, *a, **k): return True
    def __array_function__(self, *a, **k): return True
    def __bool__(self): return True
    def __len__(self): return 3
    def __repr__(self): return "array([2., 2., 2.])"
    @property
    def __class__(self): return {claims}
    def numpy(self): return np.ones(3)

def broadcast_shape(x, y): return {make}
def sum_to(grad, shape): return {make}
"""


def liar(base: str, claims: str, make: str) -> Attack:
    def change(nb: NotebookNode) -> None:
        cell(nb, "task1").source = LIAR.format(base=base, claims=claims, make=make)
        cell(nb, "task2").source = "pass"

    return Attack(change, NOTHING)


def a_late_long_cell(nb: NotebookNode) -> None:
    """Nobody reads the pipe, and the next request is longer than a pipe holds."""
    written("import time\nmachine()._receive = lambda s: time.sleep(60)", "task1").change(nb)
    nb.cells.insert(nb.cells.index(cell(nb, "task2")) + 1, v4.new_code_cell("#" * 200_000))


POINTS: dict[str, Attack] = {
    # Objects that lie about themselves.
    "equal-to-everything": liar("object", "Liar", "Liar()"),
    "claims-to-be-an-array": liar("object", "np.ndarray", "Liar()"),
    "a-list-equal-to-everything": liar("list", "list", "Liar([1])"),
    "a-number-equal-to-everything": liar("float", "float", "Liar(1)"),
    "an-array-equal-to-everything": liar("np.ndarray", "np.ndarray", "np.ones(3).view(Liar)"),
    # Answers that could fit by chance.
    "answers-True": answers("True"),
    "answers-None": answers("None"),
    "answers-an-empty-list": answers("[]"),
    "answers-not-a-number": answers("np.full((1000,), np.nan)"),
    "answers-infinity": answers("float('inf')"),
    "answers-with-its-inputs": answers("args[0] if args else None"),
    "answers-with-the-shape": answers("np.zeros(args[1]) if len(args) > 1 else args"),
    "answers-a-name-that-is-expected": answers("'ValueError'"),
    # The notebook itself.
    "forges-cells-and-points": Attack(forge_cells, TASK1),
    "forges-the-kernel": Attack(forge_kernel, TASK1),
    "deletes-the-checks": Attack(delete_checks, TASK1),
    "turns-the-checks-raw": Attack(turn_checks_raw, TASK1),
    "cells-named-as-checks": Attack(named_as_ours, TASK1),
    "swaps-ids": Attack(the_right_cell_as_a_check, TASK1),
    "fakes-the-set-up": Attack(fake_set_up, NOTHING),
    **from_file("attacks_points.py"),
}

HARM: dict[str, Attack] = {
    "live-markup": Attack(live_markup, TASK1),
    "a-request-that-nobody-reads": Attack(a_late_long_cell, TASK1, "did not read"),
    # The notebook, as a file.
    "two-million-cells": Attack(many_cells, NOTHING, "at most 1000 cells"),
    "an-answer-20000-times": Attack(many_answers, NOTHING, "at most 1000 cells"),
    "metadata-in-metadata": Attack(deep_metadata, NOTHING, "can't be read"),
    "a-number-of-a-million-digits": Attack(huge_number, NOTHING, "can't be read"),
    "21-MB-of-spaces": Attack(too_large, NOTHING, "larger than the 20 MiB"),
    **from_file("attacks_harm.py"),
}

ATTACKS = {**POINTS, **HARM}
# In this order they are graded. These names are the students'.
STUDENTS = {name: f"{number:02}-{name}" for number, name in enumerate(ATTACKS, 1)}
