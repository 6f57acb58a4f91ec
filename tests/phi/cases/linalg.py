"""Cases of phi/ops/linalg.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "matmul": [
        ([f(2, 3), f(3, 4)], {}),
        ([f(3, 2), f(3, 4)], {"transpose_x": True}),
        ([f(2, 3), f(4, 3)], {"transpose_y": True}),
        ([f(3, 2), f(4, 3)], {"transpose_x": True, "transpose_y": True}),
        ([f(5, 2, 3), f(3, 4)], {}),
        ([f(2, 3), f(5, 3, 4)], {}),
        ([f(3), f(3)], {}),
        ([f(3), f(3, 4)], {}),
        ([f(2, 3), f(3)], {}),
        ([f(5, 2, 3), f(3)], {}),
        ([f(3), f(5, 3, 4)], {}),
    ],
    "fc": [
        ([f(2, 3), f(3, 4), f(4)], {}),
        ([f(2, 3), f(3, 4), f(4)], {"activation_type": "relu"}),
        ([f(5, 2, 3), f(3, 4), f(4)], {"in_num_col_dims": 2}),
    ],
}  # fmt: skip
