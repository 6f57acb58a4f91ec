"""Normalisations as layers. Paddle: python/paddle/nn/layer/norm.py."""

from __future__ import annotations

__all__: list[str] = []
