"""The gamma function's relatives for arrays: its logarithm, and the derivatives of that, which are
the polygamma functions. numpy has none of them.

All follow one plan. Far out, a series in 1 / x^2 (Stirling's, with Bernoulli's numbers) is exact
after a few terms. gamma(x + 1) = x gamma(x) leads from x >= 0.5 to there in ten steps, and a
reflection leads from what is below 0.5 to above it. All is computed in float64.

Paddle: paddle/phi/kernels/cpu/lgamma_kernel.cc calls std::lgamma; digamma and polygamma are
Eigen's.
"""

from __future__ import annotations

import math
from typing import Any

STEPS = 10  # so many integers up: there the series below have all digits of float64
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B_2, B_4, ...


def lgamma(xp: Any, x: Any) -> Any:
    """log(|gamma(x)|); infinite at 0, -1, -2, ..."""
    z = x.astype(xp.float64)
    below = z < 0.5
    far = xp.where(below, 1.0 - z, z) + STEPS
    found = (far - 0.5) * (xp.log(far) - 1.0) + 0.5 * (math.log(2.0 * math.pi) - 1.0)
    for j, bernoulli in enumerate(BERNOULLI, 1):
        found += bernoulli / (2 * j * (2 * j - 1)) * far ** (1.0 - 2 * j)
    for step in range(1, STEPS + 1):
        found -= xp.log(far - step)
    # gamma(x) gamma(1 - x) = pi / sin(pi x)
    sine = xp.abs(xp.sin(math.pi * _place(xp, z, below)))
    found = xp.where(below, math.log(math.pi) - xp.log(sine) - found, found)
    return xp.where(xp.isinf(z), xp.inf, found).astype(x.dtype)


def polygamma(xp: Any, n: int, x: Any) -> Any:
    """The derivative number n + 1 of log(gamma(x)); n = 0 is digamma."""
    z = x.astype(xp.float64)
    below = z < 0.5
    far = xp.where(below, 1.0 - z, z) + STEPS
    # the sum of 1 / (x + k)^(n + 1) over all k >= 0: a series for those far out, the others as
    # they are. For n = 0 the sum is infinite; log(x) is what is left of it
    total = far**-n / n if n else -xp.log(far)
    total = total + far ** (-n - 1.0) / 2.0
    for j, bernoulli in enumerate(BERNOULLI, 1):
        factor = math.factorial(n + 2 * j - 1) / math.factorial(n) / math.factorial(2 * j)
        total += bernoulli * factor * far ** (-n - 2.0 * j)
    for step in range(1, STEPS + 1):
        total += (far - step) ** (-n - 1.0)
    found = total * (-1.0) ** (n + 1) * math.factorial(n)
    # digamma(1 - x) - digamma(x) = pi cot(pi x); of both sides the derivative number n
    place = _place(xp, z, below)
    if n == 0:  # it jumps from -inf to inf there: no number, but for 0, whose sign says the side
        place = xp.where(place == 0, xp.where(z == 0, z, xp.nan), place)
    turned = _cotangent_derivative(xp, n, 1.0 / xp.tan(math.pi * place))
    found = xp.where(below, (-1.0) ** n * found - math.pi ** (n + 1) * turned, found)
    return found.astype(x.dtype)


def _place(xp: Any, z: Any, below: Any) -> Any:
    """How far z is from the next whole number, where it is asked for: sin(pi z) of a large z has
    few right digits. Elsewhere, a number that is in nobody's way.
    """
    return xp.where(below, z - xp.round(z), 0.25)


def _cotangent_derivative(xp: Any, n: int, cotangent: Any) -> Any:
    """The derivative number n of cot, which is a polynomial in cot: cot' = -1 - cot^2."""
    powers = [0.0, 1.0]  # the coefficients, lowest power first
    for _ in range(n):
        slopes = [k * powers[k] for k in range(1, len(powers))]
        powers = [-a - b for a, b in zip([*slopes, 0.0, 0.0], [0.0, 0.0, *slopes], strict=True)]
    total = xp.full_like(cotangent, powers[-1])
    for coefficient in powers[-2::-1]:  # Horner's rule
        total = total * cotangent + coefficient
    return total
