"""Submissions that are broken, but not meant to be: what happened to a right one, and what a fair
human would give for it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nbformat.v4 as v4
from nbformat import NotebookNode, writes

from tests.grader.attacks import ALL, NOTHING, TASK1, cell
from tests.grader.sample import RIGHT

TASK2: dict[str, float] = {**ALL, "task1_check": 0, "task1_hidden": 0}


@dataclass(frozen=True)
class Broken:
    """`change` gets a notebook in which all is right, and changes it, or gives other bytes.

    Attributes:
        points: what it deserves.
        status: "graded", or "not gradable" where no work can be seen.
        says: words of the reason, or of what a check says to the learner.
    """

    change: Callable[[NotebookNode], NotebookNode | bytes | None]
    points: dict[str, float]
    says: str = ""
    status: str = "graded"


def code(text: str, points: dict[str, float] = TASK1, says: str = "") -> Broken:
    """Another answer to task 2."""

    def change(nb: NotebookNode) -> None:
        cell(nb, "task2").source = text

    return Broken(change, points, says)


def around(before: str, after: str = "", points: dict[str, float] = ALL) -> Broken:
    """Text before and after the right answer to task 2, in its cell."""
    return code(before + RIGHT["task2"].strip() + after, points)


def file(data: bytes, says: str) -> Broken:
    """A file that is no notebook of ours."""
    return Broken(lambda nb: data, NOTHING, says, "not gradable")


def rewritten(change: Callable[[bytes], bytes], says: str = "", lost: bool = False) -> Broken:
    """The bytes of the file changed."""
    status = "not gradable" if lost else "graded"
    points = NOTHING if lost else ALL
    return Broken(lambda nb: change(writes(nb).encode()), points, says, status)


def as_json(change: Callable[[dict[str, Any]], Any], says: str = "", lost: bool = False) -> Broken:
    """The JSON of the file changed."""

    def changed(data: bytes) -> bytes:
        content = json.loads(data)
        return json.dumps(change(content) or content).encode()

    return rewritten(changed, says, lost)


def each_cell(change: Callable[[dict[str, Any]], Any]) -> Broken:
    def all_cells(content: dict[str, Any]) -> None:
        for one in content["cells"]:
            change(one)

    return as_json(all_cells)


def with_cells(change: Callable[[NotebookNode], None], points: dict[str, float] = ALL) -> Broken:
    return Broken(change, points)


def without(name: str) -> Callable[[NotebookNode], None]:
    def change(nb: NotebookNode) -> None:
        nb.cells.remove(cell(nb, name))

    return change


def both_in_the_first(nb: NotebookNode) -> None:
    cell(nb, "task1").source += "\n\n" + cell(nb, "task2").source
    cell(nb, "task2").source = ""


def swap_answers(nb: NotebookNode) -> None:
    one, two = cell(nb, "task1"), cell(nb, "task2")
    one.source, two.source = two.source, one.source


def a_helper_cell(nb: NotebookNode) -> None:
    answer = cell(nb, "task2")
    helper = v4.new_code_cell(answer.source.replace("sum_to", "helper"))
    nb.cells.insert(nb.cells.index(answer), helper)
    answer.source = "sum_to = helper"


def answer_in_a_new_cell(nb: NotebookNode) -> None:
    answer = cell(nb, "task2")
    nb.cells[nb.cells.index(answer)] = v4.new_code_cell(answer.source)


def split_the_answer(nb: NotebookNode) -> None:
    index = nb.cells.index(cell(nb, "task2"))
    first = v4.new_code_cell("def axes(s):\n    return s")
    first.metadata = nb.cells[index].metadata
    nb.cells.insert(index, first)


def a_failing_cell(nb: NotebookNode) -> None:
    nb.cells.insert(0, v4.new_code_cell("1 / 0"))
    nb.cells.insert(3, v4.new_code_cell("import torch\nopen('my_data.csv')"))


def large_outputs(nb: NotebookNode) -> None:
    out = v4.new_output("stream", name="stdout", text="x" * 1000 + "\n")
    cell(nb, "task2").outputs = [out] * 10_000


def an_r_kernel(nb: NotebookNode) -> None:
    nb.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}


def in_markdown(content: dict[str, Any]) -> None:
    """The key m, pressed by mistake."""
    for one in content["cells"]:
        if "def sum_to" in "".join(one["source"]):
            one["cell_type"] = "markdown"
            del one["outputs"], one["execution_count"]


def version_3(content: dict[str, Any]) -> dict[str, Any]:
    cells = [{**one, "input": one["source"]} for one in content["cells"]]
    return {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}


def cells_by_name(content: dict[str, Any]) -> None:
    content["cells"] = {str(number): one for number, one in enumerate(content["cells"])}


def one_id_for_all(one: dict[str, Any]) -> None:
    one["id"] = "same"


def no_metadata(one: dict[str, Any]) -> None:
    del one["metadata"]


def empty_metadata(one: dict[str, Any]) -> None:
    one["metadata"] = {}


def lines(one: dict[str, Any]) -> None:
    one["source"] = "".join(one["source"]).splitlines(True)


def windows_lines(one: dict[str, Any]) -> None:
    one["source"] = "".join(one["source"]).replace("\n", "\r\n")


def no_outputs(one: dict[str, Any]) -> None:
    one.pop("outputs", None)
    one.pop("execution_count", None)


def in_conflict(data: bytes) -> bytes:
    """What git leaves in a file when two versions don't fit together."""
    head, middle, tail = data.partition(b'"cells": [')
    return head + b"<<<<<<< HEAD\n" + middle + b"\n=======\n>>>>>>> theirs\n" + tail


def zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("exercise.ipynb", data)
    return buffer.getvalue()


OTHER = writes(v4.new_notebook(cells=[v4.new_code_cell("1 + 1"), v4.new_markdown_cell("# Hello")]))
CONFLICT = "<<<<<<< HEAD\ndef sum_to(grad, shape):\n=======\ndef sum_to(g, s):\n>>>>>>> theirs"

BROKEN: dict[str, Broken] = {
    # The file.
    "empty": file(b"", "empty file"),
    "white-space": file(b" \n\n", "empty file"),
    "truncated": rewritten(lambda data: data[: len(data) // 2], "the file is broken", lost=True),
    "with-a-byte-order-mark": rewritten(lambda data: b"\xef\xbb\xbf" + data),
    "utf-16": rewritten(lambda data: data.decode().encode("utf-16"), "UTF-8", lost=True),
    "latin-1": file(b'{"cells": ["\xe9t\xe9"]}', "UTF-8"),
    "merge-conflict-in-the-file": rewritten(in_conflict, "the file is broken", lost=True),
    "text-after-the-end": rewritten(lambda data: data + b"\n}", "the file is broken", lost=True),
    "windows-line-endings": rewritten(lambda data: data.replace(b"\n", b"\r\n")),
    "a-python-file": file(b"def sum_to(grad, shape):\n    return grad\n", "the file is broken"),
    "a-web-page": file(b"<!DOCTYPE html><html></html>", "the file is broken"),
    "a-zip": rewritten(zipped, "expected a notebook", lost=True),
    "a-pointer-to-large-storage": file(b"version https://git-lfs.github.com/spec/v1\n", "broken"),
    "zero-bytes": file(bytes(1000), "the file is broken"),
    "a-list": file(b"[]", "another kind of JSON"),
    "a-number": file(b"42", "another kind of JSON"),
    "no-cells": file(b'{"nbformat": 4, "metadata": {}}', "list of cells"),
    "cells-by-name": as_json(cells_by_name, "list of cells", lost=True),
    "format-3": as_json(version_3, "format 4", lost=True),
    "another-notebook": file(OTHER.encode(), "another notebook"),
    "odd-cells": file(b'{"cells": [1, null, {"source": 3}, {"metadata": []}]}', "another notebook"),
    "more-than-20-MB": file(b'{"cells": []}' + b" " * 21 * 2**20, "clear its outputs"),
    # Its cells.
    "sources-as-lists": each_cell(lines),
    "windows-lines-in-cells": each_cell(windows_lines),
    "the-same-id-everywhere": each_cell(one_id_for_all),
    "no-ids": each_cell(lambda one: one.pop("id")),
    "no-outputs": each_cell(no_outputs),
    "no-metadata-in-cells": each_cell(no_metadata),
    "metadata-emptied-by-another-program": each_cell(empty_metadata),
    "no-metadata-of-the-notebook": as_json(lambda content: content.pop("metadata") and None),
    "no-version": as_json(lambda content: content.pop("nbformat") and None),
    "large-outputs": with_cells(large_outputs),
    "another-kernel": with_cells(an_r_kernel),
    "an-answer-turned-into-text": as_json(in_markdown),
    "reordered": with_cells(lambda nb: nb.cells.reverse()),
    "set-up-deleted": with_cells(without("setup")),
    "a-check-deleted": with_cells(without("task1_check")),
    "an-answer-deleted": Broken(without("task2"), TASK1, "did the cell that defines it run?"),
    "an-answer-in-a-new-cell": with_cells(answer_in_a_new_cell),
    "an-answer-split": with_cells(split_the_answer),
    "a-helper-cell": with_cells(a_helper_cell),
    "cells-that-fail": with_cells(a_failing_cell),
    "both-answers-in-one-cell": with_cells(both_in_the_first),
    # Run from top to bottom, the first check comes before its answer.
    "answers-swapped": Broken(swap_answers, TASK2, "did the cell that defines it run?"),
    # The code.
    "syntax-error": code("def sum_to(grad, shape:", says="NameError"),
    "merge-conflict-in-the-code": code(CONFLICT, says="NameError"),
    "function-renamed": code(RIGHT["task2"].replace("sum_to", "sumto"), says="'sum_to'"),
    "too-many-parameters": code(RIGHT["task2"].replace("shape)", "shape, axis)"), says="TypeError"),
    "endless-recursion": code("def sum_to(g, s): return sum_to(g, s)", says="RecursionError"),
    "returns-nothing": code("def sum_to(g, s): g.sum()", says="got None"),
    "prints-instead": code("def sum_to(g, s): print(g.sum(axis=0))", says="got None"),
    "not-begun": code("", says="not defined"),
    "asks-for-input": code("name = input('Your name?')\n", says="not defined"),
    "calls-exit": around("", "\n\nexit()"),
    "fails-after-the-answer": around("", "\n\n1 / 0"),
    "needs-what-is-not-there": code("import torch\n" + RIGHT["task2"], says="not defined"),
    "tabs-and-blanks": code("def sum_to(g, s):\n\tx = 1\n        return g", says="not defined"),
    "a-blank-that-is-none": code("def sum_to(g, s):\n\u00a0   return g", says="not defined"),
    "other-alphabets": around("größe = '形状 🙂 \u202e'  # שלום\n"),
    "a-timed-cell": around("%%time\n"),
    "a-magic": around("%matplotlib inline\n"),
    "installs-something": around("!pip install --quiet nothing-like-this\n"),
    "writes-a-lot": around("for _ in range(2000):\n    print('x' * 10_000)\n"),
    "writes-to-stderr": around("import sys\nsys.stderr.write('careful')\n"),
    "sets-the-seed": around("np.random.seed(0)\nnp.set_printoptions(precision=1)\n"),
    "changes-its-folder": around("import os\nos.chdir('/')\n"),
}
