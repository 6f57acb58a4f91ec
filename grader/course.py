"""Where everything of a course lies, and how nbgrader is told so.

course/<module>/exercise.ipynb               instructor's version: solutions, hidden tests
grader.toml                                  due dates, the gradebook's place: settings.py
grader/release/<module>/exercise.ipynb       learner's version
grader/assignments/<module>.json             what is graded, as it was released
grader/submitted/<student>/<module>/         as handed in, untouched
grader/times/<student>/<module>/             when it was handed in, for nbgrader's pages
grader/autograded/<student>/<module>/        the notebook that ran, with its outputs
grader/feedback/<student>/<module>/          HTML for the student
grader/verdicts/<student>/<module>.json      what came out
grader/gradebook.db                          nbgrader's gradebook
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from traitlets.config import Config

from grader import settings
from grader.errors import GraderError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook
    from sqlalchemy import Engine

COURSE_ID = "minipaddle"
NOTEBOOK = "exercise"  # the only notebook of a module that is graded; the others are lessons


@dataclass(frozen=True)
class Course:
    """A course folder. `root` holds `grader/`; the sources are in `root/course` unless `sources`
    says where. `db`: URL of the gradebook, where it isn't what grader.toml says.
    """

    root: Path
    sources: Path
    db: str = ""

    @classmethod
    def at(
        cls, root: Path | str, sources: Path | str | None = None, db: str | None = None
    ) -> Course:
        root = Path(root).resolve()
        folder = Path(sources).resolve() if sources else root / "course"
        if not folder.is_dir():
            raise GraderError(
                f"grader: expected the course's sources in {folder}, but got no such folder. "
                "Run it in the course's root folder, or pass --root."
            )
        return cls(root, folder, db or "")

    @property
    def work(self) -> Path:
        return self.root / "grader"

    @property
    def submitted(self) -> Path:
        return self.work / "submitted"

    @property
    def settings(self) -> settings.Settings:
        """What grader.toml says now."""
        return settings.read(self.root, self.modules())

    @property
    def db_url(self) -> str:
        # 30 s: nbgrader's pages may be writing to the file too.
        own = f"sqlite:///{self.work / 'gradebook.db'}?timeout=30"
        return self.db or self.settings.db or own

    def modules(self) -> list[str]:
        """Modules with an exercise, in course order."""
        return sorted(path.parent.name for path in self.sources.glob(f"*/{NOTEBOOK}.ipynb"))

    def module(self, name: str) -> str:
        """The module that `name` means: `01_program_block`, or `01` or `1` for short."""
        short = name.zfill(2) if name.isdecimal() else name
        found = [m for m in self.modules() if m == name] or [
            m for m in self.modules() if m.startswith(short)
        ]
        if len(found) != 1:
            raise GraderError(
                f"grader: expected a module of the course, but got {name!r}. "
                f"Pass one of: {', '.join(self.modules()) or '(this course has no exercise yet)'}."
            )
        return found[0]

    def source(self, module: str) -> Path:
        return self.sources / module / f"{NOTEBOOK}.ipynb"

    def step(self, step: str, student: str, module: str) -> Path:
        return self.work / step / student / module

    def released(self, module: str) -> Path:
        return self.work / "release" / module / f"{NOTEBOOK}.ipynb"

    def assignment(self, module: str) -> Path:
        return self.work / "assignments" / f"{module}.json"

    def config(self) -> Config:
        """nbgrader's configuration for this course."""
        config = Config()
        here = config.CourseDirectory
        here.root = str(self.root)
        here.course_id = COURSE_ID
        here.db_url = self.db_url
        here.directory_structure = "{nbgrader_step}/{student_id}/{assignment_id}"
        here.source_directory = str(self.sources)
        for step in ("release", "autograded", "feedback", "solution"):
            here[f"{step}_directory"] = f"grader/{step}"
        # Not the folder of the submissions: nbgrader's pages have a button that runs what is in
        # there, without a sandbox, in the server itself. They find the times only.
        here.submitted_directory = "grader/times"
        # nbgrader's pages would run a student's scripts, with the rights of whoever looks at them.
        config.HTMLExporter.sanitize_html = True
        config.HTMLExporter.filters = {
            "markdown2html": "grader.inert.markdown_html",
            "clean_html": "grader.inert.page_html",
        }
        # nbgrader copies the other files of a module next to the notebook. The sources hold the
        # solutions: not those.
        here.ignore = ["*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints", ".*"]
        return config

    def gradebook(self) -> Gradebook:
        """Opens nbgrader's gradebook; close it, or use `with`. Made where there is none."""
        from nbgrader.api import Gradebook
        from sqlalchemy import create_engine
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

        url = self.db_url
        try:
            file = make_url(url).database if url.startswith("sqlite:") else None
            if file is None:
                engine = create_engine(url)
                _make_tables(engine)
                engine.dispose()
            elif not Path(file).exists():
                # SQLite commits every table by itself: so under another name first. nbgrader takes
                # a file with some tables for a whole gradebook.
                self.work.mkdir(parents=True, exist_ok=True)
                temporary = Path(file).with_suffix(".new")
                temporary.unlink(missing_ok=True)
                engine = create_engine(f"sqlite:///{temporary}")
                _make_tables(engine)
                engine.dispose()
                os.replace(temporary, file)
            return Gradebook(url, COURSE_ID)
        except (ArgumentError, NoSuchModuleError, ImportError) as error:
            raise GraderError(
                "grader: expected the URL of a gradebook, such as postgresql+psycopg://user@host/"
                f"course, but got {shown(url)!r} ({error}). Mend --db, or db in {settings.FILE}."
            ) from None
        except (SQLAlchemyError, OSError) as error:
            do = f"Is the database running? See --db, and db in {settings.FILE}."
            if "database is locked" in str(error):  # SQLite's words
                do = "Another program writes to it. End that, then run the same command again."
            raise GraderError(
                f"grader: expected a gradebook at {shown(url)}, but got: {reason(error)} {do}"
            ) from None

    def log(self) -> logging.Logger:
        """nbgrader talks a lot; it talks into a file."""
        logger = logging.getLogger(f"grader.nbgrader.{self.root}")
        if not logger.handlers:
            self.work.mkdir(parents=True, exist_ok=True)
            handler = logging.FileHandler(self.work / "nbgrader.log", encoding="utf-8", delay=True)
            handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)
            logger.propagate = False
        return logger


def _make_tables(engine: Engine) -> None:
    """Makes nbgrader's tables where they are missing. nbgrader itself would start the program
    alembic for it, which need not be in PATH.
    """
    from alembic.script import ScriptDirectory
    from nbgrader.api import Base
    from nbgrader.dbutil import ALEMBIC_DIR
    from sqlalchemy import inspect, text

    if inspect(engine).get_table_names():
        return
    version = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    with engine.begin() as connection:
        Base.metadata.create_all(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:v)"), {"v": version})


def shown(url: str) -> str:
    """A gradebook's URL without its password."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)


def reason(error: Exception) -> str:
    """The first line of what a database says, as a sentence."""
    text = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".") + "."
