"""Metrics: numbers that say how good a model is, gathered over many batches.

    metric = paddle.metric.Accuracy()
    for x, y in loader:
        metric.update(metric.compute(net(x), y))
    print(metric.accumulate())

`compute` is made of ops, so it runs where the model runs, on a GPU too; `update` counts in numpy.

Paddle: python/paddle/metric/metrics.py. Auc's curve "PR" is not there either.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from minipaddle.eager.tensor import Tensor
from minipaddle.phi.core.op import OPS

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]


class Metric(abc.ABC):
    """Base class: define `reset`, `update`, `accumulate` and `name`."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all batches."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Adds a batch: what `compute` returned."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The value over all batches since `reset`."""

    @abc.abstractmethod
    def name(self) -> Any:
        """What it is called in a log."""

    def compute(self, *args: Any) -> Any:
        """What `update` needs, out of the model's outputs and the labels; here: they themselves."""
        return args


class Accuracy(Metric):
    """The share of samples whose label is among their k largest outputs, for each k in `topk`.

    Args:
        topk: a number for each k; one k gives a number, several a list.
        name: default: "acc", or "acc_top1", "acc_top5".
    """

    def __init__(
        self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        self.topk, self.maxk = topk, max(topk)
        first = name or "acc"
        self._name = [first] if self.maxk == 1 else [f"{first}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """1.0 where the label is, among the outputs from the largest to the maxk-th: [..., maxk].

        Args:
            pred: [N, C].
            label: [N] or [N, 1]; or [N, C], one-hot.

        Raises:
            ValueError: there is not one label per row.
        """
        _, order = OPS["argsort"](pred, axis=-1, descending=True)
        last = pred.ndim - 1
        best = OPS["slice"](
            order, axes=[last], starts=[0], ends=[self.maxk], infer_flags=[1], decrease_axis=[]
        )
        if label.ndim == 1 or (label.ndim == 2 and label.shape[-1] == 1):
            label = OPS["reshape"](label, shape=[-1, 1])
        elif label.shape[-1] != 1:
            label = OPS["argmax"](label, axis=-1, keepdims=True)
        rows = list(best.shape[:-1]), list(label.shape[:-1])
        if -1 not in [*rows[0], *rows[1]] and rows[0] != rows[1]:
            raise ValueError(
                f"Accuracy: expected output [N, C] and label [N], but got {list(pred.shape)} and "
                f"{list(label.shape)}. Give one label per row."
            )
        if label.dtype != best.dtype:
            label = OPS["cast"](label, dtype=best.dtype)
        return OPS["cast"](OPS["equal"](best, label), dtype="float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Adds a batch: what `compute` returned. Returns the batch's accuracy, for each k."""
        right = np.asarray(correct)
        if right.ndim < 1:
            raise ValueError(
                f"Accuracy.update: expected what compute(pred, label) returned, [..., k], but got "
                f"{correct!r}. Call compute first."
            )
        samples = int(np.prod(right.shape[:-1]))
        found = []
        for number, k in enumerate(self.topk):
            hits = float(right[..., :k].sum())
            self.total[number] += hits
            self.count[number] += samples
            found.append(hits / samples if samples else 0.0)
        return found[0] if len(found) == 1 else found

    def accumulate(self) -> Any:
        """The accuracy so far, for each k; 0.0 before the first batch."""
        shares = [total / count if count else 0.0 for total, count in zip(self.total, self.count)]
        return shares[0] if len(shares) == 1 else shares

    def reset(self) -> None:
        self.total, self.count = [0.0] * len(self.topk), [0] * len(self.topk)

    def name(self) -> list[str]:
        return self._name


class Precision(Metric):
    """Of the samples that the model says yes to, the share that is: tp / (tp + fp)."""

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Adds a batch: preds [N] or [N, 1], from 0 to 1, where 0.5 and more is a yes; labels 0
        or 1, of the same shape.
        """
        scores, truth = _arrays(self, preds, labels)
        yes = np.floor(scores.reshape(-1)[: len(truth)] + 0.5).astype(np.int32) == 1
        self.tp += int((yes & (truth == 1)).sum())
        self.fp += int((yes & (truth != 1)).sum())

    def accumulate(self) -> float:
        """The precision so far; 0.0 before the first yes."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0

    def reset(self) -> None:
        self.tp = self.fp = 0  # true and false positives

    def name(self) -> str:
        return self._name


class Recall(Metric):
    """Of the samples that are a yes, the share that the model finds: tp / (tp + fn)."""

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Adds a batch, as Precision does. Exactly 0.5 is a no here: Paddle rounds to even."""
        scores, truth = _arrays(self, preds, labels)
        yes = np.rint(scores.reshape(-1)[: len(truth)]).astype(np.int32) == 1
        self.tp += int((yes & (truth == 1)).sum())
        self.fn += int((~yes & (truth == 1)).sum())

    def accumulate(self) -> float:
        """The recall so far; 0.0 before the first sample that is a yes."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0

    def reset(self) -> None:
        self.tp = self.fn = 0  # true positives, false negatives

    def name(self) -> str:
        return self._name


class Auc(Metric):
    """The area under the ROC curve: how likely a sample that is a yes gets a higher score than one
    that is none.

    Scores are counted in `num_thresholds + 1` equal bins, so samples need not be kept.
    """

    def __init__(
        self,
        curve: str = "ROC",
        num_thresholds: int = 4095,
        name: str = "auc",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self._curve, self._num_thresholds, self._name = curve, num_thresholds, name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Adds a batch: preds [N, 2], the probabilities of no and yes; labels [N] or [N, 1].

        Raises:
            ValueError: a probability is not in [0, 1], or preds has another shape.
        """
        scores, truth = _arrays(self, preds, labels)
        if scores.ndim != 2 or scores.shape[1] < 2 or len(scores) < len(truth):
            raise ValueError(
                f"Auc: expected preds [N, 2] with N = {len(truth)}, but got "
                f"{list(scores.shape)}. Give the probabilities of no and yes."
            )
        yes = scores[: len(truth), 1]
        if not ((yes >= 0) & (yes <= 1)).all():
            raise ValueError(
                f"Auc: expected probabilities in [0, 1], but got {yes.min()} to {yes.max()}. Apply "
                "softmax first."
            )
        bins = (yes * self._num_thresholds).astype(np.int64)
        np.add.at(self._stat_pos, bins[truth != 0], 1)
        np.add.at(self._stat_neg, bins[truth == 0], 1)

    def accumulate(self) -> float:
        """The area so far; 0.0 until both kinds of samples have come.

        Going down from the highest score, the curve goes up by the yeses and right by the noes of
        each bin: one trapezoid per bin.
        """
        positives = np.concatenate([[0.0], np.cumsum(self._stat_pos[::-1])])
        negatives = np.concatenate([[0.0], np.cumsum(self._stat_neg[::-1])])
        if not positives[-1] or not negatives[-1]:
            return 0.0
        area = (np.diff(negatives) * (positives[1:] + positives[:-1]) / 2).sum()
        return float(area / positives[-1] / negatives[-1])

    def reset(self) -> None:
        self._stat_pos, self._stat_neg = np.zeros((2, self._num_thresholds + 1))

    def name(self) -> str:
        return self._name


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: Any = None
) -> Any:
    """The share of rows whose label is among their k largest scores: float32, 0-D.

    Args:
        input: [N, C].
        label: int32 or int64 [N, 1].
        correct, total: Tensors (int32, 0-D) that get the numbers of right rows and of all rows.

    Raises:
        ValueError: label has another shape, or k is more than C.
    """
    if label.dtype.name == "int32":
        label = OPS["cast"](label, dtype="int64")
    scores, indices = OPS["topk"](input, k=k, axis=-1, largest=True, sorted=True)
    share, right, rows = OPS["accuracy"](scores, indices, label)
    for target, value in ((correct, right), (total, rows)):
        if isinstance(target, Tensor):
            target._data = value._data
    return share


def _arrays(metric: Metric, preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays, labels in one row."""
    for which, value in (("preds", preds), ("labels", labels)):
        if not isinstance(value, (np.ndarray, np.generic, Tensor)):
            raise ValueError(
                f"{type(metric).__name__}: expected {which} as a Tensor or an array, but got "
                f"{type(value).__name__}. Convert it with np.array."
            )
    return np.asarray(preds), np.asarray(labels).reshape(-1)
