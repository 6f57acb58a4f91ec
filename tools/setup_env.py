"""Makes .venv and installs this project into it, with nothing but Python's standard library.

    python tools/setup_env.py course                 what a learner needs
    python tools/setup_env.py course grader dev      what the tests need

A second call with nothing to do only compares two hashes. A call that was cut off is noticed by the
next one. Written for Python 3.7 too, so that an old Python gets a sentence, not a syntax error.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STATE = VENV / "minipaddle-setup.json"
LOG = VENV / "setup.log"
LOCK = ROOT / ".setup.lock"  # outside .venv, which may be made again
SUPPORTED = ((3, 11), (3, 12), (3, 13))
# Measured: .venv takes 1.2 GiB for the course and 1.7 GiB for the tests, and pip unpacks beside it.
NEEDED_GIB = 2.5


class SetupError(Exception):
    """Something that the reader has to put right; the message says what."""


def say(text: str) -> None:
    print(text, flush=True)


def capture(command: list[str], **options) -> subprocess.CompletedProcess:
    """Run a command without a terminal; stdout holds all that it said."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        **options,
    )


# --- Debian packages ------------------------------------------------------------------------------


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_command(packages: list[str]) -> str:
    """The command that installs Debian packages, as a person would type it."""
    sudo = "" if is_root() else "sudo "
    return f"{sudo}apt-get update && {sudo}apt-get install -y {' '.join(packages)}"


def apt_install(packages: list[str]) -> bool:
    """Install Debian packages if this is Debian or a relative and we are root; say if it worked."""
    if not is_root() or shutil.which("apt-get") is None:
        return False
    say(f"Installing Debian packages: {' '.join(packages)}")
    apt = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120"]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (
        [*apt, "update"],
        [*apt, "install", "-y", "--no-install-recommends", *packages],
    ):
        done = capture(command, env=environment)
        if done.returncode != 0:
            say(done.stdout[-2000:])
            return False
    return True


# --- which Python ---------------------------------------------------------------------------------


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def supported_text() -> str:
    *most, last = map(dotted, SUPPORTED)
    return f"{', '.join(most)} or {last}"


def python_version(python: str) -> tuple[int, int] | None:
    """(3, 12) for a command that runs as Python, None for one that doesn't (a pyenv shim, say)."""
    try:
        done = capture([python, "-c", "import sys; print(*sys.version_info[:2])"], timeout=60)
        major, minor = done.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def find_python(version: tuple[int, int]) -> str | None:
    """The command that runs this version: python3.12 on PATH, or what Windows' `py` knows."""
    path = shutil.which(f"python{dotted(version)}")
    if path is None and os.name == "nt" and shutil.which("py"):
        done = capture(["py", f"-{dotted(version)}", "-c", "import sys; print(sys.executable)"])
        path = done.stdout.strip()
    return path if path and python_version(path) == version else None


def supported_pythons() -> list[str]:
    """Every supported Python: the one that runs this, then those on PATH, newest first."""
    found = [sys.executable] if sys.version_info[:2] in SUPPORTED else []
    return found + [path for path in map(find_python, reversed(SUPPORTED)) if path]


def can_make_venv(python: str) -> bool:
    """Debian's python3 comes without ensurepip, which venv needs."""
    return capture([python, "-c", "import venv, ensurepip"]).returncode == 0


def choose_python() -> str:
    pythons = supported_pythons()
    if not pythons:
        raise SetupError(
            f"expected Python {supported_text()}, but got {dotted(sys.version_info[:3])} "
            f"({sys.executable}) and found no other on PATH. Install one, then run this again."
        )
    for python in pythons:
        if can_make_venv(python):
            return python
    package = f"python{dotted(python_version(pythons[0]) or ())}-venv"
    if apt_install([package]) and can_make_venv(pythons[0]):
        return pythons[0]
    raise SetupError(
        f"expected a Python with the modules venv and ensurepip, but {pythons[0]} lacks them. "
        f"On Debian and Ubuntu this installs them:\n    {apt_command([package])}\n"
        "Then run the same command again."
    )


# --- the environment ------------------------------------------------------------------------------


def venv_python() -> Path:
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def wanted_key() -> str:
    """Changes when what is to be installed changes."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def read_state() -> dict:
    try:
        return json.loads(STATE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write_state(**state) -> None:
    partial = STATE.with_suffix(".partial")
    partial.write_text(json.dumps(state), encoding="utf-8")
    partial.replace(STATE)


def ensure(extras: list[str]) -> None:
    """Make sure that .venv holds this project with `extras`. Quick when there is nothing to do."""
    if is_ready(extras):
        return
    with only_one():
        if is_ready(extras):  # whoever was here before us did it
            return
        state = prepare_venv(read_state())
        extras = sorted({*extras, *state.get("extras", [])})
        install(extras, state)
        write_state(status="unchecked", root=str(ROOT), extras=extras)
        check_paddle()
        write_state(status="done", key=wanted_key(), root=str(ROOT), extras=extras)


def is_ready(extras: list[str]) -> bool:
    state = read_state()
    done = state.get("status") == "done" and state["key"] == wanted_key()
    # exists() follows the link: False where the Python behind it was uninstalled.
    return (
        done
        and state["root"] == str(ROOT)
        and set(extras) <= set(state["extras"])
        and venv_python().exists()
    )


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Two set-ups at once would write into each other's .venv: the second one waits."""
    if os.name != "posix":
        yield
        return
    import fcntl

    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up is running in this folder; waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prepare_venv(state: dict) -> dict:
    """Leave a .venv that pip can install into; return its state."""
    works = python_version(str(venv_python())) in SUPPORTED
    if not VENV.exists():
        return make_venv()
    if not STATE.exists():
        # Somebody else's environment: use it if it fits, but don't remove it.
        if not works:
            raise SetupError(
                f"expected no {VENV}, or one with Python {supported_text()}, "
                "but got something else. Rename or remove it."
            )
        return {}
    if state.get("status") not in ("empty", "unchecked", "done"):
        why = "the last set-up was cut off while it was writing"
    elif state.get("root") != str(ROOT):
        why = "the folder was moved, and scripts in .venv hold the old path"
    elif not works:
        why = "its Python doesn't run any more"
    else:
        return state
    say(f"Making .venv again: {why}")
    try:
        shutil.rmtree(VENV)
    except OSError as error:
        raise SetupError(f"{VENV} can't be removed: {error}. Close what uses it.") from error
    return make_venv()


def make_venv() -> dict:
    python = choose_python()
    free = shutil.disk_usage(ROOT).free / 2**30
    if free < NEEDED_GIB:
        raise SetupError(
            f"expected {NEEDED_GIB} GiB free in {ROOT}, but got {free:.1f} GiB. "
            "Make room, then run this again."
        )
    say(f"Making .venv with Python {dotted(python_version(python) or ())} ({python})")
    VENV.mkdir()
    write_state(status="creating")
    done = capture([python, "-m", "venv", str(VENV)])
    if done.returncode != 0:
        raise SetupError(f"`{python} -m venv .venv` failed:\n{explain(done.stdout)}")
    state = {"status": "empty", "root": str(ROOT), "extras": []}
    write_state(**state)
    return state


def install(extras: list[str], state: dict) -> None:
    what = f"minipaddle[{','.join(extras)}]"
    say(f"Installing {what} into .venv. The first time takes minutes; log: {LOG}")
    environment = dict(os.environ, PIP_USER="0", PIP_NO_INPUT="1")
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    environment.pop("PYTHONHOME", None)
    process = subprocess.Popen(
        [str(venv_python()), "-m", "pip", "install", "--progress-bar", "off"]
        + ["-c", str(ROOT / "constraints.txt"), "-e", f"{ROOT}[{','.join(extras)}]"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout is not None
    output = []
    try:
        with Progress() as progress, LOG.open("w", encoding="utf-8") as log:
            for line in process.stdout:
                output.append(line)
                log.write(line)
                progress.read_pip(line)
                if state and line.startswith("Installing collected packages"):
                    # From here on, being cut off leaves a package half written.
                    write_state(**dict(state, status="installing"))
            code = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if code != 0:
        raise SetupError(f"pip could not install {what}:\n{explain(''.join(output))}")


def check_paddle() -> None:
    """Real Paddle needs a C library that a bare Debian lacks; say so now, not in lesson one."""
    command = [str(venv_python()), "-c", "import paddle"]
    done = capture(command, cwd=str(ROOT))
    if "libgomp" in done.stdout and apt_install(["libgomp1"]):
        done = capture(command, cwd=str(ROOT))
    if done.returncode == 0 or "No module named 'paddle'" in done.stdout:
        return
    if "libgomp" in done.stdout:
        how = apt_command(["libgomp1"])
        raise SetupError(f"PaddlePaddle needs the library libgomp. This installs it:\n    {how}")
    raise SetupError(f"`import paddle` fails in .venv:\n{done.stdout[-2000:]}")


def explain(output: str) -> str:
    """The likely reason, then the last lines of what was said."""
    reasons = {
        r"No space left on device|Errno 28": "The disk is full, or the folder for temporary files.",
        r"name resolution|NewConnectionError|Network is unreachable|ConnectTimeout|getaddrinfo"
        r"|ProxyError": "The package index can't be reached. Check the network or HTTPS_PROXY.",
        r"Permission denied|Errno 13": f"A file can't be written. Does {ROOT} belong to you?",
    }
    lines = [text for pattern, text in reasons.items() if re.search(pattern, output)]
    lines += [f"    {line}" for line in output.strip().splitlines()[-8:]]
    return "\n".join([*lines, "Afterwards run the same command again."])


class Progress:
    """One line that says what pip is doing and for how long; in a log, a new line every 20 s."""

    def __init__(self) -> None:
        self.what = "starting pip"
        self.packages = 0
        self.started = time.monotonic()
        self.live = sys.stdout.isatty()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.tell, daemon=True)

    def __enter__(self) -> Progress:
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopped.set()
        self.thread.join()
        start = "\r\033[K" if self.live else ""
        say(f"{start}{self.seconds():6.0f} s  {self.packages} packages")

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def read_pip(self, line: str) -> None:
        collecting = re.match(r"(?:Collecting|Requirement already satisfied:) ([\w.-]+)", line)
        downloading = re.match(r"\s*Downloading (\S+?)-\d\S* \(([^)]+)\)", line)
        if collecting:
            self.packages += 1
            self.what = f"finding packages: {self.packages}, {collecting.group(1)}"
        elif downloading:
            self.what = f"downloading {downloading.group(1)} ({downloading.group(2)})"
        elif "Retrying (Retry(" in line:
            self.what = "no answer from the package index; trying again"
        elif line.startswith("Installing collected packages"):
            self.packages = line.count(",") + 1
            self.what = f"writing {self.packages} packages"

    def tell(self) -> None:
        while not self.stopped.wait(0.5 if self.live else 20):
            text = f"{self.seconds():6.0f} s  {self.what}"
            if self.live:
                print(f"\r{text[:79]}\033[K", end="", flush=True)
            else:
                say(text)


def run(main) -> int:
    """Call `main`; turn what a reader can put right into one message, and Ctrl-C into one line."""
    # Being told to stop is the same as Ctrl-C: pip has to be stopped too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        # Folders can have letters that a console or a log file of Windows doesn't know.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return main() or 0
    except (SetupError, OSError) as error:
        print(f"\nsetup: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again.", file=sys.stderr, flush=True)
        return 130


if __name__ == "__main__":
    sys.exit(run(lambda: ensure(sys.argv[1:] or ["course"])))
