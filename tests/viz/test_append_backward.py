"""append_backward's film: which forward op got which ops, pieces and their sums."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minipaddle as paddle
import minipaddle.nn.functional as F
from minipaddle import viz
from minipaddle.common import unique_name


@pytest.fixture(autouse=True)
def static() -> Iterator[None]:
    paddle.enable_static()
    with paddle.pir_utils.OldIrGuard(), unique_name.guard():
        yield
    paddle.disable_static()


def diamond():
    """loss = mean(a * b + b * 3), b = relu(x @ w); a softmax that the loss does not need."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2, 2], "float32")
        w = paddle.static.create_parameter([2, 2], "float32", name="w")
        F.softmax(x)
        b = F.relu(x @ w)
        loss = paddle.mean(x * b + b * 3.0)
    return main, loss


def rows(step: viz.Step) -> dict[str, tuple[str, str]]:
    pane = step["panes"][1]
    assert pane["type"] == "table"
    return {name: (pieces, whole) for name, pieces, whole in pane["rows"]}


def test_the_walk_goes_up_and_the_program_grows_down():
    main, loss = diamond()
    with paddle.static.program_guard(main):
        paddle.static.append_backward(loss)
    steps = viz.append_backward_steps(main).steps
    assert [step["title"] for step in steps] == [
        "Before the walk: the forward ops",
        "Start: the gradient of mean_0.tmp_0 is given",
        "Line 7, reduce_mean: append reduce_mean_grad",
        "Line 6, elementwise_add: append elementwise_add_grad",
        "Line 5, scale: append scale",
        "Line 4, elementwise_mul: append elementwise_mul_grad",
        "sum: relu_0.tmp_0 has all its 2 pieces",
        "Line 3, relu: append relu_grad",
        "Line 2, matmul_v2: append matmul_v2_grad",
        "The walk has reached the first op",
    ]
    panes = [step["panes"][0] for step in steps]
    assert [pane["type"] == "text" and pane["highlight"] for pane in panes] == [
        *([], [], [7], [6], [5], [4], [], [3], [2], [])
    ]
    assert [pane["type"] == "text" and len(pane["lines"]) for pane in panes] == [
        *(7, 8, 9, 10, 11, 12, 13, 14, 15, 15)
    ]
    assert "6 of 7 ops get gradient ops. Line 1 gets none" in steps[0]["note"]
    assert steps[-1]["note"] == "What no op wrote has a gradient now, too: w."


def test_pieces_are_counted_until_their_sum():
    main, loss = diamond()
    with paddle.static.program_guard(main):
        paddle.static.append_backward(loss)
    steps = viz.append_backward_steps(main).steps
    assert rows(steps[4])["relu_0.tmp_0"] == ("1 of 2", "")
    assert "Of relu_0.tmp_0 more pieces will come." in steps[4]["note"]
    assert rows(steps[5])["relu_0.tmp_0"] == ("2 of 2", "")
    assert rows(steps[6])["relu_0.tmp_0"] == ("2 of 2", "relu_0.tmp_0@GRAD")
    assert "x stops gradients: none for it." in steps[8]["note"]
    assert rows(steps[8])["w"] == ("1 of 1", "w@GRAD")


def test_an_op_that_reads_a_variable_twice_gives_two_pieces():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2], "float32")
        x.stop_gradient = False
        paddle.static.append_backward(paddle.mean(x @ x))
    assert rows(viz.append_backward_steps(main).steps[3])["x"] == ("2 of 2", "")


def test_the_optimizers_ops_are_not_part_of_the_walk():
    main, loss = diamond()
    with paddle.static.program_guard(main):
        paddle.optimizer.SGD(0.1).minimize(loss)
    last = viz.append_backward_steps(main).steps[-1]
    assert last["note"].endswith("1 more op follows: the optimizer's.")
    pane = last["panes"][0]
    assert pane["type"] == "text" and "sgd" not in pane["lines"][-1]


def test_an_output_that_nobody_read_gets_zeros():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2], "float32")
        x.stop_gradient = False
        first, _ = paddle.split(x, 2)
        paddle.static.append_backward(paddle.mean(first))
    titles = [step["title"] for step in viz.append_backward_steps(main).steps]
    assert "Nobody read split_0.tmp_1: zeros" in titles
    assert titles[-2].startswith("Line 1, split: append")


def test_a_program_without_gradients_is_refused():
    main, _ = diamond()
    with pytest.raises(ValueError, match="with gradient ops, but got one without"):
        viz.append_backward_steps(main)
    with pytest.raises(TypeError, match="expected a classic Program, but got list"):
        viz.append_backward_steps([])


def test_gradients_of_gradients_are_refused():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        (slope,) = paddle.static.gradients(paddle.mean(x * x), [x])
        paddle.static.gradients(paddle.mean(slope * slope), [x])
    with pytest.raises(ValueError, match="Show the program before its second backward"):
        viz.append_backward_steps(main)


def test_two_losses_one_after_the_other():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        x.stop_gradient = False
        paddle.static.gradients(paddle.mean(x * 2.0), [x])
        paddle.static.gradients(paddle.mean(F.relu(x)), [x])
    titles = [step["title"] for step in viz.append_backward_steps(main).steps]
    assert [title for title in titles if title.startswith("Line")] == [
        "Line 2, reduce_mean: append reduce_mean_grad",
        "Line 1, scale: append scale",
        "Line 7, reduce_mean: append reduce_mean_grad",
        "Line 6, relu: append relu_grad",
    ]


def test_what_a_checkpoint_saves_is_computed_again():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2, 2], "float32")
        w = paddle.static.create_parameter([2, 2], "float32", name="w")
        hidden = F.relu(paddle.tanh(x @ w))
        loss = paddle.mean(F.relu(hidden @ w))
        paddle.static.append_backward(loss, checkpoints=[hidden])
    titles = [step["title"] for step in viz.append_backward_steps(main).steps]
    again = titles.index("Compute tmp_0 again")
    assert titles[again + 1] == "Compute tanh_0.tmp_0 again"
    assert titles[again + 2] == "Line 3, relu: append relu_grad"
    assert "Compute tmp_1 again" not in titles  # after the last checkpoint all is kept
