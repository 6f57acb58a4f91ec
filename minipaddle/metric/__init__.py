"""metric: how good a model is.

    metrics   numbers that say how good a model is, gathered over many batches

Paddle: python/paddle/metric/.
"""

from minipaddle.metric.metrics import Accuracy, Auc, Metric, Precision, Recall, accuracy

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]
