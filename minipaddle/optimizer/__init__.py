"""optimizer: from gradients to new parameters.

Paddle: python/paddle/optimizer/.
"""

from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.sgd import SGD

__all__ = ["SGD", "Optimizer"]
