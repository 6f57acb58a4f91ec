"""erf without scipy, against Python's own, which takes one number at a time."""

import math

import numpy as np
import pytest

from minipaddle.phi.kernels.erf import erf


@pytest.mark.parametrize(("dtype", "precision"), [("float64", 5e-16), ("float32", 5e-7)])
def test_erf_is_exact_over_the_whole_line(dtype, precision):
    x = np.linspace(-7, 7, 4001).astype(dtype)
    expected = np.array([math.erf(value) for value in x.tolist()])
    found = erf(np, x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=precision, atol=0)


def test_erf_at_the_ends_and_of_no_number():
    for dtype in ("float64", "float32"):
        found = erf(np, np.array([np.inf, -np.inf, np.nan, 0.0], dtype))
        np.testing.assert_array_equal(found, [1.0, -1.0, np.nan, 0.0])
    assert erf(np, np.zeros((0, 2))).shape == (0, 2)
