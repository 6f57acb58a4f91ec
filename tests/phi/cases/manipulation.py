"""Cases of phi/ops/manipulation.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "reshape": [([f(2, 3)], {"shape": (3, 2)}), ([f(2, 3)], {"shape": (-1,)}), ([f(2, 3)], {"shape": (0, -1)})],
    "reshape_as": [([f(2, 3), f(3, 2)], {})],
    "unsqueeze": [([f(2, 3)], {"axis": (0,)}), ([f(2, 3)], {"axis": (1, -1)}), ([f()], {"axis": (0,)})],
    "squeeze": [([f(1, 3, 1)], {}), ([f(1, 3, 1)], {"axis": (0,)}), ([f(2, 1)], {"axis": (0,)})],
    "transpose": [([f(2, 3)], {"perm": (1, 0)}), ([f(2, 3, 4)], {"perm": (2, 0, 1)})],
    "cast": [([f(2, 3)], {"dtype": "float64"}), ([np.array([1, 2])], {"dtype": "float32"})],
    "expand_as": [([f(1, 3), f(2, 3)], {}), ([f(3), f(2, 3)], {})],
    "reduce_as": [([f(2, 3), f(3)], {}), ([f(2, 3), f(2, 1)], {}), ([f(2, 3), f()], {})],
    "assign": [([f(2, 3)], {})],
    "one_hot": [([np.array([0, 2])], {"num_classes": 3}), ([np.array([[5]])], {"num_classes": 3})],
}  # fmt: skip
