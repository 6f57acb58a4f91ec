def same(got, expected, rtol=1e-9):
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)

def numbers(array, eps=0.0):
    c = np.clip(array, eps, 1 - eps)
    return np.log(c / (1 - c))

def refuses(kind, array, **given):
    try:
        logit(paddle.to_tensor(array), **given)
    except kind:
        return
    raise AssertionError(f"logit: expected a {kind.__name__}.")

array = np.array([[0.001, 0.1, 0.3], [0.55, 0.97, 0.9999]])
with np.errstate(all="ignore"):
    edges = logit(paddle.to_tensor([0.0, 1.0])).numpy()
assert edges[0] == -np.inf and edges[1] == np.inf
for dtype, rtol in (("float64", 1e-9), ("float32", 1e-5)):
    for value in (array, array[0], array[1, 2]):
        for given in ({}, {"eps": 0.125}):
            value = np.asarray(value, dtype)
            out = logit(paddle.to_tensor(value), **given)
            assert list(out.shape) == list(value.shape)
            same(out.numpy(), numbers(value.astype("float64"), **given), rtol * 10)
            shape, name, found = in_a_program(logit, value, **given)
            assert shape == list(value.shape)
            same(found, out.numpy(), rtol * 10)
out_grad = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, 0.25]])
slope = out_grad / (array * (1 - array))
same(gradient_of(logit, array, out_grad), slope)
kept = (array > 0.125) & (array < 1 - 0.125)
same(gradient_of(logit, array, out_grad, eps=0.125), np.where(kept, slope, 0.0))
ends = np.array([0.0, 1.0, -2.0, 3.0])
same(gradient_of(logit, ends, ends + 1.0, eps=0.2), ends * 0.0)
refuses(TypeError, np.array([0, 1]))
refuses(TypeError, np.array([True]))
refuses(ValueError, array, eps=-0.1)
refuses(ValueError, array, eps=0.6)
