"""Random numbers.

Paddle: paddle/phi/kernels/gaussian_kernel.h, randint_kernel.h, dropout_kernel.h.
"""

from __future__ import annotations
