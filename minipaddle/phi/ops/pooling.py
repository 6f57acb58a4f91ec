"""Pooling.

Paddle: paddle/phi/kernels/pool_kernel.h.
"""

from __future__ import annotations
