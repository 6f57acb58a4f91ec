"""phi: what an op is. Declarations, InferMeta, kernels, and how a call finds its world.

    core/           what an op is, what a kernel is, and how a call finds its world
    infermeta/      shapes and dtypes of an op's outputs, and the messages when inputs don't fit
    kernels/        pieces that several kernels share
    ops/            the ops, declared
    math_op_patch   `x + y`, `2 * x`, `x > 0`, for Tensors, Variables, Values and MetaTensors

Paddle: paddle/phi/.
"""

import warnings

from minipaddle.phi import math_op_patch, ops
from minipaddle.phi.core.op import OPS, Op, find_op, op

__all__ = ["OPS", "Op", "find_op", "math_op_patch", "op", "ops"]

# 1 / 0 is inf and log(-1) is nan: in silence, as in Paddle. Only for what our kernels compute.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minipaddle\.phi\.")
