"""The film of a backward run: is it what the engine does?"""

from __future__ import annotations

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle import viz


def leaf(*values: float) -> paddle.Tensor:
    return paddle.to_tensor(list(values), stop_gradient=False)


def diamond() -> tuple:
    """tanh(h) + h, with h = x * w: the gradient of h comes in two parts."""
    x, w = leaf(1.0, 2.0), leaf(3.0, -4.0)
    h = x * w
    return x, w, h, (paddle.tanh(h) + h).sum()


def holders(step: viz.Step) -> dict[str, tuple]:
    """Node -> in-degree, arrived, gradient."""
    pane = step["panes"][2]
    assert pane["type"] == "table"
    return {name: tuple(rest) for name, *rest in pane["rows"]}


def test_nodes_run_when_all_their_gradients_are_there():
    x, w, h, loss = diamond()
    player = viz.backward_steps(loss, labels={"x": x, "w": w, "h": h})
    assert [step["title"] for step in player.steps] == [
        "Before: count the edges into each node",
        "Run SumGradNode",
        "Run AddGradNode",
        "Run TanhGradNode",
        "Run MultiplyGradNode of h",
        "Run GradNodeAccumulation of w",
        "Run GradNodeAccumulation of x",
        "Done",
    ]
    before, _, after_add, after_tanh, *_ = player.steps
    assert holders(before)["MultiplyGradNode of h"] == ("2", "0 of 2", "")
    assert holders(after_add)["MultiplyGradNode of h"] == ("1", "1 of 2", "")
    assert holders(after_tanh)["MultiplyGradNode of h"] == ("0", "2 of 2", "")
    assert after_tanh["panes"][1]["rows"] == [["1", "MultiplyGradNode of h"]]


def test_gradients_are_those_of_a_plain_backward():
    x, w, _, loss = diamond()
    viz.backward_steps(loss)
    plain_x, plain_w, _, plain = diamond()
    plain.backward()
    np.testing.assert_array_equal(x.grad.numpy(), plain_x.grad.numpy())
    np.testing.assert_array_equal(w.grad.numpy(), plain_w.grad.numpy())
    with pytest.raises(RuntimeError, match="freed"):
        loss.backward()


def test_the_order_is_the_engines(monkeypatch):
    """The film runs the nodes that the engine calls, in that order; the queue's head is next."""
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * w + x
    loss = (paddle.tanh(y) * y + w).sum()
    called = []

    def noted(call):
        def note(node, *args, **kwargs):
            called.append(node.name())
            return call(node, *args, **kwargs)

        return note

    nodes = [loss.grad_fn]
    for node in nodes:
        nodes += [n for n in node.next_functions if n is not None and n not in nodes]
    for kind in {type(node) for node in nodes}:
        monkeypatch.setattr(kind, "__call__", noted(kind.__call__))
    steps = viz.backward_steps(loss).steps
    runs = [step["title"] for step in steps if step["title"].startswith("Run ")]
    assert [title.split()[1] for title in runs] == called
    for step, following in zip(steps, runs, strict=False):
        assert following == f"Run {step['panes'][1]['rows'][0][1]}"


def test_hooks_of_the_user_are_called_and_stay():
    x, _, h, loss = diamond()
    seen = []
    h.register_hook(lambda grad: seen.append(grad.numpy()) or grad * 10)
    shown = viz.backward_steps(loss, labels={"h": h}, retain_graph=True)
    assert len(seen) == 1
    first = np.array(x.grad.numpy())
    gradient = next(s for s in shown.steps if s["title"] == "Run MultiplyGradNode of h")
    assert holders(gradient)["MultiplyGradNode of h"][2] == "[10.099 10. ]"
    x.clear_grad()
    loss.backward()
    assert len(seen) == 2
    np.testing.assert_array_equal(x.grad.numpy(), first)


def test_several_roots():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    steps = viz.backward_steps([y.sum(), (y * y).sum()]).steps
    assert [row[1] for row in steps[0]["panes"][1]["rows"]] == ["SumGradNode 1", "SumGradNode 2"]
    assert holders(steps[-1])["GradNodeAccumulation"][2] == "[10. 18.]"
    np.testing.assert_array_equal(x.grad.numpy(), [10.0, 18.0])


def test_gradients_that_are_given():
    x = leaf(1.0, 2.0)
    steps = viz.backward_steps(x * 3.0, [paddle.to_tensor([1.0, 10.0])]).steps
    assert holders(steps[-1])["GradNodeAccumulation"][2] == "[ 3. 30.]"


def test_nothing_to_run():
    with pytest.raises(ValueError, match="all stop gradients. Set stop_gradient=False"):
        viz.backward_steps(paddle.ones([2]))
