"""Metrics have Paddle's values."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both, real_paddle

needs_paddle = pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed")

SNIPPETS = {
    "accuracy": """
        rng = np.random.RandomState(0)
        x = paddle.to_tensor(rng.rand(20, 7).astype('float32'))
        for dtype in ('int32', 'int64'):
            y = paddle.to_tensor(rng.randint(0, 7, (20, 1)).astype(dtype))
            for k in (1, 3, 7):
                result = paddle.metric.accuracy(x, y, k)
                print(result.dtype, result.shape, f"{result.item():.6f}")
        few, two = paddle.ones([3, 1], 'int64'), paddle.ones([20, 2], 'int64')
        for bad in (y.reshape([-1]), few, two, paddle.ones([20, 1])):
            try:
                paddle.metric.accuracy(x, bad)
            except Exception as error:
                print(type(error).__name__)
        try:
            paddle.metric.accuracy(x, y, 8)
        except Exception as error:
            print(type(error).__name__)
    """,
    "Accuracy": """
        rng = np.random.RandomState(1)
        for topk in ((1,), (1, 2, 5), (2,)):
            metric = paddle.metric.Accuracy(topk)
            print(metric.name(), paddle.metric.Accuracy(topk, 'mine').name(), metric.accumulate())
            for size in (6, 3):
                x = paddle.to_tensor(rng.rand(size, 5).astype('float32'))
                y = rng.randint(0, 5, size)
                one_hot = np.eye(5, dtype='float32')[y]
                for label in (y, y[:, None], y.astype('int32'), one_hot):
                    correct = metric.compute(x, paddle.to_tensor(label))
                    print(correct.dtype, correct.shape)
                    print(np.round(metric.update(correct), 6).tolist())
                print(np.round(metric.accumulate(), 6).tolist())
            metric.reset()
            print(metric.accumulate())
    """,
    "Precision, Recall, Auc": """
        rng = np.random.RandomState(2)
        for metric in (paddle.metric.Precision(), paddle.metric.Recall(), paddle.metric.Auc(),
                       paddle.metric.Auc(num_thresholds=9, name='a')):
            print(metric.name(), metric.accumulate())
            for size in (40, 7):
                yes = np.append(rng.rand(size - 3), [0.0, 0.5, 1.0]).astype('float32')
                labels = rng.randint(0, 2, (size, 1))
                is_auc = isinstance(metric, paddle.metric.Auc)
                preds = np.stack([1 - yes, yes], 1) if is_auc else yes[:, None]
                metric.update(preds, labels)
                metric.update(paddle.to_tensor(preds), paddle.to_tensor(labels))
                print(f"{metric.accumulate():.6f}")
            metric.reset()
            print(metric.accumulate())
            try:
                metric.update([0.5], [1])
            except Exception as error:
                print(type(error).__name__)
    """,
    "in a program": """
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x, y = paddle.static.data('x', [-1, 5]), paddle.static.data('y', [-1, 1], 'int64')
            correct = paddle.metric.Accuracy((1, 2)).compute(x, y)
        print(main)
    """,
}


@needs_paddle
@pytest.mark.parametrize("name", SNIPPETS)
def test_same_as_paddle(name):
    result = both(SNIPPETS[name])
    assert result.same, "\n".join(result.differences()[:20])


def test_correct_and_total_are_filled():
    x, y = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]])
    right, rows = paddle.zeros([], "int32"), paddle.zeros([], "int32")
    assert paddle.metric.accuracy(x, y, correct=right, total=rows).item() == 0.5
    assert (right.item(), rows.item()) == (1, 2)


def test_a_program_runs_it():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x, y = paddle.static.data("x", [-1, 3]), paddle.static.data("y", [-1, 1], "int64")
            share = paddle.metric.accuracy(x, y, 2)
        feed = {"x": np.eye(3, dtype="float32"), "y": np.array([[0], [1], [0]])}
        (found,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[share])
        assert found == pytest.approx(1.0)
    finally:
        paddle.disable_static()


def test_a_metric_of_ones_own():
    class Largest(paddle.metric.Metric):
        def reset(self):
            self.value = 0

        def update(self, x):
            self.value = max(self.value, x)

        def accumulate(self):
            return self.value

        def name(self):
            return "largest"

    metric = Largest()
    metric.reset()
    metric.update(*metric.compute(3))
    assert metric.accumulate() == 3
    with pytest.raises(TypeError, match="abstract"):
        paddle.metric.Metric()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="one label per row"):
        paddle.metric.Accuracy().compute(paddle.ones([3, 2]), paddle.ones([2], "int64"))
    with pytest.raises(ValueError, match="Apply softmax first"):
        paddle.metric.Auc().update(np.array([[0.0, 1.5]]), np.array([1]))
    with pytest.raises(ValueError, match=r"preds \[N, 2\] with N = 2"):
        paddle.metric.Auc().update(np.ones(2), np.array([1, 0]))
