"""Cases of phi/ops/optimizer.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

rate = np.array(0.1)
# mu, coeff: numbers that 32 bits hold exactly, because Paddle's C++ keeps them in a float.
# rescale_grad and lr_ratio: see tests/optimizer; on a CPU, Paddle leaves them out.


def adam(*shape, largest=None, skip=None, steps=3):
    """The inputs of Adam: param, grad, learning_rate, its state after `steps` steps, and so on."""
    powers = np.array([0.9**steps]), np.array([0.999**steps])
    return [f(*shape), f(*shape), rate, f(*shape), positive(*shape), largest, *powers, None, skip]


CALLS = {
    "sgd_": [
        ([f(2, 3), rate, f(2, 3), None], {}),
        ([f(2, 3), np.array([0.1]), f(2, 3), None], {}),
        ([np.array(f()), rate, np.array(f()), None], {}),
        ([f(0, 3), rate, f(0, 3), None], {}),
    ],
    "momentum_": [
        ([f(2, 3), f(2, 3), f(2, 3), rate, None], {"mu": 0.75}),
        ([f(2, 3), f(2, 3), f(2, 3), rate, None], {"mu": 0.75, "use_nesterov": True}),
        (
            [f(3), f(3), f(3), np.array([0.1]), None],
            {
                "mu": 0.5,
                "regularization_method": "l2_decay",
                "regularization_coeff": 0.125,
            },
        ),
        ([np.array(f()), np.array(f()), np.array(f()), rate, None], {"mu": 0.75}),
    ],
    "adam_": [
        (adam(2, 3), {}),
        (adam(2, 3, steps=1), {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-3}),
        (adam(3, largest=positive(3)), {"amsgrad": True}),
        (adam(3, skip=np.array([True])), {}),
        (adam(3, skip=np.array([False])), {"use_global_beta_pow": True}),
        (adam(0, 2), {}),
    ],
    "adamw_": [
        (adam(2, 3), {"with_decay": True, "coeff": 0.125}),
        (adam(2, 3), {"with_decay": True, "coeff": 0.5, "epsilon": 1e-3}),
        (adam(3, steps=1), {"coeff": 0.5}),
        (adam(3, largest=positive(3)), {"amsgrad": True, "with_decay": True, "coeff": 0.125}),
        (adam(3, skip=np.array([True])), {"with_decay": True}),
    ],
}  # fmt: skip
