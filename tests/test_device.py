"""Whole models on a device: with CuPy's stand-in here (tests/phi/device_double.py), and with CuPy
itself where there is a GPU.

They are compared with the same steps on the CPU. The stand-in computes with numpy, so there the
two must be equal; on a GPU sums run in another order.
"""

import contextlib

import numpy as np
import pytest

import minipaddle as paddle
from tests.phi.conftest import why_no_gpu
from tests.phi.device_double import in_place_of_cupy

nn = paddle.nn


@pytest.fixture(params=["double"] if why_no_gpu() else ["double", "cupy"])
def device(request):
    """The device's name, and how far its results may be from the CPU's."""
    with contextlib.ExitStack() as stack:
        if request.param == "double":
            stack.enter_context(in_place_of_cupy())
        stack.callback(paddle.set_device, "cpu")
        # single precision, a few steps of training: 1e-4 is what Paddle's own tests allow
        yield "gpu", 0.0 if request.param == "double" else 1e-4


class SmallGPT(nn.Layer):
    """One transformer layer over an embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.head = nn.Linear(8, 11)

    def forward(self, letters):
        return self.head(self.block(self.embedding(letters)))


rng = np.random.default_rng(3)
IMAGES = rng.random((4, 1, 28, 28), "float32")
PICTURES = rng.random((2, 3, 32, 32), "float32")
LETTERS = rng.integers(0, 11, (2, 6))
MODELS = {
    "LeNet": (paddle.vision.models.LeNet, IMAGES, rng.integers(0, 10, 4)),
    "resnet18": (lambda: paddle.vision.models.resnet18(num_classes=5), PICTURES, np.array([1, 4])),
    "GPT": (SmallGPT, LETTERS, rng.integers(0, 11, (2, 6))),
}


def optimizers(parameters):
    clip = nn.ClipGradByGlobalNorm(1.0)
    rate = paddle.optimizer.lr.StepDecay(0.001, step_size=1)
    return {
        "LeNet": lambda: paddle.optimizer.Adam(rate, parameters=parameters, grad_clip=clip),
        "resnet18": lambda: paddle.optimizer.Momentum(
            0.01, parameters=parameters, weight_decay=1e-4
        ),
        "GPT": lambda: paddle.optimizer.AdamW(0.01, parameters=parameters, grad_clip=clip),
    }


def train(name, where, state=None):
    """Three steps; returns the state before and after, the losses, and where the data is."""
    paddle.seed(4)  # ResNet-18 normalises over two pictures: from some weights the loss rises first
    paddle.set_device(where)
    make, inputs, labels = MODELS[name]
    model = make()
    if state is not None:
        model.set_state_dict(state)
    before = {key: value.numpy() for key, value in model.state_dict().items()}
    optimizer = optimizers(model.parameters())[name]()
    losses = []
    for _ in range(3):
        output = model(paddle.to_tensor(inputs))
        loss = nn.functional.cross_entropy(output, paddle.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    places = {str(parameter.place) for parameter in model.parameters()}
    after = {key: value.numpy() for key, value in model.state_dict().items()}
    return before, after, losses, places


@pytest.mark.parametrize("name", list(MODELS))
def test_training_on_a_device(device, name):
    where, tolerance = device
    before, wanted, losses, _ = train(name, "cpu")
    _, found, on_device, places = train(name, where, before)
    assert places == {"Place(gpu:0)"}
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(on_device, losses, rtol=tolerance, atol=0)
    for key, value in wanted.items():
        np.testing.assert_allclose(found[key], value, rtol=tolerance, atol=tolerance, err_msg=key)


def test_a_program_on_a_device(device):
    """The same program runs on both places; parameters lie where it runs."""
    where, tolerance = device
    image, label = IMAGES[:2], np.array([3, 7])
    results = []
    for place in (paddle.CPUPlace(), paddle.CUDAPlace(0)):
        paddle.set_device("cpu" if place == paddle.CPUPlace() else where)
        paddle.seed(4)
        paddle.enable_static()
        try:
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data("x", [2, 1, 28, 28])
                y = paddle.static.data("y", [2], "int64")
                loss = nn.functional.cross_entropy(paddle.vision.models.LeNet()(x), y)
                paddle.optimizer.Adam(0.001).minimize(loss)
            executor = paddle.static.Executor(place)
            with paddle.static.scope_guard(paddle.static.Scope()):
                executor.run(startup)
                feed = {"x": image, "y": label}
                results.append([executor.run(main, feed=feed, fetch_list=[loss])[0] for _ in "123"])
        finally:
            paddle.disable_static()
    np.testing.assert_allclose(results[1], results[0], rtol=tolerance, atol=0)
    assert results[0][-1] < results[0][0]


def test_a_tensor_goes_to_a_device_and_back(device):
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    there = x.to("gpu", "float64")
    assert str(there.place) == "Place(gpu:0)"
    assert (there.dtype, there.stop_gradient) == (paddle.float64, False)
    assert there.to("gpu:0") is there
    back = there.to(x)
    assert (str(back.place), back.dtype, back.tolist()) == (
        "Place(cpu)",
        paddle.float32,
        [1.0, 2.0],
    )


def test_a_gpu_that_is_not_there():
    if not why_no_gpu():
        pytest.skip("this machine has a GPU")
    with pytest.raises(RuntimeError, match="expected CuPy and an NVIDIA GPU"):
        paddle.set_device("gpu")
    assert paddle.get_device() == "cpu"


def test_a_script_asks_whether_there_is_a_gpu():
    assert paddle.is_compiled_with_cuda() == (not why_no_gpu())
    with in_place_of_cupy():
        assert paddle.is_compiled_with_cuda()
