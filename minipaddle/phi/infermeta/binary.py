"""InferMeta rules of ops with two Tensor inputs.

Paddle: paddle/phi/infermeta/binary.cc.
"""

from __future__ import annotations

from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.phi.core.meta_tensor import MetaTensor
from minipaddle.phi.core.type_promotion import promote
from minipaddle.phi.infermeta.enforce import require_same_dtype, shapes_agree


def broadcast_shape(who: str, x: MetaTensor, y: MetaTensor) -> tuple[int, ...]:
    """The shape of x and y broadcast together; -1 fits everything.

    Raises:
        ValueError: two sizes differ and neither is 1.
    """
    ndim = max(x.ndim, y.ndim)
    left = (1,) * (ndim - x.ndim) + x.shape
    right = (1,) * (ndim - y.ndim) + y.shape
    shape = []
    for a, b in zip(left, right, strict=True):
        if a != b and 1 not in (a, b) and -1 not in (a, b):
            raise ValueError(
                f"{who}: expected shapes that broadcast, but got x {list(x.shape)} and y "
                f"{list(y.shape)}. Counted from the right, sizes must be equal, or one of them 1."
            )
        # 0 beside 1 gives 0; an unknown size beside a known one (not 1) must be that one
        shape.append(b if a in (1, -1) and b != 1 else a)
    return tuple(shape)


def elementwise(who: str) -> Any:
    """Makes the rule of an element-by-element op: broadcast and promote."""

    def rule(x: MetaTensor, y: MetaTensor, **attrs: Any) -> MetaTensor:
        return MetaTensor(broadcast_shape(who, x, y), promote(who, x, y))

    return rule


def compared(who: str) -> Any:
    """Makes the rule of a comparison: broadcast; the result is bool."""

    def rule(x: MetaTensor, y: MetaTensor) -> MetaTensor:
        promote(who, x, y)
        return MetaTensor(broadcast_shape(who, x, y), dtypes.bool_)

    return rule


def close(who: str, to_one: bool = False) -> Any:
    """Makes the rule of isclose, and of allclose, which answers for all numbers at once."""

    def rule(x: MetaTensor, y: MetaTensor, **attrs: Any) -> MetaTensor:
        require_same_dtype(who, x=x, y=y)
        if not shapes_agree(x.shape, y.shape):
            raise RuntimeError(
                f"{who}: expected x and y of one shape, but got {list(x.shape)} and "
                f"{list(y.shape)}. Expand one of them first."
            )
        return MetaTensor(() if to_one else x.shape, dtypes.bool_)

    return rule


def compared_as_one(x: MetaTensor, y: MetaTensor) -> MetaTensor:
    """One bool. Shapes may differ: the answer is False then."""
    require_same_dtype("equal_all", x=x, y=y)
    return MetaTensor((), dtypes.bool_)


def integers(who: str) -> Any:
    """Makes the rule of an op on the bits of two Tensors: broadcast; one dtype, no fractions."""

    def rule(x: MetaTensor, y: MetaTensor) -> MetaTensor:
        require_same_dtype(who, x=x, y=y)
        if x.dtype.is_floating:
            raise TypeError(
                f"{who}: expected integers or bools, but got {x.dtype.name}. Cast them with astype."
            )
        return MetaTensor(broadcast_shape(who, x, y), x.dtype)

    return rule


def like_target(x: MetaTensor, target: MetaTensor) -> MetaTensor:
    """The output has the shape of `target` and the dtype of `x`."""
    return MetaTensor(target.shape, x.dtype)


def matmul(
    x: MetaTensor,
    y: MetaTensor,
    *,
    transpose_x: bool,
    transpose_y: bool,
    who: str = "matmul",
    **attrs: Any,
) -> MetaTensor:
    """x [..., M, K] @ y [..., K, N] -> [..., M, N]; a vector loses its own dimension."""
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError(
            f"matmul: expected x and y with at least one dimension, but got x {list(x.shape)} and "
            f"y {list(y.shape)}. Use multiply for single numbers."
        )
    require_same_dtype(who, x=x, y=y)
    left = [1, *x.shape] if x.ndim == 1 else list(x.shape)
    right = [*y.shape, 1] if y.ndim == 1 else list(y.shape)
    if transpose_x and x.ndim > 1:
        left[-2:] = left[:-3:-1]
    if transpose_y and y.ndim > 1:
        right[-2:] = right[:-3:-1]
    if left[-1] != right[-2] and -1 not in (left[-1], right[-2]):
        name_x = "x.shape[-2]" if transpose_x and x.ndim > 1 else "x.shape[-1]"
        name_y = "y.shape[-2]" if y.ndim > 1 and not transpose_y else "y.shape[-1]"
        raise ValueError(
            f"{who}: expected {name_x} == {name_y}, but got x {list(x.shape)} and y "
            f"{list(y.shape)}. Transpose one of them"
            + (", or set transpose_x or transpose_y." if who == "matmul" else ".")
        )
    batch = broadcast_shape(who, MetaTensor(left[:-2], x.dtype), MetaTensor(right[:-2], y.dtype))
    rows = [] if x.ndim == 1 else [left[-2]]
    columns = [] if y.ndim == 1 else [right[-1]]
    return MetaTensor([*batch, *rows, *columns], x.dtype)


def bmm(x: MetaTensor, y: MetaTensor) -> MetaTensor:
    """x [B, M, K], y [B, K, N] -> [B, M, N]."""
    if x.ndim != 3 or y.ndim != 3:
        raise ValueError(
            f"bmm: expected x and y with three dimensions, but got x {list(x.shape)} and y "
            f"{list(y.shape)}. Use matmul for others."
        )
    if x.shape[0] != y.shape[0] and -1 not in (x.shape[0], y.shape[0]):
        raise ValueError(
            f"bmm: expected x.shape[0] == y.shape[0], but got x {list(x.shape)} and y "
            f"{list(y.shape)}. Use matmul, which broadcasts."
        )
    return matmul(x, y, transpose_x=False, transpose_y=False, who="bmm")


def dot(x: MetaTensor, y: MetaTensor) -> MetaTensor:
    """x [K], y [K] -> []; x [B, K], y [B, K] -> [B]."""
    if not shapes_agree(x.shape, y.shape) or x.ndim not in (1, 2):
        raise RuntimeError(
            f"dot: expected two vectors, or two lists of vectors, of one shape, but got x "
            f"{list(x.shape)} and y {list(y.shape)}. Use matmul for others."
        )
    return MetaTensor(x.shape[:-1], promote("dot", x, y))


def addmm(
    input: MetaTensor, x: MetaTensor, y: MetaTensor, *, beta: float, alpha: float
) -> MetaTensor:
    """x [M, K], y [K, N], input that broadcasts to [M, N] -> [M, N]."""
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError(
            f"addmm: expected two matrices, but got x {list(x.shape)} and y {list(y.shape)}. Use "
            "matmul and add."
        )
    product = matmul(x, y, transpose_x=False, transpose_y=False, who="addmm")
    shape = broadcast_shape("addmm", input, product)
    return MetaTensor(shape, product.dtype)
