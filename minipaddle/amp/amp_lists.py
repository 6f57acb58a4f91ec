"""Which ops auto_cast runs in half precision (white), and which in float32 (black).

White ops are fast in half precision and lose little: products, which add up in float32 inside.
Black ops lose too much: sums of many numbers, and functions that grow fast or end at infinity.
All other ops take what comes; where dtypes mix, they compute in float32.

Paddle: python/paddle/amp/amp_lists.py and, for dygraph, paddle/fluid/imperative/amp_auto_cast.cc.
The names here are those of this package's ops.
Left out: bfloat16, which numpy does not have; level OD.
"""

from __future__ import annotations

WHITE_LIST = frozenset({"conv2d", "einsum", "fc", "matmul", "max_pool2d_with_index"})

# level O2 leaves only these in float32
BLACK_LIST_O2 = frozenset({"embedding", "scatter"})

BLACK_LIST = BLACK_LIST_O2 | {
    "cross_entropy_with_softmax",
    "cumsum",
    "exp",
    "expm1",
    "frobenius_norm",
    "group_norm",
    "huber_loss",
    "layer_norm",
    "log",
    "log10",
    "log2",
    "log_softmax",
    "mean",
    "mean_all",
    "nll_loss",
    "p_norm",
    "pow",
    "prod",
    "reciprocal",
    "rsqrt",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softplus",
    "square",
    "sum",
    "tan",
}


def white_list() -> dict[str, dict[str, set[str]]]:
    """dtype -> level -> names of ops, as Paddle gives it."""
    return {"float16": {"O1": set(WHITE_LIST), "O2": set(WHITE_LIST)}}


def black_list() -> dict[str, dict[str, set[str]]]:
    """dtype -> level -> names of ops, as Paddle gives it."""
    return {"float16": {"O1": set(BLACK_LIST), "O2": set(BLACK_LIST_O2)}}
