"""optimizer: from gradients to new parameters.

Paddle: python/paddle/optimizer/.
Left out: Adagrad, Adadelta, Adamax, RMSProp, Lamb, NAdam, RAdam, ASGD, Rprop, LBFGS.
"""

from minipaddle.optimizer import lr
from minipaddle.optimizer.adam import Adam
from minipaddle.optimizer.adamw import AdamW
from minipaddle.optimizer.momentum import Momentum
from minipaddle.optimizer.optimizer import Optimizer
from minipaddle.optimizer.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Momentum", "Optimizer", "lr"]
