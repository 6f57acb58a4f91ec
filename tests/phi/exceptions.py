"""Where minipaddle differs from real Paddle, and why. Every line has its reason; there are no others."""

# Ops that Paddle's _C_ops has not, or not as a function that can be called like the others.
NOT_IN_C_OPS = {
    "reshape_as": "written here: the gradient of reshape, for which Paddle has reshape_grad",
    "fc": "only a fusion pass makes it: Paddle registers it for PIR programs",
}

# Ops that Paddle's _C_ops calls otherwise in dygraph.
OTHER_NAME = {"batch_norm_": "batch_norm"}

# Ops of which only so many outputs are compared: the others are kept for the gradient. Paddle does not
# return them; batch_norm_ does, but in evaluation they hold what memory held.
COMPARED_OUTPUTS = {
    "batch_norm_": 3,
    "group_norm": 1,
    "huber_loss": 1,
    "instance_norm": 1,
    "layer_norm": 1,
}

# Sizes that are not known before the op runs, as in Paddle: InferMeta says -1.
UNKNOWN_SIZES = {"batch_norm_": "reserve_space: what a GPU's library keeps for the gradient"}

# Attributes that our op has and the Python binding of Paddle's op has not.
NOT_IN_SIGNATURE: dict[str, tuple[str, ...]] = {}

# Outputs that Paddle has and ours has not, at the end.
FEWER_OUTPUTS: dict[str, str] = {}

# Same shape and dtype, other numbers.
OTHER_NUMBERS = {
    "uniform": "another generator of random numbers",
}

# Calls that Paddle refuses and minipaddle computes.
ONLY_PADDLE_REFUSES: dict[str, str] = {}

# Second gradients that differ.
OTHER_SECOND: dict[str, str] = {}

TABLES = (
    NOT_IN_C_OPS,
    NOT_IN_SIGNATURE,
    FEWER_OUTPUTS,
    OTHER_NUMBERS,
    ONLY_PADDLE_REFUSES,
    OTHER_SECOND,
)
