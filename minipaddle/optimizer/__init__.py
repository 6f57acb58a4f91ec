"""optimizer: from gradients to new parameters.

    accumulator   what an optimizer keeps from step to step, made in each of the three worlds
    adam          Adam: each number of a parameter has a step size of its own
    adamw         AdamW: Adam with a weight decay that does not pass through the moments
    lr            schedulers: how big the steps are, as a function of how many were made
    momentum      Momentum: the parameter rolls on in the direction of earlier gradients
    optimizer     what all optimizers share: groups, learning rate, clipping, state, the step
    sgd           SGD: parameter -= learning_rate * gradient

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
