"""Every optimizer gives real Paddle's parameters: in dygraph, in a classic Program, in PIR."""

import contextlib
import itertools

import numpy as np
import pytest

import minipaddle
from minipaddle.compare import real_paddle

rng = np.random.default_rng(3)
START = {
    "w0": rng.standard_normal((4, 3)),
    "b0": np.zeros(3),
    "w1": rng.standard_normal((3, 1)),
}
X, Y = rng.standard_normal((8, 4)), rng.standard_normal((8, 1))
STEPS = 10
numbers = itertools.count()


def parameters(paddle, attrs):
    """w0, b0, w1; `attrs` has further arguments of ParamAttr, by name."""
    made = []
    for name, value in START.items():
        initializer = paddle.nn.initializer.Assign(value.astype("float32"))
        more = attrs(paddle).get(name, {})
        name = f"{name}_{next(numbers)}"  # real Paddle wants each name once
        attr = paddle.ParamAttr(name=name, initializer=initializer, **more)
        made.append(paddle.create_parameter(list(value.shape), "float32", attr=attr))
    return made


def loss_of(paddle, x, y, w0, b0, w1):
    hidden = paddle.tanh(paddle.matmul(x, w0) + b0)
    error = paddle.matmul(hidden, w1) - y
    return paddle.mean(error * error)


def no_attrs(paddle):
    return {}


def train(paddle, make, attrs=no_attrs, world="dygraph"):
    """The parameters after STEPS steps. `make(paddle, parameters)` gives the optimizer, or the
    optimizer and its scheduler.
    """
    if world != "dygraph":
        return train_static(paddle, make, attrs, world)
    x, y = paddle.to_tensor(X.astype("float32")), paddle.to_tensor(Y.astype("float32"))
    own = parameters(paddle, attrs)
    optimizer, scheduler = both_of(make(paddle, own))
    for _ in range(STEPS):
        loss_of(paddle, x, y, *own).backward()
        optimizer.step()
        optimizer.clear_grad()
        if scheduler is not None:
            scheduler.step()
    return [parameter.numpy() for parameter in own]


def train_static(paddle, make, attrs, world):
    paddle.enable_static()
    guard = paddle.pir_utils.OldIrGuard() if world == "program" else contextlib.nullcontext()
    try:
        with guard:
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data("x", [None, 4], "float32")
                y = paddle.static.data("y", [None, 1], "float32")
                own = parameters(paddle, attrs)
                loss = loss_of(paddle, x, y, *own)
                optimizer, scheduler = both_of(make(paddle, own))
                optimizer.minimize(loss)
            executor, scope = paddle.static.Executor(), paddle.static.Scope()
            executor.run(startup, scope=scope)
            feed = {"x": X.astype("float32"), "y": Y.astype("float32")}
            for _ in range(STEPS):
                executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
                if scheduler is not None:
                    scheduler.step()
            return [np.array(scope.find_var(p.name).get_tensor()) for p in own]
    finally:
        paddle.disable_static()


def both_of(made):
    return made if isinstance(made, tuple) else (made, None)


def with_scheduler(optimizer):
    def make(paddle, own):
        scheduler = paddle.optimizer.lr.StepDecay(0.2, step_size=3, gamma=0.5)
        return optimizer(paddle, own, scheduler), scheduler

    return make


def grouped(name, *options, **more):
    def make(paddle, own):
        groups = [
            {"params": own[:2], **options[0]},
            {"params": own[2:], **options[1]},
        ]
        return getattr(paddle.optimizer, name)(learning_rate=0.1, parameters=groups, **more)

    return make


def plain(name, **options):
    """An optimizer whose options are values, or functions of `paddle`."""

    def make(paddle, own):
        found = {k: v(paddle) if callable(v) else v for k, v in options.items()}
        return getattr(paddle.optimizer, name)(parameters=own, **{"learning_rate": 0.1, **found})

    return make


def l1(coeff):
    return lambda paddle: paddle.regularizer.L1Decay(coeff)


def l2(coeff):
    return lambda paddle: paddle.regularizer.L2Decay(coeff)


def clip(kind, *args):
    return lambda paddle: getattr(paddle.nn, kind)(*args)


CASES = {
    "sgd": plain("SGD"),
    "sgd, l2 as a number": plain("SGD", weight_decay=0.1),
    "sgd, l2": plain("SGD", weight_decay=l2(0.1)),
    "sgd, l1": plain("SGD", weight_decay=l1(0.1)),
    "sgd, scheduler": with_scheduler(lambda p, own, rate: p.optimizer.SGD(rate, parameters=own)),
    "sgd, clip by value": plain("SGD", grad_clip=clip("ClipGradByValue", 0.1)),
    "sgd, clip by norm, l2": plain("SGD", grad_clip=clip("ClipGradByNorm", 0.3), weight_decay=0.1),
    "sgd, clip by global norm": plain("SGD", grad_clip=clip("ClipGradByGlobalNorm", 0.5)),
    "sgd, groups": grouped("SGD", {"learning_rate": 0.5}, {"weight_decay": 0.2}, weight_decay=0.01),
    "momentum": plain("Momentum"),
    "momentum, nesterov, l2": plain("Momentum", use_nesterov=True, weight_decay=0.1, momentum=0.5),
    "momentum, l1, rescaled": plain("Momentum", weight_decay=l1(0.05), rescale_grad=0.5),
    "momentum, groups": grouped("Momentum", {"weight_decay": 0.1}, {"learning_rate": 2.0}),
    "momentum, all together": with_scheduler(
        lambda p, own, rate: p.optimizer.Momentum(
            rate, parameters=own, weight_decay=0.1, grad_clip=p.nn.ClipGradByGlobalNorm(0.5)
        )
    ),
    "adam": plain("Adam"),
    "adam, betas, epsilon": plain("Adam", beta1=0.5, beta2=0.9, epsilon=1e-3),
    "adam, l2": plain("Adam", weight_decay=0.1),
    "adam, amsgrad": plain("Adam", amsgrad=True),
    "adam, groups": grouped("Adam", {"learning_rate": 0.1, "beta1": 0.8}, {"weight_decay": 0.1}),
    "adam, all together": with_scheduler(
        lambda p, own, rate: p.optimizer.Adam(
            rate, parameters=own, weight_decay=0.1, grad_clip=p.nn.ClipGradByGlobalNorm(0.5)
        )
    ),
    "adamw": plain("AdamW"),
    "adamw, decay, amsgrad": plain("AdamW", weight_decay=0.5, amsgrad=True),
    "adamw, only weights decay": plain(
        "AdamW", weight_decay=0.5, apply_decay_param_fun=lambda p: lambda name: name[0] == "w"
    ),
    "adamw, groups": grouped("AdamW", {"weight_decay": 0.3}, {"learning_rate": 0.5, "beta2": 0.9}),
    "adamw, all together": with_scheduler(
        lambda p, own, rate: p.optimizer.AdamW(
            rate, parameters=own, grad_clip=p.nn.ClipGradByGlobalNorm(0.5)
        )
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def expected():
    """Real Paddle's parameters, by case; computed once."""
    paddle = real_paddle()
    assert paddle is not None, "install the extra `course`: these tests need real Paddle"
    found = {}

    def get(name, attrs=no_attrs):
        if name not in found:
            found[name] = train(paddle, CASES[name], attrs)
        return found[name]

    return get


@pytest.mark.parametrize("world", ["dygraph", "program", "pir"])
@pytest.mark.parametrize("name", CASES)
def test_ten_steps_are_those_of_real_paddle(name, world, expected):
    for ours, theirs in zip(
        train(minipaddle, CASES[name], world=world), expected(name), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)


def own_attrs(paddle):
    return {
        "w0": {"learning_rate": 0.5, "regularizer": paddle.regularizer.L2Decay(0.3)},
        "b0": {"need_clip": False},
        "w1": {"regularizer": paddle.regularizer.L1Decay(0.1)},
    }


@pytest.mark.parametrize("world", ["dygraph", "program", "pir"])
@pytest.mark.parametrize("name", ["sgd, clip by global norm", "momentum, all together", "adam, l2"])
def test_a_parameters_own_settings_come_first(name, world):
    theirs = train(real_paddle(), CASES[name], own_attrs)
    for a, b in zip(train(minipaddle, CASES[name], own_attrs, world), theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)
