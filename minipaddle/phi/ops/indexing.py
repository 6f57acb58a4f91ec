"""Reading and writing slices of a Tensor.

The gradient of reading a part is to write into zeros; the gradient of writing is to read. So the
ops come in pairs: slice and set_value here, gather and index_add, gather_nd and scatter_nd_add,
take_along_axis and put_along_axis in gather.py.

Paddle: paddle/phi/kernels/slice_kernel.h, strided_slice_kernel.h, set_value_kernel.h.
"""

from __future__ import annotations

import builtins

from minipaddle.phi.core.attribute import Floats, IntArray, Ints
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.op import NoNeedBuffer, op
from minipaddle.phi.infermeta.indexing import ranges, sliced, strided_sliced, written_fits
from minipaddle.phi.ops.creation import full_like
from minipaddle.phi.ops.manipulation import reduce_as, squeeze, unsqueeze


def _key(x, axes, starts, ends, steps):
    """numpy's index for these ranges."""
    key = [builtins.slice(None)] * x.ndim
    for axis, (start, stop, step) in ranges(x.shape, axes, starts, ends, steps).items():
        # numpy reads a negative stop as "from the end"; here it is "before the first"
        key[axis] = builtins.slice(start, None if stop < 0 else stop, step)
    return tuple(key)


@op(source="paddle/phi/ops/yaml/ops.yaml: slice", traits=("Pure", "View"))
def slice(
    xp,
    input,
    *,
    axes: Ints,
    starts: IntArray,
    ends: IntArray,
    infer_flags: Ints = (),
    decrease_axis: Ints = (),
):
    """input[starts[0]:ends[0], ...] along the axes; those of `decrease_axis` go away."""
    part = input[_key(input, axes, starts, ends, (1,) * len(axes))]
    if decrease_axis:
        part = part.reshape([s for i, s in enumerate(part.shape) if i not in decrease_axis])
    return part


slice.infer_meta(sliced)


@slice.vjp
def _(
    input: NoNeedBuffer,
    out_grad,
    *,
    axes: Ints,
    starts: IntArray,
    ends: IntArray,
    infer_flags: Ints,
    decrease_axis: Ints,
):
    zeros = full_like(input, value=0.0, dtype=out_grad.dtype)
    steps, none = (1,) * len(axes), ()
    place = {"starts": starts, "ends": ends, "steps": steps, "axes": axes}
    where = {"decrease_axes": decrease_axis, "none_axes": none}
    return (set_value_with_tensor(zeros, out_grad, **place, **where),)


@slice.grad_kernel
def _(xp, wanted, input, out_grad, *, axes, starts, ends, infer_flags, decrease_axis):
    # the rule copies the zeros once more
    grad = xp.zeros(input.shape, out_grad.dtype)
    _write(grad, out_grad, starts, ends, (1,) * len(axes), axes, decrease_axis, ())
    return (grad,)


@op(source="paddle/phi/ops/yaml/ops.yaml: strided_slice", traits=("Pure", "View"))
def strided_slice(xp, x, *, axes: Ints, starts: IntArray, ends: IntArray, strides: IntArray):
    """x[starts[0]:ends[0]:strides[0], ...] along the axes."""
    return x[_key(x, axes, starts, ends, strides)]


strided_slice.infer_meta(strided_sliced)


@strided_slice.vjp
def _(
    x: NoNeedBuffer,
    out_grad,
    *,
    axes: Ints,
    starts: IntArray,
    ends: IntArray,
    strides: IntArray,
):
    zeros = full_like(x, value=0.0, dtype=out_grad.dtype)
    place = {"starts": starts, "ends": ends, "steps": strides, "axes": axes}
    return (set_value_with_tensor(zeros, out_grad, **place, decrease_axes=(), none_axes=()),)


def _write(out, values, starts, ends, steps, axes, decrease_axes, none_axes):
    """out[...] = values. The shape that values broadcast to is that of the part without
    `decrease_axes`, with a 1 at each of `none_axes`.
    """
    part = out[(*_key(out, axes, starts, ends, steps), ...)]  # ...: a view also of one number
    shape = [size for i, size in enumerate(part.shape) if i not in decrease_axes]
    for axis in none_axes:
        shape.insert(axis, 1)
    target = part.reshape(shape)  # splits or drops axes of size 1 only: still a view
    while values.ndim > target.ndim and values.shape[0] == 1:
        values = values[0]
    target[...] = values


def _writeable(x):
    """x itself, or a copy where x is one number that is shown everywhere (broadcast)."""
    return x if getattr(x.flags, "writeable", True) else x.copy()


@op(
    source="paddle/phi/ops/yaml/ops.yaml: set_value_with_tensor",
    traits=("Pure",),
    inplace={"out": "x"},
)
def set_value_with_tensor(
    xp,
    x,
    values,
    *,
    starts: IntArray,
    ends: IntArray,
    steps: IntArray,
    axes: Ints,
    decrease_axes: Ints = (),
    none_axes: Ints = (),
):
    """x after x[starts[0]:ends[0]:steps[0], ...] = values."""
    out = x.copy()
    _write(out, values, starts, ends, steps, axes, decrease_axes, none_axes)
    return out


set_value_with_tensor.infer_meta(written_fits)


@set_value_with_tensor.inplace_kernel
def _(xp, x, values, *, starts, ends, steps, axes, decrease_axes=(), none_axes=()):
    out = _writeable(x)
    _write(out, values, starts, ends, steps, axes, decrease_axes, none_axes)
    return out


@set_value_with_tensor.vjp
def _(
    values: NoNeedBuffer,
    out_grad,
    *,
    starts: IntArray,
    ends: IntArray,
    steps: IntArray,
    axes: Ints,
    decrease_axes: Ints,
    none_axes: Ints,
):
    place = {"axes": axes, "starts": starts, "ends": ends}
    values_grad = strided_slice(out_grad, **place, strides=steps)
    if decrease_axes:
        values_grad = squeeze(values_grad, axis=decrease_axes)
    for axis in none_axes:
        values_grad = unsqueeze(values_grad, axis=(axis,))
    extra = len(values.shape) - values_grad.ndim  # sizes of 1 in front
    if extra > 0:
        values_grad = unsqueeze(values_grad, axis=(0,) * extra)
    values_grad = reduce_as(values_grad, values)
    x_grad = set_value(
        out_grad,
        **place,
        steps=steps,
        decrease_axes=decrease_axes,
        none_axes=none_axes,
        shape=(1,),
        values=(0.0,),
    )
    return x_grad, values_grad


@op(source="paddle/phi/ops/yaml/ops.yaml: set_value", traits=("Pure",), inplace={"out": "x"})
def set_value(
    xp,
    x,
    *,
    starts: IntArray,
    ends: IntArray,
    steps: IntArray,
    axes: Ints,
    decrease_axes: Ints,
    none_axes: Ints,
    shape: Ints,
    values: Floats,
):
    """x after x[starts[0]:ends[0]:steps[0], ...] = numbers."""
    numbers = xp.asarray(values).astype(x.dtype).reshape(shape)
    out = x.copy()
    _write(out, numbers, starts, ends, steps, axes, decrease_axes, none_axes)
    return out


@set_value.infer_meta
def _(x, *, shape, values, **place):
    return written_fits(x, MetaTensor(shape, x.dtype), **place)


@set_value.inplace_kernel
def _(xp, x, *, starts, ends, steps, axes, decrease_axes, none_axes, shape, values):
    out, numbers = _writeable(x), xp.asarray(values).astype(x.dtype).reshape(shape)
    _write(out, numbers, starts, ends, steps, axes, decrease_axes, none_axes)
    return out


@set_value.vjp
def _(
    out_grad,
    *,
    starts: IntArray,
    ends: IntArray,
    steps: IntArray,
    axes: Ints,
    decrease_axes: Ints,
    none_axes: Ints,
):
    # what was overwritten has no influence any more
    return (
        set_value(
            out_grad,
            starts=starts,
            ends=ends,
            steps=steps,
            axes=axes,
            decrease_axes=decrease_axes,
            none_axes=none_axes,
            shape=(1,),
            values=(0.0,),
        ),
    )
