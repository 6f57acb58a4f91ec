"""The file grader.toml in the course's root: the gradebook, due dates, what late work costs.

    db = "postgresql+psycopg://grader@localhost/course"   # default: grader/gradebook.db

    [due]
    01_program_block = 2026-12-01T23:59:00+01:00

    [late]
    per_day = 0.1         # of the points, for every day begun; default: nothing is taken away
    at_most = 0.5         # of the points; default: all of them
    grace_minutes = 15    # how much later is still in time; default: 0

Every line may be missing, and so may the file. Work was handed in when the collected file was last
changed: `grader collect` keeps that time. A module without a line in [due] keeps the due date that
was set in nbgrader's pages, and extensions that were given there count too.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.errors import GraderError

FILE = "grader.toml"


@dataclass(frozen=True)
class Settings:
    """What grader.toml says. `due`: module -> when, in UTC and without a zone, as nbgrader's
    gradebook has it.
    """

    db: str = ""
    due: dict[str, datetime] = field(default_factory=dict)
    per_day: float = 0.0
    at_most: float = 1.0
    grace_minutes: float = 0.0

    def penalty(self, points: float, seconds_late: float) -> float:
        """The points that late work loses: `per_day` of them for every day begun."""
        days = math.ceil((seconds_late - 60 * self.grace_minutes) / 86_400)
        return points * min(self.at_most, self.per_day * max(0, days))


def read(root: Path, modules: list[str]) -> Settings:
    """Raises GraderError where the file says what can't be meant."""
    path = root / FILE
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise _wrong(path, "a file that can be read", f"{error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(path, "TOML", str(error)) from None
    _only(path, "at the top", content, ("db", "due", "late"))
    if not isinstance(content.get("db", ""), str):
        raise _wrong(path, "db to be a text, such as postgresql+psycopg://...", content["db"])
    due, late = _table(path, content, "due"), _table(path, content, "late")
    _only(path, "in [due]", due, modules)
    _only(path, "in [late]", late, ("per_day", "at_most", "grace_minutes"))
    return Settings(
        db=content.get("db", ""),
        due={name: _utc(path, name, when) for name, when in due.items()},
        per_day=_number(path, late, "per_day", 0.0, 1.0),
        at_most=_number(path, late, "at_most", 1.0, 1.0),
        grace_minutes=_number(path, late, "grace_minutes", 0.0, math.inf),
    )


def _table(path: Path, content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise _wrong(path, f"a table [{name}]", table)
    return table


def _only(path: Path, where: str, table: dict[str, Any], names: Iterable[str]) -> None:
    for name in table:
        if name not in names:
            raise _wrong(path, f"one of {', '.join(names)} {where}", name)


def _number(path: Path, late: dict[str, Any], name: str, default: float, most: float) -> float:
    value = late.get(name, default)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= most or value == math.inf:
        limit = "of at least 0" if most == math.inf else f"from 0 to {most:g}"
        raise _wrong(path, f"{name} to be a number {limit}", value)
    return float(value)


def _utc(path: Path, module: str, when: Any) -> datetime:
    if not isinstance(when, datetime) or when.tzinfo is None:
        expected = "a date and time with its offset, such as 2026-12-01T23:59:00+01:00,"
        raise _wrong(path, f"{expected} for {module}", when)
    return when.astimezone(UTC).replace(tzinfo=None)


def _wrong(path: Path, expected: str, got: Any) -> GraderError:
    return GraderError(f"grader: expected {expected}, but got {str(got)!r}. Mend {path}.")
