"""tensor: the functions that users call, `paddle.mean(x)`, and the same as methods, `x.mean()`.

Most of them are the op itself. Those below only give arguments their user-facing form, in every
world alike.

Paddle: python/paddle/tensor/.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.base.framework import Variable
from minipaddle.common import dtype as dtypes
from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.op import OPS
from minipaddle.pir.core.value import Value

add = OPS["add"]
subtract = OPS["subtract"]
multiply = OPS["multiply"]
divide = OPS["divide"]
matmul = OPS["matmul"]
mean = OPS["mean"]
exp = OPS["exp"]
tanh = OPS["tanh"]
scale = OPS["scale"]
pow = OPS["pow"]
reshape = OPS["reshape"]
transpose = OPS["transpose"]
unsqueeze = OPS["unsqueeze"]
squeeze = OPS["squeeze"]
cast = OPS["cast"]
assign = OPS["assign"]
equal = OPS["equal"]
greater_than = OPS["greater_than"]
less_than = OPS["less_than"]
greater_equal = OPS["greater_equal"]
less_equal = OPS["less_equal"]
not_equal = OPS["not_equal"]


def sum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: Any = None
) -> Any:
    """The sum over `axis` (None: over all axes)."""
    dtype = dtypes.undefined if dtype is None else dtype
    return OPS["sum"](x, axis=axis, dtype=dtype, keepdim=keepdim)


def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of several Tensors of one shape; of one Tensor, a copy."""
    return OPS["add_n"](list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])


def argmax(
    x: Any, axis: int | None = None, keepdim: bool = False, dtype: Any = "int64", name: Any = None
) -> Any:
    """The position of the largest element along `axis`, or in all of x."""
    if axis is None:
        x, axis = reshape(x, shape=[-1]), 0
    return OPS["argmax"](x, axis=axis, keepdims=keepdim)


def full(shape: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor of `shape` filled with one number; the dtype defaults to that of the number."""
    if dtype is None:
        dtype = "bool" if isinstance(fill_value, bool) else dtypes.get_default_dtype()
    return OPS["full"](shape=shape, value=fill_value, dtype=dtype)


def zeros(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Zeros."""
    return full(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Ones."""
    return full(shape, 1.0, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor like x, filled with one number."""
    return OPS["full_like"](x, value=fill_value, dtype=x.dtype if dtype is None else dtype)


def zeros_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """Zeros, in the shape of x."""
    return full_like(x, 0.0, dtype)


def ones_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """Ones, in the shape of x."""
    return full_like(x, 1.0, dtype)


def uniform(
    shape: Any,
    dtype: Any = None,
    min: float = 0.0,
    max: float = 1.0,
    seed: int = 0,
    name: Any = None,
) -> Any:
    """Random numbers, evenly spread over [min, max)."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return OPS["uniform"](shape=shape, dtype=dtype, min=min, max=max, seed=seed)


def rand(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Random numbers, evenly spread over [0, 1)."""
    return uniform(shape, dtype, 0.0, 1.0)


def t(input: Any, name: Any = None) -> Any:
    """A matrix with its two axes swapped. Raises ValueError for more than two dimensions."""
    if input.ndim > 2:
        raise ValueError(
            f"t: expected at most 2 dimensions, but got shape {list(input.shape)}. Use transpose "
            "with a perm."
        )
    return input if input.ndim < 2 else transpose(input, perm=[1, 0])


def _transposed(self: Any) -> Any:
    """All axes in reverse order."""
    return transpose(self, perm=list(range(self.ndim))[::-1])


METHODS: dict[str, Any] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "matmul": matmul,
    "mean": mean,
    "exp": exp,
    "tanh": tanh,
    "scale": scale,
    "pow": pow,
    "reshape": reshape,
    "transpose": transpose,
    "unsqueeze": unsqueeze,
    "squeeze": squeeze,
    "cast": cast,
    "astype": cast,
    "sum": sum,
    "argmax": argmax,
    "t": t,
}


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
