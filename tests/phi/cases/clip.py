"""Cases of clip_by_norm in phi/ops/p_norm.py: op -> calls, each (inputs, attributes)."""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

CALLS = {
    "clip_by_norm": [
        ([f(2, 3)], {"max_norm": 0.5}),
        ([f(2, 3)], {"max_norm": 100.0}),
        ([np.asarray(f())], {"max_norm": 0.125}),
        ([np.zeros((2, 2))], {"max_norm": 1.0}),
        ([np.zeros((0, 2))], {"max_norm": 1.0}),
    ],
}
