"""Losses give what real Paddle gives: values, gradients, kinds of errors, and the ops of a program."""

import numpy as np
import pytest

import minipaddle as paddle
from tests.nn.parity import (
    assert_alike,
    both_paddles,
    gradients,
    numbers_of,
    op_names,
    tensors,
)

rng = np.random.default_rng(5)


def f(*shape):
    return rng.normal(size=shape).astype("float32")


def p(*shape):
    numbers = rng.uniform(0.2, 1.0, shape).astype("float32")
    return numbers / numbers.sum(-1, keepdims=True)


LABEL = np.array([1, 0, 2])
W = np.array([0.5, 2.0, 1.0], "float32")

# function -> calls: (inputs, arguments); the first two inputs are Tensors, others stand by name
CALLS = [
    ("cross_entropy", [f(3, 3), LABEL], {}),
    ("cross_entropy", [f(3, 3), LABEL[:, None]], {"reduction": "none"}),
    ("cross_entropy", [f(3, 3), LABEL], {"reduction": "none"}),
    ("cross_entropy", [f(3, 3), LABEL], {"reduction": "sum"}),
    ("cross_entropy", [f(3, 3), LABEL], {"weight": W}),
    ("cross_entropy", [f(3, 3), LABEL], {"weight": W, "reduction": "none"}),
    ("cross_entropy", [f(3, 3), LABEL], {"weight": W, "ignore_index": 1}),
    ("cross_entropy", [f(3, 3), LABEL], {"ignore_index": 0}),
    ("cross_entropy", [f(3, 3), np.array([1, -100, 2])], {}),
    ("cross_entropy", [f(3, 3), np.array([1, -1, 2])], {"ignore_index": -1, "weight": W}),
    ("cross_entropy", [f(2, 3), np.array([1, 1])], {"ignore_index": 1}),
    ("cross_entropy", [f(3, 3), p(3, 3)], {"soft_label": True}),
    ("cross_entropy", [f(3, 3), p(3, 3)], {"soft_label": True, "weight": W}),
    ("cross_entropy", [f(3, 3), LABEL], {"label_smoothing": 0.1}),
    ("cross_entropy", [f(3, 3), p(3, 3)], {"label_smoothing": 0.1, "soft_label": True}),
    ("cross_entropy", [p(3, 3), LABEL], {"use_softmax": False}),
    ("cross_entropy", [f(2, 3, 4), np.array([[0, 1, 2, 1], [2, 2, 0, 0]])], {"axis": 1}),
    ("cross_entropy", [f(2, 3, 4), np.array([[0, 1, 2, 1], [2, 2, 0, 0]])],
     {"axis": 1, "weight": W, "reduction": "none"}),
    ("cross_entropy", [f(2, 4, 3), np.array([[0, 1, 2, 1], [2, 2, 0, 0]])], {"weight": W}),
    ("softmax_with_cross_entropy", [f(3, 3), LABEL[:, None]], {}),
    ("softmax_with_cross_entropy", [f(3, 3), p(3, 3)], {"soft_label": True}),
    ("mse_loss", [f(3, 3), f(3, 3)], {}),
    ("mse_loss", [f(3, 3), f(3)], {"reduction": "none"}),
    ("mse_loss", [f(3, 3), f(3, 3)], {"reduction": "sum"}),
    ("square_error_cost", [f(3), f(3)], {}),
    ("l1_loss", [f(3, 3), f(3, 3)], {}),
    ("l1_loss", [f(3, 3), f(3, 3)], {"reduction": "sum"}),
    ("smooth_l1_loss", [f(3, 3), 3 * f(3, 3)], {}),
    ("smooth_l1_loss", [f(3, 3), 3 * f(3, 3)], {"delta": 0.5, "is_huber": False}),
    ("smooth_l1_loss", [f(3, 3), 3 * f(3, 3)], {"delta": 2.0, "reduction": "none"}),
    ("binary_cross_entropy", [p(3, 3), p(3, 3)], {}),
    ("binary_cross_entropy", [p(3, 3), np.eye(3, dtype="float32")], {"weight": W}),
    ("binary_cross_entropy", [np.eye(2, dtype="float32"), p(2, 2)], {"reduction": "none"}),
    ("binary_cross_entropy_with_logits", [f(3, 3), p(3, 3)], {}),
    ("binary_cross_entropy_with_logits", [100 * f(3, 3), p(3, 3)], {"reduction": "sum"}),
    ("binary_cross_entropy_with_logits", [f(3, 3), p(3, 3)], {"weight": W, "pos_weight": W}),
    ("nll_loss", [f(3, 3), LABEL], {}),
    ("nll_loss", [f(3, 3), LABEL], {"weight": W, "reduction": "none"}),
    ("nll_loss", [f(3, 3), LABEL], {"weight": W, "ignore_index": 2}),
    ("nll_loss", [f(2, 3, 4), np.array([[0, 1, 2, 1], [2, 2, 0, 0]])], {"reduction": "none"}),
    ("nll_loss", [f(2, 3, 2, 2), np.array([[[0, 1], [2, 1]], [[2, 2], [0, 0]]])], {}),
    ("kl_div", [f(3, 3), p(3, 3)], {}),
    ("kl_div", [f(3, 3), p(3, 3)], {"reduction": "batchmean"}),
    ("kl_div", [f(3, 3), f(3, 3)], {"log_target": True, "reduction": "sum"}),
    ("kl_div", [f(3, 3), p(3, 3).astype("float64")], {"reduction": "none"}),
    ("label_smooth", [p(3, 3)], {}),
    ("label_smooth", [p(3, 3)], {"epsilon": 0.5, "prior_dist": p(1, 3)}),
]  # fmt: skip
IDS = [f"{name}-{number}" for number, (name, _, _) in enumerate(CALLS)]


def with_tensors(module, arguments):
    return {
        k: module.to_tensor(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()
    }


@pytest.mark.parametrize(("name", "inputs", "arguments"), CALLS, ids=IDS)
def test_values_and_gradients(name, inputs, arguments):
    found = []
    for module in both_paddles():
        given = tensors(module, inputs)
        loss = getattr(module.nn.functional, name)(*given, **with_tensors(module, arguments))
        grads = gradients(loss, given)
        if name == "cross_entropy" or name == "softmax_with_cross_entropy":
            grads = grads[:1]
        found.append(numbers_of(loss) + grads)
    assert_alike(*found)


@pytest.mark.parametrize(("name", "inputs", "arguments"), CALLS, ids=IDS)
def test_the_ops_of_a_program(name, inputs, arguments):
    def build(module):
        def data(key, array):
            if not isinstance(array, np.ndarray):
                return array
            return module.static.data(key, list(array.shape), str(array.dtype))

        given = [data(f"x{number}", array) for number, array in enumerate(inputs)]
        named = {key: data(key, value) for key, value in arguments.items()}
        getattr(module.nn.functional, name)(*given, **named)

    assert op_names(both_paddles()[0], build) == op_names(both_paddles()[1], build)


@pytest.mark.parametrize(("name", "inputs", "arguments"), CALLS[:20] + CALLS[30:46], ids=str)
def test_a_classic_program_gives_the_same(name, inputs, arguments):
    given, named = tensors(paddle, inputs), with_tensors(paddle, arguments)
    wanted = numbers_of(getattr(paddle.nn.functional, name)(*given, **named))
    feed = {f"x{number}": array for number, array in enumerate(inputs)}
    feed |= {key: value for key, value in arguments.items() if isinstance(value, np.ndarray)}
    paddle.enable_static()
    try:
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                data = {k: paddle.static.data(k, v.shape, str(v.dtype)) for k, v in feed.items()}
                named = {key: data.get(key, value) for key, value in arguments.items()}
                first = [data[f"x{number}"] for number in range(len(inputs))]
                loss = getattr(paddle.nn.functional, name)(*first, **named)
            got = paddle.static.Executor().run(main, feed=feed, fetch_list=[loss])
    finally:
        paddle.disable_static()
    assert_alike(got, wanted)


WRONG = [
    ("cross_entropy", [f(3, 3), LABEL], {"reduction": "median"}, ValueError),
    ("cross_entropy", [f(3, 3), p(3, 3)], {"soft_label": True, "ignore_index": 1}, ValueError),
    ("cross_entropy", [f(3, 3), LABEL], {"weight": W[:2]}, ValueError),
    ("cross_entropy", [f(3, 3), LABEL[:2]], {}, ValueError),
    ("cross_entropy", [f(3, 3), LABEL + 1], {}, IndexError),
    ("cross_entropy", [f(2, 3, 3), LABEL], {}, ValueError),
    ("binary_cross_entropy", [p(3, 3) + 1, p(3, 3)], {}, ValueError),
    ("binary_cross_entropy", [p(3, 3), p(3)], {}, ValueError),
    ("nll_loss", [f(3, 3), LABEL + 1], {}, ValueError),
    ("nll_loss", [f(3), LABEL], {}, ValueError),
    ("smooth_l1_loss", [f(3, 3), f(3)], {}, ValueError),
    ("kl_div", [f(3, 3), f(3)], {}, ValueError),
]


@pytest.mark.parametrize(("name", "inputs", "arguments", "kind"), WRONG, ids=str)
def test_mistakes_are_of_the_same_kind(name, inputs, arguments, kind):
    for module in both_paddles():
        given = tensors(module, inputs)
        with pytest.raises(kind):
            getattr(module.nn.functional, name)(*given, **with_tensors(module, arguments))


def test_every_loss_has_its_layer():
    x, y = paddle.to_tensor(p(3, 3)), paddle.to_tensor(p(3, 3))
    label, F, nn = paddle.to_tensor(LABEL), paddle.nn.functional, paddle.nn
    pairs = [
        (nn.CrossEntropyLoss(), F.cross_entropy, label),
        (nn.MSELoss("sum"), lambda a, b: F.mse_loss(a, b, "sum"), y),
        (nn.L1Loss(), F.l1_loss, y),
        (nn.SmoothL1Loss(delta=0.1), lambda a, b: F.smooth_l1_loss(a, b, delta=0.1), y),
        (nn.BCELoss(), F.binary_cross_entropy, y),
        (nn.BCEWithLogitsLoss(), F.binary_cross_entropy_with_logits, y),
        (nn.NLLLoss(), F.nll_loss, label),
        (nn.KLDivLoss("batchmean"), lambda a, b: F.kl_div(a, b, "batchmean"), y),
    ]
    for layer, function, target in pairs:
        assert layer(x, target).item() == function(x, target).item()
        assert repr(layer) == f"{type(layer).__name__}()"
    with pytest.raises(ValueError, match="MSELoss: expected reduction 'mean', 'sum' or 'none'"):
        nn.MSELoss("median")
