"""Layers, optimizers and functions in wrong hands: each error says who, what was expected, what came."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import nn
from minipaddle.nn import functional as F

x = paddle.to_tensor(np.arange(12, dtype="float32").reshape(3, 4))


class Forgetful(nn.Layer):
    def __init__(self):
        self.factor = 2.0

    def forward(self, x):
        return x * self.factor


WRONG = {
    "no super().__init__()": (
        lambda: Forgetful()(x),
        AttributeError,
        r"Call super\(\).__init__\(\) first in Forgetful",
    ),
    "a text as a size": (
        lambda: nn.Linear("4", 5),
        TypeError,
        r"a shape of ints, but got \['4', 5",
    ),
    "half a size": (lambda: nn.Linear(4.5, 5), TypeError, r"a shape of ints, but got \[4.5, 5"),
    "a negative size": (
        lambda: nn.Linear(-4, 5),
        ValueError,
        r"sizes of 0 or more, but got \[-4, 5",
    ),
    "a negative shape": (
        lambda: paddle.randn([2, -3]),
        ValueError,
        r"gaussian: expected sizes of 0",
    ),
    "padding that cuts": (
        lambda: nn.Conv2D(3, 4, 3, padding=-1),
        ValueError,
        "Conv2D: expected padding of 0 or more, but got -1",
    ),
    "a number where a Tensor is due": (
        lambda: paddle.outer(x, 3),
        AttributeError,
        "outer: expected two Tensors, but got 3. Make one",
    ),
    "a mode of other images": (
        lambda: F.interpolate(paddle.ones([1, 2, 4]), [8], mode="nearest"),
        ValueError,
        r"one of the modes \['area', 'linear'\] for an image of 3 axes, but got 'nearest'",
    ),
    "a size and a factor": (
        lambda: F.interpolate(paddle.ones([1, 2, 4, 4]), [8, 8], 2),
        ValueError,
        r"expected either size or scale_factor, but got \[8, 8\] and 2",
    ),
    "a filter of nothing": (lambda: nn.Conv2D(3, 4, 0), ValueError, r"kernel_size \[0, 0\]"),
    "a negative row": (
        lambda: nn.Embedding(3, 4)(paddle.to_tensor([-1])),
        IndexError,
        r"embedding: expected places in \[0, 3\), but got -1 to -1",
    ),
    "a state that is none": (
        lambda: nn.Linear(2, 2).set_state_dict(3),
        TypeError,
        "set_state_dict: expected a dict of names and numbers, but got int",
    ),
    "a hook that is none": (
        lambda: nn.Linear(2, 2).register_forward_pre_hook(3),
        TypeError,
        "expected a hook that can be called, but got int",
    ),
    "a layer for its parameters": (
        lambda: paddle.optimizer.SGD(0.1, parameters=nn.Linear(2, 2)),
        TypeError,
        r"SGD: expected a list of parameters, but got Linear. Pass parameters=model.parameters\(\)",
    ),
    "a state of an optimizer that is none": (
        lambda: paddle.optimizer.SGD(0.1, parameters=[]).set_state_dict(None),
        TypeError,
        "set_state_dict: expected a dict of names and numbers, but got NoneType",
    ),
    "a number for a batch": (
        lambda: paddle.metric.Accuracy().update(3),
        ValueError,
        "Accuracy.update: expected what compute",
    ),
    "a text as a seed": (lambda: paddle.seed("a"), TypeError, "seed: expected an int of 0 or more"),
    "a label that is no letter": (
        lambda: paddle.einsum("i?", x),
        ValueError,
        r"einsum: expected letters, .* but got 'i\?', which has \['\?'\]",
    ),
    "an equation that comes last": (
        lambda: paddle.einsum(x, x),
        TypeError,
        "einsum: expected the equation first, such as 'ij,jk->ik', but got Tensor",
    ),
    "a filter larger than its image": (
        lambda: nn.functional.conv2d(paddle.ones([1, 1, 2, 2]), paddle.ones([1, 1, 3, 1])),
        ValueError,
        "conv2d: expected a filter that fits on the image",
    ),
    "windows larger than their image": (
        lambda: nn.functional.unfold(paddle.ones([1, 1, 2, 2]), [2, 3]),
        ValueError,
        "unfold: expected windows that fit on the image",
    ),
    "the diagonal of a box": (
        lambda: paddle.diag(paddle.ones([1, 1, 2])),
        ValueError,
        "diag: expected a vector or a matrix",
    ),
    "the largest of nothing": (
        lambda: paddle.argmax(paddle.zeros([0, 4])),
        ValueError,
        "argmax: expected at least one element",
    ),
    "the largest of each empty row": (
        lambda: paddle.argmin(paddle.zeros([3, 0]), axis=1),
        ValueError,
        "argmin: expected at least one element",
    ),
    "a chance above 1": (
        lambda: paddle.bernoulli(x),
        ValueError,
        "bernoulli: expected probabilities from 0 to 1, but got 0.0 to 11.0",
    ),
    "a negative weight": (
        lambda: paddle.multinomial(-x),
        ValueError,
        "multinomial: expected weights of 0 or more, but got -11.0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_says_what_was_expected(name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()


def test_the_largest_of_each_column_of_no_columns_is_nothing():
    assert paddle.argmax(paddle.zeros([3, 0]), axis=0).shape == [0]


def test_an_interval_may_be_given_from_its_end():
    numbers = paddle.uniform([100], min=2, max=1).numpy()
    assert 1 <= numbers.min() < numbers.max() <= 2


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_pad_has_a_gradient_where_the_batch_is_unknown(mode):
    def results(x):
        y = F.pad(x, [1, 2, 0, 3], mode=mode)
        return y, (y * y * y).sum()

    numbers = np.random.default_rng(0).standard_normal((2, 3, 5, 4)).astype("float32")
    leaf = paddle.to_tensor(numbers, stop_gradient=False)
    _, loss = results(leaf)
    loss.backward()
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            fed = paddle.static.data("x", [-1, 3, 5, 4])
            fed.stop_gradient = False
            y, loss = results(fed)
            (grad,) = paddle.static.gradients(loss, [fed])
            assert (y.shape, grad.shape) == ([-1, 3, 8, 7], [-1, 3, 5, 4])
        (found,) = paddle.static.Executor().run(main, feed={"x": numbers}, fetch_list=[grad])
    finally:
        paddle.disable_static()
    assert np.array_equal(found, leaf.grad.numpy())


def test_what_is_unknown_in_a_program_is_not_refused():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            ids = paddle.static.data("ids", [-1, 2], "int64")
            rows = paddle.static.data("rows", [-1, 4])
            assert F.embedding(ids, rows, padding_idx=1).shape == [-1, 2, 4]
            images = paddle.static.data("images", [-1, 3, 8, 8])
            filters = paddle.static.data("filters", [-1, 1, 3, 3])
            assert F.conv2d(images, filters, groups=3).shape == [-1, -1, 6, 6]
    finally:
        paddle.disable_static()


@pytest.mark.parametrize(
    "layer",
    [
        lambda nn: nn.BatchNorm2D(4),
        lambda nn: nn.GroupNorm(2, 4),
        lambda nn: nn.LayerNorm(3),
        lambda nn: nn.InstanceNorm2D(4),
    ],
)
def test_norms_refuse_another_precision(layer):
    """As in Paddle. Half precision beside float32 parameters is fine: auto_cast needs it."""
    made = layer(paddle.nn)
    with pytest.raises(ValueError, match=r"expected \w+ of x's dtype float64, but got float32"):
        made(paddle.ones([2, 4, 3, 3], "float64"))
    assert made(paddle.ones([2, 4, 3, 3], "float16")).dtype == paddle.float16
