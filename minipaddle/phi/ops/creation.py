"""Ops that make Tensors from nothing: constants and random numbers.

Paddle: paddle/phi/kernels/cpu/full_kernel.cc, uniform_kernel.cc, assign_kernel.cc.
"""

from __future__ import annotations

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.common.place import CPU, UNDEFINED, Place
from minipaddle.phi.core.attribute import Floats, IntArray, Ints, Number, Scalar
from minipaddle.phi.core.generator import default_generator
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op


def _numpy(dtype):
    """numpy's dtype; a bound gradient rule may pass numpy's own."""
    return dtype.numpy_dtype if isinstance(dtype, DataType) else dtype


@op(source="paddle/phi/ops/yaml/ops.yaml: full", traits=("Pure",))
def full(
    xp,
    *,
    shape: Ints,
    value: Number = 0.0,
    dtype: DataType = dtypes.float32,
    place: Place = UNDEFINED,
):
    """A Tensor of `shape` in which every element is `value`."""
    return xp.full(shape, value, dtype=_numpy(dtype))


@full.infer_meta
def _(*, shape, value=0.0, dtype=dtypes.float32, place=UNDEFINED):
    return MetaTensor(shape, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: full_int_array", traits=("Pure",))
def full_int_array(xp, *, value: Ints, dtype: DataType = dtypes.int64, place: Place = CPU):
    """A 1-D Tensor that holds the ints of `value`: how PIR passes an IntArray."""
    return xp.asarray(value, dtype=_numpy(dtype))


@full_int_array.infer_meta
def _(*, value, dtype, place):
    return MetaTensor([len(value)], dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: full_like", traits=("Pure",))
def full_like(xp, x: NoNeedBuffer, *, value: Scalar, dtype: DataType, place: Place = UNDEFINED):
    """A Tensor with the shape of x in which every element is `value`."""
    return xp.full(x.shape, value, dtype=_numpy(dtype))


@full_like.infer_meta
def _(x, *, value, dtype, place=UNDEFINED):
    return MetaTensor(x.shape, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: assign_value_", traits=("Pure",))
def assign_value(xp, *, shape: Ints, dtype: DataType, values: Floats, place: Place = UNDEFINED):
    """A Tensor with the given elements."""
    return xp.asarray(values, dtype=_numpy(dtype)).reshape(shape)


@assign_value.infer_meta
def _(*, shape, dtype, values, place):
    return MetaTensor(shape, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: uniform", traits=("Random", "SideEffect"))
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
    """Random numbers, evenly spread over [min, max). A seed of 0 uses `paddle.seed`'s generator."""
    values = default_generator(seed).uniform(min, max, tuple(shape))
    return xp.asarray(values, dtype=_numpy(dtype))


@uniform.infer_meta
def _(*, shape, dtype, min, max, seed, place):
    return MetaTensor(shape, dtype)
