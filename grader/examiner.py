"""The examiner: grades one submission, in a process that never runs student code.

It goes over the notebook's cells in order. Answers, and cells that the student added, run in the
student's process. Set-up cells run in both. Check cells run here: where they use an answer or an
`@experiment`, they meet a stand-in that asks the student's process and gets a value back. So what
is expected, and the comparison, are never within a student's reach.

There are two such processes. Hidden checks ask the second one, of which nothing is ever shown: an
answer that remembers the experiments it saw there can't print them into the feedback.

A function that a check cell defines and an experiment uses is sent along, as its source; so are the
values of the names that it uses. `audit.py` finds, with the reference solution, what can't cross.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import functools
import importlib
import io
import json
import linecache
import re
import tempfile
import time
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat.v4 as v4
from nbformat import NotebookNode

from grader import checks, codec
from grader.assignment import Assignment, Cell, defined_names
from grader.errors import NotGradable
from grader.link import CannotStart, Link, StudentError, StudentStopped
from grader.outcome import FAILED, GRADED, NOT_GRADABLE, CheckResult, Job, Outcome
from grader.submission import answers_in

# How data gets into the student's process: an expression there.
LOADS = "__import__('grader.codec').codec.loads"

MOST_OUTPUTS = 1000  # of a cell
NO_PYTHON = ("SyntaxError", "IndentationError", "TabError")
DEEPEST = 50  # levels of lists and dicts in an output


class AuthorError(BaseException):
    """A mistake in the exercise: the grader can't judge anybody by it. It is no Exception, so that
    a check doesn't take it for a wrong answer.
    """


def examine(job: Job, told: Callable[[Outcome], None] = lambda outcome: None) -> Outcome:
    """Grades a submission. `told` gets the outcome so far after each check cell."""
    started = time.monotonic()
    outcome = _empty(job)
    try:
        notebook = answers_in(job.assignment.notebook(), job.submission)
    except NotGradable as error:
        outcome.status, outcome.reason = NOT_GRADABLE, str(error)
        return outcome
    with tempfile.TemporaryDirectory(prefix="grader-") as folder:
        for name, data in job.assignment.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(data))
        visible, hidden = (Link(job.limits, Path(folder), job.sandbox) for _ in range(2))
        try:
            _Examination(job.assignment, visible, hidden, outcome, told).over(notebook)
        except (CannotStart, AuthorError) as error:
            outcome.status, outcome.reason = FAILED, str(error)
            outcome.score = outcome.max_score = None
            outcome.cells = {}
        finally:
            visible.close()
            hidden.close()
    outcome.notebook = notebook
    outcome.seconds = round(time.monotonic() - started, 3)
    return outcome


def _empty(job: Job) -> Outcome:
    assignment = job.assignment
    return Outcome(
        key=job.key,
        status=GRADED,
        score=0.0,
        max_score=assignment.max_score,
        cells={cell.name: 0.0 for cell in assignment.checks},
        sandbox="bubblewrap" if job.sandbox else "none",
    )


class _Examination:
    def __init__(
        self,
        assignment: Assignment,
        visible: Link,
        hidden: Link,
        outcome: Outcome,
        told: Callable[[Outcome], None],
    ) -> None:
        self.assignment = assignment
        self.visible = self.link = visible
        self.hidden = hidden
        self.behind: list[str] = []  # cells that have run, but not yet where hidden checks ask
        self.outcome = outcome
        self.told = told
        self.sources: dict[tuple[str, str], str] = {}  # (cell, name) -> source of what it defines
        self.outputs: list[dict[str, Any]] = []  # of the calls of a check cell
        self.room = visible.limits.output_bytes + 2**20  # more than student.py: that one says it
        self.stopped: list[str] = []
        self.names: dict[str, Any] = {"__name__": "__main__"}
        answers = [cell for cell in assignment.cells if cell.kind == "answer"]
        self.answers = {name: Remote(self, name) for cell in answers for name in cell.names}
        self.names.update(self.answers)
        self.given: dict[str, Any] = {}  # what the set-up cells have defined, on both sides

    def over(self, notebook: NotebookNode) -> None:
        """Runs all cells, puts their outputs into the notebook, and counts the points."""
        ours = {cell.name: cell for cell in self.assignment.cells}
        place = "the first cell"
        for node in notebook.cells:
            name = node.metadata.get("nbgrader", {}).get("grade_id")
            cell = ours.get(name) if name else None
            place = cell.name if cell else place
            if node.cell_type != "code":
                continue
            self.visible.begin_cell()
            if cell is not None and cell.kind == "check":
                node.source = cell.source
                node.outputs = self._check(cell)
            else:
                if cell is not None and cell.kind == "set-up":
                    self._set_up(cell)
                node.outputs = self._student(node.source, place)
                if cell is not None and any(o.get("ename") in NO_PYTHON for o in node.outputs):
                    self.stopped.append(f"{place}: no valid Python")
            self.told(self.outcome)
        self.outcome.score = round(sum(self.outcome.cells.values()), 4)
        self.outcome.reason = "; ".join(dict.fromkeys(self.stopped))

    # -- cells ---------------------------------------------------------------------------------

    def _student(self, source: str, place: str) -> list[Any]:
        if not source.strip():
            return []
        self.link = self.visible
        try:
            found = self.visible.run(source)
            self.behind.append(source)
        except StudentStopped as error:
            self._note(place, error)
            found = [_error("Stopped", error.why)]
        return _outputs(self._kept(found))

    def _catch_up(self, place: str) -> None:
        """Runs in the second process what has run in the first."""
        self.link = self.hidden
        while self.behind:
            self.hidden.begin_cell()
            try:
                self.hidden.run(self.behind.pop(0))
            except StudentStopped as error:
                self._note(place, error)
        self.hidden.begin_cell()

    def _kept(self, found: Any) -> list[Any]:
        """Outputs from the student's process, up to the limit of the submission. student.py has the
        same limit, but there it can be changed.
        """
        kept = []
        for output in found[:MOST_OUTPUTS] if isinstance(found, list) else []:
            if _depth(output) > DEEPEST:
                continue
            self.room -= len(json.dumps(output))
            if self.room < 0:
                break
            kept.append(output)
        return kept

    def _set_up(self, cell: Cell) -> None:
        text = io.StringIO()
        try:
            with contextlib.redirect_stdout(text), checking(self):
                self._execute(cell)
        except Exception as error:
            raise AuthorError(
                f"{cell.name}: the set-up cell fails where the checks run "
                f"({type(error).__name__}: {error}). Use answers only inside an @experiment."
            ) from error
        self.given = dict(self.names)

    def _check(self, cell: Cell) -> list[Any]:
        finished: list[checks.Checks] = []
        text = io.StringIO()
        self.link = self.visible
        if cell.hidden:
            self._catch_up(cell.name)
        self.outputs, failure, problem = [], "", None
        checks.LISTENERS[:] = [finished.append]  # not the learner's progress
        try:
            with contextlib.redirect_stdout(text), checking(self):
                self._execute(cell)
        except checks.CheckFailed as error:
            failure = str(error)
        except StudentError as error:
            failure = f"{error.kind}: {error}" if error.kind else str(error)
            problem = error
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1].lineno
            raise AuthorError(
                f"{cell.name}: the check cell itself failed in line {where} "
                f"({type(error).__name__}: {error}). Report it to the course's authors."
            ) from error
        finally:
            checks.LISTENERS.clear()
        results = [result for one in finished for result in one.results]
        if problem is None:
            self._score(cell, results)
        shown = [] if cell.hidden else self.outputs
        shown += [{"output_type": "stream", "name": "stdout", "text": text.getvalue()}] * bool(
            text.getvalue()
        )
        if failure:
            kind = "CheckFailed" if problem is None else problem.kind or "Stopped"
            shown.append(_error(kind, failure, failure.splitlines()))
        return _outputs(shown)

    def _score(self, cell: Cell, results: list[checks.Result]) -> None:
        if not results:
            raise AuthorError(f"{cell.name}: expected checks in the cell, but got none.")
        each = cell.points / len(results)
        for result in results:
            points = each if result.passed else 0.0
            self.outcome.checks.append(
                CheckResult(
                    cell.name,
                    result.name,
                    result.passed,
                    round(points, 4),
                    round(each, 4),
                    "" if result.passed else result.problem.removeprefix(":").strip(" "),
                    result.look,
                )
            )
        passed = sum(result.passed for result in results)
        self.outcome.cells[cell.name] = round(cell.points * passed / len(results), 4)
        self.outcome.score = round(sum(self.outcome.cells.values()), 4)

    def _note(self, place: str, error: StudentStopped) -> None:
        """Keeps why a cell was stopped. That nothing runs any more is said once."""
        if not (error.why == self.link.over and any(error.why in said for said in self.stopped)):
            self.stopped.append(f"{place}: {error.why}")

    def _execute(self, cell: Cell) -> None:
        """Runs a cell of ours in this process."""
        self.cell = cell
        code, definitions = _compiled(cell)
        # here, not where it is compiled: another assignment may have had a cell of this name since
        lines, file = cell.source.splitlines(True), code.co_filename
        linecache.cache[file] = (len(cell.source), None, lines, file)
        self.sources.update(definitions)
        exec(code, self.names)

    # -- asking the student's process ------------------------------------------------------------

    def remote(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What `@experiment` makes of a function here. `.here` runs it in this process."""
        stand_in = Remote(self, function.__name__, function)
        return stand_in

    def ask(self, remote: Remote, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        define: dict[str, str] = {}
        self._send(remote, define)
        text = self._packed((args, kwargs), define, remote.name)
        try:
            answer = self.link.call(list(define.values()), remote.name, text)
        except StudentStopped as error:
            self._note(self.cell.name, error)
            raise
        self.outputs += self._kept(answer.get("outputs"))
        error = answer.get("error")
        if isinstance(error, dict):
            kinds = error.get("kinds")
            kinds = [str(kind)[:200] for kind in kinds[:50]] if isinstance(kinds, list) else []
            text = str(error.get("text", ""))[:2000]
            problem = StudentError(text, tuple(kinds) or ("builtins.Exception",))
            problem.why_no_name = self._why_no_name(text)
            raise problem
        try:
            return codec.loads(str(answer.get("value")))
        except codec.CodecError as problem:
            raise StudentError(str(problem), ("grader.codec.CodecError",)) from None

    def _why_no_name(self, text: str) -> str:
        """In the notebook, an answer can use what a check cell has defined. Here it can't."""
        found = re.match(r"name '(\w+)' is not defined", text)
        shown = [cell for cell in self.assignment.checks if not cell.hidden]
        if found and any(found[1] in defined_names(cell.source) for cell in shown):
            return "a check cell defines it, and the grader runs those apart: define it yourself"
        return ""

    def _packed(self, value: Any, define: dict[str, str], who: str) -> str:
        def name_of(function: Any) -> str:
            if isinstance(function, Remote):
                self._send(function, define)
                return function.name
            return self._define(function, define)

        try:
            return codec.dumps(value, name_of, strict=True)
        except codec.CodecError as error:
            raise AuthorError(f"{self.cell.name}: {who}: {error}") from None

    def _send(self, remote: Remote, define: dict[str, str]) -> None:
        """An experiment of a check cell has to be sent; one of a set-up cell is there."""
        if remote.function is not None and self.given.get(remote.name) is not remote:
            self._define(remote.function, define)

    def _define(self, thing: Any, define: dict[str, str]) -> str:
        """Sees to it that a function or class of our cells is known on the other side."""
        name = thing.__name__
        file = thing.__code__.co_filename if hasattr(thing, "__code__") else f"<{self.cell.name}>"
        source = self.sources.get((file, name))
        if source is None:
            raise AuthorError(
                f"{self.cell.name}: expected a function of the cell's top level, but got {name}, "
                "which can't be sent to the answers. Define it with `def` outside of others."
            )
        if name in define:
            return name
        define[name] = ""  # first: a function may call itself
        for used in _names_in(source):
            if used != name and used in self.names:
                self._send_name(used, define)
        define[name] = define.pop(name) or source  # after what it needs
        return name

    def _send_name(self, name: str, define: dict[str, str]) -> None:
        value = self.names[name]
        if name in define or (name in self.given and self.given[name] is value):
            return  # a set-up cell has defined it there too
        if isinstance(value, Remote):
            self._send(value, define)
        elif isinstance(value, types.ModuleType):
            define[name] = f"import importlib; {name} = importlib.import_module({value.__name__!r})"
        elif isinstance(value, types.FunctionType | type) and value.__module__ == "__main__":
            self._define(value, define)
        elif (place := _importable(value)) is not None:
            define[name] = f"from {place[0]} import {place[1]} as {name}"
        else:
            text = self._packed(value, define, name)
            define[name] = f"{name} = {LOADS}({text!r}, globals().__getitem__)"


class Remote:
    """Stands for an answer, or an experiment, in the check cells."""

    def __init__(
        self,
        examination: _Examination,
        name: str,
        function: Callable[..., Any] | None = None,
    ) -> None:
        self.examination = examination
        self.name = self.__name__ = name
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.examination.ask(self, args, kwargs)

    __code__ = None  # for the codec it is a function

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise TypeError(f"{self.name} can't be a base class here")

    def __repr__(self) -> str:
        return f"<{self.name}, in the student's process>"


@contextlib.contextmanager
def checking(examination: _Examination) -> Iterator[None]:
    """`experiment` means the examination's stand-ins while cells of ours run."""
    before = checks.experiment
    checks.experiment = examination.remote  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        checks.experiment = before


def prepare(assignment: Assignment) -> None:
    """Compiles what is ours, once for all examinations of processes that are forked from here."""
    for cell in assignment.cells:
        if cell.kind != "answer":
            with contextlib.suppress(Exception):  # an examination says what is wrong with it
                for source in _compiled(cell)[1].values():
                    _names_in(source)


@functools.cache
def _compiled(cell: Cell) -> tuple[types.CodeType, dict[tuple[str, str], str]]:
    """The code of a cell, and (file, name) -> source of what it defines at its top level."""
    file = f"<{cell.name}>"
    tree = ast.parse(cell.source, file)
    lines = cell.source.splitlines(True)
    definitions = {
        (file, node.name): "".join(lines[node.lineno - 1 : node.end_lineno])
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    return compile(tree, file, "exec"), definitions


@functools.cache
def _names_in(source: str) -> list[str]:
    found = {node.id: None for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    return [name for name in found if not hasattr(builtins, name)]


def _importable(value: Any) -> tuple[str, str] | None:
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or "." in name:
        return None
    found = getattr(importlib.import_module(module), name, None) if module != "__main__" else None
    return (module, name) if found is value else None


def _depth(value: Any) -> int:
    """Levels of JSON, without recursion."""
    depth, level = 0, [value]
    while level := [
        item
        for outer in level
        if isinstance(outer, list | dict)
        for item in (outer.values() if isinstance(outer, dict) else outer)
    ]:
        depth += 1
        if depth > DEEPEST:
            break
    return depth


def _error(name: str, value: str, lines: list[str] | None = None) -> dict[str, Any]:
    return {
        "output_type": "error",
        "ename": name,
        "evalue": value,
        "traceback": lines or [f"{name}: {value}"],
    }


def _outputs(found: list[Any]) -> list[NotebookNode]:
    """Outputs in notebook format. What doesn't fit it is dropped: it came from the student."""
    made = []
    for output in found:
        try:
            kind = output["output_type"]
            if kind == "stream":
                name, text = str(output["name"]), str(output["text"])
                node = NotebookNode(output_type=kind, name=name, text=text)
            elif kind == "error":
                name, text = str(output["ename"]), str(output["evalue"])
                lines = [str(line) for line in output["traceback"]]
                node = NotebookNode(output_type=kind, ename=name, evalue=text, traceback=lines)
            elif kind in ("display_data", "execute_result"):
                content = {key: value for key, value in output.items() if key != "output_type"}
                node = v4.new_output(kind, **content)  # checks it against nbformat's schema
                node.data = dict(node.data)
            else:
                continue
            made.append(node)
        except Exception:
            continue
    return made
