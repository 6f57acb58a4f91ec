"""Sets up the course and opens it in JupyterLab: `make lab`, or without make `python tools/lab.py`.

    python tools/lab.py                   set up what is missing, open the browser
    python tools/lab.py --no-browser      only serve

What stands after lab.py goes to JupyterLab. It listens on 127.0.0.1, unless you pass --ip yourself.
Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from setup_env import ROOT, VENV, SetupError, ensure, is_root, run, say, venv_python

WORKSPACE = ROOT / "workspace"
HOME = "Home.md"

# JupyterLab's defaults, changed in this .venv only: it doesn't ask for news, and Markdown opens as
# a page.
OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},
}


def write_overrides() -> None:
    path = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    text = json.dumps(OVERRIDES, indent=2)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


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
    write_overrides()
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
