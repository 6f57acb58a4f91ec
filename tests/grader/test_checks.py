"""What a learner reads when a check passes, fails, or has nothing to check yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.checks import CheckFailed, Checks, same


def message(check: Callable[[Checks], None], *, hidden: bool = False) -> str:
    with pytest.raises(CheckFailed) as caught, Checks("Task 1", hidden=hidden) as checks:
        check(checks)
    return str(caught.value)


def fail(error: Exception) -> Any:
    raise error


def test_all_checks_pass(capsys: pytest.CaptureFixture[str]) -> None:
    with Checks("Task 1") as check:
        check.equal("one", lambda: 1, 1)
        check.raises("two", lambda: fail(ValueError()), ValueError)
        check.true("three", lambda: np.bool_(True), "truth")
    expected = "Task 1: all 3 checks passed\n  ok    one\n  ok    two\n  ok    three\n"
    assert capsys.readouterr().out == expected


def test_a_failed_check_says_what_was_expected_what_came_and_where_to_look() -> None:
    def check(checks: Checks) -> None:
        checks.equal("the diamond", lambda: {"a": 1}, {"a": 2}, look="Count edges.")
        checks.equal("the chain", lambda: 1, 1)

    assert message(check).splitlines() == [
        "Task 1: 1 of 2 checks passed",
        "  FAIL  the diamond: expected {'a': 2}, but got {'a': 1}. Count edges.",
        "  ok    the chain",
        "Stuck? Open the next hint above your answer.",
    ]


def test_an_exception_fails_its_own_check_only() -> None:
    def check(checks: Checks) -> None:
        checks.equal("raises", lambda: fail(KeyError("x")), 1)
        checks.equal("exits", lambda: exec("raise SystemExit(0)"), 1)
        checks.equal("unknown", lambda: eval("not_there"), 1)
        checks.equal("fine", lambda: 1, 1)

    text = message(check)
    assert "1 of 4" in text
    assert "expected 1, but got KeyError: 'x'." in text and "got SystemExit" in text
    assert "name 'not_there' is not defined (did the cell that defines it run?)" in text


def test_nothing_written_yet_is_not_a_wall_of_failures() -> None:
    def check(checks: Checks) -> None:
        checks.equal("one", lambda: fail(NotImplementedError("task1")), 1)
        checks.raises("two", lambda: fail(NotImplementedError("task1")), ValueError)
        checks.raises("three", lambda: fail(NotImplementedError("task1")), RuntimeError)

    assert message(check).startswith("Task 1: nothing is written here yet.")


def test_an_expected_error_that_does_not_come() -> None:
    text = message(lambda checks: checks.raises("x", lambda: 7, ValueError))
    assert "expected ValueError, but got 7." in text


def test_hidden_checks_do_not_tell_the_values() -> None:
    text = message(
        lambda checks: checks.equal("a case", lambda: 41, 42, look="Look there."), hidden=True
    )
    assert text == "Task 1, hidden: 0 of 1 checks passed\n  FAIL  a case. Look there."


def test_no_check_at_all_is_no_pass() -> None:
    assert "expected at least one check" in message(lambda checks: None)


class YesToAll:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Tensor:
    def numpy(self) -> np.ndarray:
        return np.array([1.0, 2.0], dtype="float32")


@pytest.mark.parametrize(
    ("got", "expected", "answer"),
    [
        (np.float32(0.1), 0.1, True),
        (np.int64(3), 3, True),
        (3.0, 3, True),
        (True, 1, False),
        (1, True, False),
        (None, None, True),
        (YesToAll(), 3, False),
        (YesToAll(), [1], False),
        (YesToAll(), "x", False),
        ([1, 2], (1, 2), False),
        ([1, 2], [1, 2, 3], False),
        ([1, np.array([2.0])], [1, np.array([2.0])], True),
        ({"a": [1.0]}, {"a": [1.0 + 1e-9]}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        (Tensor(), np.array([1.0, 2.0]), True),
        (Tensor(), np.array([[1.0, 2.0]]), False),
        (np.array([1, 2]), np.array([1.0, 2.0]), True),
        (np.array([1.0, 2.0]), np.array([1, 2]), False),
        (np.array(["a"]), np.array([1.0]), False),
        (np.array([np.nan]), np.array([np.nan]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 2.1]), False),
        (276.0, np.array(276.0), True),
        (float("nan"), 1.0, False),
        ({1, 2}, {2, 1}, True),
    ],
)
def test_same(got: Any, expected: Any, answer: bool) -> None:
    assert same(got, expected, rtol=1e-5, atol=1e-6) is answer
