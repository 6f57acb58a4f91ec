"""Normalisations. Paddle: python/paddle/nn/functional/norm.py."""

from __future__ import annotations

__all__: list[str] = []
