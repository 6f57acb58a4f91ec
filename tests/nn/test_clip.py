"""Clipping gives what real Paddle gives, in every world, with the same ops."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both
from tests.nn.parity import assert_alike, both_paddles

rng = np.random.default_rng(7)


def f(*shape):
    return rng.normal(size=shape).astype("float32")


GRADS = [f(2, 3), None, f(3), f(4)]
CLIPS = {
    "value": lambda nn: nn.ClipGradByValue(0.5),
    "value from to": lambda nn: nn.ClipGradByValue(0.5, -0.1),
    "norm": lambda nn: nn.ClipGradByNorm(1.0),
    "large norm": lambda nn: nn.ClipGradByNorm(100.0),
    "global norm": lambda nn: nn.ClipGradByGlobalNorm(1.0),
    "large global norm": lambda nn: nn.ClipGradByGlobalNorm(100.0),
    "global norm, skipped": lambda nn: nn.ClipGradByGlobalNorm(100.0, auto_skip_clip=True),
}


def clipped(module, make):
    """Pairs whose third parameter does not want to be clipped."""
    pairs = []
    for number, grad in enumerate(GRADS):
        shape = [1] if grad is None else list(grad.shape)
        attr = module.ParamAttr(need_clip=number != 2)
        parameter = module.create_parameter(shape, "float32", attr=attr)
        pairs.append((parameter, None if grad is None else module.to_tensor(grad)))
    found = make(module.nn)(pairs)
    places = [[parameter is p for p, _ in pairs].index(True) for parameter, _ in found]
    return (
        places,
        [grad.numpy() for _, grad in found],
        [g.numpy() for _, g in pairs if g is not None],
    )


@pytest.mark.parametrize("name", CLIPS)
def test_dygraph(name):
    mine, theirs = (clipped(module, CLIPS[name]) for module in both_paddles())
    assert mine[0] == theirs[0] == [0, 2, 3]
    assert_alike(mine[1], theirs[1])
    assert_alike(mine[2], theirs[2])  # what was changed in place


def program(module, name):
    """Clipping in a program: the names of its ops, and the gradients that it gives."""
    main, startup = module.static.Program(), module.static.Program()
    with module.static.program_guard(main, startup):
        x = module.static.data("x", [2, 3])
        parameters = [
            module.create_parameter([2, 3], "float32", attr=module.ParamAttr(need_clip=clip))
            for clip in (True, False, True)
        ]
        pairs = [(p, x * float(number + 1)) for number, p in enumerate(parameters)]
        fetched = [grad for _, grad in CLIPS[name](module.nn)(pairs)]
    executor = module.static.Executor()
    executor.run(startup)
    names = [op.type if hasattr(op, "type") else op.name() for op in main.global_block().ops]
    return names, executor.run(main, feed={"x": GRADS[0]}, fetch_list=fetched)


@pytest.mark.parametrize("name", ["norm", "global norm"])
def test_the_ops_of_a_program(name):
    found = []
    for module in both_paddles():
        module.enable_static()
        try:
            found.append(program(module, name))
        finally:
            module.disable_static()
    assert found[0][0] == found[1][0]
    assert_alike(found[0][1], found[1][1])


@pytest.mark.parametrize("name", ["value", "norm", "global norm"])
def test_a_classic_program(name):
    """Real Paddle can't clip by value in a PIR program; minipaddle can."""
    paddle.enable_static()
    try:
        pir = program(paddle, name)[1]
        with paddle.pir_utils.OldIrGuard():
            names, classic = program(paddle, name)
    finally:
        paddle.disable_static()
    assert_alike(classic, pir)
    if name == "global norm":
        assert names.count("squared_l2_norm") == 2 and names.count("sum") == 2
    assert_alike([classic[1]], [2 * GRADS[0]])


def test_what_a_clip_says_of_itself_and_what_it_refuses():
    assert both(
        """
        nn = paddle.nn
        print(nn.ClipGradByValue(0.5), nn.ClipGradByValue(2, 1), nn.ClipGradByNorm(2), nn.ClipGradByGlobalNorm(0.25))
        """,
        same=True,
    ).same
    with pytest.raises(ValueError, match="ClipGradByValue: expected a positive max"):
        paddle.nn.ClipGradByValue(-1.0)
    with pytest.raises(NotImplementedError, match="to define _clip"):
        paddle.nn.clip.ClipGradBase()([(None, paddle.ones([1]))])
    assert paddle.nn.ClipGradByNorm(1.0)([(None, None)]) == []


@pytest.mark.parametrize("norm_type", [1.0, 2.0, float("inf")])
def test_clip_grad_norm(norm_type):
    found = []
    for module in both_paddles():
        parameters = [module.create_parameter([3], "float32") for _ in range(3)]
        for number, parameter in enumerate(parameters[:2]):
            (parameter * module.to_tensor(f(3) * 0 + number + 1.0)).sum().backward()
        total = module.nn.utils.clip_grad_norm_(parameters, 2.0, norm_type)
        found.append([total.numpy(), *[p.grad.numpy() for p in parameters[:2]]])
        module.nn.utils.clip_grad_value_(parameters, 0.1)
        found[-1] += [p.grad.numpy() for p in parameters[:2]]
    assert_alike(*found)
    with pytest.raises(ValueError, match="expected norm_type 1, 2 or inf"):
        paddle.nn.utils.clip_grad_norm_([], 1.0, 3.0)
    assert paddle.nn.utils.clip_grad_norm_([], 1.0).item() == 0.0


def test_a_norm_that_is_not_finite():
    parameter = paddle.create_parameter([1])
    (parameter * float("inf")).sum().backward()
    with pytest.raises(RuntimeError, match="expected a finite norm, but got inf"):
        paddle.nn.utils.clip_grad_norm_(parameter, 1.0, error_if_nonfinite=True)


def test_parameters_as_a_vector():
    layer = paddle.nn.Linear(2, 3)
    vector = paddle.nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == [9] and vector[:6].tolist() == layer.weight.reshape([-1]).tolist()
    paddle.nn.utils.vector_to_parameters(paddle.arange(9, dtype="float32"), layer.parameters())
    assert layer.weight.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert layer.bias.tolist() == [6.0, 7.0, 8.0]
    with pytest.raises(ValueError, match="expected a vector of 9 numbers"):
        paddle.nn.utils.vector_to_parameters(paddle.ones([8]), layer.parameters())
