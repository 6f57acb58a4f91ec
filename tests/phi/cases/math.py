"""Cases of phi/ops/math.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "add": [([f(2, 3), f(2, 3)], {}), ([f(2, 3), f(3)], {}), ([f(2, 1), f(1, 3)], {}), ([f(), f(2)], {})],
    "subtract": [([f(2, 3), f(2, 3)], {}), ([f(3), f(2, 3)], {})],
    "multiply": [([f(2, 3), f(2, 3)], {}), ([f(2, 3), f(1)], {}), ([f(0, 3), f(3)], {})],
    "divide": [([f(2, 3), positive(2, 3)], {}), ([f(3), positive(2, 3)], {})],
    "greater_than": [([f(2, 3), f(3)], {})],
    "less_than": [([f(2, 3), f(3)], {})],
    "greater_equal": [([np.array([1, 2]), np.array([1, 3])], {})],
    "less_equal": [([np.array([1, 2]), np.array([1, 1])], {})],
    "not_equal": [([np.array([1, 2]), np.array([1, 3])], {})],
    "equal": [([np.array([1, 2]), np.array([1, 3])], {})],
    "scale": [
        ([f(2, 3)], {"scale": 2.5, "bias": 1.0}),
        ([f(2)], {"scale": -1.0, "bias": 1.0, "bias_after_scale": False}),
        ([np.array([1, 2])], {"scale": 3}),
    ],
    "add_n": [([[f(2, 3), f(2, 3), f(2, 3)]], {}), ([[f(2)]], {})],
    "sum": [
        ([f(2, 3)], {}),
        ([f(2, 3)], {"axis": (1,), "keepdim": True}),
        ([f(2, 3, 4)], {"axis": (0, -1)}),
        ([np.array([1, 2], "int32")], {}),
    ],
    "mean": [([f(2, 3)], {}), ([f(2, 3)], {"axis": (0,)}), ([f(2, 3)], {"axis": (-1,), "keepdim": True})],
    "mean_all": [([f(2, 3)], {}), ([f()], {})],
    "argmax": [([f(2, 3)], {}), ([f(2, 3)], {"axis": 0, "keepdims": True})],
    "exp": [([f(2, 3)], {}), ([f()], {})],
    "pow": [([positive(2, 3)], {"y": 3.0}), ([positive(2)], {"y": 0.5})],
}  # fmt: skip
