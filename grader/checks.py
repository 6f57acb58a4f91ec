"""Checks for the exercises: each says what was expected, what came, and where to look.

    from grader.checks import Checks, experiment

    @experiment
    def first_of(n):
        program = build(n)
        return names(your_pass(program))

    with Checks("Task 1") as check:
        check.equal("the diamond", lambda: first_of(3), ["add", "mul"], look="...")
        check.raises("a wrong shape", lambda: first_of(-1), ValueError, look="...")

All checks run, also after one has failed, so that the learner sees the whole picture; then the cell
fails with one short message. What is checked is passed as a `lambda`, so that an exception in it
fails this check alone. `Checks("Task 1", hidden=True)` gives the name of a failed check and where
to look, but not the values: it is for the hidden tests.

In the notebook all of this is one process. When work is graded, check cells run in the examiner's
process, which never sees the answers: there a call of an answer, or of an `@experiment`, goes to
the student's process, and a value comes back. So an experiment returns data (or a Tensor, a
Program): what it returns is judged outside. `@experiment` itself does nothing in the notebook.

This module needs numpy only. It knows minipaddle's and Paddle's Tensors by their `.numpy()`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from grader.progress import remember

_SHOWN = 300  # characters of a value in a message
_Function = TypeVar("_Function", bound=Callable[..., Any])

# What is called with a Checks when its `with` block ends: the examiner and the home page listen.
LISTENERS: list[Callable[[Checks], None]] = [remember]


def experiment(function: _Function) -> _Function:
    """Marks a function of a check cell that runs where the answers are. It returns plain data,
    Tensors or Programs.
    """
    return function


class CheckFailed(AssertionError):
    """Checks of a task failed. The notebook shows the message without a traceback: the learner's
    code isn't in it.
    """

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


@dataclass
class Result:
    """One check: `problem` is empty where it passed."""

    name: str
    problem: str = ""
    look: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem

    def __str__(self) -> str:
        if self.passed:
            return f"  ok    {self.name}"
        return f"  FAIL  {self.name}{self.problem}{' ' + self.look if self.look else ''}"


class Checks:
    """The checks of one cell. Leaving the `with` block fails if one of them did."""

    def __init__(self, task: str, *, hidden: bool = False) -> None:
        self.task = f"{task}, hidden" if hidden else task
        self.hidden = hidden
        self.results: list[Result] = []
        self.unwritten = 0

    def __enter__(self) -> Checks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, traceback: Any) -> None:
        if kind is not None:
            return  # a mistake in the check cell itself: show it as it is
        for listener in LISTENERS:
            listener(self)
        total, passed = len(self.results), sum(result.passed for result in self.results)
        if not total:
            raise CheckFailed(f"{self.task}: expected at least one check, but got none.")
        if self.unwritten == total:
            raise CheckFailed(
                f"{self.task}: nothing is written here yet. Write your answer in the cell above, "
                "run it, then run this cell again."
            )
        lines = [str(result) for result in self.results]
        if passed < total:
            stuck = "" if self.hidden else "\nStuck? Open the next hint above your answer."
            raise CheckFailed(
                "\n".join([f"{self.task}: {passed} of {total} checks passed", *lines]) + stuck
            )
        print("\n".join([f"{self.task}: all {total} checks passed", *lines]))

    def equal(
        self,
        name: str,
        got: Callable[[], Any],
        expected: Any,
        *,
        look: str = "",
        rtol: float = 1e-5,
        atol: float = 1e-6,
    ) -> None:
        """`got()` is `expected`. Floats and arrays may differ by `atol + rtol * abs(expected)`."""
        value, problem = self._call(got)
        if not problem:
            is_same, problem = self._call(lambda: same(value, expected, rtol=rtol, atol=atol))
            if not problem and not is_same:
                problem = f"got {shown(value)}"
        self._add(name, problem, lambda: f"expected {shown(expected)}", look)

    def raises(
        self, name: str, call: Callable[[], Any], error: type[Exception], *, look: str = ""
    ) -> None:
        """`call()` raises `error`."""
        problem = ""
        try:
            value = call()
        except (Exception, SystemExit) as caught:
            kinds = _kinds(caught)
            wanted = f"{error.__module__}.{error.__qualname__}"
            unwritten = kinds[0] == "builtins.NotImplementedError" and error is not type(caught)
            if wanted not in kinds or (unwritten and error is not NotImplementedError):
                problem = self._describe(caught)
        else:
            problem = f"got {shown(value)}"
        self._add(name, problem, lambda: f"expected {error.__name__}", look)

    def true(self, name: str, call: Callable[[], Any], expected: str, *, look: str = "") -> None:
        """`call()` is exactly True; `expected` says in words what that means.

        In hidden checks compare in the check cell, not in an @experiment: True is easily guessed.
        """
        value, problem = self._call(call)
        is_bool = isinstance(value, bool | np.bool_)
        if not problem and not (is_bool and bool(value)):
            problem = "that is not so" if is_bool else f"got {shown(value)}"
        self._add(name, problem, lambda: f"expected {expected}", look)

    def _call(self, call: Callable[[], Any]) -> tuple[Any, str]:
        try:
            return call(), ""
        except (Exception, SystemExit) as error:
            return None, self._describe(error)

    def _describe(self, error: BaseException) -> str:
        kind, text = _kinds(error)[0].rpartition(".")[2], str(error)
        if not kind:
            return text or "there is no answer"
        if kind == "NotImplementedError":
            self.unwritten += 1
            return "it is not written yet"
        if kind == "NameError":
            why = getattr(error, "why_no_name", "") or "did the cell that defines it run?"
            return f"got NameError: {text} ({why})"
        return f"got {kind}" + (f": {text[:_SHOWN]}" if text else "")

    def _add(self, name: str, problem: str, expected: Callable[[], str], look: str) -> None:
        if problem:
            hidden = self.hidden
            problem = "." if hidden else f": {expected()}, but {problem.rstrip('.')}."
        self.results.append(Result(name, problem, look if problem else ""))


def _kinds(error: BaseException) -> tuple[str, ...]:
    """The class of an exception and its bases, "builtins.ValueError" first. One from the student's
    process tells them itself.
    """
    kinds = getattr(error, "kinds", None)
    if isinstance(kinds, tuple):
        return kinds or ("",)
    return tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__)


def same(got: Any, expected: Any, *, rtol: float, atol: float) -> bool:
    """Equal in kind, shape and value. Decided by the expected value, never by the `__eq__` of what
    was handed in.
    """
    if type(got) is type(expected) and type(expected) in (int, str):  # the quick way for most
        return got == expected
    got, expected = _plain(got), _plain(expected)
    if isinstance(expected, np.ndarray):
        if type(got) in (bool, int, float, complex):
            got = np.asarray(
                got
            )  # numpy itself often returns a number where it could be a 0-D array
        if not isinstance(got, np.ndarray) or got.shape != expected.shape:
            return False
        if expected.dtype.kind in "fc":
            if got.dtype.kind not in "iufc":
                return False
            return bool(np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True))
        return got.dtype.kind == expected.dtype.kind and bool(np.array_equal(got, expected))
    if isinstance(expected, bool) or expected is None:
        return got is expected
    if isinstance(expected, int):
        return type(got) in (int, float) and got == expected
    if isinstance(expected, float):
        return type(got) in (int, float) and _close(got, expected, rtol, atol)
    if type(got) is not type(expected):
        return False
    if isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(
            same(g, e, rtol=rtol, atol=atol) for g, e in zip(got, expected, strict=True)
        )
    if isinstance(expected, dict):
        return expected.keys() == got.keys() and all(
            same(got[key], value, rtol=rtol, atol=atol) for key, value in expected.items()
        )
    return bool(expected == got)


def _close(got: float, expected: float, rtol: float, atol: float) -> bool:
    """numpy's rule, for two numbers: |got - expected| <= atol + rtol |expected|; nan is nan."""
    if math.isnan(expected):
        return got != got
    if math.isinf(expected):
        return got == expected
    try:
        return abs(got - expected) <= atol + rtol * abs(expected)
    except OverflowError:  # an int that no float can hold
        return False


def shown(value: Any) -> str:
    """A value in a message, cut where it gets long."""
    try:
        value = _plain(value)
        if isinstance(value, np.ndarray):
            numbers = np.array2string(value, threshold=20)
            text = f"array of shape {list(value.shape)} {value.dtype}: {numbers}"
        else:
            text = repr(value)
    except Exception as error:  # an integer of a million digits, say
        text = f"a {type(value).__name__} that can't be shown ({type(error).__name__})"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."


def _plain(value: Any) -> Any:
    if type(value) in (bool, int, float, str, list, tuple, dict):  # most are, and need no look
        return value
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray) and callable(getattr(value, "numpy", None)):
        value = np.asarray(value.numpy())
    return value
