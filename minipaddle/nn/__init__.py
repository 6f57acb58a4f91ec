"""nn: layers, and the functions behind them.

    functional/    layers without parameters of their own
    initializer/   how a parameter gets its first numbers
    layer/         the layer classes, one file per family, as in Paddle
    utils/         what one does with the parameters of a network as a whole
    clip           ClipGradByNorm and its like: gradients that are too large are made smaller
    param_attr     ParamAttr: what a user says about a parameter; and the making of parameters

Paddle: python/paddle/nn/.
"""

from minipaddle.nn import clip, functional, initializer, utils
from minipaddle.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from minipaddle.nn.layer.activation import *
from minipaddle.nn.layer.common import *
from minipaddle.nn.layer.container import *
from minipaddle.nn.layer.conv import *
from minipaddle.nn.layer.layers import Layer
from minipaddle.nn.layer.loss import *
from minipaddle.nn.layer.norm import *
from minipaddle.nn.layer.pooling import *
from minipaddle.nn.layer.transformer import *
from minipaddle.nn.param_attr import ParamAttr
