"""Pooling as layers. Paddle: python/paddle/nn/layer/pooling.py."""

from __future__ import annotations

__all__: list[str] = []
