"""tensor: the functions that users call, `paddle.mean(x)`, and the same as methods, `x.mean()`.

Many of them are the op itself. The others only give arguments their user-facing form, in every
world alike. Each file lists its functions in `__all__`; what stands there is in `paddle`, and, if
it takes a Tensor first, a method of Tensor, Variable and Value.

Paddle: python/paddle/tensor/.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base.framework import Variable
from minipaddle.eager.tensor import Tensor
from minipaddle.pir.core.value import Value
from minipaddle.tensor import (
    creation,
    linalg,
    logic,
    manipulation,
    math,
    random,
    search,
    stat,
)

FILES = (creation, linalg, logic, manipulation, math, random, search, stat)

# functions that don't take a Tensor first, or that Paddle has no method for
NOT_METHODS = {"add_n", "assign", "full_like", "ones_like", "rand", "uniform", "zeros_like"}
NOT_METHODS |= {"full", "ones", "zeros"}

METHODS: dict[str, Any] = {
    name: getattr(file, name) for file in FILES for name in file.__all__ if name not in NOT_METHODS
}
METHODS["astype"] = manipulation.cast


def _transposed(self: Any) -> Any:
    """All axes in reverse order."""
    return linalg.transpose(self, perm=list(range(self.ndim))[::-1])


def monkey_patch_methods(classes: Sequence[type]) -> None:
    """Gives Tensor, Variable and Value the functions above as methods."""
    for cls in classes:
        for name, function in METHODS.items():
            setattr(cls, name, _as_method(name, function))
        cls.T = property(_transposed)  # type: ignore[attr-defined]


def _as_method(name: str, function: Any) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


monkey_patch_methods([Tensor, Variable, Value])
