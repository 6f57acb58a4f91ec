"""Other names of functions, as PyTorch has them. Paddle has them in python/paddle/__init__.py."""

from __future__ import annotations

from minipaddle.tensor.linalg import transpose as swapdims
from minipaddle.tensor.logic import equal as eq
from minipaddle.tensor.logic import greater_equal as ge
from minipaddle.tensor.logic import greater_than as gt
from minipaddle.tensor.logic import less_equal as le
from minipaddle.tensor.logic import less_than as less
from minipaddle.tensor.logic import less_than as lt
from minipaddle.tensor.logic import not_equal as ne
from minipaddle.tensor.manipulation import concat as cat
from minipaddle.tensor.manipulation import concat as concatenate
from minipaddle.tensor.manipulation import flip as reverse
from minipaddle.tensor.manipulation import take_along_axis as take_along_dim
from minipaddle.tensor.math import clip as clamp
from minipaddle.tensor.math import divide as div
from minipaddle.tensor.math import multiply as mul
from minipaddle.tensor.math import outer as ger
from minipaddle.tensor.math import subtract as sub

__all__ = [
    "cat",
    "clamp",
    "concatenate",
    "div",
    "eq",
    "ge",
    "ger",
    "gt",
    "le",
    "less",
    "lt",
    "mul",
    "ne",
    "reverse",
    "sub",
    "swapdims",
    "take_along_dim",
]

INPLACE = {
    "clamp_": "clip_",
    "div_": "divide_",
    "floor_mod_": "remainder_",
    "less_": "less_than_",
    "mod_": "remainder_",
    "mul_": "multiply_",
    "sub_": "subtract_",
}
