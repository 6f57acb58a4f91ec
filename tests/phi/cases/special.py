"""Cases of phi/ops/special.py: op -> calls, each (inputs, attributes)."""

import numpy as np

from tests.phi.cases.numbers import Numbers

f = Numbers(__name__).away_from_zero

INTS = np.array([1, 4], "int32")
# of both signs, between the poles at 0, -1, -2, ...; small, and beyond where the series begin
PLACES = np.array([[-3.4, -1.5, -0.2], [0.1, 1.0, 2.0], [3.7, 9.5, 25.0]])
SMALL, LARGE = np.array([[-4.0, -1.0, -0.3], [0.2, 1.5, 5.0]]), np.array([-21.0, 19.5, 20.5])
GAMMA = [([PLACES], {}), ([f()], {}), ([f(0, 2)], {})]
BESSEL = [([SMALL], {}), ([LARGE], {}), ([f()], {}), ([INTS], {}), ([f(0, 2)], {})]

CALLS = {
    "logit": [
        ([np.array([[0.1, 0.3], [0.5, 0.95]])], {"eps": 0.0}),
        ([np.array([-0.5, 0.05, 0.3, 0.7, 0.95, 2.0])], {"eps": 0.2}),
        ([np.array(0.4)], {}),
        ([np.array([0, 1])], {"eps": 0.25}),
    ],
    "lgamma": [*GAMMA, ([INTS], {})],
    "gammaln": GAMMA,
    "digamma": [*GAMMA, ([INTS], {})],
    "polygamma": [
        *[(inputs, {"n": 1}) for inputs, _ in GAMMA],
        ([np.array([-1.4, 0.8, 2.0, 4.5])], {"n": 2}),
        ([np.array([-1.4, 0.8, 2.0])], {"n": 5}),
        ([INTS], {"n": 1}),
    ],
    "i0": BESSEL,
    "i0e": BESSEL,
    "i1": [*BESSEL, ([np.array([0.0])], {})],
    "i1e": BESSEL,
}  # fmt: skip
