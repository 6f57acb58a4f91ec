"""The errors that have no plain Python name. Everything else raises ValueError, TypeError,
RuntimeError, ...

    Exception
    |-- ValueError
    |   `-- IRError              a Program or PIR program is not well formed
    |       `-- IRParseError     a text is not a PIR program (says line and column)
    |-- NotImplementedError
    |   `-- NoGradientError      an op has no gradient rule
    |-- RuntimeError
        |-- BreakGraphError      the bytecode tracer must end its graph here
        `-- CollectiveError      a rank did not arrive at a collective operation

All messages have the form `<who>: expected <X>, but got <Y>. <what to do>`.

The error of an op in a program says also which op it was, and where in the user's code it was
appended: see `name_op_in_error`.

Paddle: paddle/common/enforce.h and errors.h; python/paddle/jit/sot/utils/exceptions.py;
paddle/fluid/framework/op_call_stack.cc.
"""

from __future__ import annotations

from collections.abc import Sequence


class IRError(ValueError):
    """A program is not well formed."""


class IRParseError(IRError):
    """A text is not a PIR program."""


class NoGradientError(NotImplementedError):
    """An op has no gradient rule."""


class BreakGraphError(RuntimeError):
    """The bytecode tracer met something that it cannot put into a graph."""


class CollectiveError(RuntimeError):
    """A collective operation between ranks could not complete."""


def name_op_in_error(error: Exception, op_type: str, call_stack: Sequence[str]) -> None:
    """Puts into an error's message which op failed, and where it was appended, in Paddle's form:

        In user code:

            File "train.py", line 12, in <module>
              y = x @ w

            ValueError: matmul: expected ...
              [operator < matmul_v2 > error]

    Args:
        call_stack: the texts of an Operator's `op_callstack`; empty where it is not known.
    """
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return  # an error of another make: its arguments are not ours to change
    message, mark = error.args[0], f"[operator < {op_type} > error]"
    if "[operator < " in message:
        return  # an op inside this one has said it
    if not call_stack:
        error.args = (f"{message}\n  {mark}",)
        return
    place = "\n".join(f"  {line}" for line in call_stack if line.strip())
    inside = f"{type(error).__name__}: {message}\n  {mark}".replace("\n", "\n    ")
    error.args = (f"In user code:\n\n{place}\n\n    {inside}",)
