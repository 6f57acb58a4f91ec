"""tensor: the functions that users call, `paddle.mean(x)`, and the same as methods, `x.mean()`.

Many of them are the op itself. The others only give arguments their user-facing form, in every
world alike. Each file lists its functions in `__all__`; what stands there is in `paddle`, and, if
it takes a Tensor first, a method of Tensor, Variable and Value.

    aliases        other names of functions, as PyTorch has them
    attribute      what a Tensor is, as a Tensor
    creation       making Tensors
    indexing       x[...] and x[...] = values, in ops: the same ones in every world
    linalg         linear algebra
    logic          comparisons, logic and bits
    manipulation   shapes, dtypes, order, joining and taking apart
    math           arithmetic, reductions, functions written in others
    ops            functions of one number, each the op itself
    random         random Tensors
    search         finding, sorting, choosing
    stat           statistics
    to             Tensor.to: another dtype, another device

Paddle: python/paddle/tensor/.
"""

from __future__ import annotations

from functools import partialmethod
from typing import Any

from minipaddle.phi.core.op import OPS
from minipaddle.phi.math_op_patch import patch_methods
from minipaddle.tensor import (
    aliases,
    attribute,
    creation,
    indexing,
    linalg,
    logic,
    manipulation,
    math,
    ops,
    random,
    search,
    stat,
    to,
)

FILES = (aliases, attribute, creation, linalg, logic, manipulation, math, ops, random, search, stat)

# functions that don't take a Tensor first, or that Paddle has no method for
NOT_METHODS = {
    "cat",
    "concatenate",
    "ger",
    "assign",
    "full_like",
    "ones_like",
    "rand",
    "uniform",
    "zeros_like",
}
NOT_METHODS |= {"einsum", "full", "ones", "zeros", "arange", "empty", "empty_like", "eye"}
NOT_METHODS |= {"linspace", "meshgrid", "bernoulli", "normal", "randint", "randint_like"}
NOT_METHODS |= {"randn", "randperm", "shape", "standard_normal"}

METHODS: dict[str, Any] = {
    name: getattr(file, name) for file in FILES for name in file.__all__ if name not in NOT_METHODS
}
METHODS["astype"] = manipulation.astype
METHODS["lerp_"] = math.lerp_
METHODS |= to.METHODS
METHODS["fill_diagonal_tensor"] = OPS["fill_diagonal_tensor"]
# x.tanh_(), x.add_(y): the in-place forms follow from declarations
_inplace = {f"{_op.name}_": _op.inplace_op for _op in list(OPS.values()) if _op.inplace_form}
METHODS = {**_inplace, **METHODS}
METHODS |= {alias: METHODS[name] for alias, name in aliases.INPLACE.items()}

# most of them are functions of `paddle` as well; not these, as in Paddle
INPLACE_NOT_FUNCTIONS = {"add_", "assign_", "bce_loss_", "ceil_", "clip_", "elu_", "exp_", "fill_"}
INPLACE_NOT_FUNCTIONS |= {"cross_entropy_with_softmax_", "floor_", "hardtanh_", "increment_"}
INPLACE_NOT_FUNCTIONS |= {"leaky_relu_", "lerp_", "put_along_axis_", "reciprocal_", "relu_"}
INPLACE_NOT_FUNCTIONS |= {"round_", "rsqrt_", "scale_", "set_value_", "set_value_with_tensor_"}
INPLACE_NOT_FUNCTIONS |= {"sigmoid_", "sigmoid_cross_entropy_with_logits_", "silu_", "softmax_"}
INPLACE_NOT_FUNCTIONS |= {"sqrt_", "fill_diagonal_tensor_", "thresholded_relu_"}
INPLACE_NOT_FUNCTIONS |= {"clamp_", "mul_"}
INPLACE_FUNCTIONS = {
    name: METHODS[name] for name in METHODS if name[-1] == "_" and name not in INPLACE_NOT_FUNCTIONS
}
METHODS["zero_"] = partialmethod(METHODS["fill_"], value=0)  # a method only


def _transposed(self: Any) -> Any:
    """All axes in reverse order; with one axis, x itself."""
    if self.ndim == 1:
        return self
    return linalg.transpose(self, perm=list(range(self.ndim))[::-1])


patch_methods({**METHODS, **indexing.METHODS, "T": property(_transposed)})
