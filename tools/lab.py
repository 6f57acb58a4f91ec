"""Sets up the course and opens it in JupyterLab: `make lab`, or without make `python tools/lab.py`.

    python tools/lab.py                   set up what is missing, open the browser
    python tools/lab.py --no-browser      only serve

What stands after lab.py goes to JupyterLab. It listens on 127.0.0.1, unless you pass --ip yourself.
Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from setup_env import ROOT, VENV, SetupError, ensure, is_root, run, say, venv_python

WORKSPACE = ROOT / "workspace"
HOME = "Home.md"


def set_defaults() -> None:
    """JupyterLab's defaults in this .venv: no question about news, and Markdown opens as a page."""
    folder = VENV / "share" / "jupyter" / "lab" / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "tools" / "jupyterlab_defaults.json", folder / "overrides.json")


def build_workspace() -> None:
    done = subprocess.run([str(venv_python()), "-m", "tools.course", "workspace"], cwd=str(ROOT))
    if done.returncode != 0:
        raise SetupError("the learner's workspace could not be built; the lines above say why.")


def lab_command(extra: list[str]) -> list[str]:
    command = [str(venv_python()), "-m", "jupyterlab", f"--ServerApp.root_dir={WORKSPACE}"]
    command += [f"--LabApp.default_url=/lab/tree/{HOME}", *(["--allow-root"] if is_root() else [])]
    return command + extra


def main() -> int:
    ensure(["course"])
    set_defaults()
    build_workspace()
    say(f"Opening JupyterLab on {WORKSPACE}; Ctrl-C ends it")
    # Real Paddle greets and warns on stderr; a learner should see what the cell says, no more.
    environment = dict(os.environ, GLOG_minloglevel="2", PYTHONWARNINGS="ignore")
    command = lab_command(sys.argv[1:])
    if os.name == "posix":
        os.execve(command[0], command, environment)
    return subprocess.call(command, env=environment)


if __name__ == "__main__":
    sys.exit(run(main))
