"""Wrong calls: op -> calls that it refuses, each (inputs, attributes).

Shapes that don't fit, dtypes that don't mix, axes that are not there, sizes that are impossible. (What is
not a Tensor, and attributes of the wrong type, the test tries by itself for every op.)
"""

import numpy as np


def f(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def ints(*values):
    return np.array(values, "int64")


_two_shapes = [([f(2, 3), f(4)], {}), ([f(2), f(3)], {})]
_mixed = [([f(2), ints(1, 2)], {})]
_bad_axis = [([f(2, 3)], {"axis": 2}), ([f(2, 3)], {"axis": -3})]
_bad_axes = [([f(2, 3)], {"axis": (2,)}), ([f(2, 3)], {"axis": (0, -3)})]
_image, _filter = f(1, 4, 5, 5), f(2, 4, 3, 3)
_pool = {
    "kernel_size": (2, 2), "strides": (1, 1), "paddings": (0, 0), "ceil_mode": False, "exclusive": True,
    "data_format": "NCHW", "pooling_type": "max", "global_pooling": False, "adaptive": False,
    "padding_algorithm": "EXPLICIT",
}  # fmt: skip

WRONG = {
    # two Tensors, element by element
    **dict.fromkeys(("add", "multiply", "divide", "maximum", "minimum", "fmax", "fmin"), _two_shapes + _mixed),
    "subtract": [*_two_shapes, *_mixed, ([f(2, dtype="bool"), f(2, dtype="bool")], {})],
    **dict.fromkeys(("remainder", "floor_divide", "elementwise_pow", "logical_and", "logical_or"), _two_shapes),
    **dict.fromkeys(("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"), _two_shapes),
    **dict.fromkeys(("isclose", "allclose"), [*_two_shapes, ([f(2, 3), f(3)], {}), *_mixed]),
    "lerp": [([f(2), f(3), f(1)], {}), ([f(2), f(2), f(3)], {}), ([f(2), f(2), f(2, dtype="float64")], {}), ([ints(1), ints(2), ints(3)], {})],
    "gcd": [*_two_shapes, ([ints(1, 2), ints(1, 2, 3)], {}), ([ints(1), np.ones(1, "int32")], {})],
    "equal_all": _mixed,
    "bitwise_and": [([ints(1, 2), ints(1, 2, 3)], {}), ([f(2), f(2)], {})],
    "where": [([f(2, dtype="bool"), f(2), f(3)], {})],
    # one Tensor
    **{op: [([ints(1, 2)], {})] for op in ("relu", "silu", "gelu", "softmax", "log_softmax", "softplus", "hardswish", "leaky_relu", "elu", "thresholded_relu", "gammaln")},
    "mish": [([ints(1, 2)], {"lambda_": 20.0})],
    "softmax": _bad_axis,
    "log_softmax": _bad_axis,
    "clip": [([f(2)], {"min": 2.0, "max": 1.0})],
    # reductions
    **dict.fromkeys(("sum", "mean", "max", "min", "amax", "amin", "all", "any", "logsumexp"), _bad_axes),
    "prod": [([f(2, 3)], {"axis": (2,), "keepdim": False, "reduce_all": False})],
    "p_norm": [([f(2, 3)], {"axis": 2})],
    "argmax": _bad_axis,
    "argmin": _bad_axis,
    "cumsum": _bad_axis,
    "argsort": _bad_axis,
    "cumprod": [([f(2, 3)], {"dim": 2}), ([f(2, 3)], {"dim": -3})],
    "renorm": [([ints(1, 2)], {"p": 2.0, "axis": 0, "max_norm": 1.0}), ([f(2)], {"p": 2.0, "axis": 1, "max_norm": 1.0})],
    "topk": [([f(2, 3)], {"k": 4}), ([f(2, 3)], {"k": 0}), ([f(2, 3)], {"k": 1, "axis": 2})],
    # shapes
    "reshape": [([f(2, 3)], {"shape": (4,)}), ([f(2, 3)], {"shape": (-1, -1)}), ([f(2, 3)], {"shape": (4, -1)}), ([f(2, 3)], {"shape": (-2, 3)})],
    "transpose": [([f(2, 3)], {"perm": (0, 0)}), ([f(2, 3)], {"perm": (0, 2)})],
    "squeeze": _bad_axes,
    "unsqueeze": [([f(2, 3)], {"axis": (3,)}), ([f(2, 3)], {"axis": (-4,)})],
    "flatten": [([f(2, 3)], {"start_axis": 2, "stop_axis": 2}), ([f(2, 3)], {"start_axis": 1, "stop_axis": 0})],
    "expand": [([f(2, 3)], {"shape": (3,)}), ([f(2, 3)], {"shape": (4, 3)})],
    "expand_as": [([f(2, 3), f(4, 3)], {"target_shape": (4, 3)})],
    "tile": [([f(2)], {"repeat_times": (-1,)})],
    "flip": [([f(2, 3)], {"axis": (2,)})],
    "roll": [([f(2, 3)], {"shifts": (1,), "axis": (2,)}), ([f(2, 3)], {"shifts": (1, 2), "axis": (0,)})],
    "tril": [([f(2)], {})],
    "triu": [([f(2)], {})],
    "concat": [([[f(2, 3), f(2, 4)]], {"axis": 0}), ([[f(2), f(2)]], {"axis": 1}), ([[]], {"axis": 0})],
    "stack": [([[f(2), f(3)]], {}), ([[f(2), f(2)]], {"axis": 2})],
    "split": [([f(4)], {"sections": (1, 2), "axis": 0}), ([f(4)], {"sections": (-1, -1), "axis": 0}), ([f(4)], {"sections": (2, 2), "axis": 1})],
    "split_with_num": [([f(4)], {"num": 3, "axis": 0}), ([f(4)], {"num": 2, "axis": 1})],
    "unbind": [([f(2)], {"axis": 1})],
    "add_n": [([[f(2), f(3)]], {}), ([[]], {})],
    "broadcast_tensors": [([[f(2), f(3)]], {})],
    "slice": [([f(4)], {"axes": (1,), "starts": (0,), "ends": (1,)}), ([f(4)], {"axes": (0,), "starts": (0, 1), "ends": (1,)})],
    "strided_slice": [([f(4)], {"axes": (1,), "starts": (0,), "ends": (1,), "strides": (1,)}), ([f(4)], {"axes": (0,), "starts": (0,), "ends": (2,), "strides": (0,)})],
    "pad": [([f(2)], {"paddings": (1,), "pad_value": 0.0})],
    "pad3d": [([f(2, 3)], {"paddings": (1, 1, 1, 1, 1, 1)}), ([f(1, 1, 2, 2, 2)], {"paddings": (1, 1, 1, 1, 1, 1), "mode": "sideways"})],
    "diagonal": [([f(3)], {}), ([f(2, 3)], {"axis1": 2}), ([f(2, 3)], {"axis2": 0})],
    "trace": [([f(3)], {}), ([f(2, 3)], {"axis1": -3}), ([f(2, 3)], {"axis2": 0})],
    "diag": [([f(2, 2, 2)], {})],
    "fill_diagonal_tensor": [([f(3, 4), f(2)], {}), ([f(3), f(3)], {})],
    # finding
    "gather": [([f(3), f(2)], {}), ([f(3, 2), ints(0)], {"axis": 2}), ([f(3), ints(5)], {})],
    "index_select": [([f(3), f(2)], {}), ([f(3), ints(0)], {"axis": 1}), ([f(3), ints(5)], {})],
    "median": [([f(2, 3)], {"axis": (2,)}), ([f(2, 3)], {"mode": "max"})],
    "repeat_interleave": [([f(3)], {"repeats": 0, "axis": 0}), ([f(3)], {"repeats": 2, "axis": 1}), ([f(3)], {"repeats": 2, "axis": 0, "output_size": 5})],
    "repeat_interleave_with_tensor_index": [([f(3), ints(1, 2)], {"axis": 0}), ([f(3), f(3)], {"axis": 0}), ([f(3), ints(1, -1, 1)], {"axis": 0}), ([f(3), ints(1, 1, 1)], {"axis": 1}), ([f(3), ints(1, 1, 1)], {"axis": 0, "output_size": 5})],
    "gather_nd": [([f(3), f(2, 1)], {}), ([f(3), ints(0, 1)], {}), ([f(3), ints(5)], {})],
    "scatter": [([f(3, 2), ints(0, 1), f(3, 2)], {}), ([f(3), ints(7), f(1)], {})],
    "embedding": [([ints(0, 5), f(3, 2)], {}), ([f(2), f(3, 2)], {})],
    "take_along_axis": [([f(2, 3), ints(0, 1)], {"axis": 0})],
    "one_hot": [([f(2)], {"num_classes": 3})],
    "masked_select": [([f(3), f(3)], {})],
    "index_sample": [([f(2, 3), np.ones((3, 1), "int64")], {})],
    # products
    "matmul": [([f(2, 3), f(4, 5)], {}), ([f(), f(2)], {}), ([f(2, 2, 3), f(3, 3, 2)], {}), ([f(2, 3), f(2, 3)], {"transpose_x": True, "transpose_y": True})],
    "kron": [([f(2), ints(1, 2)], {})],
    "bmm": [([f(2, 3), f(3, 2)], {}), ([f(1, 2, 3), f(1, 2, 3)], {}), ([f(2, 2, 3), f(3, 3, 2)], {})],
    "dot": [([f(3), f(4)], {}), ([f(2, 2, 2), f(2, 2, 2)], {})],
    "addmm": [([f(2, 2), f(2, 3), f(2, 3)], {})],
    # neural networks
    "conv2d": [([_image, f(2, 3, 3, 3)], {}), ([f(4, 5, 5), _filter], {}), ([_image, _filter], {"strides": (0, 1)}), ([_image, _filter], {"groups": 3}), ([_image, f(2, 4, 9, 9)], {})],
    "depthwise_conv2d": [([_image, f(4, 2, 3, 3)], {"groups": 3})],
    "pool2d": [([f(4, 5)], _pool), ([f(1, 1, 2, 2)], {**_pool, "kernel_size": (5, 5)}), ([_image], {**_pool, "strides": (0, 0)})],
    "bilinear_interp": [([f(1, 2, 3), None, None, None], {"out_h": 2, "out_w": 2}), ([_image, None, None, None], {"out_h": 2}), ([_image, None, None, None], {"out_h": 2, "out_w": 2, "interp_method": "linear"}), ([_image, None, None, None], {"scale": (-1.0,)})],
    "layer_norm": [([f(2, 3), f(4), f(3)], {}), ([f(2, 3), None, None], {"begin_norm_axis": 2})],
    "group_norm": [([f(1, 4, 2, 2), f(3), None], {"groups": 2}), ([f(1, 4, 2, 2), None, None], {"groups": 3})],
    "batch_norm_": [([_image, f(3), f(4), f(4), f(4)], {"is_test": True, "momentum": 0.9, "epsilon": 1e-5, "data_format": "NCHW", "use_global_stats": False, "trainable_statistics": False})],
    # losses
    "cross_entropy_with_softmax": [([f(3, 4), ints(0, 1, 2)], {}), ([f(3, 4), np.zeros((2, 1), "int64")], {}), ([f(3, 4), np.full((3, 1), 7)], {}), ([f(3, 4), f(3, 1)], {}), ([f(3, 4), np.zeros((3, 1), "int64")], {"axis": 3})],
    "bce_loss": [([f(2), f(3)], {}), ([f(2) * 2, f(2)], {})],
    "sigmoid_cross_entropy_with_logits": [([f(2), f(3), None], {})],
    "huber_loss": [([f(2), f(3)], {"delta": 1.0})],
    "kldiv_loss": [([f(2), f(3)], {}), ([f(2), f(2)], {"reduction": "sideways"})],
    "nll_loss": [([f(2, 3), ints(0), None], {}), ([f(2, 3), ints(0, 5), None], {})],
    # optimizers
    "sgd_": [([f(2), f(1), f(3), None], {})],
    "momentum_": [([f(2), f(3), f(2), f(1), None], {"mu": 0.9})],
    # making Tensors
    "full": [([], {"shape": (-2,), "value": 1.0})],
    "arange": [([], {"start": 0, "end": 5, "step": 0, "dtype": "int64"})],
    "eye": [([], {"num_rows": -1, "num_columns": 2})],
    "randint": [([], {"low": 3, "high": 3, "shape": (2,)})],
    "randperm": [([], {"n": -1, "dtype": "int64"})],
    "multinomial": [([f(3)], {"num_samples": 5}), ([f(3)], {"num_samples": 0})],
}  # fmt: skip
