"""The modified Bessel functions I_0 and I_1 for arrays. (numpy's own i0 knows the first only.)

Near 0 the power series is summed, all of whose terms are positive; far out, the series in 1 / x.

Paddle: paddle/phi/kernels/impl/bessel_kernel_impl.h, with Chebyshev's polynomials.
"""

from __future__ import annotations

import math
from typing import Any

FAR = 20.0  # from here on, the series in 1 / x has all digits of float64


def scaled_bessel(xp: Any, order: int, x: Any) -> Any:
    """exp(-|x|) I_order(x), in float64: I_order itself soon is larger than any float."""
    size = xp.abs(x.astype(xp.float64))
    near, far = xp.minimum(size, FAR), xp.maximum(size, FAR)
    term = (near / 2.0) ** order  # of the sum of (x / 2)^(2k + order) / (k! (k + order)!)
    total = term.copy()
    for k in range(1, 50):
        term = term * (near * near / (4 * k * (k + order)))
        total += term
    term = 1.0 / xp.sqrt(2.0 * math.pi * far)
    total_far = term.copy()
    for k in range(1, 31):
        term = term * (((2 * k - 1) ** 2 - 4 * order**2) / (8.0 * k * far))
        total_far += term
    found = xp.where(size <= FAR, xp.exp(-near) * total, total_far)
    return xp.where(x < 0, -found, found) if order % 2 else found


def bessel(xp: Any, order: int, x: Any) -> Any:
    """I_order(x), in float64."""
    return scaled_bessel(xp, order, x) * xp.exp(xp.abs(x.astype(xp.float64)))
