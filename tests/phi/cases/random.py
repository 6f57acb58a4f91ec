"""Cases of phi/ops/random.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "uniform": [([], {"shape": (2, 3), "seed": 5}), ([], {"shape": (0,), "seed": 5}), ([], {"shape": (), "dtype": "float64", "min": 2.0, "max": 3.0})],
    "gaussian": [([], {"shape": (2, 3), "mean": 1.0, "std": 2.0, "seed": 0, "dtype": "float32"}), ([], {"shape": (0,), "mean": 0.0, "std": 1.0, "seed": 5, "dtype": "float64"})],
    "truncated_gaussian_random": [
        ([], {"shape": (3, 4), "mean": 1.0, "std": 2.0, "seed": 3, "a": -2.0, "b": 2.0}),
        ([], {"shape": (), "mean": 0.0, "std": 1.0, "seed": 3, "a": 5.0, "b": 5.0, "dtype": "float64"}),
    ],
    "randint": [([], {"low": -3, "high": 4, "shape": (2, 3)}), ([], {"low": 0, "high": 1, "shape": (), "dtype": "int32"})],
    "randperm": [([], {"n": 5, "dtype": "int64"}), ([], {"n": 1, "dtype": "float32"})],
    "bernoulli": [([np.array([[0.0, 0.5], [1.0, 0.2]])], {})],
    "multinomial": [([positive(4)], {"num_samples": 2}), ([positive(2, 3)], {"num_samples": 5, "replacement": True})],
    "dropout": [
        ([f(3, 4), None], {"p": 0.4, "mode": "upscale_in_train"}),
        ([f(3, 4), None], {"p": 0.4, "mode": "downgrade_in_infer"}),
        ([f(3, 4), None], {"p": 0.4, "mode": "upscale_in_train", "is_test": True}),
        ([f(3, 4), None], {"p": 0.4, "is_test": True}),
        ([f(3, 4), None], {"p": 1.0, "mode": "upscale_in_train", "seed": 3, "fix_seed": True}),
        ([f(3, 4), np.array([7], "int32")], {"p": 0.5}),
    ],
}  # fmt: skip
