"""Cases of phi/ops/pooling.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f = numbers.away_from_zero


def pool(kernel_size, strides, paddings=(0, 0), **others):
    """All attributes of pool2d: it has no defaults."""
    return {
        "kernel_size": kernel_size,
        "strides": strides,
        "paddings": paddings,
        "ceil_mode": False,
        "exclusive": True,
        "data_format": "NCHW",
        "pooling_type": "max",
        "global_pooling": False,
        "adaptive": False,
        "padding_algorithm": "EXPLICIT",
    } | others


def mean(*args, **others):
    return pool(*args, pooling_type="avg", **others)


CALLS = {
    "pool2d": [
        ([f(2, 2, 4, 6)], pool((2, 2), (2, 2))),
        ([f(1, 2, 5, 5)], pool((3, 3), (2, 2), (1, 1))),
        ([f(1, 2, 5, 6)], pool((2, 3), (1, 2), (1, 0, 0, 2))),
        ([f(1, 1, 5, 5)], pool((2, 2), (2, 2), ceil_mode=True)),
        ([f(1, 2, 5, 4)], pool((3, 2), (2, 2), padding_algorithm="SAME")),
        ([f(1, 2, 5, 4)], pool((3, 2), (9, 9), (1, 1), global_pooling=True)),
        # no adaptive maximum: Paddle's CPU kernel takes windows of kernel_size there
        ([f(2, 4, 3, 2)], pool((2, 2), (2, 1), data_format="NHWC")),
        # sizes of windows are powers of two: Paddle divides by others in float32, also in float64
        ([f(2, 2, 4, 6)], mean((2, 2), (2, 2))),
        ([f(1, 2, 5, 5)], mean((4, 2), (2, 2), (1, 1))),
        ([f(1, 2, 5, 5)], mean((2, 2), (2, 3), (1, 1))),
        ([f(1, 2, 5, 5)], mean((4, 2), (2, 2), (1, 1), exclusive=False)),
        ([f(1, 2, 5, 6)], mean((2, 4), (1, 2), (1, 0, 0, 2), exclusive=False)),
        ([f(1, 1, 5, 5)], mean((2, 2), (2, 2), ceil_mode=True)),
        ([f(1, 1, 5, 5)], mean((4, 2), (2, 2), (1, 1), ceil_mode=True, exclusive=False)),
        ([f(1, 2, 5, 4)], mean((4, 2), (2, 2), padding_algorithm="SAME", exclusive=False)),
        ([f(1, 2, 4, 4)], mean((4, 2), (1, 1), global_pooling=True)),
        ([f(2, 2, 8, 4)], mean((1, 1), (1, 1), adaptive=True)),
        ([f(1, 2, 6, 4)], mean((4, 2), (1, 1), adaptive=True)),
        ([f(1, 1, 2, 3)], mean((3, 5), (1, 1), adaptive=True)),
        ([f(2, 4, 3, 2)], mean((2, 2), (2, 1), (1, 0), data_format="NHWC")),
    ],
    "max_pool2d_with_index": [
        ([f(2, 2, 4, 6)], {"kernel_size": (2, 2), "strides": (2, 2)}),
        ([f(1, 2, 5, 5)], {"kernel_size": (3, 2), "strides": (2, 1), "paddings": (1, 1)}),
        ([f(1, 1, 5, 5)], {"kernel_size": (2, 2), "strides": (2, 2), "ceil_mode": True}),
        ([f(1, 2, 5, 4)], {"kernel_size": (3, 2), "adaptive": True}),
        ([f(1, 2, 5, 4)], {"kernel_size": (3, 2), "global_pooling": True}),
    ],
}
