"""Where minipaddle differs from real Paddle, and why. Every line has its reason; there are no others.

There is one difference that needs no line: where the CPU build of Paddle has no kernel for a dtype (mostly
float16), numpy computes, and nothing is compared.
"""

import numpy as np

# Ops that Paddle's _C_ops has not, or not as a function that can be called like the others.
NOT_IN_C_OPS = {
    "assert": "made by static.nn.control_flow.Assert only: compared in tests/base/test_assert.py",
    "assign_value": "makes a Value of a program, in dygraph too; dygraph has assign_value_",
    "einsum": "called by paddle.einsum only, which cuts the equation into pairs of operands first",
    "fc": "only a fusion pass makes it: Paddle registers it for PIR programs",
    "fused_elemwise_add_activation": "only a pass makes it: compared in tests/base/test_compiler.py",
    "gcd": "written here: paddle.gcd is a loop there, which our PIR programs don't have",
    "interpolate_back": "written here: the gradient of the five ops *_interp",
    "index_get": "written here: x[tensors], for which Paddle has the C++ function of __getitem__",
    "print": "shows itself by static.Print only: compared in tests/static/test_nn.py",
    "select_input": "stands in classic Programs only: tests/base/test_control_flow.py",
    "select_output": "stands in classic Programs only: tests/base/test_control_flow_grad.py",
    "matmul_with_flatten": "takes Values of a program only: crosses in tests/base/test_crossing.py",
    "reshape_as": "written here: the gradient of reshape, for which Paddle has reshape_grad",
}

# Ops that Paddle's _C_ops calls otherwise in dygraph.
OTHER_NAME = {"batch_norm_": "batch_norm"}

# Ops of which only so many outputs are compared: the others are kept for the gradient. Paddle does not
# return them; batch_norm_ does, but in evaluation they hold what memory held.
COMPARED_OUTPUTS = {
    "batch_norm_": 3,
    "dropout": 1,
    "group_norm": 1,
    "huber_loss": 1,
    "instance_norm": 1,
    "layer_norm": 1,
}

# Sizes that are not known before the op runs, as in Paddle: InferMeta says -1.
UNKNOWN_SIZES = {
    "batch_norm_": "reserve_space: what a GPU's library keeps for the gradient",
    "bilinear_interp": "what out_size or scale_tensor holds",
    "masked_select": "as many as the mask says",
    "nonzero": "as many as there are",
    "repeat_interleave_with_tensor_index": "as many as the numbers add up to",
    "sequence_mask": "as wide as the longest sequence",
    "unique": "as many as there are",
}

# Ops that make as many outputs as an axis is long: they refuse one whose length is not known.
REFUSES_UNKNOWN_SIZE = ("unbind", "unstack")

# Attributes that are Tensors in Paddle's dygraph.
TENSORS_THERE = {
    "arange": ("start", "end", "step"),
    "linspace": ("start", "stop", "number"),
}

# How Paddle's _C_ops takes the attributes, where its binding for Python is not the op's own signature.
ARGUMENTS = {
    op: lambda attrs: [
        None if attrs["flatten"] else attrs["axis"],
        attrs["keepdims"],
        attrs["dtype"],
    ]
    for op in ("argmax", "argmin")
}

# Agreement to 7 digits only, also in float64.
FLOAT32_INSIDE = {
    "pool2d": "Paddle's gradient of a mean divides in float32",
    "linear_interp": "Paddle's weights are float32, and so are ours",
    "bilinear_interp": "the same",
    "trilinear_interp": "the same",
    "bicubic_interp": "the same",
}

# Same shape and dtype, other numbers.
OTHER_NUMBERS = {
    "bernoulli": "another generator of random numbers",
    "dropout": "another generator of random numbers",
    "empty": "what memory happens to hold; zeros here",
    "gaussian": "another generator of random numbers",
    "multinomial": "another generator of random numbers",
    "randint": "another generator of random numbers",
    "randperm": "another generator of random numbers",
    "truncated_gaussian_random": "another generator of random numbers",
    "uniform": "another generator of random numbers",
}


def _axis_from_the_end(inputs, attrs):
    return attrs.get("axis", 0) < 0


_turned_round = (
    _axis_from_the_end,
    "Paddle's op wants axes counted from the front: its Python function turns the others round",
)

_other_dtype = (
    lambda inputs, attrs: str(inputs[0].dtype) != attrs["dtype"],
    "written in place in another dtype: Paddle gives the Tensor new memory",
)

# Cases that are not compared: op -> (is it such a case?, why).
NOT_COMPARED = {
    "assign_value_": _other_dtype,
    "cumsum": (
        lambda inputs, attrs: inputs[0].ndim == 0 and attrs.get("exclusive"),
        "Paddle copies a single number; the sum of what comes before it is 0",
    ),
    "full_": _other_dtype,
    "log_softmax": (
        lambda inputs, attrs: inputs[0].size > 0 and np.ptp(inputs[0]) > 60,
        "Paddle's CPU kernel cuts differences off at -64, which is not the logarithm of softmax",
    ),
    "matmul": (
        lambda inputs, attrs: inputs[0].ndim != inputs[1].ndim and min(map(np.ndim, inputs)) > 2,
        "Paddle's gradient fails where one batch has more axes than the other",
    ),
    "p_norm": (
        lambda inputs, attrs: inputs[0].ndim == 0,
        "Paddle ends the process",
    ),
    "put_along_axis": _turned_round,
    "split": _turned_round,
    "split_with_num": _turned_round,
    "take_along_axis": _turned_round,
}

# Gradients that are not compared.
GRADIENT_NOT_COMPARED = {
    "fill_diagonal_tensor": (lambda inputs, attrs: True, "Paddle's has no gradient for y"),
    "group_norm": (
        lambda inputs, attrs: inputs[1] is None,
        "without scale, Paddle's CPU kernel gives a gradient that is not the numeric one: that of "
        "the sum must be 0, and is 1.2 there (tests/nn/test_conv_pool_norm.py)",
    ),
    "masked_fill": (
        lambda inputs, attrs: True,
        "Paddle's CPU kernel gives what memory held as the gradient of value",
    ),
}

# In-place forms that are not compared.
INPLACE_NOT_COMPARED = {
    "cumsum": (
        lambda inputs, attrs: attrs.get("exclusive"),
        "Paddle's kernel overwrites x before it has read it",
    ),
}

# Attributes for which Paddle takes a text and reads a number out of it, beside IntArray and Scalar.
READ_FROM_TEXT = ("full.value", "full_.value", "pow.y", "scale.bias")

_clear = "Paddle computes, with what memory holds"
_ends = "Paddle ends the process"
_no_place = (
    "a place that is not there is an IndexError for every op, as for Paddle's gather and scatter"
)

# Ops that speak of themselves by the name of their public function.
SPEAKS_AS = {"split_with_num": "split"}

# Kinds of errors: op -> {what Paddle raises ("" where it computes): (what is raised here, why)}.
OTHER_ERROR = {
    "conv2d": {"abort": ("ValueError", _ends)},
    "cross_entropy_with_softmax": {
        "": ("TypeError", "Paddle casts labels; a fraction is a mistake")
    },
    "embedding": {
        "ValueError": ("IndexError", _no_place),
        "NotImplementedError": ("ValueError", "a wrong dtype is not a missing feature"),
    },
    "eye": {"RuntimeError": ("ValueError", "Paddle notices later, that the Tensor is not valid")},
    "fill_diagonal_tensor": {
        "ValueError": ("IndexError", "an axis that is not there is an IndexError, as for diagonal")
    },
    "gather": {"IndexError": ("ValueError", "a wrong axis is a ValueError for every op")},
    "gather_nd": {"ValueError": ("IndexError", _no_place)},
    "index_select": {
        "IndexError": ("ValueError", "a wrong axis is a ValueError for every op"),
        "ValueError": ("IndexError", _no_place),
    },
    "median": {"": ("ValueError", "Paddle takes any other mode for 'min'")},
    "momentum_": {"": ("ValueError", _clear)},
    "pad3d": {"abort": ("ValueError", _ends)},
    "randperm": {
        "RuntimeError": ("ValueError", "Paddle notices later, that the Tensor is not valid")
    },
    "repeat_interleave": {"": ("ValueError", _clear)},
    "renorm": {"abort": ("ValueError", _ends)},
    "scatter": {"": ("ValueError", "Paddle leaves out the updates that have no place")},
    "sgd_": {"": ("ValueError", _clear)},
    "take_along_axis": {"": ("ValueError", _clear)},
}

# Operations that look otherwise in PIR.
OTHER_OPERATION = {
    "fill_diagonal_tensor_grad": "Paddle's has no gradient for y",
    "set_value_grad": "Paddle's hands out_grad on as it is; the rows that were written have no gradient",
}

# Ops that can't be called with _C_ops in a PIR program.
NOT_IN_PIR = {
    "rms_norm": "there, Paddle's takes the 16-bit dtypes of GPUs only",
    "unique": "Paddle ends the process",
}

# Ops that C++ calls otherwise.
NAME_IN_CPP = {"batch_norm_": "batch_norm"}

# Inputs that are lists of Tensors in Paddle.
ONE_TENSOR_HERE = {"size_tensor": "never given: the size is one Tensor, out_size"}

# Defaults that are not those of C++.
OTHER_DEFAULT = {
    "full_int_array.dtype": "float32 in C++, but it is int64 wherever it is used",
    "full.place": "the current device: Paddle's Python functions say so at every call",
    "empty.place": "the current device: Paddle's Python functions say so at every call",
}

TABLES = (
    NOT_IN_C_OPS,
    OTHER_NAME,
    COMPARED_OUTPUTS,
    UNKNOWN_SIZES,
    TENSORS_THERE,
    ARGUMENTS,
    FLOAT32_INSIDE,
    OTHER_NUMBERS,
    NOT_COMPARED,
    GRADIENT_NOT_COMPARED,
    INPLACE_NOT_COMPARED,
    OTHER_ERROR,
)
