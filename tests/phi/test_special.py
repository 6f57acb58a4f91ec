"""The gamma function's relatives and Bessel's functions without scipy: against Python's own
lgamma, the equations that define them, and an integral.
"""

import math

import numpy as np
import pytest

from minipaddle.phi.kernels.bessel import bessel, scaled_bessel
from minipaddle.phi.kernels.gamma import lgamma, polygamma

# between the poles at 0, -1, -2, ...
PLACES = np.concatenate([np.linspace(-20.03, 40.0, 3001), 10.0 ** np.arange(-30, 40)])


def test_lgamma_is_pythons():
    expected = [math.lgamma(x) for x in PLACES.tolist()]
    np.testing.assert_allclose(lgamma(np, PLACES), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", range(8))
def test_polygamma_steps_as_it_must(n):
    """polygamma(n, x) - polygamma(n, x + 1) = (-1)^(n + 1) n! / x^(n + 1), on both sides of 0."""
    x = PLACES[np.abs(PLACES) < 1e3]
    step = (-1) ** (n + 1) * math.factorial(n) / x ** (n + 1)
    here = polygamma(np, n, x)
    np.testing.assert_allclose(here, polygamma(np, n, x + 1) + step, rtol=1e-9, atol=1e-11)


def test_polygamma_where_its_values_are_known():
    gamma, half = 0.5772156649015329, math.log(4.0)
    one = np.array([1.0, 0.5])
    np.testing.assert_allclose(polygamma(np, 0, one), [-gamma, -gamma - half], rtol=1e-14)
    pi2 = math.pi**2
    np.testing.assert_allclose(polygamma(np, 1, one), [pi2 / 6, pi2 / 2], rtol=1e-14)
    np.testing.assert_allclose(polygamma(np, 3, one), [pi2**2 / 15, pi2**2], rtol=1e-14)


def test_gamma_at_the_poles_and_at_the_ends():
    x = np.array([-2.0, 0.0, -0.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(lgamma(np, x), [np.inf] * 4 + [np.nan])
        digamma = polygamma(np, 0, x)
        trigamma = polygamma(np, 1, x)
    np.testing.assert_array_equal(digamma, [np.nan, -np.inf, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(trigamma, [np.inf, np.inf, np.inf, 0.0, np.nan])


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_is_the_integral(order):
    """The mean of exp(x cos(t)) cos(order t) over a circle; equal steps give all digits."""
    x = np.linspace(-60.0, 60.0, 1001)
    turn = np.linspace(0.0, 2.0 * math.pi, 200, endpoint=False)
    waves = np.exp(x[:, None] * np.cos(turn) - np.abs(x[:, None])) * np.cos(order * turn)
    np.testing.assert_allclose(scaled_bessel(np, order, x), waves.mean(1), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(
        bessel(np, order, x), waves.mean(1) * np.exp(np.abs(x)), rtol=1e-12, atol=1e-16
    )


def test_usual_numbers_give_no_warnings():
    x = np.array([-1.5, 0.3, 1.0, 2.0, 30.0], "float32")
    with np.errstate(all="raise"):
        assert lgamma(np, x).dtype == polygamma(np, 0, x).dtype == np.float32
        polygamma(np, 3, x)
        bessel(np, 0, x), scaled_bessel(np, 1, x)
