"""What the sub-commands of `grader` share: which course, the next command, progress bars."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)


class Where(NamedTuple):
    """Which course: what stands before the sub-command."""

    root: Path
    sources: Path | None
    db: str | None


def command_of(where: Where, step: str, modules: Iterable[str] = ()) -> str:
    """The command line of another step. More modules than one are all: that is the default."""
    words = ["grader"]
    words += ["--root", str(where.root)] if where.root != Path() else []
    words += ["--sources", str(where.sources)] if where.sources else []
    words += ["--db", where.db] if where.db else []
    names = set(modules)
    return shlex.join([*words, step, *(names if len(names) == 1 else ())])


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A bar for work whose length is not known before."""
    with _bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[str], None]]:
    """A bar for `total` steps; what it gives is called with the name of each that is done."""
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    with _bar(*columns) as bar:
        task = bar.add_task(what, total=total)

        def step(name: str) -> None:
            bar.update(task, advance=1, description=f"{what} {escape(name)}")

        yield step


def _bar(*columns: ProgressColumn) -> Progress:
    """On stderr, and only where somebody looks at it."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
