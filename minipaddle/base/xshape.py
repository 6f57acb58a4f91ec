"""XShape: what `reshape2` and its like keep for their gradient: the input's shape, and no data.

A variable can't hold a shape alone, so XShape is a Tensor of shape [0, *shape]: it has no elements.

Paddle: paddle/phi/kernels/reshape_kernel.h (ReshapeWithXShapeKernel, ReshapeGradKernel).
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import Op
from minipaddle.phi.core.signature import Input


def _xshape(xp: Any, x: Any) -> Any:
    return xp.empty((0, *x.shape), x.dtype)


def _reshape_back(xp: Any, xshape: Any, out_grad: Any) -> Any:
    return out_grad.reshape(xshape.shape[1:])


# Not in phi's table of ops: phi's gradients ask the input itself for its shape.
XSHAPE = Op("xshape", _xshape, (Input("x"),), (), outputs=("xshape",), traits=("Pure",))
RESHAPE_BACK = Op(
    "reshape_back", _reshape_back, (Input("x"), Input("out_grad")), (), outputs=("x_grad",)
)
