"""Cases of phi/ops/conv.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

WINDOW = {"kernel_sizes": (2, 3), "strides": (2, 1), "paddings": (1, 0, 0, 2), "dilations": (1, 2)}

CALLS = {
    "unfold": [
        ([f(2, 2, 4, 5)], WINDOW),
        ([f(1, 2, 3, 3)], {"kernel_sizes": (2, 2), "strides": (1, 1), "paddings": (0, 0, 0, 0), "dilations": (1, 1)}),
    ],
    "fold": [
        ([f(2, 12, 15)], WINDOW | {"output_sizes": (4, 5), "paddings": (1, 2, 1, 2)}),
        ([f(1, 4, 4)], {"output_sizes": (3, 3), "kernel_sizes": (2, 2), "strides": (1, 1), "paddings": (0, 0, 0, 0), "dilations": (1, 1)}),
    ],
    "conv2d": [
        ([f(2, 2, 4, 5), f(3, 2, 3, 2)], {}),
        ([f(2, 2, 5, 4), f(2, 2, 3, 3)], {"strides": (2, 1), "paddings": (1, 2)}),
        ([f(1, 2, 5, 5), f(2, 2, 2, 2)], {"paddings": (1, 0, 0, 2), "dilations": (2, 1)}),
        ([f(2, 4, 3, 3), f(4, 2, 2, 2)], {"groups": 2, "padding_algorithm": "SAME"}),
        ([f(1, 2, 5, 4), f(2, 2, 3, 3)], {"strides": (2, 2), "padding_algorithm": "SAME"}),
        ([f(1, 2, 4, 4), f(2, 2, 3, 3)], {"paddings": (1, 1), "padding_algorithm": "VALID"}),
        ([f(2, 3, 4, 4), f(2, 3, 1, 1)], {}),
        ([f(2, 3, 4, 4), f(2, 3, 1, 1)], {"strides": (2, 2)}),
        ([f(2, 4, 3, 2), f(3, 2, 2, 2)], {"data_format": "NHWC", "paddings": (1, 0)}),
    ],
    "depthwise_conv2d": [
        ([f(2, 3, 4, 4), f(3, 1, 3, 3)], {"groups": 3, "paddings": (1, 1)}),
        ([f(1, 2, 5, 4), f(4, 1, 2, 2)], {"groups": 2, "strides": (2, 1)}),
    ],
}  # fmt: skip
