"""Attention. Paddle: python/paddle/nn/functional/flash_attention.py."""

from __future__ import annotations

__all__: list[str] = []
