"""Cases of phi/ops/norm.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {}
