"""Cases of phi/ops/loss.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

LABELS = np.array([[0], [2], [1]])

CALLS = {
    "cross_entropy_with_softmax": [
        ([f(3, 4), LABELS], {}),
        ([f(3, 4), np.array([[0], [-100], [1]])], {}),
        ([f(2, 4), np.array([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]])], {"soft_label": True}),
    ],
}  # fmt: skip
