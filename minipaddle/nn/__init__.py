"""nn: layers, and the functions behind them.

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
