"""Reading and writing parts of a Tensor.

Paddle: paddle/phi/kernels/gather_kernel.h, scatter_kernel.h, slice_kernel.h.
"""

from __future__ import annotations
