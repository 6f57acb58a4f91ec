"""Convolutions. Paddle: python/paddle/nn/functional/conv.py."""

from __future__ import annotations

__all__: list[str] = []
