"""Tensor.to: another dtype, another device, or both; and a method for each dtype, x.float().

Paddle: python/paddle/base/dygraph/tensor_patch_methods.py, python/paddle/pir/math_op_patch.py.
Left out: `blocking`, for copies to a GPU that run beside the program; it is taken and not read.
"""

from __future__ import annotations

import copy as copying
from typing import Any

import numpy as np

from minipaddle.common.dtype import ALL, DataType
from minipaddle.common.place import Place, place_of
from minipaddle.phi.core.op import OPS
from minipaddle.tensor.logic import is_tensor
from minipaddle.tensor.manipulation import in_dtype


def to(x: Any, *args: Any, non_blocking: bool = False, copy: bool = False, **kwargs: Any) -> Any:
    """x in another dtype or on another device; x itself where nothing is to be done.

        x.to("float64")    x.to("gpu", "float16")    x.to(device="cpu")    x.to(other)

    `other` is a Tensor whose device and dtype are taken. In a program only the dtype counts.

    Raises:
        TypeError: no argument, too many, or an unknown one.
        ValueError: there is no such device.
    """
    device, dtype = _device_and_dtype(*args, **kwargs)
    # a dtype that is given by name is cast to in any case, as in Paddle
    found = x if dtype is None or dtype is x.dtype else OPS["cast"](x, dtype=dtype)
    if device is not None and not getattr(x, "is_symbolic", False) and device != found.place:
        found = found.cpu() if device.kind == "cpu" else found.cuda(device.device_id)
        found.stop_gradient = x.stop_gradient
    return copying.deepcopy(x) if copy and found is x else found


def _device_and_dtype(*args: Any, **kwargs: Any) -> tuple[Place | None, Any]:
    """What the arguments mean: (dtype), (device, dtype) or (other), each with `blocking` behind."""
    unknown = sorted(set(kwargs) - {"device", "dtype", "blocking", "other"})
    if unknown or not 1 <= len(args) + len(kwargs) <= 3:
        raise TypeError(
            f"Tensor.to: expected a device, a dtype or another Tensor, and perhaps blocking, but "
            f"got {len(args)} arguments and {sorted(kwargs)}. Call it as x.to('cpu', 'float32')."
        )
    first = args[0] if args else kwargs.get("other")
    if first is not None and is_tensor(first):
        return getattr(first, "place", None), first.dtype
    names = [dtype.name for dtype in ALL]
    if isinstance(first, (DataType, np.dtype)):
        return None, first
    if isinstance(first, str) and first.lower() in names:
        return None, first.lower()
    device = first if args else kwargs.get("device")
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    if isinstance(device, str):
        device = place_of("Tensor.to", device)
    if device is not None and not isinstance(device, Place):
        raise ValueError(
            f"Tensor.to: expected a device or a dtype, but got {type(device).__name__}. Use 'cpu', "
            "'gpu', a place, or the name of a dtype."
        )
    return device, dtype


def type_as(x: Any, other: Any) -> Any:
    """x in the dtype of another Tensor."""
    return in_dtype(x, other.dtype)


def _in(dtype: str) -> Any:
    """The method that casts to a dtype: x.float(), x.int64()."""
    return lambda x: in_dtype(x, dtype)


METHODS: dict[str, Any] = {"to": to, "type_as": type_as, **{d.name: _in(d.name) for d in ALL}}
METHODS |= {"half": _in("float16"), "float": _in("float32"), "double": _in("float64")}
METHODS |= {"char": _in("int8"), "short": _in("int16"), "int": _in("int32"), "long": _in("int64")}
METHODS |= {"byte": _in("uint8")}
