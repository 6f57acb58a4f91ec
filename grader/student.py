"""The student's process: runs the cells of one submission, and calls what they define.

It is forked by nursery.py into the sandbox (without one, sandbox.py starts it), and talks with the
examiner over two pipes, in frames: four bytes of length, then JSON. Requests:

    {"do": "run", "source": ...}                           a cell; answers {"outputs": [...]}
    {"do": "call", "define": [...], "name": ..., "args"}   a function; answers {"value": ...}

Cells run in IPython's shell, without the kernel around it: magics, `display` and pictures work as
in the notebook, and it starts at once.

Nothing here protects anything. Student code can read and change all of it; the sandbox around this
process and the examiner outside it don't trust what it says.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import signal
import struct
import subprocess
import sys
from typing import Any, BinaryIO

HEADER = struct.Struct(">I")


def start(settings: dict[str, Any]) -> None:
    """The loop. Student code comes in by the pipe, so none has run before; limits are set."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    # A cell that takes too long is interrupted, also where `grader &` has made Python ignore that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(settings["folder"])
    sys.path.insert(0, "")
    without_widgets()
    from grader import codec

    shell = _Shell(settings["output_bytes"])
    os.dup2(nowhere, 2)  # until here it told the grader why the start failed
    os.close(nowhere)
    _send(answers, {"ready": True})
    own = os.getpid()
    while (request := _receive(requests)) is not None:
        if request["do"] == "run":
            answer = {"outputs": shell.run(request["source"])}
        else:
            answer = _call(shell, request, codec)
        if os.getpid() != own:
            os._exit(1)  # a copy that a cell has forked, and that came back here: it was not asked
        _send(answers, answer)


def rehearse(folder: str) -> None:
    """Runs cells of our own, one of which fails, before there is a student: what IPython imports
    for the first cell and the first traceback, and what minipaddle writes for the first call of an
    op, is then there for all processes that are forked from this one. `folder`: for what IPython
    writes.
    """
    from minipaddle.eager.dygraph_function import ad_func
    from minipaddle.phi.core.op import OPS

    for op in OPS.values():
        ad_func(op)
    main, own = sys.modules["__main__"], os.environ["IPYTHONDIR"]
    os.environ["IPYTHONDIR"] = os.path.join(folder, "ipython")
    shell = _Shell(10_000)
    for source in ("1", "def fails():\n    raise ValueError\n\n\nfails()"):
        shell.run(source)
    shell.ip.clear_instance()
    for name in [name for name in vars(sys) if name.startswith("last_")]:
        delattr(sys, name)  # our exception: `%tb` would show it
    os.environ["IPYTHONDIR"] = own
    sys.modules["__main__"] = main


def without_widgets() -> None:
    """No browser listens here: a player is its picture, and needs no packages for the widget."""
    sys.modules["anywidget"] = None  # pyright: ignore[reportArgumentType]


def limit(settings: dict[str, Any]) -> None:
    """Limits of this process, and as root a user id of its own."""
    if os.name != "posix":
        return
    import resource

    os.nice(19)  # the examiner, and whoever else works on this machine, comes first
    limits = limits_of(settings)
    processes = limits.pop(resource.RLIMIT_NPROC, None)
    for which, value in limits.items():
        resource.setrlimit(which, (value, value))
    if settings["uid"] is not None:
        os.setgroups([])
        os.setresgid(settings["uid"], settings["uid"], settings["uid"])
        os.setresuid(settings["uid"], settings["uid"], settings["uid"])
    if processes is not None:  # counted per user: only now it is this user
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))


def limits_of(settings: dict[str, Any]) -> dict[int, int]:
    """What each process in the sandbox may use: kind of limit (RLIMIT_...) -> the most."""
    import resource

    limits = {
        resource.RLIMIT_DATA: settings["memory_bytes"],
        resource.RLIMIT_FSIZE: settings["file_bytes"],
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 256,
    }
    if settings["processes"] is not None:
        limits[resource.RLIMIT_NPROC] = settings["processes"]
    return limits


def _receive(stream: BinaryIO) -> dict[str, Any] | None:
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return json.loads(stream.read(HEADER.unpack(header)[0]))


def _send(stream: BinaryIO, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode("utf-8", "surrogatepass")
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def _call(shell: _Shell, request: dict[str, Any], codec: Any) -> dict[str, Any]:
    names = shell.ip.user_ns
    shell.begin()
    try:
        for number, source in enumerate(request["define"]):
            exec(_compiled(source, f"<check {request['id']}.{number}>"), names)
        if request["name"] not in names:
            raise NameError(f"name {request['name']!r} is not defined", name=request["name"])
        args, kwargs = codec.loads(request["args"], names.__getitem__)
        value = names[request["name"]](*args, **kwargs)
        answer = {"value": codec.dumps(value)}
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: the loop goes on
        answer = {"error": _described(error)}
    return {**answer, "outputs": shell.end()}


def _compiled(source: str, name: str) -> Any:
    """Known to linecache, so that tracebacks and inspect.getsource show it."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return compile(source, name, "exec")


def _described(error: BaseException) -> dict[str, Any]:
    try:
        text = str(error)[:2000]
    except Exception:
        text = "(its text can't be made)"
    kinds = [f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__]
    return {"kinds": kinds, "text": text}


class _Shell:
    """IPython's shell; what a cell shows is kept as notebook outputs, up to a limit."""

    def __init__(self, limit: int) -> None:
        from IPython.core.displayhook import DisplayHook
        from IPython.core.displaypub import DisplayPublisher
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        keep = self.keep
        self.limit = limit
        self.left = limit
        self.outputs: list[dict[str, Any]] = []

        class Publisher(DisplayPublisher):
            def publish(self, data: Any, metadata: Any = None, **_: Any) -> None:  # pyright: ignore
                keep("display_data", {"data": _plain(data), "metadata": {}})

            def clear_output(self, wait: bool = False) -> None:
                pass

        class Hook(DisplayHook):
            def write_output_prompt(self) -> None:
                pass

            def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
                data = _plain(format_dict)
                keep("execute_result", {"data": data, "metadata": {}, "execution_count": None})

            def log_output(self, format_dict: Any) -> None:
                pass

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        self.ip: Any = InteractiveShell.instance(
            config=config, display_pub_class=Publisher, displayhook_class=Hook
        )
        self.ip._showtraceback = self.show_error
        self.ip.system = self.system
        self.ip.enable_gui = lambda gui=None: None  # %matplotlib inline asks for it
        # a learner's own class in a message is __main__.Name, as in the notebook
        sys.modules["__main__"] = self.ip.user_module

    def begin(self) -> None:
        self.outputs = []
        self.before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = _Stream(self, "stdout"), _Stream(self, "stderr")

    def end(self) -> list[dict[str, Any]]:
        sys.stdout, sys.stderr = self.before
        return self.outputs

    def run(self, source: str) -> list[dict[str, Any]]:
        self.begin()
        try:
            self.ip.run_cell(source, store_history=False)
        except BaseException as error:
            self.show_error(type(error), error, [])
        return self.end()

    def system(self, command: str) -> None:
        """`!command`. IPython's own way needs a terminal, and the sandbox lets nobody make one."""
        done = subprocess.run(
            self.ip.var_expand(command, depth=1),
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.write("stdout", done.stdout.decode("utf-8", "replace"))
        self.ip.user_ns["_exit_code"] = done.returncode

    def show_error(self, kind: Any, error: Any, lines: list[str]) -> None:
        described = _described(error)
        name = described["kinds"][0].rpartition(".")[2]
        trace = [str(line)[:2000] for line in lines[-60:]] or [f"{name}: {described['text']}"]
        self.outputs.append(
            {"output_type": "error", "ename": name, "evalue": described["text"], "traceback": trace}
        )

    def keep(self, kind: str, content: dict[str, Any]) -> None:
        size = len(json.dumps(content))
        self.left -= size
        if self.left < 0:
            self._cut()
            return
        self.outputs.append({"output_type": kind, **content})

    def write(self, stream: str, text: str) -> None:
        if self.left <= 0:
            return
        shown = text[: self.left]
        self.left -= len(shown)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last.get("name") == stream:
            last["text"] += shown
        else:
            self.outputs.append({"output_type": "stream", "name": stream, "text": shown})
        if self.left <= 0:
            self._cut()

    def _cut(self) -> None:
        self.left = 0
        text = "\n... output cut here ...\n"
        self.outputs.append({"output_type": "stream", "name": "grader", "text": text})


class _Stream(io.TextIOBase):
    """sys.stdout of a cell."""

    def __init__(self, shell: _Shell, name: str) -> None:
        self.shell = shell
        self.name = name

    def write(self, text: str) -> int:
        self.shell.write(self.name, str(text))
        return len(text)

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "utf-8"


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """A mimebundle as JSON: bytes (PNG) as base64 text."""
    import base64

    found = {}
    for kind, value in data.items():
        if isinstance(value, bytes):
            value = base64.b64encode(value).decode()
        if isinstance(value, str) or kind.endswith("json"):
            found[str(kind)] = value
    return found


if __name__ == "__main__":
    _settings = json.loads(sys.argv[1])
    sys.path[:] = [_settings["library"], *(p for p in sys.path if p != _settings["library"])]
    from grader import student  # by its name: `__main__` belongs to the student's cells

    student.limit(_settings)
    student.start(_settings)
