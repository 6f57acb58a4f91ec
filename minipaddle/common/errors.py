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

Paddle: paddle/common/enforce.h and errors.h; python/paddle/jit/sot/utils/exceptions.py.
"""


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
