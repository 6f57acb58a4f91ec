"""Large graphs and live memory: what backward frees as it walks, and depth without recursion."""

import gc
import threading
import weakref

import numpy as np
import pytest

import minipaddle as paddle

MIB = 2**20


class LiveBytes:
    """Counts the bytes of arrays that are still alive among those it was shown."""

    def __init__(self):
        self.sizes = {}

    def watch(self, tensor):
        array = tensor._data
        self.sizes[id(array)] = array.nbytes
        weakref.finalize(array, self.sizes.pop, id(array))
        return tensor

    @property
    def mib(self):
        return sum(self.sizes.values()) / MIB


def squares(live, count):
    """x, then `count` times x * x, of 1 MiB each; only the nodes keep what is in between."""
    x = paddle.to_tensor(np.full(MIB // 4, 1.0, "float32"), stop_gradient=False)
    y, inner = x, []
    for _ in range(count):
        y = live.watch(y * y)
        inner.append(weakref.ref(y.grad_fn))
    return x, y, inner


def test_memory_is_freed_as_backward_walks():
    live, seen = LiveBytes(), []
    x, y, inner = squares(live, 8)
    assert live.mib == 8.0
    for node in inner:  # each hook runs before its node's own memory goes
        node().gradient_hooks = {0: {0: lambda grad: seen.append(live.mib)}}
    y.sum().backward()
    # the last result, which y holds, stays; all others go one by one
    assert seen == [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert live.mib == 1.0
    assert x.grad.numpy()[0] == 2.0**8


def test_memory_stays_with_retain_graph_and_goes_with_the_graph():
    gc.disable()
    try:
        live = LiveBytes()
        x, y, _ = squares(live, 4)
        loss = y.sum()
        loss.backward(retain_graph=True)
        assert live.mib == 4.0
        del y, loss
        assert live.mib == 0.0
    finally:
        gc.enable()


def test_nothing_is_kept_without_gradients():
    live = LiveBytes()
    with paddle.no_grad():
        y = paddle.ones([MIB // 4])
        for _ in range(4):
            y = live.watch(y * y)
            assert live.mib <= 2.0


@pytest.mark.parametrize("stack", [64, None])
def test_a_graph_of_100_000_nodes_runs_backward_and_is_deleted(stack):
    """Also on a thread with a stack of 64 KiB, in which no recursion gets far."""
    found = []

    def work():
        x = paddle.to_tensor([1.0], stop_gradient=False)
        y = x
        for _ in range(50_000):
            y = y + 1.0
        for _ in range(50_000):
            y = y * x
        node = weakref.ref(y.grad_fn)
        paddle.autograd.backward([y], [paddle.zeros([1])])
        found.append(x.grad.tolist())
        del y
        found.append(node())

    before = threading.stack_size(0 if stack is None else stack * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [[0.0], None]


def test_two_threads_train_two_models():
    """They get the same numbers as each alone: modes, hooks and graphs don't mix."""
    images = np.random.default_rng(0).random((8, 4), "float32")
    labels = np.arange(8) % 2

    def model_of(seed):
        rng = np.random.default_rng(seed)
        model = paddle.nn.Sequential(
            paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 2)
        )
        for parameter in model.parameters():
            parameter.set_value(rng.random(parameter.shape, "float32") - 0.5)
        return model

    def train(model, results, seed):
        optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
        x, y = paddle.to_tensor(images), paddle.to_tensor(labels)
        for _ in range(40):
            with paddle.amp.auto_cast(enable=seed == 1), paddle.set_grad_enabled(True):
                out = model(x)
            with paddle.no_grad():
                assert model(x).stop_gradient
            paddle.nn.functional.cross_entropy(out, y).backward()
            optimizer.step()
            optimizer.clear_grad()
        results[seed] = [parameter.numpy() for parameter in model.parameters()]

    alone, together = {}, {}
    for seed in (0, 1):
        train(model_of(seed), alone, seed)
    threads = [
        threading.Thread(target=train, args=(model_of(seed), together, seed)) for seed in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (0, 1):
        for mine, other in zip(alone[seed], together[seed], strict=True):
            np.testing.assert_array_equal(mine, other)
