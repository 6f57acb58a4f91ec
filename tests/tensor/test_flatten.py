"""flatten's axes."""

import pytest

import minipaddle as paddle


def test_a_number_has_the_axes_0_and_minus_1():
    number = paddle.to_tensor(3.0)
    assert paddle.flatten(number).shape == paddle.flatten(number, 0, 0).shape == [1]


@pytest.mark.parametrize(("start", "stop"), [(5, -1), (1, 1), (-2, 0)])
def test_a_number_has_no_other_axes(start, stop):
    with pytest.raises(ValueError, match="flatten: expected an axis"):
        paddle.flatten(paddle.to_tensor(3.0), start, stop)
