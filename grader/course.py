"""Where everything of a course lies, and how nbgrader is told so.

course/<module>/exercise.ipynb                  instructor's version: solutions and hidden tests
grader/release/<module>/exercise.ipynb          learner's version
grader/submitted/<student>/<module>/            as handed in, untouched
grader/prepared/<student>/<module>/             the released notebook with the answers of the
submission in it grader/autograded/<student>/<module>/           the same after running
grader/feedback/<student>/<module>/             HTML for the student
grader/verdicts/<student>/<module>.json         what came out grader/gradebook.db
nbgrader's gradebook
"""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from traitlets.config import Config

from grader.errors import GraderError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

COURSE_ID = "minipaddle"
NOTEBOOK = "exercise"  # the only notebook of a module that is graded; the others are lessons


@dataclass(frozen=True)
class Course:
    """A course folder. `root` holds `grader/`; the sources are in `root/course` unless `sources`
    says where.
    """

    root: Path
    sources: Path

    @classmethod
    def at(cls, root: Path | str, sources: Path | str | None = None) -> Course:
        root = Path(root).resolve()
        folder = Path(sources).resolve() if sources else root / "course"
        if not folder.is_dir():
            raise GraderError(
                f"grader: expected the course's sources in {folder}, but got no such folder. "
                "Run it in the course's root folder, or pass --root."
            )
        return cls(root, folder)

    @property
    def work(self) -> Path:
        return self.root / "grader"

    @property
    def submitted(self) -> Path:
        return self.work / "submitted"

    @property
    def db_url(self) -> str:
        return f"sqlite:///{self.work / 'gradebook.db'}"

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
        # Grading reads the prepared notebooks, never a file as it was handed in.
        here.submitted_directory = "grader/prepared"
        # nbgrader copies the other files of a module next to the notebook. The sources hold the
        # solutions: not those.
        here.ignore = ["*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints", ".*"]
        return config

    def gradebook(self) -> Gradebook:
        """Opens nbgrader's gradebook; close it, or use `with`. Made where there is none."""
        from nbgrader.api import Gradebook

        path = self.work / "gradebook.db"
        if not path.exists():
            # nbgrader calls the program alembic, which is beside our Python, and that folder need
            # not be in PATH. Made under another name first: a start that fails half way would leave
            # tables that nbgrader takes for a whole gradebook.
            self.work.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(".new")
            temporary.unlink(missing_ok=True)
            before = os.environ.get("PATH", "")
            os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), before])
            try:
                Gradebook(f"sqlite:///{temporary}", COURSE_ID).close()
            finally:
                os.environ["PATH"] = before
            os.replace(temporary, path)
        return Gradebook(self.db_url, COURSE_ID)

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
