"""Pooling. Paddle: python/paddle/nn/functional/pooling.py."""

from __future__ import annotations

__all__: list[str] = []
