"""Random numbers. All ops draw from one generator, which `paddle.seed` sets back; an op with a
`seed` of its own (not 0) always gives the same numbers.

Paddle: paddle/phi/kernels/uniform_kernel.h, gaussian_kernel.h, randint_kernel.h,
randperm_kernel.h, bernoulli_kernel.h, multinomial_kernel.h, dropout_kernel.h.
Left out: Paddle's own numbers. Its generator is another one; only the distributions are the same.
On a GPU, the numbers are drawn by the CPU and copied.
"""

from __future__ import annotations

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.common.place import UNDEFINED, Place
from minipaddle.phi.core.attribute import IntArray, Ints, Scalar, ScalarInt, UnknownInts
from minipaddle.phi.core.generator import default_generator
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import Optional, op
from minipaddle.phi.infermeta.unary import unchanged
from minipaddle.phi.ops.manipulation import cast

RANDOM = ("Random", "SideEffect")


def _sizes(who, shape):
    if not isinstance(shape, UnknownInts) and any(size < 0 for size in shape):
        raise ValueError(
            f"{who}: expected sizes of 0 or more, but got {list(shape)}. Name each size."
        )
    return shape


def _floating(who, dtype):
    if not dtype.is_floating:
        raise TypeError(
            f"{who}: expected a floating-point dtype, but got {dtype.name}. Cast the result, or "
            "use randint."
        )
    return dtype


@op(source="paddle/phi/ops/yaml/ops.yaml: uniform", traits=RANDOM)
def uniform(
    xp,
    *,
    shape: IntArray,
    dtype: DataType = dtypes.float32,
    min: Scalar = -1.0,
    max: Scalar = 1.0,
    seed: int = 0,
    place: Place = UNDEFINED,
):
    """Random numbers, evenly spread over [min, max)."""
    # the other way round they mean the same interval, as in Paddle
    low, high = sorted((min, max))
    values = default_generator(seed).uniform(low, high, tuple(shape))
    return xp.asarray(values, dtype=dtype.numpy_dtype)


@uniform.infer_meta
def _(*, shape, dtype, min, max, seed, place):
    return MetaTensor(_sizes("uniform", shape), _floating("uniform", dtype))


@op(source="paddle/phi/ops/yaml/ops.yaml: gaussian", traits=RANDOM)
def gaussian(
    xp,
    *,
    shape: IntArray,
    mean: float,
    std: float,
    seed: int,
    dtype: DataType,
    place: Place = UNDEFINED,
):
    """Random numbers of the normal distribution around `mean`."""
    values = default_generator(seed).normal(mean, abs(std), tuple(shape))
    return xp.asarray(values, dtype=dtype.numpy_dtype)


@gaussian.infer_meta
def _(*, shape, mean, std, seed, dtype, place):
    return MetaTensor(_sizes("gaussian", shape), _floating("gaussian", dtype))


@op(source="paddle/phi/ops/yaml/ops.yaml: truncated_gaussian_random", traits=RANDOM)
def truncated_gaussian_random(
    xp,
    *,
    shape: Ints,
    mean: float,
    std: float,
    seed: int,
    a: float,
    b: float,
    dtype: DataType = dtypes.float32,
    place: Place = UNDEFINED,
):
    """Random numbers of the normal distribution, of which only those from a to b are kept."""
    generator = default_generator(seed)
    values = np.asarray(generator.normal(mean, std, tuple(shape)))
    for _ in range(1000):
        outside = (values < a) | (values > b)
        count = int(outside.sum())
        if not count:
            break
        values[outside] = generator.normal(mean, std, count)
    return xp.asarray(values.clip(a, b), dtype=dtype.numpy_dtype)


@truncated_gaussian_random.infer_meta
def _(*, shape, mean, std, seed, a, b, dtype, place):
    if a > b:
        raise ValueError(
            f"truncated_gaussian_random: expected a <= b, but got a {a} and b {b}. They are the "
            "smallest and the largest number."
        )
    sizes = _sizes("truncated_gaussian_random", shape)
    return MetaTensor(sizes, _floating("truncated_gaussian_random", dtype))


@op(source="paddle/phi/ops/yaml/ops.yaml: randint", traits=RANDOM)
def randint(
    xp,
    *,
    low: int,
    high: int,
    shape: IntArray,
    dtype: DataType = dtypes.int64,
    place: Place = UNDEFINED,
):
    """Random ints from low to high - 1."""
    values = default_generator().integers(low, high, tuple(shape))
    return xp.asarray(values, dtype=dtype.numpy_dtype)


@randint.infer_meta
def _(*, low, high, shape, dtype, place):
    if low >= high:
        raise ValueError(
            f"randint: expected low < high, but got low {low} and high {high}. high is not "
            "included."
        )
    return MetaTensor(shape, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: randperm", traits=RANDOM)
def randperm(xp, *, n: int, dtype: DataType, place: Place = UNDEFINED):
    """The ints from 0 to n - 1 in random order."""
    if n < 1:
        raise ValueError  # InferMeta says why
    return xp.asarray(default_generator().permutation(n), dtype=dtype.numpy_dtype)


@randperm.infer_meta
def _(*, n, dtype, place):
    if n < 1:
        raise ValueError(f"randperm: expected n of 1 or more, but got {n}. It counts the ints.")
    return MetaTensor([n], dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: bernoulli", traits=(*RANDOM, "ForwardOnly"))
def bernoulli(xp, x):
    """1 with the probability that x gives at each place, otherwise 0."""
    # asked on the CPU only: a GPU would have to be waited for
    if xp is np and x.size and not 0 <= x.min() <= x.max() <= 1:
        raise ValueError(
            f"bernoulli: expected probabilities from 0 to 1, but got {x.min()} to {x.max()}. "
            "Divide, or use a sigmoid."
        )
    drawn = xp.asarray(default_generator().random(x.shape))
    return (drawn < x).astype(x.dtype)


bernoulli.infer_meta(unchanged)


@op(source="paddle/phi/ops/yaml/ops.yaml: multinomial", traits=(*RANDOM, "ForwardOnly"))
def multinomial(xp, x, *, num_samples: ScalarInt = 1, replacement: bool = False):
    """Draws places of the last axis of x [..., C], by the weights that x gives: [..., num_samples].

    The places with the largest log(weight) + noise are a fair draw, if the noise has the Gumbel
    distribution: one sort instead of one draw after the other.
    """
    number = int(num_samples)
    if number < 1:
        raise ValueError(
            f"multinomial: expected num_samples of 1 or more, but got {number}. It counts the "
            "draws."
        )
    if xp is np and x.size and not x.min() >= 0:  # see bernoulli
        raise ValueError(
            f"multinomial: expected weights of 0 or more, but got {x.min()}. Use a softmax first."
        )
    if int((x > 0).sum(axis=-1).min()) < (1 if replacement else number):
        raise ValueError(
            f"multinomial: expected at least {number} weights above 0 in each row, but got fewer. "
            "Draw less, or set replacement=True."
        )
    weights = xp.log(x)  # log(0) is -inf: never drawn
    if replacement:
        weights = weights[..., None, :]
        shape = (*x.shape[:-1], number, x.shape[-1])
        noise = xp.asarray(default_generator().gumbel(size=shape))
        return (weights + noise).argmax(axis=-1).astype(xp.int64)
    noise = xp.asarray(default_generator().gumbel(size=x.shape))
    order = xp.argsort(-(weights + noise), axis=-1)
    return order[..., :number].astype(xp.int64)


@multinomial.infer_meta
def _(x, *, num_samples, replacement):
    if x.ndim not in (1, 2):
        raise ValueError(
            f"multinomial: expected weights [C] or [N, C], but got shape {list(x.shape)}."
        )
    number = int(num_samples)
    if not replacement and x.shape[-1] != -1 and number > x.shape[-1]:
        raise ValueError(
            f"multinomial: expected num_samples of at most {x.shape[-1]}, but got {number}. "
            "Set replacement=True to draw a place more than once."
        )
    return MetaTensor([*x.shape[:-1], number], dtypes.int64)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: dropout",
    outputs=("out", "mask"),
    traits=RANDOM,
)
def dropout(
    xp,
    x,
    seed_tensor: Optional,
    *,
    p: Scalar = 0.5,
    is_test: bool = False,
    mode: str = "downgrade_in_infer",
    seed: int = 0,
    fix_seed: bool = False,
):
    """Sets each element of x to 0 with probability p; `mask` is 1 where it stays.

    So that the mean stays the same, "upscale_in_train" divides what stays by 1 - p;
    "downgrade_in_infer" multiplies by 1 - p when testing (`is_test`), where nothing is dropped.
    """
    upscale = mode == "upscale_in_train"
    if is_test:
        mask = xp.ones(x.shape, xp.uint8)
        return (x.copy() if upscale else x * x.dtype.type(1.0 - p)), mask
    number = int(seed_tensor.reshape(-1)[0]) if seed_tensor is not None else seed * fix_seed
    drawn = default_generator(number).random(x.shape, "float32")
    mask = xp.asarray(drawn >= p).astype(xp.uint8)
    factor = 1.0 / (1.0 - p) if upscale and p < 1.0 else 1.0
    out = x * mask if factor == 1.0 else x * (mask * x.dtype.type(factor))
    return out.astype(x.dtype), mask


@dropout.infer_meta
def _(x, seed_tensor, *, p, is_test, mode, seed, fix_seed):
    return unchanged(x), MetaTensor(x.shape, dtypes.uint8)


@dropout.vjp(wrt=("x",))
def _(mask, out_grad, *, p: Scalar, is_test: bool, mode: str):
    upscale = mode == "upscale_in_train"
    if is_test:
        return (out_grad * (1.0 if upscale else 1.0 - float(p)),)
    kept = out_grad * cast(mask, dtype=out_grad.dtype)
    return (kept * (1.0 / (1.0 - float(p))) if upscale and float(p) < 1.0 else kept,)
