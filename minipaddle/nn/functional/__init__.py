"""functional: layers without parameters of their own.

    activation        activations
    common            linear, dropout, pad, cosine_similarity, unfold and fold
    conv              convolutions
    extension         sequence_mask
    flash_attention   attention
    input             one_hot, embedding
    interp            interpolate: images of another size
    loss              how far an answer is from what it should be, as one number or one per sample
    norm              normalisations
    padding           size, stride and padding of windows, in one form
    pooling           pooling

Paddle: python/paddle/nn/functional/.
"""

from minipaddle.nn.functional.activation import *
from minipaddle.nn.functional.common import *
from minipaddle.nn.functional.conv import *
from minipaddle.nn.functional.extension import *
from minipaddle.nn.functional.flash_attention import *
from minipaddle.nn.functional.input import *
from minipaddle.nn.functional.interp import *
from minipaddle.nn.functional.loss import *
from minipaddle.nn.functional.norm import *
from minipaddle.nn.functional.pooling import *
