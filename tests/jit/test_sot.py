"""SOT: captured functions compute what plain ones do, and know when they may not be used."""

import enum
import math
import random
import sys

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.jit.sot import symbolic_translate

F = paddle.nn.functional
FACTOR = 3.0


def tensor(*shape, seed=0):
    return paddle.to_tensor(
        np.random.default_rng(seed).normal(size=shape).astype("float32"), stop_gradient=False
    )


def arithmetic(x, y):
    z = x * y + 2.0
    return z / 3.0 - x


def keyword_arguments(x, y):
    return paddle.matmul(x, y, transpose_y=True).sum(axis=0, keepdim=True)


def several_results(x, y):
    a, b = x + y, x - y
    return [a, (b, x)], 5


def a_global(x, y):
    return x * FACTOR + y


def constants_and_branches(x, y):
    n = 2
    if n > 1 and y is not None:
        x = x + n
    return x if x.ndim == 2 else y


def inner(a, scale=2.0, *, shift=0.0):
    return a * scale + shift


def inlined(x, y):
    return inner(x, shift=1.0) + inner(y, 3.0)


def a_shape(x, y):
    return x.reshape([x.shape[0] * x.shape[1]]) * float(2)


def methods(x, y):
    return x.tanh().exp().mean() + y.T.sum()


def unused_result(x, y):
    x.exp()
    return -y


WHOLE = [
    arithmetic,
    keyword_arguments,
    several_results,
    a_global,
    constants_and_branches,
    inlined,
    a_shape,
    methods,
    unused_result,
]


def numbers(result):
    """All Tensors in a result, as arrays; other objects as they are."""
    if isinstance(result, (list, tuple)):
        return type(result)(numbers(item) for item in result)
    return result.numpy().tolist() if isinstance(result, paddle.Tensor) else result


def tensors(result):
    if isinstance(result, (list, tuple)):
        return [t for item in result for t in tensors(item)]
    return [result] if isinstance(result, paddle.Tensor) else []


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_captured_is_plain(function):
    captured = symbolic_translate(function)
    grads = []
    for run in (function, captured):
        x, y = tensor(2, 2), tensor(2, 2, seed=1)
        result = run(x, y)
        grads.append((numbers(result), None))
        outputs = [t for t in tensors(result) if not t.stop_gradient]
        paddle.autograd.backward(outputs, [paddle.ones(t.shape) for t in outputs])
        grads[-1] = (numbers(result), [None if t.grad is None else t.grad.numpy() for t in (x, y)])
    assert captured.translate_count == 1 and captured.cache[0].break_reason == ""
    assert grads[0][0] == grads[1][0]
    for plain, other in zip(grads[0][1], grads[1][1], strict=True):
        assert (plain is None) == (other is None)
        if plain is not None:
            np.testing.assert_allclose(plain, other, rtol=1e-6)


def test_guards_on_shape_dtype_and_stop_gradient():
    captured = symbolic_translate(lambda x: x * 2.0)
    for make, count in (
        (lambda: tensor(2, 2), 1),
        (lambda: tensor(2, 2, seed=9), 1),
        (lambda: tensor(3, 2), 2),
        (lambda: paddle.to_tensor(np.ones((2, 2)), stop_gradient=False), 3),
        (lambda: tensor(2, 2).detach(), 4),
        (lambda: tensor(2, 2), 4),
    ):
        x = make()
        assert captured(x).tolist() == (x * 2.0).tolist()
        assert captured.translate_count == count


def test_guards_on_numbers_and_globals(monkeypatch):
    captured = symbolic_translate(lambda x, n: x * n + FACTOR)
    x = paddle.ones([1])
    assert [captured(x, n).item() for n in (1, 1, 2, 1.0, True)] == [4.0, 4.0, 5.0, 4.0, 4.0]
    assert captured.translate_count == 4  # 1, 2, 1.0 and True are different
    monkeypatch.setitem(globals(), "FACTOR", 10.0)
    assert captured(x, 1).item() == 11.0


def test_one_tensor_under_two_names():
    """Captured with f(a, a) there is one input; f(a, b) must not use that graph."""
    captured = symbolic_translate(lambda x, y: x * 10.0 + y)
    a, b = paddle.ones([1]), paddle.ones([1]) * 2.0
    assert [captured(a, a).item(), captured(a, b).item(), captured(b, a).item()] == [
        11.0,
        12.0,
        21.0,
    ]


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = paddle.nn.Linear(4, 3)
        self.second = paddle.nn.Linear(3, 2)
        self.scale = 2.0

    def forward(self, x):
        hidden = F.relu(self.first(x))
        if self.training:
            hidden = hidden * self.scale
        return self.second(hidden)


def test_a_layer_and_its_mode():
    net = Net()
    captured = symbolic_translate(lambda x: net(x))
    x = tensor(5, 4)
    assert captured(x).tolist() == net(x).tolist()
    net.eval()
    assert captured(x).tolist() == net(x).tolist()
    net.scale = 7.0
    net.train()
    assert captured(x).tolist() == net(x).tolist()
    assert captured.translate_count == 3
    assert net(x).tolist() != symbolic_translate(lambda x: x)(x).tolist()


def test_new_numbers_in_a_parameter_are_seen_and_a_new_parameter_too():
    net = paddle.nn.Linear(2, 2)
    captured = symbolic_translate(lambda x: net(x))
    x = tensor(3, 2)
    captured(x)
    net.weight.set_value(np.ones((2, 2), "float32"))
    assert captured(x).tolist() == net(x).tolist() and captured.translate_count == 1
    net.weight = paddle.nn.Linear(2, 2).weight
    assert captured(x).tolist() == net(x).tolist() and captured.translate_count == 2


def test_to_static_of_a_layer():
    net = Net()
    x = tensor(5, 4)
    wanted = net(x).tolist()
    paddle.jit.to_static(net, full_graph=False)
    assert net(x).tolist() == wanted
    net(x).sum().backward()
    assert net.first.weight.grad is not None


def test_closures():
    w = tensor(2, 2)

    @paddle.jit.to_static(full_graph=False)
    def function(x):
        return paddle.matmul(x, w)

    x = tensor(2, 2, seed=1)
    assert function(x).tolist() == paddle.matmul(x, w).tolist()
    function(x).sum().backward()
    assert w.grad is not None and x.grad is not None


def test_no_grad_records_nothing():
    captured = symbolic_translate(lambda x: x * 2.0)
    with paddle.no_grad():
        assert captured(tensor(2)).stop_gradient
    assert not captured(tensor(2)).stop_gradient


def if_on_a_tensor(x):
    if x.sum() > 0:
        return x + 1.0
    return x - 1.0


def prints(x):
    print("here")
    return x * 2.0


def loops(x):
    for _ in range(2):
        x = x * 2.0
    return x


def reads_numbers(x):
    return x * x.numpy().sum()


def catches(x):
    try:
        return x * 2.0
    finally:
        x.exp()


def generates(x):
    return sum(item * 2.0 for item in [x])


BREAKS = [
    (if_on_a_tensor, r"graph break: `if` needs the value of a Tensor \(test_sot.py:\d+, \w+\)"),
    (prints, "graph break: the call of print"),
    (loops, "graph break: the instruction .* is not supported"),
    (reads_numbers, "graph break: Tensor.numpy needs the numbers of a Tensor"),
    (generates, "graph break"),
]


@pytest.mark.parametrize(("function", "reason"), BREAKS, ids=lambda p: getattr(p, "__name__", ""))
def test_what_cannot_be_captured_runs_as_plain_python(function, reason, capsys):
    captured = symbolic_translate(function)
    for sign in (1.0, -1.0):
        x = paddle.ones([2]) * sign
        assert captured(x).tolist() == function(x).tolist()
    (entry,) = captured.cache
    assert entry.graph is None
    import re

    assert re.search(reason, entry.break_reason), entry.break_reason


def test_a_mistake_in_the_users_code_is_the_same_error():
    captured = symbolic_translate(lambda x: paddle.matmul(x, x))
    with pytest.raises(ValueError, match=r"matmul: expected x.shape\[-1\] == y.shape\[-2\]"):
        captured(tensor(2, 3))


def test_wrong_arguments():
    with pytest.raises(NotImplementedError, match="full_graph=False"):
        paddle.jit.to_static(lambda x: x)
    with pytest.raises(TypeError, match="to_static: expected a Python function or a Layer"):
        paddle.jit.to_static(3, full_graph=False)
    with pytest.raises(TypeError, match=r"has \* or \*\*"):
        symbolic_translate(lambda *args: args)


def test_a_backend_sees_the_program():
    seen = []
    captured = paddle.jit.to_static(
        lambda x: x.exp() + x, full_graph=False, backend=lambda program: seen.append(str(program))
    )
    captured(tensor(2))
    assert '"pd_op.exp"' in seen[0]


def test_a_second_gradient_is_refused():
    x = tensor(2)
    y = symbolic_translate(lambda x: x * x)(x).sum()
    with pytest.raises(NotImplementedError, match="GradNodeRunProgram"):
        paddle.grad(y, x, create_graph=True)


def test_the_steps_can_be_shown():
    captured = symbolic_translate(arithmetic)
    captured(tensor(2), tensor(2))
    steps = captured.cache[0].steps
    assert steps[0].opname == "RESUME" and steps[-1].opname == "RETURN_VALUE"
    assert [s.graph_ops for s in steps] == sorted(s.graph_ops for s in steps)
    assert any("Tensor([2], float32)" in s.stack for s in steps)


def test_auto_cast_is_respected():
    captured = symbolic_translate(lambda x: paddle.matmul(x, x))
    x = tensor(2, 2)
    with paddle.amp.auto_cast():
        assert captured(x).dtype is paddle.float16
    assert captured(x).dtype is paddle.float32


def test_an_input_that_is_returned_is_the_same_object():
    x = tensor(2)
    assert symbolic_translate(lambda x: x)(x) is x
    y, z = symbolic_translate(lambda x: (x, x * 2.0))(x)
    assert y is x and z.grad_fn is not None


MODES = ["a"]


def test_the_contents_of_a_list_are_guarded():
    captured = symbolic_translate(lambda x: x * 2.0 if len(MODES) > 1 else x + 1.0)
    x = paddle.ones([1])
    assert captured(x).item() == 2.0
    MODES.append("b")
    try:
        assert captured(x * 3.0).item() == 6.0
    finally:
        MODES.pop()


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_numbers_without_a_literal(number):
    captured = symbolic_translate(lambda x, n: x * n)
    x = paddle.ones([1])
    for _ in range(2):
        np.testing.assert_array_equal(captured(x, number).numpy(), [number])
    assert captured.translate_count == 1


# -- what changes between two calls must be seen ---------------------------------------------------


def both_calls(function, before, change, after=None):
    """The captured function's answers before and after a change."""
    captured = paddle.jit.to_static(function, full_graph=False)
    first = captured(*before).numpy().tolist()
    change()
    return first, captured(*(after or before)).numpy().tolist()


class Scaled(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.factor = 2.0

    def forward(self, x):
        return x * self.factor

    def twice(self, x):
        return x * 2.0


def test_the_length_of_a_list_of_tensors_is_guarded():
    x = paddle.ones([1])
    found = both_calls(lambda xs: xs[0] * len(xs), [[x, x]], lambda: None, [[x, x, x]])
    assert found == ([2.0], [3.0])


def test_another_method_is_seen(monkeypatch):
    layer, x = Scaled(), paddle.ones([1])
    found = both_calls(
        lambda x: layer.twice(x),
        [x],
        lambda: monkeypatch.setattr(Scaled, "twice", lambda self, x: x * 10.0),
    )
    assert found == ([2.0], [10.0])


def test_settings_parts_and_hooks_of_a_layer_are_guarded():
    x = paddle.to_tensor([[-1.0, 2.0]])
    layer = paddle.nn.Sequential(paddle.nn.ReLU())
    captured = paddle.jit.to_static(lambda x: layer(x), full_graph=False)
    assert captured(x).tolist() == [[0.0, 2.0]]
    layer.add_sublayer("0", paddle.nn.Softmax(axis=0))
    assert captured(x).tolist() == [[1.0, 1.0]]
    layer[0]._arguments["axis"] = 1
    assert captured(x).tolist() == layer(x).tolist() != [[1.0, 1.0]]
    layer[0].register_forward_post_hook(lambda layer, inputs, out: out * 0.0)
    assert captured(x).tolist() == [[0.0, 0.0]]


def test_a_weight_that_is_trained_again_gets_a_gradient():
    layer, x = paddle.nn.Linear(2, 1), paddle.ones([1, 2])
    captured = paddle.jit.to_static(lambda x: layer(x), full_graph=False)
    layer.weight.stop_gradient = True
    captured(x)
    layer.weight.stop_gradient = False
    captured(x).backward()
    assert layer.weight.grad.tolist() == [[1.0], [1.0]]


def test_the_users_layers_in_a_sequential_are_inlined():
    layer, x = paddle.nn.Sequential(paddle.nn.ReLU(), Scaled()), paddle.ones([1])
    captured = paddle.jit.to_static(lambda x: layer(x), full_graph=False)
    assert captured(x).tolist() == [2.0] and captured.cache[0].break_reason == ""
    layer[1].factor = 5.0
    assert captured(x).tolist() == [5.0]
    layer[1].register_forward_post_hook(lambda layer, inputs, out: out * 10.0)
    assert captured(x).tolist() == [50.0]


def appends(x, kept):
    kept.append(x)
    return x * 2.0


def random_factor(x):
    return x * random.random()


def test_what_is_not_the_same_at_every_call_is_not_captured():
    x, kept = paddle.ones([1]), []
    captured = paddle.jit.to_static(appends, full_graph=False)
    captured(x, kept)
    captured(x, kept)
    assert len(kept) == 2 and kept[0] is x
    captured = paddle.jit.to_static(random_factor, full_graph=False)
    assert captured(x).item() != captured(x).item()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (len(x), x * 2.0),
        lambda x: (str(x), x * 2.0),
        lambda x: (x.name, x * 2.0),
        lambda x: (np.sum(x.numpy()), x * 2.0),
        lambda x: (hasattr(x, "uses"), x * 2.0),
        lambda x: (paddle.in_dynamic_mode(), x * 2.0),
        lambda x: (math.exp(x), x * 2.0),
        lambda x: (1.0, x + paddle.to_tensor([1.0])),
        lambda x: (1.0, np.ones(1, "float32") * x),
    ],
)
def test_what_a_value_would_answer_differently(function):
    x = paddle.to_tensor([3.0])
    captured = paddle.jit.to_static(function, full_graph=False)
    for _ in range(2):
        answer, y = captured(x)
        assert answer == function(x)[0] and y.tolist() == function(x)[1].tolist()


def test_is_between_tensors():
    x, y = paddle.ones([1]), paddle.ones([1])
    captured = paddle.jit.to_static(lambda a, b: a * 2.0 if a is b else a * 3.0, full_graph=False)
    found = [captured(*pair).item() for pair in ((x, x), (x, y), (x, x))]
    assert found == [2.0, 3.0, 2.0]


class Color(enum.IntEnum):
    RED = 2


@pytest.mark.parametrize("number", [Color.RED, np.float64(2.0), paddle.ones([2]).shape[0]])
def test_numbers_of_other_classes(number):
    x = paddle.ones([1])
    captured = paddle.jit.to_static(lambda x, k: x * k, full_graph=False)
    assert captured(x, number).tolist() == [2.0] == captured(x, number).tolist()
    assert captured.translate_count == 1


def test_the_cache_has_an_end():
    x = paddle.ones([1])
    captured = paddle.jit.to_static(lambda x, k: x * k, full_graph=False)
    assert [captured(x, float(k)).item() for k in range(30)] == list(map(float, range(30)))
    assert captured.translate_count == 20


def test_a_saved_input_that_was_changed_is_refused():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    weight = paddle.to_tensor([3.0])
    y = paddle.jit.to_static(lambda x, w: x * w, full_graph=False)(x, weight)
    weight.set_value(np.array([100.0], "float32"))
    with pytest.raises(RuntimeError, match="an in-place op has changed it"):
        y.backward()


def test_ranks_capture_at_the_same_time():
    def rank_main():
        factor = paddle.distributed.get_rank() + 1.0
        found = []
        for _ in range(5):
            captured = paddle.jit.to_static(
                lambda x: paddle.tanh(x * factor + x) * x, full_graph=False
            )
            found.append(captured(paddle.ones([1])).item())
        return found

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        results = paddle.distributed.spawn(rank_main, nprocs=3)
    finally:
        sys.setswitchinterval(interval)
    for rank, found in enumerate(results):
        assert found == pytest.approx([np.tanh(rank + 2.0)] * 5)


def add_in_place(x, y):
    x.add_(y)
    return x * 2.0


def its_result_is_read(x, y):
    return x.add_(y) * 2.0 + x


def in_place_between(x, y):
    before = x * 1.0
    x.multiply_(y)
    return before + x


def in_place_on_a_view(x, y):
    x.reshape([-1]).add_(y)
    return x + y


def in_place_on_its_own(x, y):
    z = x + y
    z.exp_()
    return z


def in_place_and_not_read(x, y):
    x.clip_(0.0, 1.0)
    return y


def a_function_in_place(x, y):
    return F.relu_(x) + y


def another_shape_in_place(x, y):
    x.reshape_([1, 2])
    return x


def an_element(x, y):
    x[0] = 5.0
    return x + y


def an_element_by_method(x, y):
    x.__setitem__(0, 5.0)
    return x + y


def filled(x, y):
    x.fill_(3.0)
    return x + y


def written(x, y):
    paddle.assign(y, x)
    return x + y


def in_place_in_an_inlined_function(x, y):
    return add_in_place(x, y) + x


IN_PLACE = [
    *(add_in_place, its_result_is_read, in_place_between, in_place_on_a_view),
    *(in_place_on_its_own, in_place_and_not_read, a_function_in_place, another_shape_in_place),
    *(an_element, an_element_by_method, filled, written, in_place_in_an_inlined_function),
]


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda f: f.__name__)
def test_what_changes_a_tensor_breaks_the_graph(function):
    """Two calls, each seeing what the one before has changed: results, inputs and versions."""
    captured, seen = symbolic_translate(function), []
    for run in (function, captured):
        x, y = paddle.to_tensor([1.0, -2.0]), paddle.to_tensor([3.0, 4.0])
        results = [numbers(run(x, y)) for _ in range(2)]
        seen.append((results, x.tolist(), x.inplace_version))
    assert seen[0] == seen[1]
    assert all("graph break" in entry.break_reason for entry in captured.cache)


def test_a_gradient_through_an_in_place_op():
    def function(x):
        y = x * 2.0
        y.multiply_(x)
        return y.sum()

    for run in (function, symbolic_translate(function)):
        x = paddle.to_tensor([1.0, 3.0], stop_gradient=False)
        run(x).backward()
        assert x.grad.tolist() == [4.0, 12.0]


def test_an_operator_with_assignment_is_captured():
    """`y += 1` gives y a new Tensor, as in Paddle: x stays."""

    def function(x):
        y = x
        y += 1.0
        return y * x

    captured = symbolic_translate(function)
    x = paddle.to_tensor([1.0, -2.0])
    assert captured(x).tolist() == function(x).tolist() == [2.0, 2.0] and x.tolist() == [1.0, -2.0]
    assert captured.cache[0].break_reason == ""


def test_the_averages_of_batch_norm_are_kept():
    z, layers = tensor(4, 2), [paddle.nn.BatchNorm1D(2) for _ in range(2)]
    captured = symbolic_translate(lambda z: layers[1](z))
    for _ in range(2):
        np.testing.assert_array_equal(layers[0](z).numpy(), captured(z).numpy())
    assert captured.cache[0].break_reason == ""
    np.testing.assert_array_equal(layers[0]._mean.numpy(), layers[1]._mean.numpy())
