"""Ops that make Tensors from nothing but numbers.

Paddle: paddle/phi/kernels/cpu/full_kernel.cc, assign_kernel.cc, arange_kernel.cc, eye_kernel.cc,
linspace_kernel.cc, shape_kernel.h, numel_kernel.h.
"""

from __future__ import annotations

import math

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.common.place import CPU, UNDEFINED, Place
from minipaddle.phi.core.attribute import (
    Floats,
    IntArray,
    Ints,
    Number,
    Scalar,
    ScalarInt,
    UnknownNumber,
)
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.unary import unchanged


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
    if any(size < 0 for size in shape):
        raise ValueError(
            f"full: expected sizes of 0 or more, but got {list(shape)}. Name each size."
        )
    return MetaTensor(shape, dtype)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: full_",
    traits=("ForwardOnly",),
    inplace={"out": "output"},
)
def full_(
    xp,
    output,
    *,
    shape: Ints,
    value: Number,
    dtype: DataType = dtypes.float32,
    place: Place = CPU,
):
    """Writes `value` into every element of `output`."""
    output[...] = value
    return output


@full_.infer_meta
def _(output, *, shape, value, dtype, place):
    return unchanged(output)


@op(source="paddle/phi/ops/yaml/ops.yaml: full_with_tensor", traits=("Pure", "ForwardOnly"))
def full_with_tensor(xp, value, *, shape: IntArray, dtype: DataType = dtypes.float32):
    """A Tensor of `shape` in which every element is the one number that `value` holds."""
    return xp.broadcast_to(value.reshape(()), shape).astype(_numpy(dtype))


@full_with_tensor.infer_meta
def _(value, *, shape, dtype):
    if value.size != 1:
        raise ValueError(
            f"full_with_tensor: expected a value with one element, but got shape "
            f"{list(value.shape)}. Index it first."
        )
    return MetaTensor(shape, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: full_int_array", traits=("Pure",))
def full_int_array(xp, *, value: Ints, dtype: DataType = dtypes.int64, place: Place = CPU):
    """A 1-D Tensor that holds the ints of `value`: how PIR passes an IntArray."""
    return xp.asarray(value, dtype=_numpy(dtype))


@full_int_array.infer_meta
def _(*, value, dtype, place):
    return MetaTensor([len(value)], dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: full_like", traits=("Pure", "Constant"))
def full_like(
    xp,
    x: NoNeedBuffer,
    *,
    value: Scalar,
    dtype: DataType = dtypes.undefined,
    place: Place = UNDEFINED,
):
    """A Tensor with the shape of x, and its dtype unless another is given, in which every element
    is `value`.
    """
    return xp.full(x.shape, value, dtype=x.dtype if dtype is dtypes.undefined else _numpy(dtype))


@full_like.infer_meta
def _(x, *, value, dtype, place=UNDEFINED):
    return MetaTensor(x.shape, x.dtype if dtype is dtypes.undefined else dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: empty", traits=("Pure",))
def empty(xp, *, shape: IntArray, dtype: DataType = dtypes.float32, place: Place = UNDEFINED):
    """A Tensor whose numbers nobody has set. Here they are 0; Paddle leaves what memory held."""
    return xp.zeros(shape, dtype=_numpy(dtype))


@empty.infer_meta
def _(*, shape, dtype, place):
    return MetaTensor(shape, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: fill", traits=("Pure",), inplace={"out": "x"})
def fill(xp, x: NoNeedBuffer, *, value: Scalar = 0):
    """x with every element replaced by `value`."""
    return xp.full(x.shape, value, dtype=_numpy(x.dtype))


@fill.infer_meta
def _(x, *, value):
    return unchanged(x)


@fill.vjp
def _(out_grad, *, value: Scalar):
    return (full_like(out_grad, value=0.0, dtype=out_grad.dtype),)


@op(source="paddle/phi/ops/yaml/ops.yaml: assign_value_", traits=("Pure",))
def assign_value(xp, *, shape: Ints, dtype: DataType, values: Floats, place: Place = UNDEFINED):
    """A Tensor with the given elements."""
    return xp.asarray(values, dtype=_numpy(dtype)).reshape(shape)


@assign_value.infer_meta
def _(*, shape, dtype, values, place=UNDEFINED):
    if math.prod(shape) != len(values):
        raise ValueError(
            f"assign_value: expected {math.prod(shape)} values for shape {list(shape)}, but got "
            f"{len(values)}. Give one value for each element."
        )
    return MetaTensor(shape, dtype)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: assign_value_",
    traits=("ForwardOnly",),
    inplace={"out": "output"},
)
def assign_value_(
    xp, output, *, shape: Ints, dtype: DataType, values: Floats, place: Place = UNDEFINED
):
    """Writes the given elements into `output`: how a static program holds a constant array."""
    output[...] = xp.asarray(values, dtype=output.dtype).reshape(shape)
    return output


@assign_value_.infer_meta
def _(output, *, shape, dtype, values, place):
    return MetaTensor(shape, dtype)


def _steps(start, end, step):
    """How many numbers arange gives.

    Raises:
        ValueError: the step is 0.
    """
    if step == 0:
        raise ValueError(
            f"arange: expected a step other than 0, but got start {start}, end {end}, step {step}. "
            "With it, `end` is never reached."
        )
    return max(math.ceil((end - start) / step), 0)


@op(source="paddle/phi/ops/yaml/ops.yaml: arange", traits=("Pure", "ForwardOnly"))
def arange(
    xp, *, start: Scalar, end: Scalar, step: Scalar, dtype: DataType, place: Place = UNDEFINED
):
    """start, start + step, start + 2 * step, ..., as long as `end` is not reached."""
    numbers = start + xp.arange(_steps(start, end, step)) * step
    return numbers.astype(_numpy(dtype))


@arange.infer_meta
def _(*, start, end, step, dtype, place):
    if any(isinstance(number, UnknownNumber) for number in (start, end, step)):
        return MetaTensor([-1], dtype)
    return MetaTensor([_steps(start, end, step)], dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: linspace", traits=("Pure", "ForwardOnly"))
def linspace(
    xp, *, start: Scalar, stop: Scalar, number: ScalarInt, dtype: DataType, place: Place = UNDEFINED
):
    """`number` numbers at equal distances, from `start` to `stop`, both included."""
    return xp.linspace(start, stop, int(number)).astype(_numpy(dtype))


@linspace.infer_meta
def _(*, start, stop, number, dtype, place):
    if isinstance(number, UnknownNumber):
        return MetaTensor([-1], dtype)
    if number < 0:
        raise ValueError(
            f"linspace: expected a number of 0 or more, but got {number}. It counts the numbers."
        )
    return MetaTensor([number], dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: eye", traits=("Pure", "ForwardOnly"))
def eye(
    xp,
    *,
    num_rows: Scalar,
    num_columns: Scalar,
    dtype: DataType = dtypes.float32,
    place: Place = UNDEFINED,
):
    """1 on the diagonal, 0 elsewhere."""
    return xp.eye(int(num_rows), int(num_columns), dtype=_numpy(dtype))


@eye.infer_meta
def _(*, num_rows, num_columns, dtype, place):
    sizes = [num_rows, num_columns]
    known = [-1 if isinstance(size, UnknownNumber) else int(size) for size in sizes]
    if any(size < 0 for size in sizes if not isinstance(size, UnknownNumber)):
        raise ValueError(
            f"eye: expected sizes of 0 or more, but got {known}. They count rows and columns."
        )
    return MetaTensor(known, dtype)


@op(source="paddle/phi/ops/yaml/ops.yaml: shape64", traits=("Pure", "ForwardOnly"))
def shape64(xp, input: NoNeedBuffer):
    """The shape of x, as an int64 Tensor: known when the program runs."""
    return xp.asarray(input.shape, dtype=xp.int64)


@shape64.infer_meta
def _(input):
    return MetaTensor([input.ndim], dtypes.int64)


@op(
    source="paddle/phi/ops/yaml/ops.yaml: sequence_mask",
    outputs=("y",),
    traits=("Pure", "ForwardOnly"),
)
def sequence_mask(xp, x, *, max_len: ScalarInt, out_dtype: DataType):
    """Lengths [...] -> [..., max_len]: 1 for the first x[...] places, then 0. A max_len of -1
    takes the largest length.
    """
    length = int(max_len) if max_len >= 0 else int(x.max())
    return (xp.arange(length, dtype=x.dtype) < x[..., None]).astype(_numpy(out_dtype))


@sequence_mask.infer_meta
def _(x, *, max_len, out_dtype):
    known = not isinstance(max_len, UnknownNumber) and max_len >= 0
    return MetaTensor([*x.shape, int(max_len) if known else -1], out_dtype)
