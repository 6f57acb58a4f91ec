"""Who shares memory with whom: gradients that are handed to the user are the user's own, and a
result shares memory with an input only where the op is a view.
"""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both
from minipaddle.phi.core.op import OPS
from tests.phi.table import each, flat, parameters

SNIPPETS = {
    "the gradients that grad returns": """
        x, y = (paddle.to_tensor([1., 2.], stop_gradient=False) for _ in range(2))
        start = paddle.ones([2])
        a, b = paddle.grad(x + y, [x, y], start)
        a.stop_gradient = True
        a.fill_(5.)
        print(a.tolist(), b.tolist(), start.tolist())
    """,
    "a gradient that a hook keeps": """
        x, y = (paddle.to_tensor([1., 2.], stop_gradient=False) for _ in range(2))
        start, kept = paddle.ones([2]), []
        z = x + y
        z.register_hook(lambda g: kept.append(g))
        z.backward(start)
        kept[0].stop_gradient = True
        kept[0].fill_(5.)
        print(x.grad.tolist(), y.grad.tolist(), start.tolist())
    """,
    "what expand_as returns": """
        x = paddle.to_tensor([1., 2.])
        results = [x.expand_as(paddle.ones([2, 2])), x.expand_as(x), x.expand([2])]
        x.fill_(7.)
        print([r.tolist() for r in results])
    """,
    "one element of several": """
        x = paddle.to_tensor([[1., 2.], [3., 4.]])
        print(x.item(2), x.item(1, 0), x[0, 0].item())
        for index in ((4,), (2, 0)):
            try:
                x.item(*index)
            except ValueError as e:
                print("ValueError")
    """,
    "set_grad_enabled as a statement": """
        x = paddle.to_tensor(1., stop_gradient=False)
        paddle.set_grad_enabled(False)
        print((x * 2).stop_gradient, paddle.is_grad_enabled())
        paddle.set_grad_enabled(True)
        print((x * 2).stop_gradient)
        with paddle.set_grad_enabled(False):
            with paddle.enable_grad():
                print((x * 2).stop_gradient)
            print((x * 2).stop_gradient)
        print((x * 2).stop_gradient)
    """,
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_as_in_real_paddle(name):
    both(SNIPPETS[name], same=True)


def test_a_hook_that_writes_into_its_gradient_changes_only_that_one():
    x, y = (paddle.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
    x.register_hook(paddle.no_grad()(lambda grad: grad.scale_(3.0)))
    (x + y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3.0, 3.0], [1.0, 1.0])


# not those that write into their inputs: that is what they are for
@pytest.mark.parametrize(
    ("name", "inputs", "attrs"), parameters(lambda name, inputs: not OPS[name].inplace)
)
def test_a_result_that_shares_memory_counts_changes_together(name, inputs, attrs):
    op = OPS[name]
    given = [each(paddle.to_tensor, [value])[0] for value in inputs]
    for result in flat([op(*given, **attrs)]):
        for tensor in flat(given):
            if np.shares_memory(result._data, tensor._data):
                assert result._version is tensor._version, "copy it, or give the op the trait View"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.backward(1), "backward: expected grad_tensor to be a Tensor or None, but got"),
        (lambda x: paddle.grad(x, 1), "grad: expected inputs to be a Tensor or a list of Tensors"),
        (lambda x: paddle.grad(1, x), "grad: expected outputs to be a Tensor or a list of Tensors"),
        (lambda x: paddle.grad([x], []), r"but got \[\]. Name at least one"),
        (lambda x: paddle.autograd.backward([x, 3]), "backward: expected tensors .* but got int"),
        (lambda x: paddle.grad(x, x, create_graph=1), "create_graph to be True or False"),
    ],
)
def test_what_is_no_tensor_is_named(call, message):
    with pytest.raises(AssertionError, match=message):
        call(paddle.to_tensor([1.0], stop_gradient=False))


def test_a_hook_that_can_not_be_called():
    with pytest.raises(TypeError, match="register_hook: expected a function"):
        paddle.to_tensor([1.0], stop_gradient=False).register_hook(3)
    with pytest.raises(TypeError, match="_add_backward_final_hook: expected a function"):
        paddle.base.core.eager._add_backward_final_hook(3)
