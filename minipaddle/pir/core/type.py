"""Types of values. Each type exists once: two equal types are one object, so `a is b` compares
them.

Paddle: paddle/pir/include/core/type.h, builtin_type.h, ir_context.h (which holds the storage).
Left out: selected rows, sparse types, the control-flow types of loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minipaddle.common.dtype import DataType, to_dtype
from minipaddle.common.size import Size


class IrContext:
    """Holds every type and attribute that exists, by its contents."""

    def __init__(self) -> None:
        self.storage: dict[Any, Any] = {}

    def unique(self, cls: type, *key: Any) -> Any:
        """The one object of `cls` with these contents; made if it is new."""
        full_key = (cls, *key)
        if full_key not in self.storage:
            made = object.__new__(cls)
            made._fill(*key)
            self.storage[full_key] = made
        return self.storage[full_key]


context = IrContext()


class Type:
    """A type. Not to be changed once it exists."""

    __slots__ = ()

    def __copy__(self) -> Type:
        return self

    def __deepcopy__(self, memo: Any) -> Type:
        return self


class DenseTensorType(Type):
    """`tensor<2x3xf32>`: dtype and shape; -1 is a size that is not known yet."""

    __slots__ = ("_shape", "dtype")

    dtype: DataType
    _shape: tuple[int, ...]

    def __new__(cls, dtype: Any, shape: Iterable[int]) -> DenseTensorType:
        return context.unique(cls, to_dtype(dtype), tuple(int(size) for size in shape))

    def _fill(self, dtype: DataType, shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self._shape = shape

    @property
    def shape(self) -> Size:
        return Size(self._shape)

    def __repr__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self._shape)}{self.dtype.short}>"


class VectorType(Type):
    """`vec[...]`: several values as one."""

    __slots__ = ("items",)

    items: tuple[Type, ...]

    def __new__(cls, items: Iterable[Type]) -> VectorType:
        return context.unique(cls, tuple(items))

    def _fill(self, items: tuple[Type, ...]) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"vec[{','.join(map(repr, self.items))}]"
