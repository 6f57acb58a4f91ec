"""Runs a program, a list of lines, on minipaddle or on real Paddle, and notes what can be seen.

A line that raises is noted and has no other effect: the lines behind it run.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# What every program starts with.
BEGIN = """
F, t, log = paddle.nn.functional, paddle.to_tensor, []
def hook(name, factor=None):
    def called(grad):
        log.append((name, grad.numpy(), grad.stop_gradient))
        return None if factor is None else grad * factor
    return called
"""


@dataclass
class Seen:
    """What a program did.

    Attributes:
        errors: number of a line -> (the kind of error, its words).
        log: what the hooks saw, in order: (name, gradient, its stop_gradient).
        tensors: name -> (dtype, stop_gradient, is_leaf, array, gradient or None).
        ended: the number of the line that ended the process, if one did.
    """

    errors: dict[int, tuple[str, str]] = field(default_factory=dict)
    log: list[tuple] = field(default_factory=list)
    tensors: dict[str, tuple] = field(default_factory=dict)
    ended: int | None = None


class Run:
    """A program that runs line by line."""

    def __init__(self, paddle: types.ModuleType) -> None:
        self.paddle = paddle
        self.names: dict[str, Any] = {"paddle": paddle, "np": np}
        self.seen = Seen()
        exec(BEGIN, self.names)

    def do(self, number: int, line: str) -> bool:
        """Runs a line; False if it raises."""
        try:
            exec(line, self.names)
            return True
        except Exception as error:
            kinds = (kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
            self.seen.errors[number] = next(kinds), str(error)
            self.paddle.set_grad_enabled(True)  # an error in a gradient leaves real Paddle without
            return False

    def tensors(self) -> dict[str, Any]:
        """The Tensors by the text that names them: v0, v1[0], v1[1], ..."""
        found = {}
        for name, value in self.names.items():
            if re.fullmatch(r"v\d+", name):
                several = isinstance(value, (list, tuple))
                for place, item in enumerate(value if several else [value]):
                    if isinstance(item, self.paddle.Tensor):
                        found[f"{name}[{place}]" if several else name] = item
        return found

    def finish(self) -> Seen:
        """Notes what the Tensors hold now."""
        self.seen.log = self.names["log"]
        for name, x in self.tensors().items():
            grad = None if x.grad is None else x.grad.numpy()
            self.seen.tensors[name] = (str(x.dtype), x.stop_gradient, x.is_leaf, x.numpy(), grad)
        return self.seen


def run(lines: list[str], paddle: types.ModuleType, begins: Callable = lambda number: None) -> Seen:
    """Runs a whole program; `begins(number)` is called before each line."""
    running = Run(paddle)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, line in enumerate(lines):
            begins(number)
            running.do(number, line)
    return running.finish()


class RealPaddle:
    """Real Paddle in a process of its own, which is asked again and again."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.fuzz.run"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "GLOG_minloglevel": "3", "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # it and its forks can be ended together
        )

    def _end(self) -> None:
        os.killpg(self.child.pid, signal.SIGKILL)

    def run(self, lines: list[str]) -> Seen:
        assert self.child.stdin is not None and self.child.stdout is not None
        guard = threading.Timer(60, self._end)  # only for one that hangs so that no alarm rings
        guard.start()
        seen = Seen(ended=0)
        try:
            pickle.dump(lines, self.child.stdin)
            self.child.stdin.flush()
            while True:
                match pickle.load(self.child.stdout):
                    case int(number):
                        seen.ended = number  # unless more is heard
                    case "ended":
                        return seen
                    case done:
                        return done
        except (EOFError, BrokenPipeError):
            self.child.wait()
            self._start()
            return seen
        finally:
            guard.cancel()

    def close(self) -> None:
        self.child.communicate()  # closes its input: it ends


def serve() -> None:
    """The child: a fork of it answers, so that a program that ends its process costs little."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Paddle prints must not get between the answers
    import paddle

    def tell(what: int | str | Seen) -> None:
        pickle.dump(what, answers)
        answers.flush()

    while True:
        fork = os.fork()
        if fork == 0:
            try:
                while True:
                    lines = pickle.load(sys.stdin.buffer)
                    signal.alarm(5)  # ends a program that hangs
                    tell(run(lines, paddle, tell))
                    signal.alarm(0)
            except EOFError:
                os._exit(0)  # nobody asks any more
        if os.waitpid(fork, 0)[1] == 0:
            return
        tell("ended")


if __name__ == "__main__":
    from tests.fuzz import run as itself  # so that pickle finds Seen under one name

    itself.serve()
