"""The error function for arrays. numpy has none, and Python's math.erf takes one number only.

For float32 one fraction of two polynomials in x^2 is exact enough. For float64 the line is cut in
three, as in W. J. Cody, "Rational Chebyshev Approximations for the Error Function", 1969.

Paddle: paddle/phi/kernels/cpu/erf_kernel.cc calls std::erf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# odd numerator and denominator of erf on [-4, 4], lowest power of x^2 first (see tests/phi: the
# error is below 4e-7, the resolution of float32 near 1 being 1.2e-7)
SINGLE_P = (
    -1.60960333262415e-02,
    -2.95459980854025e-03,
    -7.34990630326855e-04,
    -5.69250639462346e-05,
    -2.10102402082508e-06,
    2.77068142495902e-08,
    -2.72614225801306e-10,
)
SINGLE_Q = (
    -1.42647390514189e-02,
    -7.37332916720468e-03,
    -1.68282697438203e-03,
    -2.13374055278905e-04,
    -1.45660718464996e-05,
)

# |x| <= 0.46875: erf(x) = x P(x^2) / Q(x^2), lowest power first
SMALL_P = (
    3.20937758913846947e03,
    3.77485237685302021e02,
    1.13864154151050156e02,
    3.16112374387056560e00,
    1.85777706184603153e-1,
)
SMALL_Q = (
    2.84423683343917062e03,
    1.28261652607737228e03,
    2.44024637934444173e02,
    2.36012909523441209e01,
    1.0,
)
# 0.46875 <= |x| <= 4: erfc(x) = exp(-x^2) P(x) / Q(x)
MIDDLE_P = (
    1.23033935479799725e03,
    2.05107837782607147e03,
    1.71204761263407058e03,
    8.81952221241769090e02,
    2.98635138197400131e02,
    6.61191906371416295e01,
    8.88314979438837594e00,
    5.64188496988670089e-1,
    2.15311535474403846e-8,
)
MIDDLE_Q = (
    1.23033935480374942e03,
    3.43936767414372164e03,
    4.36261909014324716e03,
    3.29079923573345963e03,
    1.62138957456669019e03,
    5.37181101862009858e02,
    1.17693950891312499e02,
    1.57449261107098347e01,
    1.0,
)


def erf(xp: Any, x: Any) -> Any:
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x; the dtype of x stays.

    Args:
        x: an array of floating-point numbers.
    """
    if x.dtype == xp.float64:
        return _double(xp, x)
    x = x.astype(xp.float32)
    x = xp.clip(x, -4.0, 4.0)  # beyond, erf is 1 in float32
    square = x * x
    return x * _polynomial(square, SINGLE_P) / _polynomial(square, SINGLE_Q)


def _double(xp: Any, x: Any) -> Any:
    size = xp.minimum(xp.abs(x), 6.0)  # beyond, erf is 1 in float64
    square = size * size
    near = size * _polynomial(square, SMALL_P) / _polynomial(square, SMALL_Q)
    tail = xp.exp(-square) * _polynomial(size, MIDDLE_P) / _polynomial(size, MIDDLE_Q)
    return xp.copysign(xp.where(size <= 0.46875, near, 1.0 - tail), x)


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule: one multiplication and one addition per coefficient."""
    total = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        total *= x
        total += coefficient
    return total
