"""Which functions are in `paddle`, and which are methods of Tensor: as in real Paddle."""

import importlib

import pytest

import minipaddle as paddle
from minipaddle.compare import real_paddle
from minipaddle.tensor import METHODS


@pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed (extra: course)")
def test_in_place_functions_are_those_of_paddle():
    """Of the methods that write in place, those that are functions there are functions here."""
    real = importlib.import_module("paddle")
    ours = {name for name in METHODS if name.endswith("_") and hasattr(paddle, name)}
    assert ours == {name for name in METHODS if name.endswith("_") and hasattr(real, name)}


@pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed (extra: course)")
def test_functions_of_a_tensor_are_its_methods():
    """Of the functions that we have, all that are methods there."""
    real = importlib.import_module("paddle")
    names = [name for name in real.tensor.tensor_method_func if hasattr(paddle, name)]
    missing = {name for name in names if not hasattr(paddle.Tensor, name)}
    assert missing == {"create_parameter"}  # takes no Tensor at all


def test_an_in_place_function_is_the_method():
    x = paddle.to_tensor([0.0, 1.0])
    assert paddle.asin_(x) is x
    assert x.sin_() is x
    assert x.tolist() == [0.0, 1.0]
