"""Sets up what the tests need and runs all: `make test`, or `python tools/run_tests.py`.

    python tools/run_tests.py                      everything, on all cores
    python tools/run_tests.py --quick              a smoke test: a case of each op, some lessons
    python tools/run_tests.py -k executor -x       everything, with these arguments for pytest

Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from setup_env import ROOT, apt_command, apt_install, capture, ensure, run, say, venv_python

# Without the fonts, Chinese text and box-drawing characters are empty squares in screenshots.
BROWSER = ["chromium", "fonts-dejavu-core", "fonts-noto-cjk"]
POSTGRES = Path("/usr/lib/postgresql")  # Debian keeps the server's programs out of PATH
CLUSTERS = Path("/etc/postgresql")


def need_programs() -> str:
    """Install what the tests need of the system where we may; else return what to do."""
    missing, lost = [], []
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        missing += BROWSER
        lost.append("browser tests (Chromium)")
    if sys.platform == "linux" and not shutil.which("bwrap"):
        missing.append("bubblewrap")
        lost.append("the grader's sandbox (bubblewrap)")
    if not shutil.which("initdb") and not any(POSTGRES.glob("*/bin/initdb")):
        missing.append("postgresql")
        lost.append("the gradebook on PostgreSQL")
    if not missing:
        return ""
    before = set(CLUSTERS.glob("*/*"))
    if apt_install(missing):
        drop_clusters(set(CLUSTERS.glob("*/*")) - before)
        return ""
    how = (
        f"This enables them:\n    {apt_command(missing)}"
        if shutil.which("apt-get")
        else ("Install those programs and put them on PATH.")
    )
    return f"Not tested here: {', '.join(lost)}. {how}"


def drop_clusters(made: set[Path]) -> None:
    """Debian's package makes an empty database and starts it; our tests start servers of their own.
    `made`: /etc/postgresql/<version>/<name> of those that came with the package just now.
    """
    for path in made:
        done = capture(["pg_dropcluster", "--stop", path.parent.name, path.name])
        if done.returncode != 0:
            say(f"A PostgreSQL service may be running that the tests don't need:\n{done.stdout}")


def processes() -> int:
    """How many pytest starts: one for each core that we may use. Four at most: each loads real
    Paddle, and takes 2 GiB.
    """
    if hasattr(os, "sched_getaffinity"):
        return min(4, len(os.sched_getaffinity(0)))
    return min(4, os.cpu_count() or 1)


def checks(arguments: list[str]) -> list[list[str]]:
    """The commands to run. What pytest is given twice, it takes from `arguments`: -n 0, say."""
    types = [] if "--quick" in arguments else [["basedpyright"]]
    return [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        *types,
        ["pytest", "-n", str(processes()), *arguments],
    ]


def main() -> int:
    ensure(["cinn", "course", "dev", "grader"])
    warning = need_programs()
    if warning:
        say(warning)
    environment = dict(os.environ, GLOG_minloglevel="2", PYTHONWARNINGS="ignore")
    results = []
    for name, *arguments in checks(sys.argv[1:]):
        say(f"\n=== {' '.join([name, *arguments])}")
        started = time.monotonic()
        command = [str(venv_python()), "-m", name, *arguments]
        code = subprocess.call(command, cwd=str(ROOT), env=environment, stdin=subprocess.DEVNULL)
        results.append((name, arguments, code, time.monotonic() - started))
    say("\n=== summary")
    for name, arguments, code, seconds in results:
        verdict = "passed" if code == 0 else "FAILED"
        say(f"{verdict}  {seconds:5.0f} s  {' '.join([name, *arguments])}")
    if warning:
        say(warning)
    return int(any(code for *_, code, _ in results))


if __name__ == "__main__":
    sys.exit(run(main))
