"""Attention.

Paddle: python/paddle/nn/functional/flash_attention.py, sdpa.py.
Left out: the fused kernels that Paddle has on a GPU; this is what it computes on a CPU.
"""

from __future__ import annotations

import math
from typing import Any

from minipaddle.common import dtype as dtypes
from minipaddle.nn.functional.common import dropout
from minipaddle.phi.core.op import OPS

__all__ = [
    "scaled_dot_product_attention",
]


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Any:
    """softmax(query @ key^T * scale + mask) @ value, for each head: every position takes from the
    others, the more the better its query fits their key.

    Args:
        query: [B, Lq, H, D], or without B.
        key, value: [B, Lk, H, D]; with enable_gqa fewer heads, each for several of the query's.
        attn_mask: [B, H or 1, Lq, Lk], added to the scores; bool: False is not looked at.
        is_causal: a position sees itself and those before it only; attn_mask is not used then.
        scale: default 1 / sqrt(D).
        backend: taken for Paddle's sake.

    Returns:
        [B, Lq, H, D], or without B.

    Raises:
        ValueError: the numbers of heads don't fit.
    """
    batched = query.ndim == 4
    if not batched:
        query, key, value = (OPS["unsqueeze"](x, axis=[0]) for x in (query, key, value))
    heads, key_heads, value_heads = query.shape[2], key.shape[2], value.shape[2]
    fits = heads % key_heads == 0 if enable_gqa and key_heads else heads == key_heads
    if not fits or key_heads != value_heads:
        raise ValueError(
            "scaled_dot_product_attention: expected heads of the key and the value that divide the "
            f"query's, but got {heads} in query, {key_heads} in key and {value_heads} in value. "
            "Axis 2 is that of the heads."
        )
    if attn_mask is not None and attn_mask.dtype is dtypes.bool_:
        seen, hidden = (
            OPS["full"](shape=[], value=number, dtype=query.dtype) for number in (0.0, -math.inf)
        )
        attn_mask = OPS["where"](attn_mask, seen, hidden)
    if heads != key_heads:
        key, value = (_repeated(x, heads // key_heads) for x in (key, value))
    depth = query.shape[-1]
    query, key, value = (OPS["transpose"](x, perm=[0, 2, 1, 3]) for x in (query, key, value))
    scores = OPS["matmul"](query * (scale or depth**-0.5), key, transpose_y=True)
    if is_causal:
        # a large number stands for minus infinity, as in Paddle
        attn_mask = OPS["full_like"](scores, value=-10000.0, dtype=scores.dtype)
        attn_mask = OPS["triu"](attn_mask, diagonal=1)
    if attn_mask is not None:
        scores = scores + attn_mask
    weights = OPS["softmax"](scores, axis=-1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p, training=training, mode="upscale_in_train")
    out = OPS["transpose"](OPS["matmul"](weights, value), perm=[0, 2, 1, 3])
    return out if batched else OPS["squeeze"](out, axis=[0])


def _repeated(x: Any, times: int) -> Any:
    """[B, L, H, D] -> [B, L, H * times, D]: each head stands several times, one after the other."""
    x = OPS["expand"](OPS["unsqueeze"](x, axis=[3]), shape=[-1, -1, -1, times, -1])
    return OPS["flatten"](x, start_axis=2, stop_axis=3)
