"""phi: what an op is. Declarations, InferMeta, kernels, and how a call finds its world.

Paddle: paddle/phi/.
"""

import warnings

from minipaddle.phi import math_op_patch, ops
from minipaddle.phi.core.op import OPS, Op, find_op, op

__all__ = ["OPS", "Op", "find_op", "math_op_patch", "op", "ops"]

# 1 / 0 is inf and log(-1) is nan: in silence, as in Paddle. Only for what our kernels compute.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minipaddle\.phi\.")
