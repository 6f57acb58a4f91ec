"""Sets up the course and opens it in JupyterLab: `make lab`, or without make `python tools/lab.py`.

    python tools/lab.py                   set up what is missing, open the browser
    python tools/lab.py --no-browser      only serve

What else stands after lab.py goes to JupyterLab, which listens on 127.0.0.1 unless you pass --ip.
Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys

from setup_env import ROOT, SetupError, ensure, is_root, run, say, venv_python

WORKSPACE = ROOT / "workspace"
HOME = "Home.md"
# Markdown opens as a page, no question about news, and none of nbgrader's menus for instructors;
# and an extension that shows the home page again when a check has changed it.
SETTINGS = ROOT / "tools" / "jupyter"


def build_workspace() -> None:
    command = [str(venv_python()), "-m", "tools.course", "workspace"]
    environment = {**os.environ, "PYTHONIOENCODING": ":backslashreplace"}  # as in setup_env.run
    done = subprocess.run(command, cwd=str(ROOT), env=environment)
    if done.returncode != 0:
        raise SetupError("the learner's workspace could not be built; the lines above say why.")


def lab_command(extra: list[str]) -> list[str]:
    command = [str(venv_python()), "-m", "jupyterlab", f"--ServerApp.root_dir={WORKSPACE}"]
    command += ["--ServerApp.ip=127.0.0.1", f"--LabApp.default_url=/lab/tree/{HOME}"]
    command += [f"--LabApp.app_settings_dir={SETTINGS / 'settings'}", "--log-level=WARN"]
    command += ["--allow-root"] if is_root() else []
    return command + extra


def lab_environment() -> dict[str, str]:
    paths = {
        name: os.pathsep.join(filter(None, [str(SETTINGS), os.environ.get(name, "")]))
        for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH")
    }
    # Real Paddle greets and warns on stderr; a learner should see what the cell says, no more.
    quiet = {"GLOG_minloglevel": "2", "PYTHONWARNINGS": "ignore"}
    return {**os.environ, **quiet, **paths}


def main() -> int:
    if {"-h", "--help"} & set(sys.argv[1:]):
        say((__doc__ or "").strip())
        say("\nJupyterLab's own options, once the course is set up: .venv/bin/jupyter lab --help")
        return 0
    ensure(["course", "grader"])
    build_workspace()
    say(f"Opening JupyterLab on {WORKSPACE}; Ctrl-C ends it")
    command = lab_command(sys.argv[1:])
    if os.name == "posix":
        os.execve(command[0], command, lab_environment())
    return subprocess.call(command, env=lab_environment())


if __name__ == "__main__":
    sys.exit(run(main))
