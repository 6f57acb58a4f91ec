"""Convolutions as layers. Paddle: python/paddle/nn/layer/conv.py."""

from __future__ import annotations

__all__: list[str] = []
