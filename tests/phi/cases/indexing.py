"""Cases of phi/ops/indexing.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive


def ints(*values):
    return np.array(values)


STEPS = {"starts": (0, 1), "ends": (2, 3), "steps": (1, 1), "axes": (0, 1)}
CALLS = {
    "slice": [
        ([f(3, 4)], {"axes": (0,), "starts": (1,), "ends": (3,)}),
        ([f(3, 4)], {"axes": (0, 1), "starts": (-1, 1), "ends": (2**31 - 1, 3), "infer_flags": (1, 1), "decrease_axis": (0,)}),
        ([f(3, 4)], {"axes": (0, 1), "starts": (1, 2), "ends": (2, 3), "infer_flags": (1, 1), "decrease_axis": (0, 1)}),
        ([f(3, 4)], {"axes": (1,), "starts": (-3,), "ends": (-1,)}),
        ([f(3, 4)], {"axes": (0,), "starts": (2,), "ends": (9,)}),
        ([f(3, 4)], {"axes": (1,), "starts": (3,), "ends": (1,)}),
    ],
    "strided_slice": [
        ([f(5, 4)], {"axes": (0,), "starts": (0,), "ends": (5,), "strides": (2,)}),
        ([f(5, 4)], {"axes": (0, 1), "starts": (2**31 - 1, -1), "ends": (-(2**31), -4), "strides": (-1, -2)}),
        ([f(5, 4)], {"axes": (1,), "starts": (1,), "ends": (9,), "strides": (3,)}),
    ],
    "set_value": [
        ([f(3, 4)], {**STEPS, "decrease_axes": (), "none_axes": (), "shape": (1,), "values": (5.0,)}),
        ([f(3, 4)], {"starts": (1,), "ends": (2,), "steps": (1,), "axes": (0,), "decrease_axes": (0,), "none_axes": (), "shape": (4,), "values": (1.0, 2.0, 3.0, 4.0)}),
        ([f(5)], {"starts": (4,), "ends": (-9,), "steps": (-2,), "axes": (0,), "decrease_axes": (), "none_axes": (), "shape": (3,), "values": (1.0, 2.0, 3.0)}),
    ],
    "set_value_with_tensor": [
        ([f(3, 4), f(2, 2)], STEPS),
        ([f(3, 4), f(1)], STEPS),
        ([f(3, 4), f()], STEPS),
        ([f(3, 4), f(4)], {"starts": (-1,), "ends": (3,), "steps": (1,), "axes": (0,), "decrease_axes": (0,)}),
        ([f(3, 4), f(3, 1)], {"starts": (3,), "ends": (-9,), "steps": (-2,), "axes": (1,)}),
        ([f(3, 4), f(1, 2, 2)], STEPS),
    ],
    # gather.py
    "gather": [([f(3, 4), ints(2, 0, 2)], {}), ([f(3, 4), ints(1, 1)], {"axis": -1}), ([f(3, 4), np.array(1)], {"axis": 1}), ([f(3, 2), np.array([[1], [0]])], {}), ([f(3), np.array(2)], {}), ([f(3, 2), np.zeros(0, "int64")], {})],
    "index_select": [([f(3, 4), ints(2, 0, 2)], {}), ([f(3, 4), ints(1, 3)], {"axis": 1})],
    "index_add": [([f(3, 4), ints(2, 0, 2), f(3, 4)], {}), ([f(3, 4), ints(1, 1), f(3, 2)], {"axis": 1}), ([f(2, 4), np.arange(66) % 3 - 1, f(2, 66)], {"axis": 1})],
    "scatter": [([f(4, 2), ints(2, 0), f(2, 2)], {}), ([f(4, 2), ints(2, 0, 2), f(3, 2)], {"overwrite": False}), ([f(4), ints(3, 1), f(2)], {})],
    "gather_nd": [([f(3, 4), np.array([[0, 1], [2, 3], [0, 1]])], {}), ([f(3, 4), np.array([[1], [1]])], {}), ([f(3, 4, 2), np.array([[[0, 1]], [[2, 3]]])], {}), ([f(3), np.array([2])], {})],
    "scatter_nd_add": [([f(3, 4), np.array([[0, 1], [2, 3], [0, 1]]), f(3)], {}), ([f(3, 4), np.array([[1], [1]]), f(2, 4)], {})],
    "index_put": [([f(3, 4), [ints(0, 2), ints(1, 3)], f(2)], {}), ([f(3, 4), [ints(0, 2)], f(4)], {}), ([f(3, 4), [ints(0, 0)], f(2, 4)], {"accumulate": True}), ([f(2, 2), [np.array([[True, False], [True, True]])], f(1)], {})],
    "index_get": [([f(3, 4), [ints(0, 2), ints(1, 3)]], {}), ([f(3, 4), [ints(0, 0)]], {})],
    "take_along_axis": [([f(3, 4), np.array([[0, 2], [1, 1], [3, 0]])], {"axis": 1}), ([f(3, 4), np.array([[0, 2, 1, 1]])], {"axis": -2})],
    "put_along_axis": [
        ([f(3, 4), np.array([[0, 2], [1, 3], [3, 0]]), f(3, 2)], {"axis": 1}),
        ([f(3, 4), np.array([[0, 0], [1, 1], [3, 0]]), f(3, 2)], {"axis": 1, "reduce": "add"}),
        ([f(3, 4), np.array([[0, 0], [1, 1], [3, 0]]), f(3, 2)], {"axis": -1, "reduce": "add", "include_self": False}),
    ],
    "index_sample": [([f(2, 4), np.array([[0, 3, 0], [1, 1, 2]])], {})],
    "embedding": [([ints(2, 0, 2), f(3, 4)], {}), ([np.array([[1, 0], [2, 2]]), f(3, 2)], {"padding_idx": 2}), ([np.array(1), f(3, 2)], {})],
}  # fmt: skip
