"""functional: layers without parameters of their own.

Paddle: python/paddle/nn/functional/.
"""

from minipaddle.nn.functional.activation import *
from minipaddle.nn.functional.common import *
from minipaddle.nn.functional.conv import *
from minipaddle.nn.functional.extension import *
from minipaddle.nn.functional.flash_attention import *
from minipaddle.nn.functional.input import *
from minipaddle.nn.functional.loss import *
from minipaddle.nn.functional.norm import *
from minipaddle.nn.functional.pooling import *
