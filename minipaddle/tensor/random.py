"""Random Tensors. Paddle: python/paddle/tensor/random.py.

`paddle.seed(n)` makes a run repeatable. The numbers are not Paddle's, their distribution is.
Left out: poisson, exponential_, standard_gamma and others.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.op import OPS
from minipaddle.tensor.logic import is_tensor

__all__ = [
    "bernoulli",
    "multinomial",
    "normal",
    "rand",
    "randint",
    "randint_like",
    "randn",
    "randperm",
    "standard_normal",
    "uniform",
]


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
    return OPS["uniform"](shape=shape, dtype=dtype, min=float(min), max=float(max), seed=seed)


def rand(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Random numbers, evenly spread over [0, 1)."""
    return uniform(shape, dtype, 0.0, 1.0)


def _gaussian(shape: Any, mean: float, std: float, dtype: Any = None) -> Any:
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return OPS["gaussian"](shape=shape, mean=float(mean), std=float(std), seed=0, dtype=dtype)


def standard_normal(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Random numbers of the normal distribution with mean 0 and deviation 1."""
    return _gaussian(shape, 0.0, 1.0, dtype)


def randn(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """Random numbers of the normal distribution with mean 0 and deviation 1."""
    return _gaussian(shape, 0.0, 1.0, dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: Any = None) -> Any:
    """Random numbers of the normal distribution.

    Args:
        mean, std: numbers; or Tensors, whose shape the result has then.
    """
    model = mean if is_tensor(mean) else std if is_tensor(std) else None
    if model is None:
        return _gaussian([1] if shape is None else shape, mean, std)
    drawn = _gaussian(list(model.shape), 0.0, 1.0, model.dtype)
    return drawn * std + mean


def randint(
    low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: Any = None
) -> Any:
    """Random ints from low to high - 1; one number alone is `high`.

    Raises:
        ValueError: there is no such number.
    """
    if high is None:
        low, high = 0, low
    return OPS["randint"](low=low, high=high, shape=shape, dtype=dtype or "int64")


def randint_like(
    x: Any, low: int = 0, high: int | None = None, dtype: Any = None, name: Any = None
) -> Any:
    """Random ints from low to high - 1, in the shape of x, and in its dtype."""
    drawn = randint(low, high, list(x.shape))
    dtype = x.dtype if dtype is None else dtypes.to_dtype(dtype)
    return drawn if dtype is dtypes.int64 else OPS["cast"](drawn, dtype=dtype)


def randperm(n: int, dtype: Any = "int64", name: Any = None) -> Any:
    """The ints from 0 to n - 1 in random order."""
    return OPS["randperm"](n=n, dtype=dtype)


def bernoulli(x: Any, p: float | None = None, name: Any = None) -> Any:
    """1 with the probability that x gives at each place (or with probability p), otherwise 0."""
    chances = x if p is None else OPS["full_like"](x, value=float(p), dtype=x.dtype)
    return OPS["bernoulli"](chances)


def multinomial(x: Any, num_samples: Any = 1, replacement: bool = False, name: Any = None) -> Any:
    """Draws places of the last axis of x [..., C], by the weights that x gives: [..., num_samples].

    Raises:
        ValueError: more samples than places, and each may come only once.
    """
    return OPS["multinomial"](x, num_samples=num_samples, replacement=replacement)
