"""auto_cast, decorate, GradScaler: half precision, and gradients that would vanish in it."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.phi.core.op import OPS

nn, F = paddle.nn, paddle.nn.functional


def leaf(array):
    return paddle.to_tensor(np.asarray(array, "float32"), stop_gradient=False)


def test_white_ops_compute_in_half_precision_and_gradients_come_back_in_float32():
    x = leaf(np.eye(2))
    with paddle.amp.auto_cast():
        y = paddle.matmul(x, x)
        assert y.dtype is paddle.float16
        assert (x + x).dtype is paddle.float32
    assert paddle.matmul(x, x).dtype is paddle.float32
    y.sum().backward()
    assert x.grad.dtype is paddle.float32
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_black_ops_compute_in_float32():
    half = leaf([1.0, 2.0]).astype("float16")
    for function in (paddle.exp, paddle.sum, paddle.mean, F.softmax, paddle.log):
        assert function(half).dtype is paddle.float16
        with paddle.amp.auto_cast():
            assert function(half).dtype is paddle.float32
        with paddle.amp.auto_cast(level="O2"):
            assert function(half).dtype is paddle.float16


def test_others_take_what_comes_and_float32_where_dtypes_mix():
    half, single, double = (leaf([1.0]).astype(f"float{bits}") for bits in (16, 32, 64))
    with paddle.amp.auto_cast():
        assert paddle.tanh(half).dtype is paddle.float16
        assert (half * half).dtype is paddle.float16
        assert (half * single).dtype is paddle.float32
        assert paddle.concat([half, single]).dtype is paddle.float32
        assert paddle.matmul(double, double).dtype is paddle.float64  # left alone


def test_custom_lists():
    x = leaf(np.eye(2))
    with paddle.amp.auto_cast(custom_white_list=["tanh"], custom_black_list=["matmul"]):
        assert paddle.tanh(x).dtype is paddle.float16
        assert paddle.matmul(x, x).dtype is paddle.float32
    with (
        pytest.raises(ValueError, match=r"expected each op in one list, but got \['tanh'\]"),
        paddle.amp.auto_cast(custom_white_list=["tanh"], custom_black_list=["tanh"]),
    ):
        pass


def test_what_is_inside_goes_away_with_it():
    x = leaf(np.eye(2))
    with paddle.amp.auto_cast():
        with paddle.amp.auto_cast(enable=False):
            assert paddle.matmul(x, x).dtype is paddle.float32
        assert paddle.matmul(x, x).dtype is paddle.float16
    with pytest.raises(KeyError), paddle.amp.auto_cast():
        raise KeyError
    assert paddle.matmul(x, x).dtype is paddle.float32


def test_gradients_of_gradients_compute_as_their_ops_did():
    """The walk itself is not cast, though it happens inside."""
    x = leaf([3.0])
    with paddle.amp.auto_cast(custom_white_list=["multiply"]):
        y = paddle.tanh(x)
        (first,) = paddle.grad(y, x, create_graph=True)
    assert first.dtype is paddle.float32


def test_the_lists_name_ops_that_there_are():
    lists = paddle.amp.white_list()["float16"], paddle.amp.black_list()["float16"]
    for by_level in lists:
        for names in by_level.values():
            assert names <= set(OPS)
    assert not lists[0]["O1"] & lists[1]["O1"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paddle.amp.auto_cast(level="O7").__enter__(), "auto_cast: expected level 'O0'"),
        (lambda: paddle.amp.auto_cast(dtype="int8").__enter__(), "expected dtype 'float16'"),
        (lambda: paddle.amp.decorate(nn.Linear(1, 1), level="O3"), "decorate: expected level"),
        (lambda: paddle.amp.GradScaler(incr_ratio=0.5), "GradScaler: expected incr_ratio above 1"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_decorate_keeps_normalization_layers():
    model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.Sequential(nn.Linear(2, 2)))
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    assert paddle.amp.decorate(model) is model
    assert {p.dtype.name for p in model.parameters()} == {"float32"}
    paddle.amp.decorate(model, optimizer, level="O2")
    dtypes = [p.dtype.name for p in model.parameters()]
    assert dtypes == ["float16"] * 2 + ["float32"] * 2 + ["float16"] * 2


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
def test_a_model_trains_at_each_level(level):
    paddle.seed(1)
    rng = np.random.default_rng(0)
    images = paddle.to_tensor(rng.random((16, 1, 8, 8), "float32"))
    labels = paddle.to_tensor((images.numpy().mean((1, 2, 3)) > 0.5).astype("int64"))
    model = nn.Sequential(
        nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2)
    )
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    model, optimizer = paddle.amp.decorate(model, optimizer, level=level)
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    losses = []
    for _ in range(20):
        with paddle.amp.auto_cast(level=level):
            loss = F.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2
    assert model[0].weight.dtype.name == ("float16" if level == "O2" else "float32")


def scaled_step(scaler, factor=1.0):
    """One step of w -= 0.1 * dw of sum(w * w) * factor. Returns w afterwards."""
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
    scaler.scale((w * w).sum() * factor).backward()
    scaler.step(optimizer)
    scaler.update()
    return w.item()


def test_the_scale_goes_out_again_before_the_step():
    assert scaled_step(paddle.amp.GradScaler(init_loss_scaling=1024.0)) == pytest.approx(0.8)


def test_a_gradient_that_float16_cannot_hold():
    """1e-9 is 0 in float16; times the scale it is not."""
    w = leaf([1.0])
    scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**16)
    for scale, kept in ((lambda loss: loss, False), (scaler.scale, True)):
        small = w.astype("float16").astype("float32") * 1e-9
        scale(small.sum()).backward()
        assert (w.grad.item() != 0.0) is kept
        w.clear_grad()


def test_bad_steps_are_left_out_and_make_the_scale_smaller():
    scaler = paddle.amp.GradScaler(
        init_loss_scaling=1024.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=2
    )
    found = []
    for factor in (1.0, float("inf"), float("nan"), 1.0, 1.0, float("inf")):
        found.append((scaled_step(scaler, factor) < 1.0, scaler.get_init_loss_scaling()))
    assert found == [
        (True, 1024.0),
        (False, 1024.0),
        (False, 512.0),
        (True, 512.0),
        (True, 1024.0),
        (False, 1024.0),
    ]


def test_the_scale_stays_where_it_is_asked_to():
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, use_dynamic_loss_scaling=False)
    scaled_step(scaler, float("inf"))
    assert scaler.get_init_loss_scaling() == 8.0
    assert paddle.amp.GradScaler(enable=False).scale(3) == 3


def test_each_thing_once_between_updates():
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
    scaler = paddle.amp.GradScaler(init_loss_scaling=4.0)
    scaler.scale(w * w).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [2.0]
    with pytest.raises(RuntimeError, match="unscale_: expected one call between two updates"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert w.tolist() == [pytest.approx(0.8)]
    with pytest.raises(RuntimeError, match="step: expected one call between two updates"):
        scaler.step(optimizer)
    scaler.update()
    scaler.step(optimizer)


def test_its_state_can_be_saved():
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=2)
    scaled_step(scaler)
    other = paddle.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    scaled_step(other)
    assert other.get_init_loss_scaling() == 16.0
    with pytest.raises(RuntimeError, match="load_state_dict: .* without"):
        other.load_state_dict({"scale": 3.0})
    assert paddle.amp.GradScaler(enable=False).state_dict() == {}
