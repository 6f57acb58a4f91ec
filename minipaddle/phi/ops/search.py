"""Sorting and finding.

Paddle: paddle/phi/kernels/argsort_kernel.h, top_k_kernel.h.
"""

from __future__ import annotations
