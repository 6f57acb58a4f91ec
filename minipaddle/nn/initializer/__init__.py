"""initializer: how a parameter gets its first numbers. Each is a call of an op, so it works in
every world.

    assign        Assign
    constant      Constant
    initializer   the base class; gains and fans, from which the scale of random numbers follows
    kaiming       KaimingUniform and KaimingNormal, for layers that end in a relu
    normal        Normal and TruncatedNormal
    uniform       Uniform
    xavier        XavierUniform and XavierNormal: activations and gradients keep their size

Paddle: python/paddle/nn/initializer/.
Left out: Bilinear, Dirac, Orthogonal, lazy initialization.
"""

from minipaddle.nn.initializer.assign import Assign
from minipaddle.nn.initializer.constant import Constant
from minipaddle.nn.initializer.initializer import (
    Initializer,
    calculate_gain,
    default_initializer_for,
    set_global_initializer,
)
from minipaddle.nn.initializer.kaiming import KaimingNormal, KaimingUniform
from minipaddle.nn.initializer.normal import Normal, TruncatedNormal
from minipaddle.nn.initializer.uniform import Uniform
from minipaddle.nn.initializer.xavier import XavierNormal, XavierUniform

__all__ = [
    "Assign",
    "Constant",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
