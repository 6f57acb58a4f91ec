"""Cases of phi/ops/search.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "argmax": [([f(2, 3)], {"axis": 0}), ([f(2, 3)], {"axis": -1, "keepdims": True}), ([f(2, 3)], {"axis": 0, "flatten": True}), ([f(2, 3)], {"axis": 1, "dtype": "int32"}), ([f()], {"axis": 0})],
    "argmin": [([f(2, 3)], {"axis": 0}), ([f(2, 3)], {"axis": 1, "keepdims": True}), ([f(2, 3)], {"axis": 0, "flatten": True, "keepdims": True})],
    "argsort": [([f(3, 4)], {}), ([f(3, 4)], {"axis": 0, "descending": True}), ([f()], {})],
    "topk": [([f(3, 4)], {"k": 2}), ([f(3, 4)], {"k": 2, "axis": 0, "largest": False}), ([f(5)], {"k": 5})],
    "where": [([f(2, 3) > 0, f(2, 3), f(2, 3)], {}), ([np.array(True), f(), f()], {})],
    "nonzero": [([np.array([[1, 0], [2, 3]])], {}), ([np.array([False, True])], {})],
    "masked_select": [([f(2, 3), f(2, 3) > 0], {})],
    "masked_fill": [([f(2, 3), f(2, 3) > 0, f()], {})],
    "unique": [
        ([np.array([3, 1, 3, 2])], {"return_index": True, "return_inverse": True, "return_counts": True, "axis": ()}),
        ([f(2, 2)], {"return_index": False, "return_inverse": False, "return_counts": False, "axis": ()}),
    ],
}  # fmt: skip
