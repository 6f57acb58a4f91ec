"""Comparisons and logic.

Paddle: paddle/phi/kernels/compare_kernel.h, logical_kernel.h.
"""

from __future__ import annotations
