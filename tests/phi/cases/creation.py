"""Cases of phi/ops/creation.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "full": [([], {"shape": (2, 3), "value": 1.5}), ([], {"shape": (), "dtype": "int64"})],
    "full_int_array": [([], {"value": (1, -1)}), ([], {"value": ()})],
    "full_like": [([f(2, 3)], {"value": 2.0, "dtype": "float32"})],
    "assign_value": [
        ([], {"shape": (2, 2), "dtype": "float32", "values": (1.0, 2.0, 3.0, 4.0)})
    ],
    "uniform": [([], {"shape": (2, 3), "seed": 5}), ([], {"shape": (0,), "seed": 5})],
}  # fmt: skip
