"""Rows with mean 0 and variance 1, and the way back: what all normalisations share.

They differ in what a row is: layer_norm's is one position's features, group_norm's a few channels
of one image, instance_norm's one channel of one image. batch_norm's is one channel of all images,
which does not lie in one piece of memory: see phi/ops/batch_norm.py.

Paddle: paddle/phi/kernels/cpu/layer_norm_kernel.cc and its like.
"""

from __future__ import annotations

from typing import Any

from minipaddle.phi.kernels.im2col import parts


def as_statistics(xp: Any, x: Any) -> Any:
    """Half-precision numbers as float32, in which means are computed."""
    return x.astype(xp.float32) if x.dtype.char == "e" else x


def normalize_rows(
    xp: Any, rows: Any, epsilon: float, scale: Any = None, bias: Any = None
) -> tuple[Any, Any, Any, Any]:
    """rows [R, K] -> (normalised [R, K], mean [R], variance [R], 1 / standard deviation [R]).
    scale, bias [K]: the normalised rows are multiplied and moved by them.

    Some rows at a time: six steps over numbers that are in the cache take half the time of six
    steps over all.
    """
    rows = as_statistics(xp, rows)
    out = xp.empty(rows.shape, rows.dtype)
    found = [
        _normalize_block(xp, rows[part], epsilon, scale, bias, out[part])
        for part in parts(xp, rows.shape[0] or 1, 2 * rows.shape[1])
    ]
    if len(found) == 1:
        return out, *found[0]
    mean, variance, inverse = (xp.concatenate(each) for each in zip(*found, strict=True))
    return out, mean, variance, inverse


def _normalize_block(
    xp: Any, rows: Any, epsilon: float, scale: Any, bias: Any, out: Any
) -> tuple[Any, Any, Any]:
    """Writes the normalised rows into `out`; returns the rest."""
    size = rows.shape[1] or 1
    mean = xp.einsum("ij->i", rows) / size
    xp.subtract(rows, mean[:, None], out=out)
    # the squares' sum as a product, row @ column: the fastest way to it
    variance = xp.matmul(out[:, None, :], out[:, :, None]).reshape(-1) / size
    inverse = (variance + epsilon) ** -0.5
    out *= inverse[:, None]
    if scale is not None:
        out *= scale
    if bias is not None:
        out += bias
    return mean, variance, inverse


def rows_gradient(xp: Any, grad: Any, normalised: Any, inverse: Any) -> Any:
    """The gradient of rows [R, K] from that of their normalised form.

    x moves its own place, the mean and the variance; the last two take away what all of a row's
    gradients have in common:  (g - mean(g) - normalised * mean(g * normalised)) * inverse
    """
    size = grad.dtype.type(max(grad.shape[1], 1))
    along = xp.einsum("ij,ij->i", grad, normalised) / size
    result = normalised * -along[:, None]
    result += grad
    result -= (grad.sum(axis=1) / size)[:, None]
    result *= inverse[:, None]
    return result


def fit(x: Any, size: int, *vectors: Any) -> bool:
    """True if all vectors that are there have `size` numbers (numpy would stretch a single one) in
    x's dtype, or in float32 beside half precision.
    """
    for vector in vectors:
        if vector is None:
            continue
        if vector.shape != (size,):
            return False
        if vector.dtype != x.dtype and not (x.dtype.itemsize == 2 and vector.dtype == "float32"):
            return False
    return True
