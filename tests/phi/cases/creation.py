"""Cases of phi/ops/creation.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "full": [([], {"shape": (2, 3), "value": 1.5}), ([], {"shape": (), "dtype": "int64"}), ([], {"shape": (0, 2), "value": True, "dtype": "bool"})],
    "full_": [([f(2, 3)], {"shape": (2, 3), "value": 1.5, "dtype": "float64"})],
    "full_with_tensor": [([f(1)], {"shape": (2, 3), "dtype": "float64"}), ([np.array(2)], {"shape": (2,), "dtype": "int64"})],
    "full_int_array": [([], {"value": (1, -1)}), ([], {"value": ()})],
    "full_like": [([f(2, 3)], {"value": 2.0, "dtype": "float32"}), ([f()], {"value": 1, "dtype": "int64"})],
    "empty": [([], {"shape": (2, 3)}), ([], {"shape": (0,), "dtype": "int64"})],
    "fill": [([f(2, 3)], {"value": 2.5}), ([np.array([1, 2])], {"value": 3})],
    "assign_value": [([], {"shape": (2, 2), "dtype": "float32", "values": (1.0, 2.0, 3.0, 4.0)})],
    "assign_value_": [([f(2)], {"shape": (2,), "dtype": "float64", "values": (1.0, 2.0)})],
    "arange": [([], {"start": 0, "end": 5, "step": 1, "dtype": "int64"}), ([], {"start": 3.0, "end": 0.5, "step": -0.5, "dtype": "float32"}), ([], {"start": 2, "end": 2, "step": 1, "dtype": "int32"})],
    "linspace": [([], {"start": 0.0, "stop": 2.0, "number": 5, "dtype": "float32"}), ([], {"start": 1.0, "stop": -1.0, "number": 1, "dtype": "float64"})],
    "eye": [([], {"num_rows": 3, "num_columns": 2}), ([], {"num_rows": 2, "num_columns": 2, "dtype": "int64"})],
    "shape64": [([f(2, 3)], {}), ([f()], {})],
    "sequence_mask": [([np.array([1, 3, 0])], {"max_len": 4, "out_dtype": "int64"}), ([np.array([[2], [1]])], {"max_len": -1, "out_dtype": "float32"})],
}  # fmt: skip
