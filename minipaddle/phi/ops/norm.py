"""Normalisations.

Paddle: paddle/phi/kernels/batch_norm_kernel.h, layer_norm_kernel.h.
"""

from __future__ import annotations
