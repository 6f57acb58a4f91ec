"""x[...] and x[...] = values: numpy is the oracle; gradients by the same index; programs agree."""

import numpy as np
import pytest

import minipaddle as paddle

A = np.arange(120, dtype="float32").reshape(4, 5, 6) * 0.5 - 20
ROWS = np.array([True, False, True, True])

KEYS = {
    "int": 2,
    "negative": (-1, slice(1, 3)),
    "all ints": (1, 2, 3),
    "step": (slice(None), slice(None, None, 2)),
    "backwards": (slice(None, None, -1), slice(4, 1, -2)),
    "int and step": (0, slice(None, None, 2)),
    "too long": slice(1, 100),
    "empty": slice(2, 1),
    "None": None,
    "None inside": (0, None, 1),
    "dots": (..., 0, None),
    "everything": slice(None),
    "only dots": ...,
    "list": [2, 0, 2],
    "negative list": [-1, -2],
    "empty list": [],
    "list at axis 1": (slice(None), [1, 3]),
    "two lists": ([0, 3], [1, 2]),
    "lists apart": ([0, 1], slice(None), [2, 3]),
    "lists apart, broadcast": ([[0], [1]], slice(None), [2, 3]),
    "list and slice": ([0, 1, 1], slice(1, 3)),
    "list of lists": (slice(None), [[0, 1], [2, 3]]),
    "int and list": (0, [1, 2]),
    "None and list": (None, [0, 1]),
    "mask": A > 3,
    "mask of rows": ROWS,
    "mask at axis 1": (slice(None), np.array([True, False, True, False, True])),
    "mask of two axes": A[:, :, 0] > 0,
    "mask and list": (np.array([True, False, True, False]), [1, 2]),
    "array": np.array([1, 0]),
    "True": True,
    "False": False,
}


def for_numpy(key):
    """numpy takes a list of lists for a tuple, and an empty list for floats."""
    return np.array(key, "int64") if isinstance(key, list) else key


@pytest.mark.parametrize("name", KEYS)
def test_reading_is_numpys_and_its_gradient_goes_back_there(name):
    key = for_numpy(KEYS[name])
    if name == "int and list":
        expected = A[0][[1, 2]]  # numpy moves the new axis to the front; here an int is a slice
    else:
        expected = A[key]
    x = paddle.to_tensor(A, stop_gradient=False)
    found = x[KEYS[name]]
    np.testing.assert_array_equal(found.numpy(), expected)
    weights = np.arange(expected.size, dtype="float32").reshape(expected.shape)
    (found * paddle.to_tensor(weights)).sum().backward()
    grad = np.zeros_like(A)
    np.add.at(grad, key, weights)
    np.testing.assert_array_equal(x.grad.numpy(), grad)


@pytest.mark.parametrize("name", KEYS)
def test_a_program_reads_the_same(name):
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [4, 5, 6], "float32")
            out = x[KEYS[name]]
        (found,) = paddle.static.Executor().run(main, feed={"x": A}, fetch_list=[out])
        np.testing.assert_array_equal(found, A[for_numpy(KEYS[name])])
    finally:
        paddle.disable_static()


SET = {name: key for name, key in KEYS.items() if name not in ("True", "False", "list")}


@pytest.mark.parametrize("name", SET)
@pytest.mark.parametrize("what", ["number", "tensor"])
def test_writing_is_numpys(name, what):
    key, expected = for_numpy(SET[name]), A.copy()
    shape = A[0][[1, 2]].shape if name == "int and list" else A[key].shape
    value = np.arange(np.prod(shape), dtype="float32").reshape(shape) if what == "tensor" else 7.5
    expected[key] = value
    x = paddle.to_tensor(A, stop_gradient=False)
    y = x * 1.0
    given = paddle.to_tensor(value, stop_gradient=False) if what == "tensor" else value
    y[SET[name]] = given
    np.testing.assert_array_equal(y.numpy(), expected)
    assert y.inplace_version >= 1
    y.sum().backward()
    untouched = np.ones_like(A)
    untouched[key] = 0
    np.testing.assert_array_equal(x.grad.numpy(), untouched)
    if what == "tensor":
        np.testing.assert_array_equal(given.grad.numpy(), np.ones(shape))


def test_setitem_of_a_program_gives_a_new_value():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [4, 5, 6], "float32")
            y = paddle.exp(x * 0.0)
            z = paddle.static.setitem(y, (slice(1, 3), [0, 2]), 5.0)
        (found,) = paddle.static.Executor().run(main, feed={"x": A}, fetch_list=[z])
        expected = np.ones_like(A)
        expected[1:3, [0, 2]] = 5
        np.testing.assert_array_equal(found, expected)
        with pytest.raises(RuntimeError, match=r"paddle.static.setitem"):
            x[0] = 1.0
    finally:
        paddle.disable_static()


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        ((0, 0, 0, 0), IndexError),
        (np.array([True, False]), IndexError),
        ([9], IndexError),
        (1.5, ValueError),
        ("a", ValueError),
        ((..., ...), ValueError),
        (slice(0, 1, 0), ValueError),
        (slice(0, 1.5), ValueError),
        ([0.5], ValueError),
    ],
)
def test_what_is_no_index(key, error):
    with pytest.raises(error, match="expected"):
        paddle.to_tensor(A)[key]


@pytest.mark.parametrize(
    ("value", "error"), [(np.ones(5), ValueError), ([1.0], ValueError), ("a", ValueError)]
)
def test_what_can_not_be_written(value, error):
    with pytest.raises(error, match="expected"):
        paddle.to_tensor(A)[0] = value


def test_a_leaf_is_not_written_to():
    x = paddle.ones([2])
    x.stop_gradient = False
    with pytest.raises(ValueError, match="leaf"):
        x[0] = 1.0


def test_the_dtype_stays():
    x = paddle.arange(3)
    x[0] = 1.7
    assert x.tolist() == [1, 1, 2]
    flags = paddle.zeros([2], "bool")
    flags[0] = 1
    assert flags.tolist() == [True, False]


def test_a_slice_is_a_view_and_a_list_makes_a_copy():
    x = paddle.arange(6.0)
    view, copy = x[1:3], x[[1, 2]]
    view[0] = 9.0
    copy[1] = 8.0
    assert x.tolist() == [0, 9, 2, 3, 4, 5]
    assert (x.inplace_version, view.inplace_version, copy.inplace_version) == (1, 1, 1)


def test_writing_into_a_view_is_noticed_by_who_saved_the_whole():
    x = paddle.ones([3])
    x.stop_gradient = False
    y = x * 1.0
    z = y * y
    y[0:1].fill_(5.0)
    with pytest.raises(RuntimeError, match="in-place"):
        z.sum().backward()


def test_iteration():
    assert [float(item) for item in paddle.arange(3.0)] == [0, 1, 2]
    with pytest.raises(TypeError, match="0-D"):
        iter(paddle.to_tensor(1.0))


@pytest.mark.parametrize("number", [-1, 3])
def test_one_hot_refuses_classes_that_are_not_there(number):
    with pytest.raises(ValueError, match=r"one_hot: expected class numbers in \[0, 3\)"):
        paddle.nn.functional.one_hot(paddle.to_tensor([0, number]), 3)


def test_index_put_refuses_indices_that_do_not_broadcast():
    x, rows, columns = paddle.zeros([3, 4]), paddle.arange(2), paddle.arange(3)
    with pytest.raises(ValueError, match=r"index_put: expected shapes that broadcast, but got x"):
        paddle.index_put(x, (rows, columns), paddle.to_tensor(1.0))


def test_all_of_a_number_has_a_gradient():
    x = paddle.to_tensor(2.0, stop_gradient=False)
    (x[...] * 3 + x[()] * 4).backward()
    assert x.grad.item() == 7.0
