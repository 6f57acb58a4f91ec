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
    "median": [
        ([f(3, 4)], {}), ([f(5)], {"keepdim": False}), ([f(3, 4)], {"axis": (0,), "mode": "min"}), ([f()], {"keepdim": False}),
        ([f(2, 3, 4)], {"axis": (2, 0), "keepdim": False}), ([f(2, 3, 4)], {"axis": (-2,), "keepdim": True}),
        ([np.array([4, 1, 3, 2])], {"keepdim": False}), ([f(4)], {"keepdim": False, "mode": "min"}), ([f(0, 2)], {"axis": (1,)}),
    ],
    "repeat_interleave": [([f(2, 3)], {"repeats": 2, "axis": 0}), ([f(2, 3)], {"repeats": 3, "axis": -1, "output_size": 9}), ([f(0, 2)], {"repeats": 2, "axis": 0}), ([np.array([True, False])], {"repeats": 2, "axis": 0})],
    "repeat_interleave_with_tensor_index": [
        ([f(3), np.array([1, 0, 2])], {"axis": 0}), ([f(2, 3, 2), np.array([2, 0, 1])], {"axis": -2}),
        ([f(2, 2), np.array([1, 2], "int32")], {"axis": 1, "output_size": 3}), ([f(2, 3), np.array([[1], [2]])], {"axis": 0}),
    ],
    "where": [([f(2, 3) > 0, f(2, 3), f(2, 3)], {}), ([np.array(True), f(), f()], {})],
    "nonzero": [([np.array([[1, 0], [2, 3]])], {}), ([np.array([False, True])], {})],
    "masked_select": [([f(2, 3), f(2, 3) > 0], {})],
    "masked_fill": [([f(2, 3), f(2, 3) > 0, f()], {})],
    "unique": [
        ([np.array([3, 1, 3, 2])], {"return_index": True, "return_inverse": True, "return_counts": True, "axis": ()}),
        ([f(2, 2)], {"return_index": False, "return_inverse": False, "return_counts": False, "axis": ()}),
    ],
}  # fmt: skip
