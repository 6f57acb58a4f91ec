"""Cases of phi/ops/activation.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "relu": [([f(2, 3)], {}), ([f(0)], {})],
    "tanh": [([f(2, 3)], {})],
    "softmax": [([f(2, 3)], {}), ([f(2, 3)], {"axis": 0})],
}  # fmt: skip
