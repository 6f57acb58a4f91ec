"""The sub-commands that show what came out: feedback, export, report, similarity, check."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.course import Course
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


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--module", help="The module, where the name of FILE's folder doesn't say it.")
@click.option("--format", "form", type=click.Choice(["text", "github", "json"]), default="text")
@click.option(
    "--no-sandbox", is_flag=True, help="Run the file with your rights: for your own work."
)
@click.option("--hint", "task", metavar="TASK", help="Show a hint for a task, such as task1.")
@click.option("--level", default=1, show_default=True, help="Which hint: 1, 2 or 3.")
@click.pass_obj
def check(
    where: Where,
    file: Path,
    module: str | None,
    form: Literal["text", "github", "json"],
    no_sandbox: bool,
    task: str | None,
    level: int,
) -> None:
    """Grade one notebook, and say which ideas failed, what was expected and what came.

    The hidden checks run too where the course was released (grader release); elsewhere the visible
    ones only. Nothing is stored. --hint runs nothing. Without bubblewrap, as on Windows and macOS,
    --no-sandbox is for a file that you wrote yourself.

    --format github prints annotations, and writes a summary in Markdown to $GITHUB_STEP_SUMMARY, or
    prints it where that is not set.

    \b
    Exit codes: 0  all points
                1  points were lost
                2  not gradable (the reason is said), or wrong use, or no sandbox
                3  the grader failed
    """
    course = Course.at(*where)
    from grader import check as steps

    name = steps.module_of(course, file, module)
    if task is not None:
        click.echo(steps.hint(steps.assignment_for(course, name)[0], task, level))
        return
    with busy("checking"):
        checked = steps.check(course, file, name, sandbox=not no_sandbox)
    if form == "json":
        click.echo(steps.as_json(checked))
    elif form == "text":
        click.echo(steps.as_text(checked))
    else:
        from grader import github

        if target := os.environ.get("GITHUB_STEP_SUMMARY"):
            with open(target, "a", encoding="utf-8") as summary:
                summary.write(github.summary(checked))
        else:
            click.echo(github.summary(checked))
        for line in github.commands(checked):
            click.echo(line)
    raise SystemExit(checked.exit_code)


@click.command()
@click.argument("module")
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.8, show_default=True)
@click.option("--to", type=click.Path(path_type=Path), help="Default: similarity_MODULE.html.")
@click.pass_obj
def similarity(where: Where, module: str, threshold: float, to: Path | None) -> None:
    """List pairs of students whose answers to MODULE are alike, and show them side by side.

    It compares what was collected, graded or not. Comments, white space and names don't count, nor
    what is in the released notebook, in the solution, or in the answers of more than a third of the
    students (and of more than five). Short answers are not compared. A pair in the list is a reason
    to look, not a proof.

    --threshold is the share of the rest that two answers have in common, from 0 to 1.

    \b
    Exit codes: 0  no pair is over the threshold
                1  some are: the table says which
                2  wrong use, or fewer than two submissions
    """
    course = Course.at(*where)
    from grader.export import check_target, write_result
    from grader.similarity import page, percent
    from grader.similarity import similarity as run

    name = course.module(module)
    to = to or Path(f"similarity_{name}.html")
    check_target("similarity", to)
    with busy("comparing"):
        found = run(course, name, threshold)
    write_result("similarity", to, page(found, threshold))
    table = Table("task", "students", "alike", "letter by letter")
    for pair in found.pairs[:20]:
        students = escape(f"{pair.left.student}, {pair.right.student}")
        table.add_row(pair.task, students, percent(pair.alike), percent(pair.verbatim))
    if found.pairs:
        Console().print(table)
    for title, count in found.short.items():
        if count:
            many = f"{count} of {found.students} answers"
            click.echo(f"{title}: {many} have too little of their own to compare.")
    pairs = len(found.pairs)
    click.echo(
        f"{pairs} pair{'s' * (pairs != 1)} of {found.students} students. Side by side in {to}"
    )
    if pairs:
        click.echo("Look, don't convict: read both answers, and ask.")
        raise SystemExit(1)


@click.command()
@click.argument("module", required=False)
@click.option("--to", type=click.Path(path_type=Path), default=Path("report.html"))
@click.pass_obj
def report(where: Where, module: str | None, to: Path) -> None:
    """Write a page about MODULE (or all) for the instructor: points, checks, who needs help.

    For each task: how the points lie, how many attempts, the checks that most students fail. For
    each module: who is stuck (3 attempts or more, less than half of the points) and who has not
    handed in. For each student a row. Who has never handed in anything is known where the gradebook
    has them: nbgrader db student add.

    \b
    Exit codes: 0  written
                2  wrong use, or nothing is graded
    """
    course = Course.at(*where)
    from grader.export import check_target, write_result
    from grader.report import report as run

    check_target("report", to)
    with busy("writing"):
        page = run(course, module)
    write_result("report", to, page)
    click.echo(f"The report is in {to}")
