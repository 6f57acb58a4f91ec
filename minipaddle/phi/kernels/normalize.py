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
    return x.astype(xp.float32) if x.dtype == xp.float16 else x


def normalize_rows(xp: Any, rows: Any, epsilon: float) -> tuple[Any, Any, Any, Any]:
    """rows [R, K] -> (normalised [R, K], mean [R], variance [R], 1 / standard deviation [R]).

    Some rows at a time: six steps over numbers that are in the cache take half the time of six
    steps over all.
    """
    rows = as_statistics(xp, rows)
    kind, size = rows.dtype.type, max(rows.shape[1], 1)
    normalised = xp.empty(rows.shape, rows.dtype)
    mean, variance = xp.empty(rows.shape[:1], rows.dtype), xp.empty(rows.shape[:1], rows.dtype)
    inverse = xp.empty(rows.shape[:1], rows.dtype)
    for part in parts(xp, rows.shape[0], 2 * size):
        mean[part] = rows[part].sum(axis=1) / kind(size)
        centred = xp.subtract(rows[part], mean[part, None], out=normalised[part])
        variance[part] = xp.einsum("ij,ij->i", centred, centred) / kind(size)
        inverse[part] = 1 / xp.sqrt(variance[part] + kind(epsilon))
        centred *= inverse[part, None]
    return normalised, mean, variance, inverse


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
    half = x.dtype.itemsize == 2
    return all(
        vector is None
        or (
            vector.shape == (size,)
            and (vector.dtype == x.dtype or (half and vector.dtype == "float32"))
        )
        for vector in vectors
    )
