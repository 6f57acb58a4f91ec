"""sequence_mask. Paddle: python/paddle/nn/functional/extension.py."""

from __future__ import annotations

from typing import Any

from minipaddle.phi.core.op import OPS

__all__ = ["sequence_mask"]


def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: Any = None) -> Any:
    """Lengths [...] -> [..., maxlen]: 1 for the first x[...] places, then 0. Without `maxlen`, the
    largest length.
    """
    return OPS["sequence_mask"](x, max_len=-1 if maxlen is None else maxlen, out_dtype=dtype)
