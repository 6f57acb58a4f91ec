"""Cases of phi/ops/manipulation.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "reshape": [([f(2, 3)], {"shape": (3, 2)}), ([f(2, 3)], {"shape": (-1,)}), ([f(2, 3)], {"shape": (0, -1)}), ([f(0, 3)], {"shape": (0, -1)}), ([f(1)], {"shape": ()})],
    "reshape_as": [([f(2, 3), f(3, 2)], {})],
    "unsqueeze": [([f(2, 3)], {"axis": (0,)}), ([f(2, 3)], {"axis": (1, -1)}), ([f()], {"axis": (0,)})],
    "squeeze": [([f(1, 3, 1)], {}), ([f(1, 3, 1)], {"axis": (0,)}), ([f(2, 1)], {"axis": (0,)}), ([f(2, 1, 1)], {"axis": (-1, 1)})],
    "flatten": [([f(2, 3, 4)], {}), ([f(2, 3, 4)], {"start_axis": 1, "stop_axis": -1}), ([f(2, 3)], {"start_axis": 0, "stop_axis": 1}), ([f()], {"start_axis": 0, "stop_axis": 0}), ([f(2, 0, 3)], {"start_axis": 0, "stop_axis": 2})],
    "transpose": [([f(2, 3)], {"perm": (1, 0)}), ([f(2, 3, 4)], {"perm": (2, 0, 1)}), ([f(2, 3, 4)], {"perm": (0, -1, 1)})],
    "cast": [([f(2, 3)], {"dtype": "float64"}), ([np.array([1, 2])], {"dtype": "float32"}), ([np.array([0, 2])], {"dtype": "bool"}), ([f(3)], {"dtype": "int32"})],
    "expand": [([f(1, 3)], {"shape": (2, 3)}), ([f(3, 1)], {"shape": (2, -1, 4)}), ([f()], {"shape": (2,)}), ([f(2, 3)], {"shape": (2, 3)}), ([f(1, 3)], {"shape": (0, 3)})],
    "expand_as": [([f(1, 3), f(2, 3)], {}), ([f(3), f(2, 3)], {}), ([f(3), None], {"target_shape": (2, 3)})],
    "reduce_as": [([f(2, 3), f(3)], {}), ([f(2, 3), f(2, 1)], {}), ([f(2, 3), f()], {})],
    "assign": [([f(2, 3)], {}), ([f()], {})],
    "one_hot": [([np.array([0, 2])], {"num_classes": 3}), ([np.array([[1]])], {"num_classes": 3})],
    "flip": [([f(2, 3)], {"axis": (0,)}), ([f(2, 3, 2)], {"axis": (-1, 0)})],
    "roll": [([f(2, 3)], {"shifts": (1,)}), ([f(2, 3)], {"shifts": (-1, 2), "axis": (0, 1)}), ([f(3, 4)], {"shifts": (7,), "axis": (-1,)})],
    "tril": [([f(3, 4)], {}), ([f(2, 3, 3)], {"diagonal": 1}), ([f(3, 3)], {"diagonal": -1})],
    "triu": [([f(3, 4)], {}), ([f(2, 3, 3)], {"diagonal": 1}), ([f(3, 3)], {"diagonal": -5})],
    # join.py
    "concat": [([[f(2, 3), f(1, 3)]], {}), ([[f(2, 3), f(2, 1), f(2, 2)]], {"axis": -1}), ([[f(2)]], {"axis": 0}), ([[f(0, 2), f(1, 2)]], {})],
    "stack": [([[f(2, 3), f(2, 3)]], {}), ([[f(2), f(2), f(2)]], {"axis": -1}), ([[f(), f()]], {"axis": 0}), ([[f(2, 3)]], {"axis": 1})],
    "split": [([f(5, 2)], {"sections": (2, 3), "axis": 0}), ([f(2, 6)], {"sections": (1, -1, 2), "axis": -1})],
    "split_with_num": [([f(4, 2)], {"num": 2, "axis": 0}), ([f(2, 6)], {"num": 3, "axis": -1})],
    "unbind": [([f(3, 2)], {}), ([f(2, 3, 2)], {"axis": -2}), ([f(2)], {})],
    "unstack": [([f(3, 2)], {"axis": 0, "num": 3}), ([f(2, 3)], {"axis": -1, "num": 3})],
    "broadcast_tensors": [([[f(3), f(2, 1)]], {}), ([[f(2), f(2)]], {}), ([[f(), f(1, 2), f(3, 1)]], {})],
    "meshgrid": [([[f(2), f(3)]], {}), ([[f(2), f(3), f(1)]], {})],
    "tile": [([f(2, 3)], {"repeat_times": (2, 1)}), ([f(3)], {"repeat_times": (2, 3)}), ([f(2, 1, 3)], {"repeat_times": (2,)}), ([f()], {"repeat_times": (3,)}), ([f(2)], {"repeat_times": ()})],
    # diagonal.py
    "diagonal": [([f(3, 4)], {}), ([f(2, 3, 4)], {"offset": 1, "axis1": 2, "axis2": 0}), ([f(3, 4)], {"offset": -1}), ([f(2, 3)], {"offset": 5})],
    "fill_diagonal_tensor": [([f(3, 4), f(3)], {}), ([f(2, 3, 4), f(2, 3)], {"offset": 1, "dim1": 1, "dim2": 2}), ([f(3, 4), f(2)], {"offset": -1}), ([f(2, 3, 2), f(3, 1)], {"offset": -1, "dim1": 2, "dim2": 0})],
    "diag": [([f(3)], {}), ([f(3)], {"offset": -1, "padding_value": 0.5}), ([f()], {}), ([f(3, 4)], {"offset": 1}), ([f(3, 2)], {"offset": -1}), ([f(2, 3)], {"offset": 7}), ([np.array([1, 2])], {"padding_value": 3.0})],
    "trace": [([f(3, 4)], {}), ([f(2, 3, 4)], {"offset": 1, "axis1": 0, "axis2": -1}), ([f(2, 3)], {"offset": 7}), ([np.array([[1, 2], [3, 4]])], {})],
    # pad.py
    "pad": [([f(2, 3)], {"paddings": (1, 0, 2, 1), "pad_value": 0.5}), ([f(3)], {"paddings": (0, 2), "pad_value": 0.0})],
    "pad3d": [
        ([f(1, 2, 2, 3, 4)], {"paddings": (1, 2, 0, 1, 1, 0), "pad_value": 2.0}),
        ([f(1, 2, 3, 3, 1)], {"paddings": (1, 2, 0, 1, 1, 1), "data_format": "NDHWC"}),
        ([f(1, 1, 2, 3, 4)], {"paddings": (2, 3, 1, 2, 1, 0), "mode": "reflect"}),
        ([f(1, 1, 2, 3, 2)], {"paddings": (2, 3, 1, 0, 0, 2), "mode": "replicate"}),
        ([f(1, 1, 2, 3, 4)], {"paddings": (4, 1, 1, 2, 2, 0), "mode": "circular"}),
    ],
}  # fmt: skip
