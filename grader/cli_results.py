"""The sub-commands that show what came out: feedback, export, report, similarity, check."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.course import Course
from grader.errors import GraderError
from grader.terminal import Where, busy, command_of, progress

# What these commands need is imported when they run: it takes seconds, and --help is quick.


@click.command()
@click.argument("module", required=False)
@click.pass_obj
def feedback(where: Where, module: str | None) -> None:
    """Write a page of HTML for every graded submission, to grader/feedback.

    It has the points and checks of each task, comments and points given by hand, and the notebook
    as it ran, with its pictures. Not in it are the code of hidden tests, and scripts of the
    student's.

    \b
    Exit codes: 0  all pages are written
                2  wrong use, or nothing is graded
    """
    course = Course.at(*where)
    from grader.feedback import feedback as run
    from grader.verdict import load_all

    name = course.module(module) if module else None
    with progress("writing", len(load_all(course, name))) as step:
        found = run(course, name, done=lambda verdict: step(verdict.student))
    click.echo(f"{len(found)} pages in {course.work / 'feedback'}")
    click.echo(f"Next: {command_of(where, 'export')}")


@click.command()
@click.option("--format", "form", type=click.Choice(["csv", "json"]), default="csv")
@click.option("--to", type=click.Path(path_type=Path), help="Default: grades.csv or grades.json.")
@click.pass_obj
def export(where: Where, form: Literal["csv", "json"], to: Path | None) -> None:
    """Write the grades as CSV or JSON: a row for every student and module.

    Points are those of the gradebook: given by hand or by the grader, less what late work costs.
    Where there was nothing to grade, the row has the reason.

    \b
    Exit codes: 0  written; a line on stderr says where rows are missing or old
                2  wrong use, or nothing is graded
    """
    course = Course.at(*where)
    from grader.export import export as run
    from grader.verdict import outdated

    to = to or Path(f"grades.{form}")
    found = run(course, to, form)
    click.echo(f"{len(found)} rows in {to}")
    late = outdated(course)
    if late:
        click.echo(
            f"grader export: expected a grade for every submission, but got {len(late)} rows that "
            "are missing or older than their submission. Run "
            f"{command_of(where, 'grade', (m for _, m in late))}.",
            err=True,
        )
