"""nn: layers, and the functions behind them.

Paddle: python/paddle/nn/.
"""

from minipaddle.nn import functional, initializer
from minipaddle.nn.layer.activation import ReLU, Softmax, Tanh
from minipaddle.nn.layer.common import Linear
from minipaddle.nn.layer.container import Sequential
from minipaddle.nn.layer.layers import Layer
from minipaddle.nn.layer.loss import CrossEntropyLoss
from minipaddle.nn.param_attr import ParamAttr

__all__ = [
    "CrossEntropyLoss",
    "Layer",
    "Linear",
    "ParamAttr",
    "ReLU",
    "Sequential",
    "Softmax",
    "Tanh",
    "functional",
    "initializer",
]
