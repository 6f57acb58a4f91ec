"""The command `grader`. Each sub-command is one step of an instructor's work.

Exit codes: 0, all done; 1, done, but the grader failed on some submissions (grade them again); 2,
wrong use or nothing to do.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from grader.course import Course
from grader.errors import GraderError

# The steps import nbgrader, which takes seconds: so they are imported when they are needed, and
# --help is quick.


class Where(NamedTuple):
    """Which course: what stands before the sub-command."""

    root: Path
    sources: Path | None
    db: str | None


class _House(click.Group):
    """Prints our own errors as one line instead of a traceback."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except GraderError as error:
            click.echo(str(error), err=True)
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
    help="The gradebook, such as postgresql+psycopg://user@host/course. Default: db in grader.toml, "
    "or grader/gradebook.db. For every command the same one: better in grader.toml.",
)
@click.version_option(package_name="minipaddle", prog_name="grader")
@click.pass_context
def main(ctx: click.Context, root: Path, sources: Path | None, db: str | None) -> None:
    """Release exercises, collect and grade submissions, write feedback and a CSV.

    In this order: release, collect, grade, feedback, export.

    \b
    Exit codes: 0  all done
                1  done, but the grader itself failed on some submissions: grade again
                2  wrong use, or nothing to do
    """
    ctx.obj = Where(root, sources, db)


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
    with _progress("releasing", len(names)) as step:
        run(course, names, done=step)
    for name in names:
        click.echo(f"{name}: released to {course.released(name)}")
    click.echo(f"Next: {_command(where, 'collect')} FOLDER")


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

    Links and other irregular files are refused, and the student is reported as not gradable. The
    file collected last replaces the one before, also where it is older: then the table says so.
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
    with _busy("collecting"):
        results = run(course, source, module, pull_requests=pull_requests)
    table = Table("student", "module", "collected", "why")
    for r in results:
        table.add_row(escape(r.student), escape(r.module), r.status, escape(r.reason))
    Console().print(table)
    if not any(r.status in TAKEN for r in results):
        raise GraderError(
            f"grader collect: expected submissions in {source}, but got none. See grader collect "
            "--help for the layouts."
        )
    click.echo(f"Next: {_command(where, 'grade', (r.module for r in results if r.module))}")


@main.command()
@click.argument("module", required=False)
@click.option("--cell-timeout", default=30, show_default=True, help="Seconds for one cell.")
@click.option("--timeout", default=300, show_default=True, help="Seconds for one submission.")
@click.pass_obj
def grade(where: Where, module: str | None, cell_timeout: int, timeout: int) -> None:
    """Run the collected submissions (of MODULE, or all) and score them.

    THERE IS NO SANDBOX YET: a submission runs with your rights, on your files and network. Grade
    only what you would run yourself, or in a machine that you can throw away.

    Checks and points come from the released exercise, never from the submission. A cell that takes
    too long, or ends Python, costs that submission only. A file without readable work in it (broken
    JSON, another notebook) is "not gradable": 0 points, with the reason. Where the grader itself
    fails there are no points, and the exit code is 1: grade again.
    """
    course = Course.at(*where)
    from grader.collect import collected
    from grader.grade import grade as run
    from grader.verdict import FAILED

    total = len(collected(course, course.module(module) if module else None))
    with _progress("grading", total) as step:
        results = run(
            course,
            module,
            cell_seconds=cell_timeout,
            submission_seconds=timeout,
            done=lambda verdict: step(verdict.student),
        )
    table = Table("student", "module", "points", "status", "why")
    for v in results:
        points = "" if v.score is None else f"{v.score:g} / {v.max_score:g}"
        table.add_row(escape(v.student), v.module, points, v.status, escape(v.reason))
    Console().print(table)
    failed = [v.module for v in results if v.status == FAILED]
    if failed:
        click.echo(f"Next: {_command(where, 'grade', failed)}")
        raise SystemExit(1)
    click.echo(f"Next: {_command(where, 'feedback', (v.module for v in results))}")


@main.command()
@click.argument("module", required=False)
@click.pass_obj
def feedback(where: Where, module: str | None) -> None:
    """Write a page of HTML for every graded submission, to grader/feedback.

    Hidden tests are not in it (their points and messages are), nor scripts of the student's.
    """
    course = Course.at(*where)
    from grader.feedback import feedback as run
    from grader.verdict import load_all

    with _progress("writing", len(load_all(course))) as step:
        found = run(course, module, done=lambda verdict: step(verdict.student))
    click.echo(f"{len(found)} pages in {course.work / 'feedback'}")
    click.echo(f"Next: {_command(where, 'export')}")


@main.command()
@click.option(
    "--to", type=click.Path(path_type=Path), default=Path("grades.csv"), show_default=True
)
@click.pass_obj
def export(where: Where, to: Path) -> None:
    """Write the grades as CSV: a row for every student and module, with the reason where there was
    nothing to grade.
    """
    course = Course.at(*where)
    from grader.export import export as run
    from grader.verdict import outdated

    found = run(course, to)
    click.echo(f"{len(found)} rows in {to}")
    late = outdated(course)
    if late:
        click.echo(
            f"grader export: expected a grade for every submission, but got {len(late)} rows that "
            "are missing or older than their submission. Run "
            f"{_command(where, 'grade', (m for _, m in late))}.",
            err=True,
        )


def _command(where: Where, step: str, modules: Iterable[str] = ()) -> str:
    """The command line of another step. More modules than one are all: that is the default."""
    words = ["grader"]
    words += ["--root", str(where.root)] if where.root != Path() else []
    words += ["--sources", str(where.sources)] if where.sources else []
    words += ["--db", where.db] if where.db else []
    names = set(modules)
    return shlex.join([*words, step, *(names if len(names) == 1 else ())])


@contextmanager
def _busy(what: str) -> Iterator[None]:
    """A bar for work whose length is not known before."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def _progress(what: str, total: int) -> Iterator:
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def step(name: str) -> None:
            bar.update(task, advance=1, description=f"{what} {escape(name)}")

        yield step


if __name__ == "__main__":
    main()
