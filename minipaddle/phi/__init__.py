"""phi: what an op is. Declarations, InferMeta, kernels, and how a call finds its world.

Paddle: paddle/phi/.
"""

from minipaddle.phi import math_op_patch, ops
from minipaddle.phi.core.op import OPS, Op, find_op, op

__all__ = ["OPS", "Op", "find_op", "math_op_patch", "op", "ops"]
