"""Linear algebra. Paddle: python/paddle/tensor/linalg.py."""

from __future__ import annotations

import math
from typing import Any

from minipaddle.phi.core.op import OPS, find_op
from minipaddle.phi.ops.einsum import labels_of

__all__ = [
    "addmm",
    "bmm",
    "dot",
    "einsum",
    "matmul",
    "mm",
    "norm",
    "t",
    "t_",
    "transpose",
]

matmul = OPS["matmul"]
transpose = OPS["transpose"]
bmm = OPS["bmm"]
dot = OPS["dot"]
addmm = OPS["addmm"]


def mm(input: Any, mat2: Any, name: Any = None) -> Any:
    """input [M, K] @ mat2 [K, N] -> [M, N]."""
    return OPS["matmul"](input, mat2)


def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products: "ij,jk->ik" is a matrix product. Axes of the same letter run together; a
    letter that is not behind the arrow is summed over. Without an arrow, the letters that stand
    once are kept, in the order of the alphabet.

    Paddle: python/paddle/tensor/einsum.py.

    Raises:
        ValueError: the equation and the shapes don't fit.
        TypeError: the equation is no text.
    """
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum: expected the equation first, such as 'ij,jk->ik', but got "
            f"{type(equation).__name__}. The Tensors come behind it."
        )
    left, arrow, right = equation.replace(" ", "").partition("->")
    if not arrow:
        spelled, right = labels_of(left, [x.ndim for x in operands])
        if "..." in left:  # the letters that stand for the dots go back
            kept = left.replace("...", "")
            right = "..." + "".join(letter for letter in right if letter in kept)
    return OPS["einsum"](list(operands), equation=f"{left}->{right}")


def norm(
    x: Any,
    p: float | str | None = None,
    axis: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    name: Any = None,
) -> Any:
    """The length of vectors along `axis`, or of matrices in two axes.

    Args:
        p: the order: None or 2 is the usual length, 1 the sum of absolute values, inf the largest
            one, 0 counts what is not 0; "fro" takes a matrix as one long vector.
        axis: None: all of x as one vector. One axis: vectors. Two: matrices.

    Raises:
        ValueError: a matrix has no norm of that order.
        NotImplementedError: matrices with p 2, -2 or "nuc", which need singular values.
    """
    if dtype is not None:
        x = OPS["cast"](x, dtype=dtype)
    axes = list(axis) if isinstance(axis, (list, tuple)) else axis
    if isinstance(axes, list) and len(axes) == 1:
        axes = axes[0]
    if isinstance(axes, list) and len(axes) == 2:
        return _matrix_norm(x, 2.0 if p is None else p, axes, keepdim)
    order = 2.0 if p in (None, "fro") else float(p)  # type: ignore[arg-type]
    if not isinstance(axes, list):
        attrs = {"axis": -1 if axes is None else axes, "asvector": axes is None}
        return OPS["p_norm"](x, porder=order, keepdim=keepdim, **attrs)
    if order == 0:
        return OPS["sum"](OPS["cast"](x != 0, dtype=x.dtype), axis=axes, keepdim=keepdim)
    if math.isinf(order):
        extreme = OPS["max" if order > 0 else "min"]
        return extreme(OPS["abs"](x), axis=axes, keepdim=keepdim)
    total = OPS["sum"](OPS["pow"](OPS["abs"](x), y=order), axis=axes, keepdim=keepdim)
    return OPS["pow"](total, y=1.0 / order)


def _matrix_norm(x: Any, p: float | str, axes: list[int], keepdim: bool) -> Any:
    """The norm of matrices whose rows are axes[0] and whose columns are axes[1]."""
    if p == "fro":
        return OPS["frobenius_norm"](x, axis=axes, keep_dim=keepdim, reduce_all=False)
    if p in ("nuc", 2, -2):
        raise NotImplementedError(
            f"norm: expected a norm of matrices that needs no singular values, but got p={p!r}. "
            'Use p="fro", 1 or inf.'
        )
    if p not in (1, -1, math.inf, -math.inf):
        raise ValueError(
            f"norm: expected p to be 'fro', 1, -1, inf or -inf for two axes, but got {p!r}. Choose "
            "one of them, or give one axis."
        )
    rows, columns = (axis % x.ndim for axis in axes)
    summed, rest = (rows, columns) if abs(p) == 1 else (columns, rows)  # type: ignore[arg-type]
    sums = OPS["p_norm"](x, porder=1.0, axis=summed, keepdim=keepdim)
    if not keepdim and rest > summed:
        rest -= 1  # the axis before it is gone
    extreme = OPS["max" if p > 0 else "min"]  # type: ignore[operator]
    return extreme(sums, axis=rest, keepdim=keepdim)


def t(input: Any, name: Any = None) -> Any:
    """A matrix with its two axes swapped. Raises ValueError for more than two dimensions."""
    _require_a_matrix("t", input)
    return input if input.ndim < 2 else OPS["transpose"](input, perm=[1, 0])


def t_(input: Any, name: Any = None) -> Any:
    """t, of the Tensor itself."""
    _require_a_matrix("t_", input)
    return input if input.ndim < 2 else find_op("transpose_")(input, perm=[1, 0])


def _require_a_matrix(who: str, input: Any) -> None:
    if input.ndim > 2:
        raise ValueError(
            f"{who}: expected at most 2 dimensions, but got shape {list(input.shape)}. Use "
            "transpose with a perm."
        )
