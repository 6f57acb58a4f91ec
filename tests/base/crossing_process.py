"""Real Paddle in a process of its own, which runs our Programs and builds its own from them.

    run(program, feed, fetch)           what real Paddle's Executor computes
    rebuild(program, loss)              the same ops and their gradients, appended by real Paddle

A wrong Program can end the process: it is started again. The child runs this same file, reads
pickled requests from its standard input and writes pickled answers.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

LIMIT = 600  # seconds for one answer: only what never answers needs more


class PaddleRefuses(Exception):
    """What real Paddle raised."""


class RealPaddle:
    """The child process."""

    def __init__(self) -> None:
        self.child: subprocess.Popen | None = None

    def run(self, program: bytes, feed: dict[str, Any], fetch: list[str]) -> list[Any]:
        """Runs a ProgramDesc in Paddle's Executor: one array per fetch.

        Raises:
            PaddleRefuses: Paddle raised an error, or its process ended.
        """
        return self._ask("run", program, feed, fetch)

    def rebuild(self, program: bytes, loss: str | None) -> bytes:
        """The ProgramDesc that real Paddle builds from the same ops, with the gradients of `loss`.

        Raises:
            PaddleRefuses: as above.
        """
        return self._ask("rebuild", program, loss)

    def _ask(self, *request: Any) -> Any:
        if self.child is None:
            self.child = subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "GLOG_minloglevel": "3", "OMP_NUM_THREADS": "1"},
                cwd=Path(__file__).resolve().parents[2],
            )
        assert self.child.stdin is not None and self.child.stdout is not None
        try:
            pickle.dump(request, self.child.stdin)
            self.child.stdin.flush()
            if not select.select([self.child.stdout], [], [], LIMIT)[0]:
                raise EOFError
            fine, found = pickle.load(self.child.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.close()
            raise PaddleRefuses("real Paddle ended its process, or never answers") from None
        if not fine:
            raise PaddleRefuses(found)
        return found

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None


# -- the child -----------------------------------------------------------------------------------

OWN_ATTRS = ("op_role", "op_role_var", "op_namescope", "op_callstack", "op_device")


def run(paddle: Any, data: bytes, feed: dict[str, Any], fetch: list[str]) -> list[Any]:
    """Carries out `RealPaddle.run`."""
    program = paddle.static.Program.parse_from_string(data)
    executor = paddle.static.Executor(paddle.CPUPlace())
    return executor.run(program, feed=feed, fetch_list=fetch, scope=paddle.static.Scope())


def rebuild(paddle: Any, data: bytes, loss: str | None) -> bytes:
    """Carries out `RealPaddle.rebuild`."""
    ours = paddle.static.Program.parse_from_string(data).global_block()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        block = main.global_block()
        for name, variable in ours.vars.items():
            block.create_var(
                name=name,
                shape=variable.shape,
                dtype=variable.dtype,
                persistable=variable.persistable,
                stop_gradient=variable.stop_gradient,
            )
        for op in ours.ops:
            block.append_op(
                type=op.type,
                inputs={slot: [block.var(n) for n in op.input(slot)] for slot in op.input_names},
                outputs={slot: [block.var(n) for n in op.output(slot)] for slot in op.output_names},
                attrs={name: op.attr(name) for name in op.attr_names if name not in OWN_ATTRS},
            )
        if loss is not None:
            paddle.static.append_backward(block.var(loss))
    return main.desc.serialize_to_string()


def serve() -> None:
    """Answers requests until there are no more."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Paddle prints must not get between the answers
    import paddle

    paddle.enable_static()
    while True:
        try:
            kind, *arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            with paddle.pir_utils.OldIrGuard():
                answer = True, (run if kind == "run" else rebuild)(paddle, *arguments)
        except Exception as error:
            answer = False, f"{type(error).__name__}: {error}"
        pickle.dump(answer, channel)
        channel.flush()


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its files are nobody's business here
    serve()
