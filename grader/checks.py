"""Checks for the exercises: each says what was expected, what came, and where to look.

    from grader.checks import Checks

    with Checks("Task 1") as check:
        check.equal("the diamond", lambda: in_degrees(graph), {"b": 0, "c": 1, "a": 2}, look="...")
        check.raises("a wrong shape", lambda: matmul(x, x), ValueError, look="...")

All checks run, also after one has failed, so that the learner sees the whole picture; then the cell
fails with one short message. What is checked is passed as a `lambda`, so that an exception in it
fails this check alone. `Checks("Task 1", hidden=True)` gives the name of a failed check and where
to look, but not the values: it is for the hidden tests.

This module needs numpy only. It knows minipaddle's and Paddle's Tensors by their `.numpy()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_SHOWN = 300  # characters of a value in a message


class CheckFailed(AssertionError):
    """Checks of a task failed. The notebook shows the message without a traceback: the learner's
    code isn't in it.
    """

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class Checks:
    """The checks of one cell. Leaving the `with` block fails if one of them did."""

    def __init__(self, task: str, *, hidden: bool = False) -> None:
        self.task = f"{task}, hidden" if hidden else task
        self.hidden = hidden
        self.lines: list[str] = []
        self.failed = 0
        self.unwritten = 0

    def __enter__(self) -> Checks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, traceback: Any) -> None:
        if kind is not None:
            return  # a mistake in the check cell itself: show it as it is
        total = len(self.lines)
        if not total:
            raise CheckFailed(f"{self.task}: expected at least one check, but got none.")
        if self.unwritten == total:
            raise CheckFailed(
                f"{self.task}: nothing is written here yet. Write your answer in the cell above, "
                "run it, "
                "then run this cell again."
            )
        if self.failed:
            passed = total - self.failed
            raise CheckFailed(
                "\n".join([f"{self.task}: {passed} of {total} checks passed", *self.lines])
            )
        print("\n".join([f"{self.task}: all {total} checks passed", *self.lines]))

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
        if problem is None and not same(value, expected, rtol=rtol, atol=atol):
            problem = f"got {shown(value)}"
        self._add(name, problem, f"expected {shown(expected)}", look)

    def raises(
        self, name: str, call: Callable[[], Any], error: type[Exception], *, look: str = ""
    ) -> None:
        """`call()` raises `error`."""
        problem = None
        try:
            value = call()
        except error as caught:
            if error is not NotImplementedError and type(caught) is NotImplementedError:
                problem = self._describe(caught)
        except (Exception, SystemExit) as caught:
            problem = self._describe(caught)
        else:
            problem = f"got {shown(value)}"
        self._add(name, problem, f"expected {error.__name__}", look)

    def true(self, name: str, call: Callable[[], Any], expected: str, *, look: str = "") -> None:
        """`call()` is exactly True; `expected` says in words what that means."""
        value, problem = self._call(call)
        if problem is None and not (isinstance(value, bool | np.bool_) and bool(value)):
            problem = (
                "that is not so" if isinstance(value, bool | np.bool_) else f"got {shown(value)}"
            )
        self._add(name, problem, f"expected {expected}", look)

    def _call(self, call: Callable[[], Any]) -> tuple[Any, str | None]:
        try:
            return call(), None
        except (Exception, SystemExit) as error:
            return None, self._describe(error)

    def _describe(self, error: BaseException) -> str:
        if type(error) is NotImplementedError:
            self.unwritten += 1
            return "it is not written yet"
        if isinstance(error, NameError) and error.name:
            return f"got NameError: {error} (did the cell that defines it run?)"
        text = str(error)
        return f"got {type(error).__name__}" + (f": {text[:_SHOWN]}" if text else "")

    def _add(self, name: str, problem: str | None, expected: str, look: str) -> None:
        if problem is None:
            self.lines.append(f"  ok    {name}")
            return
        self.failed += 1
        what = "" if self.hidden else f": {expected}, but {problem.rstrip('.')}"
        self.lines.append(f"  FAIL  {name}{what}.{' ' + look if look else ''}")


def same(got: Any, expected: Any, *, rtol: float, atol: float) -> bool:
    """Equal in kind, shape and value. Decided by the expected value, never by the `__eq__` of what
    was handed in.
    """
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
        return type(got) in (int, float) and bool(
            np.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True)
        )
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


def shown(value: Any) -> str:
    """A value in a message, cut where it gets long."""
    value = _plain(value)
    text = (
        f"array of shape {list(value.shape)} {value.dtype}: {np.array2string(value, threshold=20)}"
        if isinstance(value, np.ndarray)
        else repr(value)
    )
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray) and callable(getattr(value, "numpy", None)):
        value = np.asarray(value.numpy())
    return value
