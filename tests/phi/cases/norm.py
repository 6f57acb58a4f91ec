"""Cases of phi/ops/norm.py and batch_norm.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

EPSILON = 2.0**-10  # the same number in float32, in which Paddle has this attribute


def batch(**others):
    """All attributes of batch_norm_: it has no defaults."""
    return {
        "is_test": False,
        "momentum": 0.75,
        "epsilon": EPSILON,
        "data_format": "NCHW",
        "use_global_stats": False,
        "trainable_statistics": False,
    } | others


CALLS = {
    "batch_norm_": [
        ([f(3, 2, 2, 2), f(2), positive(2), f(2), f(2)], batch()),
        ([f(3, 2, 2, 2), f(2), positive(2), f(2), f(2)], batch(is_test=True)),
        ([f(3, 2, 2, 2), f(2), positive(2), f(2), f(2)], batch(use_global_stats=True)),
        ([f(4, 3), f(3), positive(3), None, None], batch()),
        ([f(4, 3), f(3), positive(3), None, None], batch(is_test=True)),
        ([f(2, 2, 2, 3), f(3), positive(3), f(3), f(3)], batch(data_format="NHWC")),
        ([f(2, 2, 2, 3), f(3), positive(3), f(3), f(3)], batch(data_format="NHWC", is_test=True)),
        ([f(1, 3, 1, 1), f(3), positive(3), f(3), f(3)], batch()),
    ],
    "layer_norm": [
        ([f(2, 3, 4), f(4), f(4)], {"begin_norm_axis": 2}),
        ([f(2, 3, 2), f(6), None], {"epsilon": EPSILON}),
        ([f(3, 4), None, f(4)], {}),
        ([f(3, 4), None, None], {}),
    ],
    "group_norm": [
        ([f(2, 4, 2, 2), f(4), f(4)], {"groups": 2}),
        ([f(2, 4, 3), None, f(4)], {"groups": 1, "epsilon": EPSILON}),
        ([f(2, 4, 2), f(4), None], {"groups": 2}),
        ([f(2, 6), None, None], {"groups": 2}),
        ([f(2, 2, 2, 4), f(4), f(4)], {"groups": 2, "data_format": "NHWC"}),
    ],
    "instance_norm": [
        ([f(2, 2, 3, 2), f(2), f(2)], {"epsilon": EPSILON}),
        ([f(2, 3, 4), None, None], {"epsilon": EPSILON}),
    ],
    "rms_norm": [
        ([f(2, 3, 4), f(4)], {"normalized_shape": (4,)}),
        ([f(2, 3, 2), f(3, 2)], {"normalized_shape": (3, 2), "epsilon": EPSILON}),
        ([f(3, 4), None], {"normalized_shape": (4,)}),
    ],
    "renorm": [
        ([f(2, 3)], {"p": 2.0, "axis": 0, "max_norm": 0.75}),
        ([f(2, 3, 2)], {"p": 1.0, "axis": 1, "max_norm": 2.5}),
        ([f(2, 3)], {"p": 3.0, "axis": 1, "max_norm": 1.0}),
        ([f(3)], {"p": 2.0, "axis": 0, "max_norm": 0.5}),
        ([f(2, 3)], {"p": 2.0, "axis": 0, "max_norm": 100.0}),
        ([f(2, 3) * [[0.0], [2.0]]], {"p": 2.0, "axis": 0, "max_norm": 1.0}),
    ],
}  # fmt: skip
