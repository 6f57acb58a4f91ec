"""Convolutions.

Paddle: paddle/phi/kernels/conv_kernel.h, unfold_kernel.h.
"""

from __future__ import annotations
