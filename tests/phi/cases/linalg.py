"""Cases of phi/ops/linalg.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

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
    "matmul_with_flatten": [
        ([f(2, 3), f(3, 4)], {}),
        ([f(2, 3, 4), f(12, 5)], {}),
        ([f(2, 3, 4), f(4, 5)], {"x_num_col_dims": 2}),
        ([f(2, 6), f(2, 3, 4)], {"y_num_col_dims": 2}),
    ],
    "fc": [
        ([f(2, 3), f(3, 4), f(4)], {}),
        ([f(2, 3), f(3, 4), f(4)], {"activation_type": "relu"}),
        ([f(5, 2, 3), f(3, 4), f(4)], {"in_num_col_dims": 2}),
    ],
    "bmm": [([f(2, 3, 4), f(2, 4, 5)], {}), ([f(1, 1, 2), f(1, 2, 1)], {})],
    "dot": [([f(3), f(3)], {}), ([f(2, 3), f(2, 3)], {}), ([f(0), f(0)], {})],
    "addmm": [
        ([f(2, 4), f(2, 3), f(3, 4)], {}),
        ([f(1, 4), f(2, 3), f(3, 4)], {"beta": 0.5, "alpha": -2.0}),
        ([f(4), f(2, 3), f(3, 4)], {}),
    ],
    "kron": [([f(2, 3), f(3, 2)], {}), ([f(2), f(2, 1, 2)], {}), ([f(2, 2), f(3)], {}), ([f(2), f(0, 2)], {}), ([np.array([1, 2]), np.array([3, 4])], {})],
    "einsum": [
        ([[f(2, 3), f(3, 4)]], {"equation": "ij,jk->ik"}),
        ([[f(2, 3)]], {"equation": "ij->ji"}),
        ([[f(2, 3)]], {"equation": "ij->j"}),
        ([[f(2, 3)]], {"equation": "ij->"}),
        ([[f(2), f(3), f(2)]], {"equation": "i,j,k->kij"}),
        ([[f(5, 2, 3), f(5, 3, 4)]], {"equation": "...ij,...jk->...ik"}),
        ([[f(2, 3), f(5, 3, 4)]], {"equation": "...ij,...jk->...ik"}),
        ([[f(3, 1), f(3, 4)]], {"equation": "ij,ij->i"}),
        ([[f(3, 3)]], {"equation": "ii->i"}),
        ([[f(3, 3), f(3)]], {"equation": "ii,i->"}),
        ([[f(2, 3), f(2, 3)]], {"equation": "bd,bd->b"}),
    ],
}  # fmt: skip
