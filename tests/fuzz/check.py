"""Compares what a program did on both, and shrinks a program that differs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.known import ENDED, WRITES, known_error, known_result
from tests.fuzz.run import BEGIN, RealPaddle, Seen, run

IN_PLACE = re.compile(r"_\(|increment|set_value|\] = ")
# Kinds of errors that Python itself raises; words of ours say what was expected.
PYTHON = ("no error", "NameError", "AttributeError")


def differences(mine: Seen, theirs: Seen) -> list[tuple[int | None, str]]:
    """(number of the line, what differs); the number only for errors of a line."""
    if theirs.ended is not None:
        return [(theirs.ended, ENDED)]
    found: list[tuple[int | None, str]] = []
    for number in sorted({*mine.errors, *theirs.errors}):
        (kind, words), (other, others) = (
            seen.errors.get(number, ("no error", "")) for seen in (mine, theirs)
        )
        odd = kind not in PYTHON and "expected" not in words and kind == other
        if kind != other or odd:
            found.append((number, f"{kind} here, {other} there ({(others or words)[-160:]!r})"))
    if [name for name, *_ in mine.log] != [name for name, *_ in theirs.log]:
        calls = [[name for name, *_ in seen.log] for seen in (mine, theirs)]
        found.append((None, f"hooks called here {calls[0]}, there {calls[1]}"))
    else:
        for a, b in zip(mine.log, theirs.log, strict=True):
            if not alike(a[1:], b[1:]):
                found.append((None, f"hook {a[0]}: here {a[1:]}, there {b[1:]}"))
    if list(mine.tensors) != list(theirs.tensors):
        found.append((None, f"Tensors here {list(mine.tensors)}, there {list(theirs.tensors)}"))
    for name in {**mine.tensors, **theirs.tensors}:
        a, b = mine.tensors.get(name), theirs.tensors.get(name)
        if a and b and not alike(a, b):
            found.append((None, f"{name}: here {a}, there {b}"))
    return found


def alike(a: Any, b: Any) -> bool:
    """The same, numbers but for rounding."""
    if isinstance(a, tuple):
        return all(alike(one, other) for one, other in zip(a, b, strict=True))
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return type(a) is type(b) and a == b
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f" or not a.size:
        return np.array_equal(a, b)
    finite = a[np.isfinite(a)]
    # float64 may have been float32 on the way
    close = 1e-5 * (1 + float(np.abs(finite).max(initial=0.0)))
    return np.allclose(a, b, rtol=1e-4, atol=close, equal_nan=True)


class Check:
    """Runs programs on both.

    Attributes:
        used: how often each known difference was met.
    """

    def __init__(self, minipaddle: Any) -> None:
        self.minipaddle = minipaddle
        self.real = RealPaddle()
        self.used: dict[str, int] = {}

    def compare(self, lines: list[str]) -> list[str]:
        """What differs. Lines with errors that are known to differ count as left out."""
        lines = list(lines)
        while True:
            mine, theirs = run(lines, self.minipaddle), self.real.run(lines)
            found = differences(mine, theirs)
            known = [number for number, _ in found if self._known(number, lines, mine, theirs)]
            if found and not known:
                refused = mine.errors.keys() & theirs.errors.keys()
                known = [i for i in refused if IN_PLACE.search(lines[i])]
                self.used[WRITES] = self.used.get(WRITES, 0) + bool(known)
            if not known:
                return [text for _, text in found]
            lines[known[0]] = "pass"

    def _known(self, number: int | None, lines: list[str], mine: Seen, theirs: Seen) -> bool:
        if number is None:
            return False
        if theirs.ended is not None:
            reason: str | None = "Paddle ends its process, or hangs"
        else:
            ours = mine.errors.get(number, ("", ""))
            reason = known_error(lines[number], ours, theirs.errors.get(number, ("", "")))
        if reason:
            self.used[reason] = self.used.get(reason, 0) + 1
        return bool(reason)

    def close(self) -> None:
        self.real.close()

    def check(self, lines: list[str]) -> list[str]:
        """The lines that are enough to see a difference; none where all are known."""
        lines = list(lines)
        while self.compare(lines):
            small = shrunk(lines, lambda fewer: bool(self.compare(fewer)))
            known = known_result(small, self.compare(small), lines)
            if known is None:
                return small
            reason, drop = known
            self.used[reason] = self.used.get(reason, 0) + 1
            for number in drop:
                lines[number] = "pass"
        return []


def shrunk(lines: list[str], fails: Callable[[list[str]], bool]) -> list[str]:
    """Leaves out lines, the last first, as long as it still fails."""
    again = True
    while again:
        again = False
        for i in reversed(range(len(lines))):
            fewer = lines[:i] + lines[i + 1 :]
            if fewer and fails(fewer):
                lines, again = fewer, True
    return lines


def snippet(lines: list[str], mine: Seen) -> str:
    """A text for `minipaddle.compare.both`, to be pasted into a parity test."""
    text = [BEGIN.strip()]
    for number, line in enumerate(lines):
        if number in mine.errors:
            line = f"try: {line}\nexcept Exception as e: print(type(e).__name__)"
        text.append(line)
    text.append("print(log)")
    names = ", ".join(mine.tensors)
    text.append(f"for x in ({names},): print(x, x.is_leaf, x.grad)")
    return "\n".join(text)
