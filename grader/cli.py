"""The command `grader`. Each sub-command is one step of an instructor's work.

Exit codes: 0, all done; 1, done, but the grader failed on some submissions (grade them again); 2,
wrong use or nothing to do; 130, stopped by Ctrl-C.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader import cli_results
from grader.course import Course
from grader.errors import GraderError
from grader.terminal import Where, busy, command_of, progress

if TYPE_CHECKING:
    from grader.verdict import Verdict

# The steps import nbgrader, which takes seconds: so they are imported when they are needed, and
# --help is quick.


class _House(click.Group):
    """Prints our own errors, and those of files, as one line instead of a traceback."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except GraderError as error:
            click.echo(str(error), err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("Stopped. Run the same command again.", err=True)
            ctx.exit(130)
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of our output went away: click's business
                raise
            place = f" {error.filename}" if error.filename else ""
            click.echo(
                f"grader: expected to read and write files, but got: {error.strerror or error}"
                f"{place}. Mend that, then run the same command again.",
                err=True,
            )
            ctx.exit(2)


@click.group(cls=_House, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The course's root folder, with course/ in it. Default: the current folder.",
)
@click.option(
    "--sources",
    type=click.Path(path_type=Path),
    help="The folder of the modules, where it isn't ROOT/course.",
)
@click.option(
    "--db",
    metavar="URL",
    help="The gradebook, such as postgresql+psycopg://user@host/course. Default: db in "
    "grader.toml, or grader/gradebook.db. Every command needs the same one.",
)
@click.version_option(package_name="minipaddle", prog_name="grader")
@click.pass_context
def main(ctx: click.Context, root: Path, sources: Path | None, db: str | None) -> None:
    """Release exercises, collect and grade submissions, write feedback and a CSV.

    In this order: release, collect, grade, feedback, export. `report` and `similarity` look at a
    whole course, `check` at one notebook; `audit` is for the exercises' authors.

    \b
    Exit codes: 0    all done
                1    done, but the grader itself failed on some submissions: grade again
                2    wrong use, or nothing to do
                130  stopped by Ctrl-C
    """
    ctx.obj = Where(root, sources, db)


@main.command()
@click.argument("modules", nargs=-1)
@click.option("--workers", default=os.cpu_count() or 1, show_default=True, help="At once.")
@click.option("--no-sandbox", is_flag=True, help="Run student code with your rights.")
@click.pass_obj
def audit(where: Where, modules: tuple[str, ...], workers: int, no_sandbox: bool) -> None:
    """Prove that the exercises' points mean something.

    For each of MODULES (all by default): the notebook as released scores 0, the solutions score all
    points, every planted wrong answer (course/<module>/mutants) loses points, nothing is imported
    from a later module, and no hidden test is in the release or in the feedback.

    \b
    Exit codes: 0  all of it holds
                1  something doesn't: the lines say what and where
                2  wrong use, or no sandbox
    """
    course = Course.at(*where)
    from grader.audit import audit as run
    from grader.audit import steps
    from grader.sandbox import check_sandbox

    if not no_sandbox:
        check_sandbox()
    names = [course.module(m) for m in modules] or course.modules()
    table = Table("module", "wrong answers", "found", "seconds", "problems")
    reports = []
    with progress("auditing", sum(steps(course, name) for name in names)) as step:
        for name in names:
            reports.append(run(course, name, sandbox=not no_sandbox, workers=workers, done=step))
    for r in reports:
        seconds = f"{r.seconds:.0f}"
        table.add_row(
            r.module, f"{r.mutants}", f"{r.killed:.0%}", seconds, f"{len(r.problems) or 'none'}"
        )
    Console().print(table)
    for r in reports:
        allowed = [] if r.too_few else r.survivors  # else a problem names them
        for line in r.problems + [f"not found (allowed): {name}" for name in allowed]:
            click.echo(f"{r.module}: {line}")
    if any(r.problems for r in reports):
        raise SystemExit(1)


@main.command()
@click.argument("modules", nargs=-1)
@click.pass_obj
def release(where: Where, modules: tuple[str, ...]) -> None:
    """Make the learners' version of exercises: course/ -> grader/release.

    Solutions and hidden tests are taken out, and it is checked that none is left. MODULES are names
    like 01_program_block, or 01; all modules by default.
    """
    course = Course.at(*where)
    from grader.release import release as run

    names = [course.module(m) for m in modules] or course.modules()
    with progress("releasing", len(names)) as step:
        run(course, names, done=step)
    for name in names:
        click.echo(f"{name}: released to {course.released(name)}")
    click.echo(f"Next: {command_of(where, 'collect')} FOLDER")


@main.command()
@click.argument("source", metavar="FOLDER|ARCHIVE|REPOSITORY", type=click.Path(path_type=Path))
@click.option("--module", help="The module of all files, where their paths don't say it.")
@click.option("--pull-requests", is_flag=True, help="REPOSITORY is a clone of the course's git.")
@click.pass_obj
def collect(where: Where, source: Path, module: str | None, pull_requests: bool) -> None:
    """Copy submissions to grader/submitted, from a folder, an archive of one, or pull requests.

    \b
    Taken are, from a folder, or a zip or tar.gz of one
        <student>/<module>/exercise.ipynb
        <student>/exercise.ipynb   with --module
        <student>.ipynb            with --module
    from a clone of a git repository, with --pull-requests
        submissions/<student>/<module>/exercise.ipynb   in its branch and its pull requests; these
                                                        are brought by git fetch origin
                                                        '+refs/pull/*/head:refs/pull/*/head'

    Links, other irregular files, and another module's notebook are refused, and the student is
    reported as not gradable. With --module, another module's notebook is ignored. The file
    collected last replaces the one before, also where it is older: then the table says so.
    An archive with a path that leads out of it, or that unpacks to very much, is refused as a
    whole. Of a repository nothing is checked out and nothing is run.

    \b
    Exit codes: 0  collected what there was; the table says what was refused, and why
                2  wrong use, or nothing at all was collected
    """
    course = Course.at(*where)
    from grader.collect import TAKEN
    from grader.collect import collect as run

    if pull_requests and module:
        raise click.UsageError("--module doesn't go with --pull-requests: the paths say it.")
    with busy("collecting"):
        results = run(course, source, module, pull_requests=pull_requests)
    table = Table("student", "module", "collected", "why")
    for r in results:
        table.add_row(escape(r.student), escape(r.module), r.status, escape(r.reason))
    if results:
        Console().print(table)
    if not any(r.status in TAKEN for r in results):
        why = "The table says why; the" if results else "The"
        raise GraderError(
            f"grader collect: expected submissions in {source}, but got none that can be taken. "
            f"{why} layouts are in grader collect --help."
        )
    names = (r.module for r in results if r.module and r.status != "ignored")
    click.echo(f"Next: {command_of(where, 'grade', names)}")


def _grading_options(command: Callable) -> Callable:
    """What `grade` and `regrade` have in common."""
    seconds = click.FloatRange(0, min_open=True)
    options = [
        click.argument("module", required=False),
        click.option("--student", help="Only this student's."),
        click.option(
            "--workers",
            type=click.IntRange(1),
            help="Submissions at a time on this machine.  [default: one for every core]",
        ),
        click.option("--scheduler", metavar="URL", help="A Dask scheduler: tcp://host:8786."),
        click.option("--no-sandbox", is_flag=True, help="Run student code with all your rights."),
        click.option(
            "--cell-timeout",
            type=seconds,
            default=30.0,
            show_default=True,
            help="Seconds for one cell.",
        ),
        click.option(
            "--timeout",
            type=seconds,
            default=300.0,
            show_default=True,
            help="Seconds for one submission.",
        ),
        click.pass_obj,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@main.command()
@_grading_options
def grade(where: Where, **choices: Any) -> None:
    """Run the collected submissions (of MODULE, or all) and score them.

    What is graded and unchanged isn't run again: a run that was cut off goes on where it ended.

    Checks and points come from what was released, never from the submission. Student code runs in a
    sandbox (bubblewrap): without network, without your files, with limits on time and memory. A
    cell that takes too long, or ends Python, costs that submission only. A file without readable
    work in it (broken JSON, another notebook) is "not gradable": 0 points, with the reason.

    Where the grader itself fails, it tries again, twice; then the submission is "failed", which
    gives and takes no points.

    With --scheduler the work is done by the machines of a Dask cluster, which need the same grader
    installed: `dask scheduler` on one, `dask worker tcp://...` on each. They send results to this
    one, which alone writes. Trust that network: whoever reaches the scheduler can run code there.

    \b
    grader.toml in the course's root sets due dates, the penalty for late work, the gradebook:
        db = "postgresql+psycopg://user@host/course"
        [due]
        01_program_block = 2026-12-01T23:59:00+01:00
        [late]
        per_day = 0.1          of the points, for every day begun
        at_most = 0.5
        grace_minutes = 15
    Work was handed in when the collected file was last changed.

    \b
    Exit codes: 0    all done
                1    done, but the grader failed on some submissions: grade again
                2    wrong use, nothing to do, or the gradebook is away
                130  stopped by Ctrl-C: grade again, it goes on where it ended
    """
    _grade(where, "grade", again=False, **choices)


@main.command()
@_grading_options
def regrade(where: Where, **choices: Any) -> None:
    """Run and score submissions (of MODULE, or all) again, also those that are graded.

    Points, extra credit and comments that were given by hand in nbgrader's pages stay. Stopped, it
    has to be run again, and starts from the beginning. Options and exit codes are those of `grader
    grade`.
    """
    _grade(where, "regrade", again=True, **choices)


def _grade(
    where: Where,
    command: str,
    *,
    again: bool,
    module: str | None,
    student: str | None,
    workers: int | None,
    scheduler: str | None,
    no_sandbox: bool,
    cell_timeout: float,
    timeout: float,
) -> None:
    course = Course.at(*where)
    from grader.collect import collected
    from grader.grade import Options
    from grader.grade import grade as run
    from grader.outcome import FAILED, NO_SANDBOX, Limits
    from grader.page import number

    limits = Limits(cell_seconds=cell_timeout, submission_seconds=timeout)
    options = Options(again, workers, scheduler, limits, not no_sandbox)
    pairs = collected(course, course.module(module) if module else None)
    total = sum(student in (None, pair[0]) for pair in pairs)
    stored = 0
    with progress("grading", total) as step:

        def done(verdict: Verdict) -> None:
            nonlocal stored
            stored += 1
            step(verdict.student)

        try:
            results = run(course, module, student, options, done=done, say=_say)
        except KeyboardInterrupt:
            # What a regrade has not reached is graded, as before: `grade` would leave it alone.
            then = "it starts again; until then the rest has its old points"
            if not again:
                then = "it goes on from there"
            click.echo(
                f"Stopped. {stored} of {total} submissions are graded and stored. Run "
                f"{command_of(where, command, [module] if module else ())}: {then}.",
                err=True,
            )
            raise SystemExit(130) from None
    from grader.points import points_of, read_points

    counted = read_points(course)
    table = Table("student", "module", "points", "status", "why")
    for v in results:
        mine = points_of(course, v, counted)
        points = "" if v.max_score is None else f"{number(mine.score)} / {number(v.max_score)}"
        status = f"{v.status}, no sandbox" if v.sandbox == NO_SANDBOX else v.status
        why = [v.reason]
        if v.status != FAILED:
            why += [f"{number(mine.penalty)} off for late work"] * bool(mine.penalty)
            why += ["with points given by hand"] * bool(mine.by_hand)
        table.add_row(
            escape(v.student), v.module, points, status, escape("; ".join(filter(None, why)))
        )
    Console().print(table)
    failed = [v.module for v in results if v.status == FAILED]
    if failed:
        click.echo(f"{len(failed)} of {len(results)} failed, and have no new points.")
        click.echo(f"Next: {command_of(where, 'grade', failed)}")
        raise SystemExit(1)
    click.echo(f"Next: {command_of(where, 'feedback', (v.module for v in results))}")


def _say(text: str) -> None:
    click.echo(text, err=True)


for _command in (
    cli_results.feedback,
    cli_results.export,
    cli_results.report,
    cli_results.similarity,
    cli_results.check,
):
    main.add_command(_command)


if __name__ == "__main__":
    main()
