"""Cases of phi/ops/metric.py: op -> calls, each (inputs, attributes)."""

import numpy as np

from tests.phi.cases.numbers import Numbers

f = Numbers(__name__).away_from_zero

INDICES = np.array([[2, 0], [1, 4], [3, 1]])

CALLS = {
    "accuracy": [
        ([f(3, 2), INDICES, np.array([[0], [1], [2]])], {}),
        ([f(3, 1), INDICES[:, :1], np.array([[0], [1], [2]])], {}),
        ([f(3, 2).astype("float64"), INDICES, np.array([[9], [9], [9]])], {}),
    ],
}
