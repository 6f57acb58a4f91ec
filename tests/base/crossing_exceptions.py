"""What does not cross between our classic Programs and real Paddle's, and why. Every line has its
reason; there are no others.

Beside these: where Paddle's CPU build has no kernel for float64, the case crosses in float32; where
it has none for that either (integers in `sin`), there is nothing to compare with.
"""

# Ops that Paddle's classic Programs don't have.
NOT_THERE = {
    "clip_by_norm": "Paddle's kernel is for float32 on GPUs",
    "fc": "only a fusion pass makes it, for inference programs",
    "full_with_tensor": "there, it is fill_constant with the input ValueTensor",
    "gcd": "written here: paddle.gcd is a loop there",
    "index_get": "written here: x[tensors], for which a classic Program has slice and gather_nd",
    "interpolate_back": "written here: the gradient of the five ops *_interp",
    "reshape_as": "written here: the gradient of reshape, for which Paddle has reshape2_grad",
    "rms_norm": "its kernel is for GPUs",
}

# Ops with other inputs there.
OTHER_INPUTS = {
    "assign_value_": "writes into an input; there, assign_value has no input",
    "full_": "writes into an input; there, fill_constant has no input",
    "full_int_array": "belongs to PIR programs: the kernel is not made for a classic one",
    "einsum": "keeps InnerCache and XShape for its gradient: parts of its own way of computing",
    "select_input": "its inputs are branches of cond: compared in test_control_flow.py",
    "select_output": "its outputs are branches of cond: compared in test_control_flow.py",
    "fused_elemwise_add_activation": "made by a pass only: compared in test_memory_optimization.py",
}

# Ops whose gradient does not cross.
GRADIENT = {
    "median": "there, median is for dygraph and PIR: the gradient takes its places for numbers",
    "remainder": "elementwise_mod has no gradient there",
}

_no_scale = "Paddle's gradient of a classic Program wants a scale, or ends the process"

# Cases that don't cross: op -> (is it such a case?, why).
CASES = {
    "all": (lambda inputs, attrs: inputs[0].size == 0, "Paddle gives what memory held"),
    "any": (lambda inputs, attrs: inputs[0].size == 0, "Paddle gives what memory held"),
    "batch_norm_": (lambda inputs, attrs: inputs[3] is None, _no_scale),
    "divide": (
        lambda inputs, attrs: inputs[0].dtype.kind == "i",
        "Paddle's kernel gives integers there, though division gives floats everywhere else",
    ),
    "group_norm": (lambda inputs, attrs: inputs[1] is None, _no_scale),
    "p_norm": (lambda inputs, attrs: inputs[0].ndim == 0, "Paddle ends the process"),
    "repeat_interleave": (lambda inputs, attrs: attrs["axis"] < 0, "Paddle ends the process"),
    "reshape": (
        lambda inputs, attrs: inputs[0].size == 0 and -1 in attrs["shape"],
        "Paddle refuses to guess a size where there are no elements",
    ),
}

TABLES = (NOT_THERE, OTHER_INPUTS, GRADIENT, CASES)
