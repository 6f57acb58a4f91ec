"""The eager engine: order, accumulation, what is freed, what is refused."""

import copy
import gc
import inspect
import threading
import traceback
import weakref

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.eager.backward import get_in_degree_map
from minipaddle.eager.dygraph_function import ad_func, source_of
from minipaddle.phi.core.op import OPS, op


def leaf(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def test_in_degree_counts_edges_not_nodes():
    x = leaf(1.0)
    y = x + x
    degrees = get_in_degree_map([y.grad_fn])
    assert degrees == {y.grad_fn: 0, x.grad_fn: 2}


def test_a_root_below_another_root_has_its_edges_counted():
    x = leaf(1.0)
    c = x * 2.0
    b = c * 3.0
    assert get_in_degree_map([b.grad_fn, c.grad_fn])[c.grad_fn] == 1
    paddle.autograd.backward([b, c])
    assert x.grad.tolist() == [8.0]  # 6 through b, 2 from c itself


def test_each_node_runs_once_in_a_ladder():
    """Depth-first would need 2^40 visits."""
    x = leaf(1.0)
    y = x
    for _ in range(40):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**40


def test_an_output_that_nobody_used_counts_as_zero():
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    softmax, loss = paddle.phi.OPS["cross_entropy_with_softmax"](x, paddle.to_tensor([[0]]))
    loss.backward()
    assert x.grad is not None


def test_branches_without_gradient_do_not_block_others():
    """The one-hot branch gives no gradient; the nodes behind it still get theirs from elsewhere."""
    x = leaf(1.0, 2.0)
    y = x * 2.0
    (y * y.detach() + y).sum().backward()
    assert x.grad.tolist() == [2 * 2 + 2, 2 * 4 + 2]


def test_backward_twice_is_refused_and_says_what_to_do():
    y = (leaf(1.0) * leaf(2.0)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"SumGradNode .* retain_graph=True"):
        y.backward()


def test_a_saved_tensor_that_was_changed_is_refused():
    x = leaf(1.0, 2.0)
    y = x * x
    z = y * y
    y.set_value([5.0, 5.0])
    with pytest.raises(RuntimeError, match=r"at version 0, but got version 1"):
        z.sum().backward()


def test_a_change_of_what_was_not_saved_does_not_matter():
    """add keeps shapes only, so its inputs may change."""
    x = leaf(1.0, 2.0)
    y = x * 1.0
    z = y + y
    y.set_value([5.0, 5.0])
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_backward_lets_go_of_what_the_nodes_kept():
    x = leaf(1.0, 2.0)
    y = x * x
    z = (y * y).sum()
    kept = weakref.ref(y.grad_fn)
    z.backward()
    del y, z
    gc.collect()
    assert kept() is None


def test_a_graph_goes_without_the_garbage_collector():
    """Outputs that a node keeps must not keep the node alive: tanh saves its own output."""
    gc.disable()
    try:
        y = leaf(1.0).tanh()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_grad_touches_only_what_leads_to_the_inputs():
    x, w = leaf(2.0), leaf(3.0)
    y = x * x
    (grad,) = paddle.grad(y * w, y)
    assert grad.tolist() == [3.0] and x.grad is None and w.grad is None


def test_a_leaf_that_has_all_its_gradients_runs_before_the_nodes_that_wait():
    """Measured on Paddle 3.3.1: hooks of the same graph are called in this order there."""
    x, w1, w2, w3 = (leaf(number) for number in (1.0, 2.0, 3.0, 4.0))
    a = x * w1
    b, c = a * w2, paddle.exp(a)
    d = b + c
    e = d * w3
    seen = []
    names = {"x": x, "w1": w1, "w2": w2, "w3": w3, "a": a, "b": b, "c": c, "d": d, "e": e}
    for name, tensor in names.items():
        tensor.register_hook(lambda grad, name=name: seen.append(name))
    e.backward()
    assert seen == ["e", "w3", "d", "b", "w2", "c", "a", "w1", "x"]


def test_grad_runs_only_the_nodes_between_the_outputs_and_the_inputs():
    x, w, v = leaf(1.0), leaf(2.0), leaf(3.0)
    p, q = x * w, paddle.exp(v)
    seen = []
    p.register_hook(lambda grad: seen.append("p"))
    q.register_hook(lambda grad: seen.append("q"))
    loss = p + q
    for tensor, name in ((loss, "loss"), (p, "p"), (q, "q")):
        tensor.grad_fn.register_hook(lambda results, grads, name=name: seen.append(f"{name} ran"))
    [grad] = paddle.grad(loss, [p])
    assert grad.item() == 1.0
    assert seen == ["loss ran", "p"]


def test_grad_of_an_unused_input():
    with pytest.raises(ValueError, match=r"grad: .* input 0.* allow_unused=True"):
        paddle.grad(leaf(1.0) * 1.0, leaf(1.0))


def test_a_gradient_has_its_tensors_shape():
    with pytest.raises(AssertionError, match=r"backward: expected grad_tensor of shape \[1\]"):
        (leaf(1.0) * 2.0).backward(paddle.ones([3]))
    with pytest.raises(ValueError, match=r"Tensor.grad: expected"):
        leaf(1.0).grad = paddle.ones([3])


def test_a_hook_on_a_tensor_without_gradient():
    with pytest.raises(RuntimeError, match="register_hook: .* stop_gradient"):
        paddle.ones([2]).register_hook(print)


def test_a_removed_hook_is_not_called():
    x, seen = leaf(1.0), []
    handle = x.register_hook(lambda grad: seen.append(grad.tolist()))
    (x * 2.0).backward()
    assert handle.remove() and not handle.remove()
    (x * 2.0).backward()
    assert seen == [[2.0]]


def test_threads_train_apart():
    """Two threads get the same numbers as alone; no_grad in one is not seen by the other."""

    def train(results, key):
        w = paddle.to_tensor(np.full([4], 0.5, "float32"), stop_gradient=False)
        for _ in range(50):
            with paddle.no_grad():
                w * 2.0
            (w * w * (key + 1.0)).sum().backward()
            w = paddle.to_tensor(w.numpy() - 0.01 * w.grad.numpy(), stop_gradient=False)
        results[key] = w.numpy()

    alone, together = {}, {}
    for key in (0, 1):
        train(alone, key)
    threads = [threading.Thread(target=train, args=(together, key)) for key in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key in (0, 1):
        np.testing.assert_array_equal(alone[key], together[key])


def test_the_generated_function_can_be_read():
    text = source_of("tanh")
    assert "class TanhGradNode(GradNodeBase):" in text and "def tanh_ad_func(x, name=None):" in text


def test_the_text_that_is_shown_is_the_code_that_runs():
    """A traceback through a generated function quotes a line of `source_of`."""
    assert (inspect.getdoc(ad_func(OPS["conv2d"])) or "").endswith("of input and result come last.")
    text = source_of("matmul").splitlines()
    assert inspect.getsource(ad_func(OPS["matmul"])) in source_of("matmul")
    try:
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
    (frame,) = [frame for frame in frames if frame.name == "matmul_ad_func"]
    assert frame.line and frame.line == text[frame.lineno - 1].strip()


def test_an_unexpected_argument_is_named():
    with pytest.raises(TypeError, match=r"matmul: expected the attributes .* got \['foo'\]"):
        paddle.matmul(paddle.ones([1, 1]), paddle.ones([1, 1]), foo=1)
    with pytest.raises(TypeError, match=r"matmul: expected the input 'y'"):
        paddle.matmul(paddle.ones([1, 1]))


def test_an_op_without_gradient_rule_stops_the_gradient():
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    assert x.argmax(axis=1).stop_gradient


def test_a_gpu_that_is_not_there_is_a_clear_error():
    try:
        paddle.set_device("gpu")
    except RuntimeError as error:
        assert "set_device('gpu'): expected" in str(error) and "'.[gpu]'" in str(error)
    else:
        paddle.set_device("cpu")
        pytest.skip("this machine has a GPU")
    with pytest.raises(ValueError, match="set_device: expected 'cpu', 'gpu'"):
        paddle.set_device("tpu")
    assert paddle.get_device() == "cpu"


def test_a_gradient_has_memory_of_its_own():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).backward()
    x.grad.set_value(np.zeros(2, "float32"))
    assert y.grad.tolist() == [1.0, 1.0]
    z = leaf(1.0, 2.0)
    z.sum().backward()  # shows one number everywhere
    z.grad.set_value(np.array([5.0, 6.0], "float32"))
    assert z.grad.tolist() == [5.0, 6.0]


def test_a_cleared_gradient_is_zero_whatever_it_was():
    x = leaf(0.0, 2.0)
    (1.0 / x).sum().backward()
    x.clear_grad()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_deep_copy_has_gradients_of_its_own():
    layer = paddle.nn.Linear(2, 1)
    layer(paddle.ones([1, 2])).backward()
    twin = copy.deepcopy(layer)
    assert twin.weight.grad.tolist() == layer.weight.grad.tolist()
    assert twin.weight.trainable and type(twin.weight) is type(layer.weight)
    layer.clear_gradients()
    twin.clear_gradients()
    twin(paddle.ones([1, 2])).backward()
    assert layer.weight.grad.tolist() == [[0.0], [0.0]] != twin.weight.grad.tolist()
    assert twin.parameters()[0] is twin.weight


def test_set_value_wants_the_dtype():
    x = leaf(1.0, 2.0)
    with pytest.raises(ValueError, match="set_value: expected dtype float32, but got int64"):
        x.set_value(np.array([1, 2]))
    x.set_value([3, 4])
    assert x.tolist() == [3.0, 4.0]


def test_wrong_ways_to_start_a_backward():
    x = leaf(1.0)
    with pytest.raises(AssertionError, match="expected one gradient for each of the 1 Tensors"):
        paddle.autograd.backward([x * 2.0], [None, None])
    with pytest.raises(RuntimeError, match="expected each input once, but got input 0 again"):
        paddle.grad(x * 2.0, [x, x])
    for tensor in (x, x * 2.0):
        tensor.register_hook(lambda grad: 3.0)
        with pytest.raises(TypeError, match="expected the hook to return a Tensor or None"):
            (tensor * 2.0).backward()


def test_a_rule_that_comes_after_the_first_call_counts():
    @op()
    def late_square(xp, x):
        return x * x

    try:
        x = leaf(3.0)
        assert late_square(x).stop_gradient
        late_square.vjp(lambda x, out_grad: (out_grad * x * 2.0,))
        late_square(x).backward()
        assert x.grad.item() == 6.0
        late_square.vjp(lambda x, out_grad: (out_grad * x * 0.0,))
        late_square(x).backward()
        assert x.grad.item() == 6.0
        late_square.kernel(dtype="float32")(lambda xp, x: x * 0)
        assert late_square(x).item() == 0.0
    finally:
        del OPS["late_square"]


def test_an_exponent_has_a_gradient_too():
    x, y = leaf(2.0), leaf(3.0)
    (x**y).backward()
    assert float(x.grad) == 12.0
    assert float(y.grad) == pytest.approx(8.0 * np.log(2.0))


def test_auto_cast_and_what_is_no_tensor():
    with (
        paddle.amp.auto_cast(),
        pytest.raises(ValueError, match="expected x to be a Tensor, but got list"),
    ):
        paddle.matmul([1.0], paddle.ones([1]))
