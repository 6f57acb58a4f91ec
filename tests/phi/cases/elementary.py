"""Cases of phi/ops/elementary.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

INTS = np.array([-2, 0, 3])
BOTH = [([f(2, 3)], {}), ([f()], {}), ([f(0, 2)], {})]
UNIT = np.array([[-0.9, -0.3, 0.2], [0.4, 0.6, 0.85]])  # where asin and atanh have a value
COUNTS = [([np.array([1, 4], "int32")], {})]


def above_zero():
    """Of functions that have no value, or no slope, at 0 and below."""
    return [([positive(2, 3)], {}), ([positive()], {}), ([positive(0)], {}), *COUNTS]


CALLS = {
    "abs": [*BOTH, ([INTS], {})],
    "sign": [*BOTH, ([INTS], {}), ([np.array([0, -5], "int32")], {})],
    "square": [*BOTH, ([INTS], {})],
    "sqrt": above_zero(),
    "rsqrt": above_zero(),
    "reciprocal": [([f(2, 3)], {}), *above_zero()],
    "exp": [*BOTH, ([INTS], {})],
    "expm1": [*BOTH, ([INTS], {}), ([np.array([1e-9])], {})],
    "log": above_zero(),
    "log2": above_zero(),
    "log10": above_zero(),
    "log1p": [*above_zero(), ([np.array([1e-9])], {})],
    "erf": [*BOTH, ([INTS], {}), ([np.array([-5.0, -2.5, -0.46, 0.01, 0.47, 3.9, 4.1])], {})],
    "sin": [*BOTH, ([INTS], {})],
    "cos": [*BOTH, ([INTS], {})],
    "tan": [*BOTH, ([INTS], {})],
    "asin": [([UNIT], {}), ([np.array(0.5)], {}), ([np.array([-1, 0, 1])], {})],
    "acos": [([UNIT], {}), ([np.array(-0.5)], {}), ([np.array([-1, 0, 1])], {})],
    "atan": [*BOTH, ([INTS], {})],
    "sinh": [*BOTH, ([INTS], {})],
    "cosh": [*BOTH, ([INTS], {})],
    "asinh": [*BOTH, ([INTS], {})],
    "acosh": [([UNIT + 2.0], {}), ([np.array(1.5)], {}), ([np.array([1, 4], "int32")], {})],
    "atanh": [([UNIT], {}), ([np.array(0.5)], {}), ([np.array([0])], {})],
    "floor": [*BOTH, ([INTS], {})],
    "ceil": [*BOTH, ([INTS], {})],
    "trunc": [*BOTH, ([INTS], {}), ([np.array([-1.6, 2.4])], {})],
    "round": [*BOTH, ([f(2, 3)], {"decimals": 1}), ([np.array([0.4, 1.6, 2.4, -1.6])], {})],
}  # fmt: skip
