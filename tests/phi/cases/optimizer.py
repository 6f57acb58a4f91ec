"""Cases of phi/ops/optimizer.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "sgd_": [([f(2, 3), np.array(0.1), f(2, 3), None], {})],
}  # fmt: skip
