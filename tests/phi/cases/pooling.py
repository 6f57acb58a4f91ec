"""Cases of phi/ops/pooling.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

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


def resize(shape, method, *size, **others):
    """One call of an interpolation; without a size, `scale` says it."""
    names = ("out_d", "out_h", "out_w")[-len(size) :] if size else ()
    attrs = {"interp_method": method, "align_corners": False, "align_mode": 0}
    return [f(*shape), None, None, None], {**attrs, **dict(zip(names, size)), **others}


_edge, _corners, _last = {"align_mode": 1}, {"align_corners": True}, {"data_format": "NHWC"}

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
    # interpolate.py
    "nearest_interp": [
        resize((1, 2, 3, 4), "nearest", 5, 3),
        resize((1, 1, 2, 3), "nearest", scale=(2.0, 1.5)),
        resize((1, 2, 2, 3, 2), "nearest", 3, 2, 5),
        resize((1, 3, 4, 2), "nearest", 6, 7, **_last),
        resize((1, 1, 3, 5), "nearest", 5, 4, **_corners),
        resize((2, 1, 5, 4), "nearest", scale=(0.6, 0.6)),
    ],
    "linear_interp": [
        resize((2, 1, 4), "linear", 7),
        resize((1, 2, 4), "linear", 3, **_edge),
        resize((1, 4, 2), "linear", 6, **_corners, **_last),
        resize((1, 1, 3), "linear", scale=(1.7,)),
    ],
    "bilinear_interp": [
        resize((1, 2, 3, 4), "bilinear", 5, 3),
        resize((1, 1, 2, 3), "bilinear", scale=(2.0, 1.5)),
        resize((1, 2, 3, 4), "bilinear", 5, 7, **_edge),
        resize((1, 3, 4, 2), "bilinear", 6, 7, **_last),
        resize((1, 1, 3, 5), "bilinear", 5, 4, **_corners),
        resize((1, 1, 3, 2), "bilinear", 1, 1, **_corners),
        ([f(1, 1, 3, 2), np.array([4, 3], "int32"), None, None], {}),
        ([f(1, 1, 3, 2), None, None, np.array([2.0, 1.5], "float32")], {}),
    ],
    "trilinear_interp": [
        resize((1, 1, 2, 3, 2), "trilinear", 3, 4, 3),
        resize((1, 1, 2, 3, 2), "trilinear", scale=(2.0, 2.0, 2.0), **_corners),
        resize((1, 2, 2, 3, 1), "trilinear", 3, 2, 1, **_edge, **_last),
    ],
    "bicubic_interp": [
        resize((1, 2, 3, 4), "bicubic", 5, 3),
        resize((1, 1, 4, 3), "bicubic", 7, 6, **_corners),
        resize((1, 4, 4, 1), "bicubic", scale=(1.5, 1.5), **_last),
    ],
    "interpolate_back": [
        (
            [f(1, 1, 3, 4), f(1, 1, 5, 3), None],
            {
                "data_format": "NCHW",
                "scale": (),
                "interp_method": "bilinear",
                "align_corners": False,
                "align_mode": 0,
            },
        ),
    ],
}
