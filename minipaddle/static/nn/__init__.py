"""static.nn: what only programs have.

Paddle: python/paddle/static/nn/.
"""

from minipaddle.static.nn import control_flow

__all__ = ["control_flow"]
