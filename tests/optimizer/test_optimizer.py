"""Every optimizer gives real Paddle's parameters: in dygraph, in a classic Program, in PIR."""

import contextlib
import itertools
import re

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
    "momentum, l1": plain("Momentum", weight_decay=l1(0.05)),
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


def updated(name, gradient, **options):
    """A parameter of ones after one step with this gradient."""
    start = minipaddle.nn.initializer.Constant(1.0)
    own = minipaddle.create_parameter([2], "float32", default_initializer=start)
    own.grad = minipaddle.to_tensor([gradient, -gradient], "float32")
    getattr(minipaddle.optimizer, name)(0.5, parameters=[own], **options).step()
    return own.numpy()


def test_factors_that_real_paddle_knows_on_a_gpu_only():
    """On a CPU, its kernels leave rescale_grad out, and its AdamW refuses lr_ratio."""
    rescaled = updated("Momentum", 4.0, rescale_grad=0.25)
    np.testing.assert_array_equal(rescaled, updated("Momentum", 1.0))
    slower = updated("AdamW", 4.0, lr_ratio=lambda parameter: 0.1, weight_decay=0.5)
    np.testing.assert_allclose(slower, [1 - 0.025 - 0.05, 1 - 0.025 + 0.05], rtol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdamW"])
def test_float16_parameters_with_master_weights_take_small_steps(name):
    """1 + 0.0001 is 1 in float16; ten such steps are lost without the float32 copy."""
    found = []
    for multi_precision in (False, True):
        start = minipaddle.nn.initializer.Constant(1.0)
        own = minipaddle.create_parameter([2], "float16", default_initializer=start)
        own.grad = minipaddle.to_tensor([-1.0, -1.0], "float16")
        more = {"momentum": 0.0} if name == "Momentum" else {}
        optimizer = getattr(minipaddle.optimizer, name)(
            1e-4, parameters=[own], multi_precision=multi_precision, weight_decay=0.0, **more
        )
        for _ in range(10):
            optimizer.step()
        found.append(own.numpy())
        assert ("master_weights" in optimizer.state_dict()) is multi_precision
    np.testing.assert_array_equal(found[0], np.ones(2, "float16"))
    np.testing.assert_allclose(found[1], [1.001, 1.001], rtol=1e-3)


def small_problem(paddle, name, rate=0.1):
    own = parameters(paddle, no_attrs)
    optimizer = getattr(paddle.optimizer, name)(rate, parameters=own)
    x, y = paddle.to_tensor(X.astype("float32")), paddle.to_tensor(Y.astype("float32"))

    def go(count):
        for _ in range(count):
            loss_of(paddle, x, y, *own).backward()
            optimizer.step()
            optimizer.clear_grad()
        return [parameter.numpy() for parameter in own]

    return own, optimizer, go


@pytest.mark.parametrize("saved_by", ["minipaddle", "paddle"])
@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam", "AdamW"])
def test_a_saved_state_goes_on(name, saved_by):
    """Also one that real Paddle saved: its names are the same."""
    own, first, go_first = small_problem(minipaddle, name)
    others, second, go_second = small_problem(minipaddle, name)
    if saved_by == "paddle":
        own, first, go_first = small_problem(real_paddle(), name)
    go_first(4)
    renamed = {a.name: b.name for a, b in zip(own, others, strict=True)}
    state = {}
    for key, value in first.state_dict().items():
        old = next(old for old in renamed if key.startswith(f"{old}_"))
        state[renamed[old] + key.removeprefix(old)] = value.numpy()
    for a, b in zip(own, others, strict=True):
        b.set_value(a.numpy())
    second.set_state_dict(state)
    for a, b in zip(go_first(3), go_second(3), strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-6, atol=1e-6)
    assert set(state) == set(second.state_dict())


def test_a_loaded_state_also_reaches_tensors_that_are_there():
    own, optimizer, go = small_problem(minipaddle, "Adam")
    go(2)
    saved = {key: value.numpy() for key, value in optimizer.state_dict().items()}
    values = [parameter.numpy() for parameter in own]
    expected = go(2)
    for parameter, value in zip(own, values, strict=True):
        parameter.set_value(value)
    optimizer.set_state_dict(saved)
    for a, b in zip(go(2), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(KeyError, match=r"expected 'w0_\d+_moment1_0' in the state"):
        optimizer.set_state_dict({})


def test_the_state_of_a_scheduler_is_part_of_it():
    scheduler = minipaddle.optimizer.lr.StepDecay(0.4, 2, 0.5)
    _, optimizer, _ = small_problem(minipaddle, "SGD", scheduler)
    for _ in range(3):
        scheduler.step()
    state = optimizer.state_dict()
    assert state == {"LR_Scheduler": {"last_epoch": 3, "last_lr": 0.2}}
    later = minipaddle.optimizer.lr.StepDecay(0.4, 2, 0.5)
    _, other, _ = small_problem(minipaddle, "SGD", later)
    other.set_state_dict(state)
    assert (other.get_lr(), later.last_epoch) == (0.2, 3)


@pytest.mark.parametrize("world", ["program", "pir"])
def test_set_lr_reaches_the_scope_of_each_run(world):
    """In another scope than the global one; then a scheduler takes over."""
    minipaddle.enable_static()
    guard = minipaddle.pir_utils.OldIrGuard() if world == "program" else contextlib.nullcontext()
    try:
        with guard:
            main, startup = minipaddle.static.Program(), minipaddle.static.Program()
            with minipaddle.static.program_guard(main, startup):
                start = minipaddle.nn.initializer.Constant(0.0)
                name = f"w_{next(numbers)}"
                w = minipaddle.static.create_parameter(
                    [1], "float32", name=name, default_initializer=start
                )
                sgd = minipaddle.optimizer.SGD(0.5)
                sgd.minimize(minipaddle.mean(w * -1.0))
            executor, scope = minipaddle.static.Executor(), minipaddle.static.Scope()
            executor.run(startup, scope=scope)

            def step():
                before = float(scope.get(name)[0])
                executor.run(main, scope=scope)
                return round(float(scope.get(name)[0]) - before, 5)

            assert step() == 0.5
            sgd.set_lr(0.25)
            assert (step(), sgd.get_lr()) == (0.25, 0.25)
            scheduler = minipaddle.optimizer.lr.ExponentialDecay(0.1, gamma=0.5)
            sgd.set_lr_scheduler(scheduler)
            assert step() == 0.1
            scheduler.step()
            assert step() == 0.05
    finally:
        minipaddle.disable_static()


def test_clear_grad_sets_to_zero_or_drops():
    own, optimizer, _ = small_problem(minipaddle, "SGD")
    for clear, dropped in (
        (optimizer.clear_grad, False),
        (lambda: optimizer.clear_grad(False), True),
        (optimizer.zero_grad, True),
        (optimizer.clear_gradients, False),
    ):
        loss_of(minipaddle, minipaddle.to_tensor(X.astype("float32")),
                minipaddle.to_tensor(Y.astype("float32")), *own).backward()  # fmt: skip
        clear()
        assert all((p.grad is None) if dropped else not p.grad.numpy().any() for p in own)


def a_parameter(paddle):
    return paddle.create_parameter([2], "float32")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o, p: o.SGD(0.1), "SGD: expected parameters in dygraph"),
        (lambda o, p: o.SGD(1, parameters=[p]), "expected learning_rate to be a float"),
        (lambda o, p: o.SGD(0.1, parameters=p), "SGD: expected a list of parameters"),
        (lambda o, p: o.SGD(0.1, parameters={"params": [p]}), "expected a list of parameters"),
        (lambda o, p: o.SGD(0.1, parameters=[{"params": {p}}]), "but got a set"),
        (
            lambda o, p: o.SGD(0.1, parameters=[{"params": [p]}, {"params": [p]}]),
            "expected each parameter in one group",
        ),
        (lambda o, p: o.SGD(0.1, parameters=[p], grad_clip=1.0), "expected grad_clip to be a Clip"),
        (lambda o, p: o.Adam(beta1=1.0, parameters=[p]), r"Adam: expected beta1 in \[0, 1\)"),
        (lambda o, p: o.Adam(epsilon=-1.0, parameters=[p]), "Adam: expected epsilon of 0 or more"),
        (lambda o, p: o.AdamW(weight_decay="x", parameters=[p]), "AdamW: expected weight_decay"),
        (lambda o, p: o.SGD(0.1, parameters=[p]).set_lr("x"), "set_lr: expected a number"),
        (
            lambda o, p: o.SGD(o.lr.StepDecay(0.1, 2), parameters=[p]).set_lr(0.1),
            "set_lr: expected an optimizer without scheduler",
        ),
        (lambda o, p: o.SGD(0.1, parameters=[p]).set_lr_scheduler(0.1), "expected a LRScheduler"),
    ],
)
def test_mistakes_are_explained_and_have_paddles_kind(make, message):
    with pytest.raises(Exception, match=message) as ours:
        make(minipaddle.optimizer, a_parameter(minipaddle))
    with pytest.raises(Exception) as theirs:
        make(real_paddle().optimizer, a_parameter(real_paddle()))
    assert type(ours.value) is type(theirs.value)


def test_minimize_wants_a_loss():
    with pytest.raises(TypeError, match="expected loss to be a Tensor, Variable or Value"):
        minipaddle.optimizer.SGD(0.1, parameters=[a_parameter(minipaddle)]).minimize("loss")


def test_minimize_in_dygraph_is_a_step():
    own, optimizer, _ = small_problem(minipaddle, "SGD")
    before = own[0].numpy()
    loss = loss_of(minipaddle, minipaddle.to_tensor(X.astype("float32")),
                   minipaddle.to_tensor(Y.astype("float32")), *own)  # fmt: skip
    loss.backward()
    ops, pairs = optimizer.minimize(loss)
    assert (ops, [parameter.name for parameter, _ in pairs]) == ([], [p.name for p in own])
    np.testing.assert_allclose(own[0].numpy(), before - 0.1 * own[0].grad.numpy(), rtol=1e-6)


def printed(paddle, name, world):
    """The main and the startup program as text, without what differs from run to run."""
    paddle.enable_static()
    guard = paddle.pir_utils.OldIrGuard() if world == "program" else contextlib.nullcontext()
    try:
        with guard:
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                start = paddle.nn.initializer.Constant(0.5)
                attr = paddle.ParamAttr(name=f"w_{next(numbers)}", initializer=start)
                own = paddle.create_parameter([2, 3], "float32", attr=attr)
                loss = paddle.mean(paddle.nn.functional.relu(own))
                optimizer, _ = both_of(CASES[name](paddle, [own]))
                ops, pairs = optimizer.minimize(loss)
            text = f"{len(ops)} {len(pairs)}\n{main}\n{startup}"
    finally:
        paddle.disable_static()
    text = re.sub(r"stop_gradient:\[[a-z,]*\]", "", text)  # flags of results that are NULL
    text = re.sub(r"op_device = cpu", "op_device = ", text)  # where beta^t starts
    text = re.sub(r"\w*Tensor=\[\], ", "", text)  # slots that nobody fills
    text = re.sub(r"/(optimizer|regularization)(_\d+)?/", r"/\1/", text)  # counted per process
    return re.sub(r"_\d+", "_N", text)


@pytest.mark.parametrize("world", ["program", "pir"])
@pytest.mark.parametrize(
    "name", ["sgd, l2", "sgd, l1", "sgd, scheduler", "momentum, l1", "momentum, nesterov, l2",
             "adam", "adam, amsgrad", "adam, l2", "adamw", "adamw, only weights decay"]
)  # fmt: skip
def test_programs_print_as_in_real_paddle(name, world):
    ours, theirs = (printed(p, name, world) for p in (minipaddle, real_paddle()))
    assert ours.splitlines() == theirs.splitlines()
