"""A PostgreSQL server of a test's own: in a temporary folder, on a socket in there, not on any
port. Debian's service is not used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from sqlalchemy import create_engine, text

HOW_TO_INSTALL = "apt-get update && apt-get install -y postgresql"
NOBODY = 65534  # the server refuses to run as root


def find_postgres() -> Path | None:
    """The folder of the server's programs; Debian's isn't in PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((path for path in folders if (path / "postgres").exists()), None)


class Server:
    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        self.process: subprocess.Popen | None = None
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if _is_root() else {}
        self._call("initdb", "-D", "data", "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-sync")

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [str(self.programs / program), *arguments]

    def _call(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            self._command(program, *arguments),
            cwd=self.folder,
            env={"LC_ALL": "C", "PATH": os.defpath},
            capture_output=True,
            text=True,
            **self.user,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")

    def start(self) -> None:
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                self._command("postgres", "-D", "data", "-k", str(self.folder), "-h", ""),
                cwd=self.folder,
                env={"LC_ALL": "C", "PATH": os.defpath},
                stdout=log,
                stderr=log,
                **self.user,
            )
        engine = create_engine(self.url("postgres"))
        end = time.monotonic() + 600
        while True:
            try:
                engine.connect().close()
                break
            except Exception:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.05)
        engine.dispose()

    def kill(self) -> None:
        """As if the power of the server went: SIGKILL for all of its processes."""
        if self.process is None or not self.runs:
            return
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        for child in children:
            with suppress(psutil.NoSuchProcess):  # they notice by themselves, too
                child.kill()
        psutil.wait_procs(children, timeout=600)
        self.process.wait(600)

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://grader@/{name}?host={self.folder}"

    def new_database(self) -> str:
        """The URL of an empty one."""
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            name = f"course{time.monotonic_ns()}"
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return self.url(name)


@contextmanager
def start_postgres(programs: Path) -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="grader-pg-"))  # short: a socket's path has 107 bytes
    if _is_root():
        os.chown(folder, NOBODY, NOBODY)
    try:
        server = Server(programs, folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()  # nothing of it is needed again
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
