"""Cases of phi/ops/activation.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

BOTH = [([f(2, 3)], {}), ([f()], {}), ([f(0, 2)], {})]
WIDE = [([np.array([-30.0, -4.0, -1.5, 0.5, 2.0, 5.0, 30.0])], {})]
INTS = [([np.array([-2, 0, 3])], {})]

CALLS = {
    "relu": BOTH,
    "relu6": [*BOTH, *WIDE],
    "leaky_relu": [*BOTH, ([f(2, 3)], {"negative_slope": 0.25})],
    "hardtanh": [*WIDE, ([f(2, 3)], {"t_min": -1.0, "t_max": 0.875}), ([f()], {})],
    "hardsigmoid": [*BOTH, *WIDE, ([f(2, 3)], {"slope": 1.0, "offset": 0.25})],
    "hardswish": [*BOTH, *WIDE],
    "sigmoid": [*BOTH, *WIDE, *INTS],
    "logsigmoid": [*BOTH, *WIDE],
    "tanh": [*BOTH, *WIDE, *INTS],
    "silu": [*BOTH, *WIDE],
    "swish": [*BOTH, *WIDE],
    "gelu": [*BOTH, *WIDE, ([f(2, 3)], {"approximate": True}), ([f()], {"approximate": True})],
    "softplus": [*BOTH, *WIDE, ([f(2, 3)], {"beta": 3.0, "threshold": 2.0})],
    "elu": [*BOTH, *WIDE, ([f(2, 3)], {"alpha": 0.25})],
    "mish": [([x], {"lambda_": 20.0}) for [x], _ in [*BOTH, *WIDE]],
    "thresholded_relu": [*BOTH, *WIDE, ([f(2, 3)], {"threshold": 0.25, "value": -2.0})],
    "softmax": [
        ([f(2, 3)], {}), ([f(2, 3)], {"axis": 0}), ([f(2, 3, 2)], {"axis": -2}), ([f()], {}),
        ([np.array([1000.0, 999.0, -1000.0])], {}),
    ],
    "log_softmax": [
        ([f(2, 3)], {}), ([f(2, 3)], {"axis": 0}), ([f(2, 3, 2)], {"axis": -2}), ([f()], {}),
        ([np.array([1000.0, 999.0, -1000.0])], {}),
    ],
}  # fmt: skip
