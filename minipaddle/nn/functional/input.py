"""one_hot, embedding. Paddle: python/paddle/nn/functional/input.py."""

from __future__ import annotations

__all__: list[str] = []
