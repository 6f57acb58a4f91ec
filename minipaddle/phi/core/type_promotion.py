"""Type promotion: the dtype in which two Tensors of different dtypes are combined.

Two Tensors mix only where both are floating-point; the larger dtype wins. For the ops of Python's
operators, a Tensor without dimensions counts as a number: it mixes with everything, and its dtype
wins only where it is of a higher kind (bool < integer < floating-point). In a floor_divide it mixes
too, but its dtype counts as every other.

Paddle: paddle/phi/common/type_promotion.h.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.common.dtype import DataType
from minipaddle.phi.core.op import OPS


def promote(who: str, x: Any, y: Any) -> DataType:
    """The common dtype of x and y, two inputs of the op `who`.

    Raises:
        TypeError: they don't mix.
    """
    a, b = x.dtype, y.dtype
    if a is b:
        return a
    operator = who in OPS and "Operator" in OPS[who].traits
    if (x.ndim and y.ndim) or not operator:
        if not (a.is_floating and b.is_floating):
            raise TypeError(
                f"{who}: expected two Tensors of one dtype, or two floating-point dtypes, "
                f"but got x {a.name} and y {b.name}. Cast one of them with astype."
            )
        return max(a, b, key=lambda dtype: dtype.itemsize)
    if (not x.ndim and not y.ndim) or who == "floor_divide":
        return max(a, b, key=lambda dtype: (_kind(dtype), dtype.itemsize))
    single, other = (b, a) if x.ndim else (a, b)
    return single if _kind(single) > _kind(other) else other


def _kind(dtype: DataType) -> int:
    return 2 if dtype.is_floating else 0 if dtype is dtypes.bool_ else 1


def promoted(op: Any, inputs: Sequence[Any], cast: Any) -> list[Any]:
    """The inputs of an op, two of them cast to their common dtype where the op asks for it."""
    found = list(inputs)
    if op.promote:
        places = [[item.name for item in op.inputs].index(name) for name in op.promote]
        x, y = (found[place] for place in places)
        if all(hasattr(value, "dtype") and hasattr(value, "ndim") for value in (x, y)):
            dtype = promote(op.name, x, y)
            for place in places:
                if found[place].dtype is not dtype:
                    found[place] = cast(found[place], dtype=dtype)
    return found
