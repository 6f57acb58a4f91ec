"""Reductions: sums, means, extremes, cumulative sums.

Paddle: paddle/phi/kernels/reduce_*_kernel.h, cum_kernel.h.
"""

from __future__ import annotations
