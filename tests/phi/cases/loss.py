"""Cases of phi/ops/loss.py: op -> calls, each (inputs, attributes).

A list among the inputs is a list input; None an optional one.
"""

import numpy as np

from tests.phi.cases.numbers import Numbers

numbers = Numbers(__name__)
f, positive = numbers.away_from_zero, numbers.positive

LABELS = np.array([[0], [2], [1]])
SOFT = np.array([[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0]])


def probabilities(*shape):
    """Positive, and their sum along the last axis is 1."""
    numbers = positive(*shape)
    return numbers / numbers.sum(-1, keepdims=True)


CALLS = {
    "cross_entropy_with_softmax": [
        ([f(3, 4), LABELS], {}),
        ([f(3, 4), np.array([[0], [-100], [1]])], {}),
        ([f(3, 4), LABELS], {"ignore_index": 2}),
        ([f(3, 4), LABELS.astype("int32")], {"axis": 1, "numeric_stable_mode": False}),
        ([f(2, 4), SOFT], {"soft_label": True}),
        ([f(2, 3, 4), np.array([[[0, 1, 2, -100]], [[1, 1, 0, 2]]])], {"axis": 1}),
        ([f(2, 3, 2), np.array([[[0, 1]], [[1, 2]]])], {"axis": -2, "ignore_index": 1}),
        ([f(4, 2), SOFT.T.copy()], {"soft_label": True, "axis": 0}),
        ([probabilities(3, 4), LABELS], {"use_softmax": False}),
        ([probabilities(3, 4), LABELS], {"use_softmax": False, "ignore_index": 0}),
        ([probabilities(2, 4), SOFT], {"use_softmax": False, "soft_label": True}),
        ([f(0, 4), np.zeros((0, 1), "int64")], {}),
        ([f(4), np.array([2])], {}),
    ],
    "bce_loss": [
        ([probabilities(2, 3), probabilities(2, 3)], {}),
        ([probabilities(4), np.array([0.0, 1.0, 1.0, 0.0])], {}),
        ([np.array(0.3), np.array(1.0)], {}),
        ([np.zeros((0, 2)), np.zeros((0, 2))], {}),
    ],
    "sigmoid_cross_entropy_with_logits": [
        ([f(2, 3), probabilities(2, 3), None], {}),
        ([f(2, 3), probabilities(2, 3), positive(2, 3)], {}),
        ([f(4) * 30, np.array([0.0, 1.0, -1.0, 0.5]), None], {"ignore_index": -1}),
        ([f(4), np.array([0.0, 1.0, -1.0, 0.5]), positive(4)], {"normalize": True, "ignore_index": -1}),
        ([np.asarray(f()), np.array(0.5), None], {}),
    ],
    "huber_loss": [
        ([f(2, 3), f(2, 3)], {"delta": 1.0}),
        ([f(2, 3) * 4, f(2, 3)], {"delta": 0.5}),
        ([np.asarray(f()), np.asarray(f())], {"delta": 2.0}),
    ],
    "kldiv_loss": [
        ([f(2, 3), probabilities(2, 3)], {"reduction": "none"}),
        ([f(2, 3), f(2, 3)], {}),
        ([f(2, 3), np.array([[0.0, 0.5, 0.5], [-1.0, 2.0, 0.0]])], {"reduction": "batchmean"}),
        ([f(4, 3), probabilities(4, 3)], {"reduction": "sum"}),
        ([f(2, 3), f(2, 3)], {"reduction": "mean", "log_target": True}),
        ([f(2, 3), f(2, 3)], {"reduction": "none", "log_target": True}),
        ([np.asarray(f()), np.asarray(positive())], {}),
    ],
    "nll_loss": [
        ([f(3, 4), np.array([1, 0, 3]), None], {}),
        ([f(3, 4), np.array([1, -100, 3]), positive(4)], {}),
        ([f(3, 4), np.array([1, 2, 3]), positive(4)], {"reduction": "sum", "ignore_index": 2}),
        ([f(3, 4), np.array([1, 0, 3]), positive(4)], {"reduction": "none"}),
        ([f(2, 4), np.array([-100, -100]), None], {}),
        ([f(2, 3, 2, 2), np.array([[[0, 1], [2, 1]], [[1, 1], [-100, 0]]]), positive(3)], {"reduction": "none"}),
        ([f(2, 3, 2, 2), np.array([[[0, 1], [2, 1]], [[1, 1], [0, 0]]]), None], {}),
    ],
    "label_smooth": [
        ([SOFT, None], {"epsilon": 0.125}),
        ([SOFT, probabilities(1, 4)], {"epsilon": 0.25}),
        ([probabilities(2, 3, 4), None], {}),
    ],
}  # fmt: skip
