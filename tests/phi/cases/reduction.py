"""Cases of phi/ops/reduction.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

INTS = np.array([[3, -1, 2], [5, 0, 4]])
BOOLS = np.array([[True, False], [True, True]])
REDUCTIONS = [
    ([f(2, 3)], {}),
    ([f(2, 3)], {"axis": (1,), "keepdim": True}),
    ([f(2, 3, 4)], {"axis": (0, -1)}),
    ([f(2, 3, 4)], {"axis": (1, 0), "keepdim": True}),
    ([f()], {}),
    ([f()], {"axis": (-1,)}),
]
EMPTY = [([f(2, 0)], {"axis": (0,)})]
WHOLE = [([f(0, 2)], {}), ([f(2, 0)], {"axis": (1,), "keepdim": True})]


def with_all(calls):
    """The same calls for ops that are told whether all axes are meant."""
    default = {"axis": (), "keepdim": False}
    return [
        (inputs, {**default, **attrs, "reduce_all": not attrs.get("axis")})
        for inputs, attrs in calls
    ]


CALLS = {
    "sum": [
        *REDUCTIONS, *EMPTY, *WHOLE,
        ([np.array([1, 2], "int32")], {}),
        ([BOOLS], {"axis": (0,)}),
        ([np.array([200, 100], "uint8")], {}),
        ([INTS], {"dtype": "float32"}),
    ],
    "mean": [*REDUCTIONS, *EMPTY, ([np.array([-1, -2, 4])], {}), ([BOOLS], {})],
    "mean_all": [([f(2, 3)], {}), ([f()], {})],
    "max": [*REDUCTIONS, *EMPTY, ([INTS], {"axis": (1,)})],
    "min": [*REDUCTIONS, *EMPTY, ([INTS], {"axis": (1,)})],
    "amax": [*REDUCTIONS, *EMPTY, ([INTS], {"axis": (1,)})],
    "amin": [*REDUCTIONS, *EMPTY, ([INTS], {"axis": (1,)})],
    "prod": with_all([*REDUCTIONS, *EMPTY, *WHOLE, ([INTS], {"axis": (1,)})]),
    "logsumexp": [
        *with_all(REDUCTIONS), *with_all(EMPTY),
        ([np.array([[1000.0, 999.0], [-1000.0, -1001.0]])], {"axis": (1,)}),
        ([np.array([1, 2])], {"reduce_all": True}),
    ],
    "p_norm": [
        ([f(2, 3)], {"asvector": True}),
        ([f(2, 3)], {"axis": 0, "keepdim": True}),
        ([f(2, 3)], {"porder": 1.0}),
        ([f(2, 3)], {"porder": 3.0, "asvector": True, "keepdim": True}),
        ([f(2, 3)], {"porder": 0.5, "axis": 1}),
        ([f(2, 3)], {"porder": 0.0}),
        ([f(2, 3)], {"porder": float("inf")}),
        ([f(2, 3)], {"porder": float("-inf"), "axis": 0}),
        ([f()], {}),
    ],
    "frobenius_norm": [
        ([f(2, 3)], {"axis": (0, 1), "keep_dim": False, "reduce_all": False}),
        ([f(2, 3, 2)], {"axis": (-2, -1), "keep_dim": True, "reduce_all": False}),
        ([f(2, 3)], {"axis": (), "keep_dim": False, "reduce_all": True}),
    ],
    "squared_l2_norm": [([f(2, 3)], {}), ([f()], {}), ([f(0)], {})],
    "cumsum": [
        ([f(2, 3)], {}),
        ([f(2, 3)], {"axis": 0}),
        ([f(2, 3)], {"flatten": True}),
        ([f(2, 3)], {"exclusive": True}),
        ([f(2, 3)], {"axis": -2, "reverse": True}),
        ([f(2, 3)], {"axis": 1, "reverse": True, "exclusive": True}),
        ([f(2, 3)], {"flatten": True, "reverse": True, "exclusive": True}),
        ([f()], {}),
        ([f(0, 2)], {"axis": 0}),
        ([INTS], {"axis": 1}),
    ],
    "all": [([BOOLS], {}), ([BOOLS], {"axis": (0,)}), ([INTS], {"axis": (-1,), "keepdim": True}), ([f(0)], {})],
    "any": [([BOOLS], {}), ([~BOOLS], {"axis": (1,)}), ([INTS], {"axis": (-1,), "keepdim": True}), ([f(0)], {})],
    "numel": [([f(2, 3)], {}), ([f()], {}), ([f(0, 2)], {}), ([INTS], {})],
    "cumprod": [
        ([positive(2, 3)], {"dim": 0}),
        ([f(2, 3)], {"dim": -1}),
        ([f(2, 4)], {"dim": 1, "exclusive": True}),
        ([f(2, 4)], {"dim": 1, "reverse": True}),
        ([f(4, 2)], {"dim": 0, "exclusive": True, "reverse": True}),
        ([np.array([[2.0, 0.0, 3.0, -1.5], [0.0, 1.5, 0.5, 2.0]])], {"dim": 1}),
        ([np.array([2.0, -1.5, 0.0, 3.0])], {"dim": 0, "exclusive": True}),
        ([np.array([2.0, -1.5, 0.0, 3.0])], {"dim": 0, "reverse": True}),
        ([f()], {"dim": 0}),
        ([f(0, 2)], {"dim": 0}),
        ([INTS], {"dim": 1}),
    ],
}  # fmt: skip
