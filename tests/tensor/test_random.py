"""Random functions: repeatable by seed, and of the right distribution."""

import numpy as np
import pytest

import minipaddle as paddle

F = paddle.nn.functional
N = 20_000  # the mean of N numbers is off by about deviation / 140; the limits are 5 times that


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(2024)


DRAWS = {
    "rand": lambda: paddle.rand([5]),
    "randn": lambda: paddle.randn([5]),
    "normal": lambda: paddle.normal(paddle.ones([5]), 2.0),
    "randint": lambda: paddle.randint(0, 1000, [5]),
    "randperm": lambda: paddle.randperm(50),
    "bernoulli": lambda: paddle.bernoulli(paddle.full([50], 0.5)),
    "multinomial": lambda: paddle.multinomial(paddle.ones([50]), 20),
    "dropout": lambda: F.dropout(paddle.ones([50])),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_and_without_it_numbers_change(name):
    first, second = DRAWS[name]().tolist(), DRAWS[name]().tolist()
    paddle.seed(2024)
    assert DRAWS[name]().tolist() == first != second


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda: paddle.rand([N]), 0.5, 12**-0.5),
        (lambda: paddle.uniform([N], min=-1.0, max=3.0), 1.0, 4 / 12**0.5),
        (lambda: paddle.randn([N]), 0.0, 1.0),
        (lambda: paddle.normal(2.0, 3.0, [N]), 2.0, 3.0),
        (lambda: paddle.bernoulli(paddle.full([N], 0.3)), 0.3, 0.21**0.5),
        (lambda: paddle.randint(0, 5, [N]).astype("float32"), 2.0, 2**0.5),
        (lambda: F.dropout(paddle.ones([N]), 0.25), 1.0, (0.25 / 0.75) ** 0.5),
        (lambda: F.dropout(paddle.ones([N]), 0.25, mode="downscale_in_infer"), 0.75, 0.1875**0.5),
    ],
)
def test_mean_and_deviation(draw, mean, deviation):
    numbers = draw().numpy()
    assert abs(numbers.mean() - mean) < 5 * deviation / 140
    assert abs(numbers.std() - deviation) < 0.05 * deviation


def test_multinomial_follows_the_weights():
    weights = paddle.to_tensor([[0.0, 1.0, 3.0]])
    drawn = paddle.multinomial(weights, N, replacement=True).numpy()[0]
    assert 0 not in drawn
    assert abs((drawn == 2).mean() - 0.75) < 0.02
    assert sorted(paddle.multinomial(paddle.ones([6]), 6).tolist()) == list(range(6))
    with pytest.raises(ValueError, match="expected at least 3 weights"):
        paddle.multinomial(weights, 3)


def test_dropout_without_training():
    x = paddle.randn([3, 4])
    np.testing.assert_array_equal(F.dropout(x, 0.5, training=False).numpy(), x.numpy())
    half = F.dropout(x, 0.5, training=False, mode="downscale_in_infer")
    np.testing.assert_array_equal(half.numpy(), x.numpy() * 0.5)


def test_dropout_of_nothing_and_of_everything():
    x = paddle.ones([3, 4])
    x.stop_gradient = False
    assert F.dropout(x, 0.0) is x
    out = F.dropout(x, 1.0)
    assert not out.numpy().any()
    out.sum().backward()
    assert not x.grad.numpy().any()


def test_dropout_by_axis_drops_whole_rows():
    x = paddle.ones([200, 3])
    x.stop_gradient = False
    out = F.dropout(x, 0.5, axis=0)
    rows = out.numpy()
    assert set(rows.ravel().tolist()) == {0.0, 2.0}
    assert (rows == rows[:, :1]).all()
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), rows)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"p": 1.5}, ValueError), ({"p": "a"}, TypeError), ({"mode": "x"}, ValueError)],
)
def test_dropout_refuses(arguments, error):
    with pytest.raises(error, match="dropout: expected"):
        F.dropout(paddle.ones([2]), **arguments)
