"""static.nn: what only programs have.

Paddle: python/paddle/static/nn/.
"""

from minipaddle.static.nn import control_flow
from minipaddle.static.nn.common import fc
from minipaddle.static.nn.control_flow import case, cond, switch_case, while_loop

__all__ = ["case", "cond", "control_flow", "fc", "switch_case", "while_loop"]
