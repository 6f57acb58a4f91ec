"""Real Paddle in a process of its own, because some wrong calls end the process they run in.

    process = PaddleProcess()
    process.call("tanh", [array], [], gradient_of=[0])  ->  Answer(outputs=..., gradients=...)

The child runs this same file, reads pickled requests from its standard input and writes pickled
answers.
"""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Answer:
    """What real Paddle did.

    Attributes:
        error: the kind of error ("ValueError", "abort" if the process died), or "".
        message: the error's message.
        outputs: arrays, one per output, lists of Tensors flattened. One that is not there may be None, or
            empty.
        gradients: arrays, one per input that was asked for; None where Paddle gives none.
        second: as `gradients`, of the weighted gradients again; None where Paddle has no double grad.
        inputs: the input arrays after the call, for ops that write in place.
        operations: with `describe`: {"matmul": (operands, results, attributes), "matmul_grad": ...}, the names
            that PIR knows.
    """

    error: str = ""
    message: str = ""
    outputs: list = field(default_factory=list)
    gradients: list = field(default_factory=list)
    second: list | None = None
    inputs: list = field(default_factory=list)
    operations: dict = field(default_factory=dict)

    @property
    def no_kernel(self) -> bool:
        """True if the CPU wheel has no kernel for these dtypes."""
        return "is not registered" in self.message or "Unsupported data type" in self.message


class PaddleProcess:
    """The child process. It is started again after a call that ended it."""

    def __init__(self) -> None:
        self.child: subprocess.Popen | None = None

    def call(self, name: str, inputs: list, attrs: list, **options: Any) -> Answer:
        """Calls `paddle._C_ops.<name>(*inputs, *attrs)`.

        Args:
            inputs: numpy arrays, lists of them, None, or anything else to be passed as it is.
            attrs: values in the order of Paddle's signature; ("dtype", name), ("place", kind) and ("tensor",
                number) stand for Paddle's objects.
            options: `gradient_of`: positions of inputs; `weights`: arrays by which outputs are weighted, None
                for one that does not count; `second`: also second gradients; `describe`: don't compute, build a
                PIR program and say what the op and its gradient op look like.
        """
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
            pickle.dump((name, inputs, attrs, options), self.child.stdin)
            self.child.stdin.flush()
            return Answer(**pickle.load(self.child.stdout))
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.close()
            return Answer(error="abort", message="real Paddle ended its process")

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None


# -- the child -----------------------------------------------------------------------------------


def answer(paddle: Any, name: str, inputs: list, attrs: list, options: dict) -> dict:
    """Carries out one request."""
    import numpy as np

    wanted = options.get("gradient_of", [])
    paddle.base.framework._dygraph_tracer()._has_grad = (
        True  # an error in a grad op leaves it False
    )

    def tensors(value: Any, stop_gradient: bool) -> Any:
        if isinstance(value, list):
            return [tensors(item, stop_gradient) for item in value]
        if not isinstance(value, np.ndarray):
            return value
        return paddle.to_tensor(value, stop_gradient=stop_gradient)

    def attribute(value: Any) -> Any:
        if isinstance(value, tuple) and value[:1] == ("dtype",):
            undefined = paddle.base.core.DataType.UNDEFINED
            return undefined if value[1] == "Undefined" else getattr(paddle, value[1])
        if isinstance(value, tuple) and value[:1] == ("place",):
            return paddle.CPUPlace()
        if isinstance(value, tuple) and value[:1] == ("tensor",):
            return paddle.to_tensor(value[1])
        return list(value) if isinstance(value, tuple) else value

    def flat(value: Any) -> list:
        if isinstance(value, (list, tuple)):
            return [piece for item in value for piece in flat(item)]
        return [value]

    def array(tensor: Any) -> Any:
        return None if tensor is None else tensor.numpy()

    if options.get("describe"):
        return {"operations": describe(paddle, name, inputs, attrs, attribute, wanted)}
    given = [tensors(value, position not in wanted) for position, value in enumerate(inputs)]
    function = getattr(paddle._C_ops, name)
    results = flat(function(*given, *[attribute(value) for value in attrs]))
    found: dict = {"outputs": [array(tensor) for tensor in results]}
    found["inputs"] = [array(tensor) for tensor in flat(given) if isinstance(tensor, paddle.Tensor)]
    if not wanted:
        return found
    leaves = flat([given[position] for position in wanted])
    weighted = [
        (tensor, paddle.to_tensor(weight))
        for tensor, weight in zip(results, options["weights"])
        if weight is not None and tensor is not None and not tensor.stop_gradient
    ]
    if not weighted:
        return {**found, "gradients": [None] * len(leaves)}

    def gradients(outputs: list, weights: list, create_graph: bool) -> list:
        return paddle.grad(
            outputs,
            leaves,
            weights,
            create_graph=create_graph,
            retain_graph=True,
            allow_unused=True,
        )

    outputs, weights = [t for t, _ in weighted], [w for _, w in weighted]
    found["gradients"] = [array(tensor) for tensor in gradients(outputs, weights, False)]
    if options.get("second"):
        try:
            first = gradients(outputs, weights, True)
            used = [
                (g, paddle.to_tensor(w))
                for g, w in zip(first, options["second"], strict=True)
                if g is not None and not g.stop_gradient
            ]
            if used:
                second = gradients([g for g, _ in used], [w for _, w in used], False)
                found["second"] = [array(tensor) for tensor in second]
        except Exception:
            found["second"] = None  # no double grad
    return found


def describe(
    paddle: Any, name: str, inputs: list, attrs: list, attribute: Any, wanted: list
) -> dict:
    """The names of operands, results and attributes of the op and of its gradient op, in PIR."""
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program, paddle.static.Program()):

            def data(value: Any, stop_gradient: bool) -> Any:
                if value is None or isinstance(value, list):
                    return value and [data(item, stop_gradient) for item in value]
                found = paddle.static.data(f"x{next(numbers)}", value.shape, str(value.dtype))
                found.stop_gradient = stop_gradient
                return found

            numbers = itertools.count()
            given = [data(value, position not in wanted) for position, value in enumerate(inputs)]
            values = [
                paddle.full([1], a[1])
                if isinstance(a, tuple) and a[:1] == ("tensor",)
                else attribute(a)
                for a in attrs
            ]
            results = getattr(paddle._C_ops, name)(*given, *values)
            results = results if isinstance(results, (list, tuple)) else [results]
            if wanted:
                outputs = [r for r in results if isinstance(r, paddle.pir.Value)]
                outputs = [r for r in outputs if not r.stop_gradient and "f" in str(r.dtype)]
                leaves = [given[position] for position in wanted]
                leaves = [
                    v for item in leaves for v in (item if isinstance(item, list) else [item])
                ]
                paddle.static.gradients(outputs, leaves)
        found = {}
        for operation in program.global_block().ops:
            title = operation.name().removeprefix("pd_op.")
            if title.startswith(name):
                found[title] = (
                    list(operation.get_input_names()),
                    list(operation.get_output_names()),
                    sorted(set(operation.attrs()) - {"op_callstack", "stop_gradient"}),
                )
        return found
    finally:
        paddle.disable_static()


def serve() -> None:
    """Answers requests until there are no more."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Paddle prints must not get between the answers
    import paddle

    while True:
        try:
            name, inputs, attrs, options = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            found = answer(paddle, name, inputs, attrs, options)
        except Exception as error:
            kinds = (k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")
            found = {"error": next(kinds), "message": str(error)}
        pickle.dump(found, channel)
        channel.flush()


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its table.py and cases/ are nobody's business here
    serve()
