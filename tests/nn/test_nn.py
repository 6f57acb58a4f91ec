"""Layers, initializers, optimizer, data: what a user relies on, and what errors tell them."""

import numpy as np
import pytest

import minipaddle as paddle

F = paddle.nn.functional


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh())
        self.head = paddle.nn.Linear(4, 2, bias_attr=False)
        self.shared = self.head

    def forward(self, x):
        return self.head(self.body(x))


def test_a_layer_knows_what_belongs_to_it():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "body.0.weight",
        "body.0.bias",
        "head.weight",
    ]
    assert len(net.sublayers()) == 4  # `shared` is `head` again
    assert net.body[0].weight.shape == [3, 4] and len(net.body) == 2
    net.eval()
    assert not net.body[1].training
    net.train()
    assert net.body[1].training


def test_state_dict_moves_between_layers():
    a, b = Net(), Net()
    x = paddle.ones([1, 3])
    assert a(x).tolist() != b(x).tolist()
    assert b.set_state_dict(a.state_dict()) == ([], [])
    assert a(x).tolist() == b(x).tolist()
    some = {"head.weight": np.zeros((4, 2), "float32"), "nose": 1}
    with pytest.warns(UserWarning, match="got none of that name"):
        missing, unexpected = b.set_state_dict(some)
    assert missing == ["body.0.weight", "body.0.bias", "shared.weight"]
    assert unexpected == ["nose"]
    with pytest.warns(UserWarning, match=r"of shape \[4, 2\], but got shape \[2\]"):
        assert "head.weight" in b.set_state_dict({"head.weight": np.zeros(2, "float32")})[0]
    with pytest.raises(ValueError, match="set_value: expected dtype float32, but got float64"):
        paddle.nn.Linear(1, 1, bias_attr=False).set_state_dict({"weight": np.ones((1, 1))})


def test_hooks_of_a_layer():
    net, calls = paddle.nn.ReLU(), []
    net.register_forward_pre_hook(lambda layer, inputs: inputs[0] - 1.0)
    net.register_forward_post_hook(lambda layer, inputs, out: calls.append(out.tolist()))
    assert net(paddle.to_tensor([0.5, 2.0])).tolist() == [0.0, 1.0]
    assert calls == [[0.0, 1.0]]


def test_mistakes_with_layers():
    class NoSuper(paddle.nn.Layer):
        def __init__(self):
            self.fc = paddle.nn.Linear(1, 1)

    with pytest.raises(ValueError, match=r"super\(\).__init__\(\) before 'fc'"):
        NoSuper()
    with pytest.raises(NotImplementedError, match="to define forward"):
        paddle.nn.Layer()(1)
    with pytest.raises(TypeError, match="add_sublayer: expected a Layer"):
        paddle.nn.Sequential(print)
    with pytest.raises(ValueError, match=r"Assign: expected numbers of shape \[2\], but got \[3\]"):
        paddle.create_parameter([2], default_initializer=paddle.nn.initializer.Assign(np.ones(3)))


def test_what_may_stand_for_a_param_attr():
    constant = paddle.nn.initializer.Constant(2.0)
    layer = paddle.nn.Linear(1, 1, weight_attr=constant, bias_attr="my_bias")
    assert layer.weight.tolist() == [[2.0]] and layer.bias.name == "my_bias"
    assert paddle.nn.Linear(1, 1, bias_attr=False).bias is None
    with pytest.raises(TypeError, match="ParamAttr: expected None, a name, an Initializer"):
        paddle.nn.Linear(1, 1, weight_attr=3)


def test_a_seed_makes_numbers_repeatable():
    def numbers():
        paddle.seed(3)
        return paddle.nn.Linear(4, 4).weight.tolist(), paddle.rand([3]).tolist()

    assert numbers() == numbers()
    limit = np.sqrt(6 / 8)
    assert np.abs(numbers()[0]).max() <= limit


def test_cross_entropy_layer_and_reductions():
    x, y = paddle.to_tensor([[1.0, 2.0], [3.0, 1.0]]), paddle.to_tensor([0, 1])
    each = F.cross_entropy(x, y, reduction="none")
    assert each.shape == [2]
    assert paddle.nn.CrossEntropyLoss(reduction="sum")(x, y).item() == pytest.approx(
        sum(each.tolist())
    )
    with pytest.raises(ValueError, match="cross_entropy: expected reduction"):
        F.cross_entropy(x, y, reduction="median")
    with pytest.raises(IndexError, match=r"expected labels in \[0, 2\), but got 7"):
        F.cross_entropy(x, paddle.to_tensor([0, 7]))
    with pytest.raises(ValueError, match=r"expected label of shape \[2, 1\], but got \[3, 1\]"):
        F.cross_entropy(x, paddle.to_tensor([0, 1, 0]))
    with pytest.raises(TypeError, match="label of an integer dtype, but got float32"):
        F.cross_entropy(x, paddle.to_tensor([0.0, 1.0]))


def test_sgd_steps_and_learning_rates():
    w = paddle.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0))
    frozen = paddle.create_parameter([1], attr=paddle.ParamAttr(trainable=False))
    sgd = paddle.optimizer.SGD(0.5, parameters=[w, frozen])
    (w * 2.0).backward()
    sgd.step()
    assert w.tolist() == [0.0] and sgd.get_lr() == 0.5
    sgd.clear_grad()
    assert w.grad.tolist() == [0.0]
    sgd.set_lr(0.25)
    (w * 2.0).backward()
    assert sgd.minimize(w * 2.0)[1][0][0] is w
    assert w.tolist() == [-0.5]
    with pytest.raises(TypeError, match="minimize: expected loss"):
        sgd.minimize(3.0)
    with pytest.raises(AttributeError, match="SGD: expected parameters in dygraph"):
        paddle.optimizer.SGD(0.1)


@pytest.mark.parametrize("world", ["program", "pir"])
def test_a_new_learning_rate_reaches_a_program_that_runs_already(world):
    from minipaddle.phi.core.world import world_guard

    with world_guard(world):
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            w = paddle.static.create_parameter(
                [1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0)
            )
            sgd = paddle.optimizer.SGD(0.5)
            sgd.minimize((w * 1.0).sum())
        executor = paddle.static.Executor()
        executor.run(startup)
        for rate, wanted in ((0.5, 0.5), (0.1, 0.4)):
            sgd.set_lr(rate)
            executor.run(main)
            got = np.array(paddle.static.global_scope().find_var(w.name))
            np.testing.assert_allclose(got, [wanted], rtol=1e-6)


def test_digits():
    train, test = (paddle.vision.datasets.Digits(mode=mode) for mode in ("train", "test"))
    assert (len(train), len(test)) == (1541, 256)
    image, label = train[0]
    assert image.shape == (1, 8, 8) and image.dtype == np.float32 and image.min() >= 0
    assert image.max() <= 1 and label == 0
    assert np.bincount(test.labels).min() > 15  # every digit is tested
    flat = paddle.vision.datasets.Digits(transform=lambda image: image.reshape(-1))
    assert flat[3][0].shape == (64,)
    with pytest.raises(ValueError, match="Digits: expected mode"):
        paddle.vision.datasets.Digits(mode="validation")


def test_to_tensor_says_what_is_wrong():
    with pytest.raises(ValueError, match="ragged list"):
        paddle.to_tensor([[1, 2], [3]])
    with pytest.raises(TypeError, match="expected numbers"):
        paddle.to_tensor(["a"])
    with pytest.raises(TypeError, match="full: .*one of bool, uint8"):
        paddle.ones([1], "float31")
    with pytest.raises(ValueError, match="item: expected one element"):
        paddle.ones([2]).item()
    with pytest.raises(TypeError, match="0-D Tensor"):
        len(paddle.to_tensor(1.0))


def test_layers_that_go_and_come():
    net = paddle.nn.Layer()
    net.head = paddle.nn.Linear(3, 1)
    net.add_sublayer("head", paddle.nn.Linear(5, 1))
    assert net.head.weight.shape == [5, 1] and len(net.parameters()) == 2
    del net.head
    assert net.parameters() == [] and not hasattr(net, "head")


def test_a_parameter_without_dimensions():
    assert paddle.create_parameter([], "float32").shape == []
