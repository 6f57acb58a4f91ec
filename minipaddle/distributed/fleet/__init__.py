"""fleet: what training of large models needs.

Paddle: python/paddle/distributed/fleet/.
Left out: all but utils.recompute.
"""

from minipaddle.distributed.fleet import utils

__all__ = ["utils"]
