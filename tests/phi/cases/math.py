"""Cases of phi/ops/math.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

INTS, LESS = np.array([7, -7, 5]), np.array([[3], [-2]])
ARITHMETIC = [
    ([f(2, 3), f(2, 3)], {}),
    ([f(2, 3), f(3)], {}),
    ([f(2, 1), f(1, 3)], {}),
    ([f(), f(2)], {}),
    ([f(0, 3), f(3)], {}),
    ([INTS, LESS], {}),
]
DIVISION = [
    ([f(2, 3), positive(2, 3)], {}),
    ([f(3), -positive(2, 3)], {}),
    ([f(2, 1), positive()], {}),
    ([INTS, LESS], {}),
]
SMALLER, LARGER = np.array([1.0, -2.0]), np.array([[1.5], [-3.0]])
CHOICE = [([SMALLER, LARGER], {}), ([f(), f(2, 3)], {}), ([INTS, LESS], {})]

CALLS = {
    "add": ARITHMETIC,
    "subtract": ARITHMETIC,
    "multiply": ARITHMETIC,
    "divide": DIVISION,
    "floor_divide": DIVISION,
    "remainder": [
        ([np.array([5.0, -5.0, 5.5]), np.array([3.0, 3.0, -2.0])], {}),
        ([np.array([5.0, -5.0]), np.array([[3.0], [2.1]])], {}),
        ([INTS, LESS], {}),
    ],
    "elementwise_pow": [
        ([positive(2, 3), f(3)], {}),
        ([positive(2, 1), f()], {}),
        ([INTS, np.array([2, 0, 3])], {}),
    ],
    "maximum": CHOICE,
    "minimum": CHOICE,
    "fmax": CHOICE,
    "fmin": CHOICE,
    "add_n": [([[f(2, 3), f(2, 3), f(2, 3)]], {}), ([[f(2)]], {})],
    "scale": [
        ([f(2, 3)], {"scale": 2.5, "bias": 1.0}),
        ([f(2)], {"scale": -1.0, "bias": 1.0, "bias_after_scale": False}),
        ([f()], {"scale": 0.0}),
        ([np.array([1, 2])], {"scale": 3}),
        ([np.array([1, 2])], {"scale": 2.5, "bias": 0.5}),
        ([np.array([1, 2], "uint8")], {"scale": 1, "bias": -1.0}),
    ],
    "pow": [
        ([positive(2, 3)], {"y": 3.0}),
        ([positive(2)], {"y": 0.5}),
        ([f(2, 3)], {"y": 2}),
        ([f()], {"y": -1.0}),
        ([f(2)], {"y": 0}),
        ([INTS], {"y": 2}),
    ],
    "clip": [
        ([np.array([-1.5, -0.5, 0.3, 0.9, 2.0])], {"min": -0.7, "max": 0.6}),
        ([f()], {"min": 0.0, "max": 10.0}),
        ([INTS], {"min": -2, "max": 5}),
    ],
    "increment": [([f(1)], {}), ([f()], {"value": 2.5}), ([np.array([3])], {"value": 2.0})],
    "lerp": [
        ([f(2, 3), f(2, 3), f(2, 3)], {}),
        ([f(2, 3), f(3), np.array(0.3)], {}),
        ([f(3), f(2, 1), f(2, 1, 3)], {}),
        ([f(), f(), f()], {}),
        ([f(0, 2), f(2), f()], {}),
    ],
    "gcd": [([np.array([12, -18, 0, 0]), np.array([18, 12, 5, 0])], {}), ([INTS, LESS], {})],
}  # fmt: skip
