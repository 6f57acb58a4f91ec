"""_C_ops: every declared op, called by its own name and with its own arguments.

    paddle._C_ops.softmax(x, -1)

Paddle: `paddle._C_ops`, generated into paddle/fluid/pybind/eager_op_function.cc. An op that has
just been declared is here at once.
"""

from __future__ import annotations

from minipaddle.phi.core.op import OPS, Op, find_op


def __getattr__(name: str) -> Op:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return find_op(name)
    except KeyError as error:
        raise AttributeError(error.args[0]) from None


def __dir__() -> list[str]:
    return sorted(OPS)
