"""Linear and others. Paddle: python/paddle/nn/functional/common.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = [
    "linear",
]


def linear(x: Any, weight: Any, bias: Any = None, name: Any = None) -> Any:
    """x [..., in] @ weight [in, out] + bias [out]."""
    out = OPS["matmul"](x, weight)
    return out if bias is None else OPS["add"](out, bias)
