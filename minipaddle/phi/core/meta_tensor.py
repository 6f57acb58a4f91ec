"""MetaTensor: a Tensor without data. InferMeta functions take and return it.

Paddle: paddle/phi/core/meta_tensor.h.
Left out: layout, LoD.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from minipaddle.common.dtype import DataType, to_dtype


class MetaTensor:
    """Shape and dtype. A dimension of -1 is not known yet (a batch size, say)."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Iterable[int], dtype: object) -> None:
        # most often both have their final form already
        self.shape: tuple[int, ...] = shape if type(shape) is tuple else tuple(map(int, shape))
        self.dtype: DataType = dtype if type(dtype) is DataType else to_dtype(dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements; counts an unknown dimension as 1."""
        return math.prod(size for size in self.shape if size != -1)

    def __repr__(self) -> str:
        return f"MetaTensor(shape={list(self.shape)}, dtype={self.dtype.name})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MetaTensor)
            and self.shape == other.shape
            and self.dtype is other.dtype
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype.name))
