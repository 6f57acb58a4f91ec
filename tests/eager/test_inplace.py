"""In-place forms, views and versions: what backward may still trust."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.eager import source_of


def leaf(*values):
    return paddle.to_tensor(values, stop_gradient=False)


def test_the_result_is_the_tensor_itself():
    x = paddle.to_tensor([-1.0, 2.0])
    memory = x._data
    y = x.relu_()
    assert y is x
    assert x._data is memory
    assert x.tolist() == [0.0, 2.0]
    assert x.inplace_version == 1


def test_gradients_go_through_an_in_place_op():
    x = leaf(1.0, -2.0)
    y = x * 3.0
    z = y.relu_()
    assert z is y
    assert z.grad_fn.name() == "ReluGradNode"
    assert z.grad_fn.next_functions[0].name() == "ScaleGradNode"
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 0.0]


def test_an_input_that_the_gradient_needs_is_copied_first():
    """The gradient of x * y reads x as it was."""
    x, w = leaf(1.0, -2.0), leaf(5.0, 7.0)
    y = x * 3.0
    y.multiply_(w)
    y.sum().backward()
    assert x.grad.tolist() == [15.0, 21.0]
    assert w.grad.tolist() == [3.0, -6.0]


def test_a_tensor_without_gradient_gets_one():
    x, total = leaf(1.0, 2.0), paddle.zeros([2])
    total.add_(x)
    assert not total.stop_gradient
    total.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_leaf_that_wants_a_gradient_is_not_overwritten():
    x = leaf(1.0, 2.0)
    with pytest.raises(ValueError, match="leaf that wants a gradient"):
        x.scale_(2.0)
    assert x.tolist() == [1.0, 2.0]
    with paddle.no_grad():
        x.scale_(2.0)
    assert x.tolist() == [2.0, 4.0]


def test_a_result_of_another_size_is_refused():
    x = paddle.ones([3])
    with pytest.raises(ValueError, match=r"add_: expected a result of the input's shape \[3\]"):
        x.add_(paddle.ones([2, 3]))
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert x.inplace_version == 0


def test_what_was_saved_is_not_used_after_a_change():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    z = y * y
    y.scale_(3.0)
    with pytest.raises(RuntimeError, match="at version 0, but got version 1"):
        z.sum().backward()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.reshape([4]),
        lambda x: x.transpose([1, 0]),
        lambda x: x[0],
        lambda x: x[:, 1:],
        lambda x: x.reshape([4]).reshape([2, 2])[1],
        lambda x: x.unsqueeze(0),
        lambda x: paddle.unbind(x)[1],
        lambda x: x.detach(),
    ],
)
def test_a_view_shares_memory_and_version(view):
    x = paddle.ones([2, 2])
    seen = view(x)
    seen.scale_(5.0)
    assert x.inplace_version == seen.inplace_version == 1
    assert x.numpy().max() == 5.0


def test_a_change_through_a_view_is_noticed():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1.0
    z = y * y
    y.detach().reshape([2, 2])[0].scale_(10.0)
    with pytest.raises(RuntimeError, match="in-place op"):
        z.sum().backward()


def test_a_copy_shares_nothing():
    x = paddle.ones([2, 2])
    for copied in (x.clone(), x + 0.0, paddle.concat([x, x]), *paddle.split(x, 2)):
        copied.scale_(5.0)
    assert x.inplace_version == 0
    assert x.numpy().max() == 1.0


def test_another_shape_in_place():
    x = paddle.arange(6)
    x.reshape_([2, 3])
    assert x.shape == [2, 3]
    assert x.inplace_version == 1


def test_in_place_programs():
    """In a PIR program a new value; in a classic Program the same name."""
    feed = {"x": np.array([-1.0, 2.0], "float32")}
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [2])
            y = paddle.nn.functional.relu_(x * 1.0)
        assert "pd_op.relu_" in str(main)
        (got,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[y])
        assert got.tolist() == [0.0, 2.0]
        with paddle.pir_utils.OldIrGuard():
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                x = paddle.static.data("x", [2]) * 1.0
                y = paddle.nn.functional.relu_(x)
            assert y.name == x.name
            (got,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[y])
        assert got.tolist() == [0.0, 2.0]
    finally:
        paddle.disable_static()
    assert feed["x"].tolist() == [-1.0, 2.0]


def test_what_is_fed_stays_as_it_is():
    feed = {"x": np.array([-1.0, 2.0], "float32")}
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            y = paddle.nn.functional.relu_(paddle.static.data("x", [2]))
        (got,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[y])
    finally:
        paddle.disable_static()
    assert got.tolist() == [0.0, 2.0]
    assert feed["x"].tolist() == [-1.0, 2.0]


def test_the_text_says_what_is_copied():
    assert "x_before = Tensor(x_data.copy())" in source_of("multiply_")
    assert "before" not in source_of("relu_")
