"""JupyterLab and Chromium for tests: start a server, open a notebook, run it, step a player.

For tests elsewhere too:

    from tests.browser.lab import open_and_run, players, press

    def test_a_lesson(page, lab):
        open_and_run(page, lab, "course/01_program_block/01_lesson.ipynb")
        player = players(page).first
        press(player, "Next")

The fixtures `lab` and `page` are in conftest.py. Everything stays on this machine: the server
listens on 127.0.0.1, and Chromium can't resolve any other name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HANGS = 600  # seconds: nothing that ends by itself takes so long
REPOSITORY = Path(__file__).resolve().parents[2]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
HOW_TO_INSTALL = "apt-get update && apt-get install -y chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",  # root in a container can't have one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
LOCAL = re.compile(r"(https?|wss?)://127\.0\.0\.1[:/]|data:|blob:|file:|about:")
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false"},
    # All cells stand in the page, also those that can't be seen yet.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}
KERNEL_IS_IDLE = """() => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    return context?.session?.kernel?.status === "idle";
}"""


def new_context(chromium, **options):
    """As Chromium's `new_context`; 1280 pixels wide, and patient: a busy machine is no mistake."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    context.set_default_timeout(HANGS * 1000)
    return context


def find_chromium() -> str | None:
    return next((path for name in CHROMIUM if (path := shutil.which(name))), None)


@dataclass
class Lab:
    """A running JupyterLab. `root` is the folder that it serves."""

    url: str
    root: Path

    def add(self, notebook: Path, to: str = "") -> str:
        """Copies a notebook into the served folder; returns its path there."""
        name = to or notebook.name
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(notebook, self.root / name)
        return name


@contextmanager
def start_lab(home: Path, root: Path, *options: str) -> Iterator[Lab]:
    """JupyterLab on a free port of 127.0.0.1, with folders of its own in `home`. `options` go to
    its command line.
    """
    for name, settings in SETTINGS.items():
        file = home / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = home / "config.py"
    config.write_text(
        f"""
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = {port}
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
c.ServerApp.allow_root = True
c.ServerApp.root_dir = {str(root)!r}
c.IdentityProvider.token = ""  # only on loopback, only while the test runs
c.LabApp.expose_app_in_browser = True
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.workspaces_dir = {str(home / "workspaces")!r}
c.LabApp.user_settings_dir = {str(home / "settings")!r}
"""
    )
    environment = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]).rstrip(":"),
        JUPYTER_DATA_DIR=str(home / "data"),
        JUPYTER_CONFIG_DIR=str(home / "config"),
        JUPYTER_RUNTIME_DIR=str(home / "runtime"),
        IPYTHONDIR=str(home / "ipython"),
    )
    log = home / "log"
    command = [sys.executable, "-m", "jupyterlab", "--config", str(config), *options]
    with log.open("w") as out:
        server = subprocess.Popen(command, env=environment, cwd=root, stdout=out, stderr=out)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, server, log)
        yield Lab(url, root)
    finally:
        server.terminate()
        try:
            server.wait(HANGS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(url: str, server: subprocess.Popen, log: Path, seconds: float = HANGS) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{url}/api", timeout=60).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start at {url}. Its log:\n{log.read_text()}")


# ---- what a reader does


def open_notebook(page, lab: Lab, notebook: str) -> None:
    """Opens `notebook` (a path in lab.root) and waits until its kernel is ready."""
    page.goto(f"{lab.url}/lab/tree/{notebook}?reset")
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=HANGS * 1000)
    page.wait_for_function(KERNEL_IS_IDLE, timeout=HANGS * 1000)


def open_and_run(page, lab: Lab, notebook: str, *, seconds: float = HANGS) -> None:
    """Opens `notebook`, runs all cells and waits for the last. Fails if a cell shows an error."""
    open_notebook(page, lab, notebook)
    run_all(page, seconds=seconds)


def run_all(page, *, seconds: float = HANGS) -> None:
    page.evaluate(
        """() => {
            window.ranAll = false;
            window.jupyterapp.commands.execute("notebook:run-all-cells")
                .finally(() => { window.ranAll = true; });
        }"""
    )
    page.wait_for_function("() => window.ranAll", timeout=seconds * 1000)
    error = page.locator(".jp-OutputArea-output[data-mime-type*='vnd.jupyter.error']")
    if error.count():
        raise AssertionError(f"a cell failed:\n{error.first.inner_text()}")


def run_cell(page, index: int) -> str:
    """Runs one cell (counted from 0) and returns the text of its output."""
    page.evaluate(
        """async (index) => {
            const app = window.jupyterapp;
            app.shell.currentWidget.content.activeCellIndex = index;
            await app.commands.execute("notebook:run-cell");
        }""",
        index,
    )
    return page.locator(".jp-Notebook .jp-Cell").nth(index).locator(".jp-OutputArea").inner_text()


def set_theme(page, name: str) -> None:
    """ "JupyterLab Light" or "JupyterLab Dark"."""
    page.evaluate(
        "(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name
    )
    light = str("Dark" not in name).lower()
    page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")


def players(page):
    """All players in the page, as a locator."""
    return page.locator(".mp-player")


def press(player, button: str) -> None:
    """Presses "Previous", "Play", "Pause" or "Next"."""
    player.get_by_role("button", name=button, exact=True).click()


def where(player) -> str:
    """What a screen reader hears: "Step 2 of 5: title. note"."""
    return player.locator("[aria-live].mp-live").text_content()
