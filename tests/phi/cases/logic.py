"""Cases of phi/ops/logic.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

BOOLS, OTHERS = np.array([True, True, False]), np.array([[True], [False]])
ONES, TWOS = np.array([1, 2, 7]), np.array([[3], [2]])
COMPARISONS = [
    ([f(2, 3), f(3)], {}),
    ([f(), f()], {}),
    ([f(0, 3), f(3)], {}),
    ([ONES, TWOS], {}),
    ([BOOLS, OTHERS], {}),
]
LOGIC = [
    ([BOOLS, OTHERS], {}),
    ([ONES, TWOS], {}),
    ([np.array([0.0, 2.0]), np.array([1.0, 0.5])], {}),
]
BITS = [
    ([ONES, TWOS], {}),
    ([BOOLS, OTHERS], {}),
    ([ONES.astype("int32"), ONES.astype("int32")], {}),
]
CLOSE = [
    ([np.array([1.0, 2.0]), np.array([1.0, 2.00001])], {}),
    ([np.array([1.0, 2.0]), np.array([1.0, 2.00003])], {}),
    ([np.array([1.0, 2.0]), np.array([1.5, 2.5])], {"rtol": 0.0, "atol": 0.5}),
    ([np.array([1.0, 2.0]), np.array([1.5, 3.0])], {"rtol": 0.35}),
    ([np.array([np.nan, np.inf, np.inf, 1.0]), np.array([np.nan, np.inf, -np.inf, np.inf])], {}),
    ([np.array([np.nan, 1.0]), np.array([np.nan, 1.0])], {"equal_nan": True}),
    ([ONES, ONES[::-1]], {}),
    ([BOOLS, BOOLS], {}),
    ([f(), f()], {}),
    ([f(0, 3), f(0, 3)], {}),
]
SAME = [
    ([f(2, 3), f(2, 3)], {}),
    ([ONES, ONES.copy()], {}),
    ([ONES, TWOS], {}),
    ([np.array([1.0, np.nan]), np.array([1.0, np.nan])], {}),
    ([f(0, 3), f(0, 3)], {}),
    ([f(), f()], {}),
]
ODD = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])

CALLS = {
    "equal": COMPARISONS,
    "not_equal": COMPARISONS,
    "less_than": COMPARISONS,
    "less_equal": COMPARISONS,
    "greater_than": COMPARISONS,
    "greater_equal": COMPARISONS,
    "equal_all": SAME,
    "isclose": CLOSE,
    "allclose": CLOSE,
    "logical_and": LOGIC,
    "logical_or": LOGIC,
    "logical_xor": LOGIC,
    "logical_not": [([BOOLS], {}), ([ONES], {}), ([np.array([0.0, 2.0])], {})],
    "bitwise_and": BITS,
    "bitwise_or": BITS,
    "bitwise_xor": BITS,
    "bitwise_not": [([ONES], {}), ([BOOLS], {})],
    "isnan": [([ODD], {}), ([ONES], {}), ([f()], {})],
    "isinf": [([ODD], {}), ([ONES], {}), ([f()], {})],
    "isfinite": [([ODD], {}), ([ONES], {}), ([f()], {})],
}  # fmt: skip
