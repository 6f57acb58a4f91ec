"""Sets up what the tests need and runs all: `make test`, or `python tools/run_tests.py`.

    python tools/run_tests.py                      everything
    python tools/run_tests.py -k executor -x       everything, with these arguments for pytest

Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from setup_env import ROOT, apt_command, apt_install, ensure, run, say, venv_python

# Without the fonts, Chinese text and box-drawing characters are empty squares in screenshots.
DEBIAN_PACKAGES = ["chromium", "fonts-dejavu-core", "fonts-noto-cjk"]


def need_browser() -> str:
    """Install Chromium where we may; else return the sentence that says how to."""
    if any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return ""
    if apt_install(DEBIAN_PACKAGES):
        return ""
    how = (
        apt_command(DEBIAN_PACKAGES)
        if shutil.which("apt-get")
        else "install Chromium and put it on PATH"
    )
    return f"No Chromium here: the browser tests are skipped. This enables them:\n    {how}"


def checks(pytest_arguments: list[str]) -> list[list[str]]:
    return [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["basedpyright"],
        ["pytest", *pytest_arguments],
    ]


def main() -> int:
    ensure(["cinn", "course", "dev", "grader"])
    warning = need_browser()
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
