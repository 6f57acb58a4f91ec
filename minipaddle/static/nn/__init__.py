"""static.nn: what only programs have.

    common         layers as functions, which make their own parameters
    control_flow   conditions and loops in programs
    structure      nests of lists, tuples and dicts, as functions of cond and while_loop return

Paddle: python/paddle/static/nn/.
"""

from minipaddle.static.nn import control_flow
from minipaddle.static.nn.common import batch_norm, embedding, fc
from minipaddle.static.nn.control_flow import case, cond, switch_case, while_loop

__all__ = [
    "batch_norm",
    "case",
    "cond",
    "control_flow",
    "embedding",
    "fc",
    "switch_case",
    "while_loop",
]
