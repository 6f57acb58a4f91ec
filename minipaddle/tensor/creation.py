"""Making Tensors. Paddle: python/paddle/tensor/creation.py.

Left out: `out=`, `device=`, `requires_grad=`; complex numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minipaddle.common import dtype as dtypes
from minipaddle.common.place import CPU
from minipaddle.eager.tensor import to_tensor
from minipaddle.phi.core.attribute import has_symbolic, is_symbolic
from minipaddle.phi.core.op import OPS, find_op, stacked
from minipaddle.phi.core.world import in_dynamic_mode, in_pir_mode
from minipaddle.tensor.logic import is_tensor

__all__ = [
    "arange",
    "assign",
    "clone",
    "diag",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "tril_",
    "triu",
    "triu_",
    "zeros",
    "zeros_like",
]

diag = OPS["diag"]
tril = OPS["tril"]
triu = OPS["triu"]
tril_ = find_op("tril_")
triu_ = find_op("triu_")


def constant(value: Any, dtype: Any = None) -> Any:
    """Numbers that are known now, as a Tensor of the current world."""
    tensor = to_tensor(value, dtype)
    if in_dynamic_mode():
        return tensor
    array = tensor.numpy()
    shape, kind = array.shape, tensor.dtype
    values = [int(v) for v in array.ravel()] if kind is dtypes.bool_ else array.ravel().tolist()
    if not in_pir_mode():
        return OPS["assign_value"](shape=shape, dtype=kind, values=values)
    room = OPS["full"](shape=shape, value=0.0, dtype=kind)
    return OPS["assign_value_"](room, shape=shape, dtype=kind, values=values)


def assign(x: Any, output: Any = None) -> Any:
    """A copy of x: a Tensor, an array, a list, or a number (shape [1]); without a Tensor in it,
    Python's floats are float64. With `output`, that takes the numbers, shape, dtype and history;
    in Paddle its own history stays too, which makes a wrong gradient.

    Raises:
        NotImplementedError: `output` is a Value of a PIR program.
    """
    if not is_tensor(x):
        x = constant(x if isinstance(x, np.ndarray) else np.array(x, ndmin=1))
    if is_symbolic(output):
        if in_pir_mode():
            raise NotImplementedError(
                "assign: expected no output in a PIR program, but got a Value. Use what assign "
                "returns."
            )
        return output._assign_from(x)
    copy = OPS["assign"](x)
    if output is None:
        return copy
    if output._data.shape != copy._data.shape or output.dtype is not copy.dtype:
        output._data = copy._data.copy()
    output.set_value(copy)
    if not (copy.stop_gradient and output.is_leaf):  # a leaf that needs a gradient stays one
        output.autograd_meta = copy.autograd_meta
    return output


def clone(x: Any, name: Any = None) -> Any:
    """A copy; gradients flow through it."""
    return OPS["assign"](x)


def full(shape: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor of `shape` filled with one number; the dtype defaults to that of the number.

    Args:
        shape: ints, or 0-D Tensors of ints among them, or one Tensor of ints.
        fill_value: a number, or a Tensor that holds one.
    """
    if dtype is None:
        kind = type(fill_value)
        dtype = "bool" if kind is bool else dtypes.get_default_dtype()
    if is_symbolic(fill_value) or is_symbolic(shape) or has_symbolic(shape):
        if has_symbolic(shape):
            shape = stacked(shape)
        if not is_symbolic(fill_value):
            fill_value = OPS["full"](shape=[1], value=fill_value, dtype=dtype, place=CPU)
        return OPS["full_with_tensor"](fill_value, shape=shape, dtype=dtype)
    return OPS["full"](shape=shape, value=fill_value, dtype=dtype)


def zeros(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor of `shape` filled with 0."""
    return full(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor of `shape` filled with 1."""
    return full(shape, 1.0, dtype)


def empty(shape: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor of `shape` whose numbers nobody has set (here: 0)."""
    wanted = dtypes.to_dtype(dtype or dtypes.get_default_dtype(), by_other_names=False)
    return OPS["empty"](shape=shape, dtype=wanted)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor like x, filled with one number."""
    return OPS["full_like"](x, value=fill_value, dtype=x.dtype if dtype is None else dtype)


def zeros_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor like x, filled with 0."""
    return full_like(x, 0.0, dtype)


def ones_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor like x, filled with 1."""
    return full_like(x, 1.0, dtype)


def empty_like(x: Any, dtype: Any = None, name: Any = None) -> Any:
    """A Tensor in the shape of x whose numbers nobody has set (here: 0)."""
    return zeros_like(x, dtype)


def _one_number(value: Any, dtype: Any) -> Any:
    """A number for arange and linspace: in PIR a constant of the dtype in which they count."""
    if not in_pir_mode() or is_tensor(value):
        return value
    return OPS["full"](shape=[1], value=value, dtype=dtype, place=CPU)


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: Any = None
) -> Any:
    """start, start + step, ... while smaller than `end`. One number alone is the end.

    Raises:
        ValueError: the step is 0, or leads away from the end.
    """
    if end is None:
        start, end = 0, start
    given = (start, end, step)
    whole = all(
        not item.dtype.is_floating if is_tensor(item) else isinstance(item, (int, np.integer))
        for item in given
    )
    if dtype is None:
        dtype = "int64" if whole else dtypes.get_default_dtype()
    numbers = [_one_number(item, "int64" if whole else "float64") for item in given]
    return OPS["arange"](start=numbers[0], end=numbers[1], step=numbers[2], dtype=dtype)


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: Any = None) -> Any:
    """`num` numbers at equal distances, from `start` to `stop`, both included."""
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return OPS["linspace"](
        start=_one_number(start, dtype), stop=_one_number(stop, dtype), number=num, dtype=dtype
    )


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None, name: Any = None) -> Any:
    """1 on the diagonal, 0 elsewhere: [num_rows, num_columns]."""
    columns = num_rows if num_columns is None else num_columns
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    return OPS["eye"](num_rows=num_rows, num_columns=columns, dtype=dtype)


def meshgrid(*args: Any, name: Any = None) -> Any:
    """Rows [N], [M], ... -> as many Tensors [N, M, ...]: each shows its own row along its axis."""
    inputs = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    return OPS["meshgrid"](list(inputs))
