"""Attention and transformers. Paddle: python/paddle/nn/layer/transformer.py."""

from __future__ import annotations

__all__: list[str] = []
