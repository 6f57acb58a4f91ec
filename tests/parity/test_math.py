"""Arithmetic, reductions and activations: gradients at corners and ties, dtypes, operators, names of
ops, errors, as in real Paddle.
"""

import pytest

from minipaddle.compare import both

GRADIENTS = """
F = paddle.nn.functional
def show(f, *values):
    xs = [paddle.to_tensor(np.array(v, 'float32'), stop_gradient=False) for v in values]
    y = f(*xs)
    grads = paddle.grad(y.sum(), xs)
    print(np.round(y.numpy(), 4).tolist(), [np.round(g.numpy(), 4).tolist() for g in grads])
"""

SNIPPETS = {
    "gradients at ties": GRADIENTS
    + """
for f in (paddle.max, paddle.amax): show(f, [1, 3, 3])
for f in (paddle.min, paddle.amin): show(lambda x: f(x, axis=1), [[1, 1, 3], [2, 0, 0]])
for f in (paddle.maximum, paddle.minimum): show(f, [1, 2, 3], [1, 3, 2])
nan = float('nan')
for f in (paddle.fmax, paddle.fmin): show(f, [1, 2, nan, 1], [1, 3, 2, nan])
show(paddle.max, [1, nan, 3]); show(paddle.maximum, [nan, 1], [1, nan])
""",
    "gradients at corners": GRADIENTS
    + """
show(paddle.abs, [-1, 0, 2]); show(lambda x: paddle.clip(x, 0., 1.), [-1, 0, .5, 1, 2])
for f in (F.relu, F.relu6, F.leaky_relu, F.elu, F.hardswish, F.hardsigmoid, F.hardtanh):
    show(f, [-4, -3, -1, 0, 1, 3, 4, 6, 7])
show(paddle.sign, [-2, 0, 2]); show(paddle.round, [.5, 1.5, 2.5, -.5]); show(paddle.floor, [.5, -.5])
""",
    "gradients at zero": GRADIENTS
    + """
for v in ([2, 0, 3], [0, 0, 3], [2, 3, 4]): show(paddle.prod, v)
show(lambda x: paddle.prod(x, axis=1), [[2, 0, 3], [1, 2, 3]])
for y in (2., 0., .5, 1.): show(lambda x: paddle.pow(x, y), [0, 1])
show(paddle.pow, [0, 2, 0, -2], [2, 0, 0, 2])
show(paddle.sqrt, [0, 1]); show(paddle.reciprocal, [0, 2]); show(paddle.rsqrt, [0, 4]); show(paddle.log, [0, 1])
show(paddle.norm, [0, 0]); show(paddle.remainder, [5, -5, 5.5], [3, 3, -2])
""",
    "floor_divide of two dtypes": """
for a, b in (('float64', 'float32'), ('float32', 'float64'), ('int64', 'int32'), ('int32', 'float32')):
    for one, other in (((), (2,)), ((2,), ()), ((), ())):
        x, y = paddle.ones(one, a), paddle.ones(other, b)
        print((x // y).dtype, (y // x).dtype, paddle.floor_divide(x, y).dtype, (x % y).dtype)
""",
    "the same, or close": """
t = paddle.to_tensor
inf, nan = float('inf'), float('nan')
x, y = t([1., inf, -inf, inf, nan, 1.]), t([inf, 1., inf, inf, nan, nan])
for kwargs in ({}, {'equal_nan': True}, {'rtol': 0.0, 'atol': 0.5}):
    for z in (x, y, x + 0.3):
        print(paddle.isclose(x, z, **kwargs), paddle.allclose(x, z, **kwargs), x.isclose(z).dtype)
print(x.equal_all(x), t([1, 2]).equal_all(t([1, 2])), paddle.equal_all(t([1, 2]), t([[1, 2]])))
print(t([1., 2.]).allclose(t([1., 2.00001]), name='close'))
for f, a, b in ((paddle.allclose, [1., 2.], [1.]), (paddle.isclose, [[1., 2.]], [1., 2.]), (paddle.equal_all, [1.], [1])):
    try: print(f(t(a), t(b)))
    except Exception as error: print(type(error).__name__)
""",
    "diagonals": GRADIENTS
    + """
t = paddle.to_tensor
for f in (paddle.diag, paddle.trace, paddle.diagonal): show(lambda x: f(x, 1), [[1, 2, 3], [4, 5, 6]])
show(lambda x: paddle.diag(x, offset=-1, padding_value=7), [1, 2]); show(paddle.kron, [[1, 2]], [[3], [4]])
x = t([[0., 1., 2.], [3., 4., 5.]]); y = paddle.diagonal(x); y.fill_(0.); print(x.numpy().tolist())
print(x.fill_diagonal_tensor(t([8., 9.])).numpy().tolist(), x.fill_diagonal_tensor_(t([8., 9.])) is x)
print(x.diag().tolist(), x.trace().item(), x.kron(x).shape, x.diagonal(axis1=1, axis2=0).tolist())
for kwargs in ({}, {'axis': 1}, {'axis': [0, -1], 'keepdim': True}):
    n = paddle.count_nonzero(t([[0., 1., 2.], [0., 0., float('nan')]]), **kwargs); print(n.tolist(), n.dtype)
""",
    "two activations": GRADIENTS
    + """
for f in (F.mish, F.thresholded_relu): show(f, [-5, -1, 0, .5, 1, 2, 21])
x = paddle.to_tensor([-3., 0.5, 30.]); print(F.hardtanh_(x) is x, x.tolist(), F.thresholded_relu_(x, 0.6, 2.).tolist())
print(paddle.nn.Mish(), paddle.nn.ThresholdedReLU(value=2.0), paddle.nn.Mish()(x).numpy().round(4).tolist())
""",
    "norms": GRADIENTS
    + """
x = [[0, -2, 2], [1, 1, -3]]
for p in (0, 1, 2, 3, float('inf'), -float('inf'), 'fro'): show(lambda x: paddle.norm(x, p=p, axis=1), x)
for p in ('fro', 1, float('inf'), -1): show(lambda x: paddle.norm(x, p=p, axis=[0, 1]) + 0., x)
show(paddle.norm, x); show(lambda x: paddle.norm(x, p=3), x); show(lambda x: paddle.norm(x, p=1, axis=[-2, -1], keepdim=True), x)
""",
    "smooth activations": GRADIENTS
    + """
v = [-30, -3, -.5, 0, .5, 3, 30]
for f in (F.gelu, lambda x: F.gelu(x, True), F.silu, F.swish, F.sigmoid, F.log_sigmoid, F.tanh, F.softplus,
          lambda x: F.softplus(x, 2., 5.), paddle.erf, F.softmax, F.log_softmax):
    show(f, v)
""",
    "reductions": """
x = paddle.to_tensor([[1.0, 2.0, 5.0], [4.0, 5.0, 7.0]])
for t in (paddle.max(x, axis=0), paddle.min(x, axis=[0, 1], keepdim=True), paddle.prod(x, axis=-1), paddle.prod(x, dtype='float64'),
          paddle.logsumexp(x), paddle.logsumexp(x, axis=[0, 1]), paddle.cumsum(x), paddle.cumsum(x, axis=0), paddle.all(x > 1, axis=1),
          paddle.any(x > 6), paddle.std(x), paddle.var(x, axis=1), paddle.std(x, axis=0, unbiased=False, keepdim=True), paddle.numel(x),
          paddle.mean(x, axis=[0, 1]), paddle.sum(x, dtype='float64'), paddle.std(paddle.to_tensor([1.0]))):
    print(t.dtype, t.shape, np.round(t.numpy(), 5).tolist())
for t in (paddle.sum(paddle.zeros([0])), paddle.mean(paddle.zeros([0])), paddle.prod(paddle.zeros([0])), paddle.logsumexp(paddle.zeros([0])),
          paddle.all(paddle.zeros([0], 'bool')), paddle.max(paddle.zeros([0, 3]), axis=1), paddle.max(paddle.to_tensor(3.0), axis=-1)):
    print(t.dtype, t.shape, t.tolist())
""",
    "dtypes": """
i, b = paddle.to_tensor([3, 1]), paddle.to_tensor([True, False])
u, s = paddle.to_tensor([1, 200], dtype='uint8'), paddle.to_tensor([1, 2], dtype='int32')
for t in (i.sum(), s.sum(), b.sum(), u.sum(), i.mean(), s.max(), s.prod(), i.cumsum(), paddle.abs(-i), paddle.square(s), paddle.exp(i),
          paddle.sqrt(s), paddle.sin(i), paddle.logsumexp(i), paddle.sign(-i), paddle.floor(i), paddle.log(i), paddle.rsqrt(i),
          paddle.clip(i, 2, 5), paddle.clip(i, 1.5, 2.5), paddle.maximum(i, i), i / i, paddle.erf(s), F.sigmoid(i), -u, u - 1, -b,
          paddle.scale(i, 2.5, 0.5), paddle.pow(i, 2.5), paddle.isnan(i), paddle.all(i), paddle.logical_and(i, i)):
    print(t.dtype, t.shape, np.round(t.numpy(), 4).tolist())
""".replace("F.sigmoid", "paddle.nn.functional.sigmoid"),
    "operators": """
i, f = paddle.to_tensor([7, -7]), paddle.to_tensor([7.0, -7.0])
two, b = paddle.to_tensor([2, 3]), paddle.to_tensor([True, False])
for t in (i // two, i % two, f // 2, f % 3, i // 2, i % 3, 7 // two, 7 % two, 7.5 // two, 7.5 % two, i // 2.5, i % 2.5, f // 0,
          2 ** two, 2.5 ** two, two ** 2, two ** 2.5, two ** two, f ** 2, 2 ** f, ~two, ~b, two & i, two | i, two ^ i, b & ~b, 3 & two,
          abs(i), abs(f), f ** paddle.to_tensor([2.0, 2.0])):
    print(t.dtype, t.tolist())
""",
    "errors": """
F, one, two = paddle.nn.functional, paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1, 2])
for f in (lambda: paddle.max(paddle.zeros([0])), lambda: paddle.max(one, axis=[0, 0]), lambda: paddle.max(one, axis=3),
          lambda: paddle.sum(one, axis=[0, -1]), lambda: paddle.cumsum(one, axis=3), lambda: paddle.logsumexp(one, axis=3),
          lambda: paddle.max(paddle.to_tensor(1.0), axis=1), lambda: F.log_softmax(one, axis=3), lambda: paddle.clip(one, 3, 2),
          lambda: paddle.dot(one, paddle.ones([3])), lambda: paddle.bmm(paddle.ones([3, 4]), paddle.ones([2, 3, 4])),
          lambda: paddle.increment(one), lambda: paddle.pow(one, 'a'), lambda: paddle.maximum(one, two), lambda: one ** two,
          lambda: paddle.logical_and(one, two), lambda: paddle.bitwise_and(two, two.astype('int32')), lambda: paddle.norm(one, p=0, axis=[0, 1]),
          lambda: paddle.einsum('ij,jk', paddle.ones([2, 3]), paddle.ones([4, 4]))):
    try:
        f(); print('no error')
    except Exception as e:
        print(type(e).__name__)
""",
    "einsum": """
a, b = np.arange(6, dtype='float32').reshape(2, 3), np.arange(12, dtype='float32').reshape(3, 4)
x, y = paddle.to_tensor(a, stop_gradient=False), paddle.to_tensor(b, stop_gradient=False)
v = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
for e, xs in (('ij,jk->ik', [x, y]), ('ij,jk', [x, y]), ('ij->ji', [x]), ('ij->j', [x]), ('ij->', [x]), ('i,j->ij', [v, v]), ('ij,j->i', [x, v]),
              ('...j,jk->...k', [x, y]), ('ij,ij->i', [x, x]), ('i,i', [v, v]), ('ii->i', [paddle.matmul(y, y, transpose_y=True)])):
    t = paddle.einsum(e, *xs)
    print(t.shape, t.tolist(), [g.tolist() for g in paddle.grad((t * t).sum(), xs)])
""",
    "ops in a program": """
F = paddle.nn.functional
paddle.enable_static()
main = paddle.static.Program()
with paddle.static.program_guard(main, paddle.static.Program()):
    x = paddle.static.data('x', [2, 3])
    for f in (lambda: paddle.clip(x, 0., 1.), lambda: paddle.cumsum(x, 0), lambda: paddle.pow(x, 2.), lambda: x ** 2, lambda: 2 ** x, lambda: 2 / x,
              lambda: x // 2, lambda: x % 2, lambda: abs(x), lambda: ~(x > 0), lambda: paddle.norm(x), lambda: paddle.norm(x, 'fro', axis=[0, 1]),
              lambda: paddle.norm(x, 1, axis=[0, 1]), lambda: paddle.std(x, axis=1), lambda: paddle.logsumexp(x, 1), lambda: paddle.prod(x),
              lambda: paddle.max(x, 1), lambda: paddle.amax(x), lambda: paddle.all(x > 0), lambda: F.softmax(x, dtype='float64'),
              lambda: F.leaky_relu(x), lambda: F.gelu(x, True), lambda: F.softplus(x), lambda: F.log_softmax(x, 0), lambda: paddle.dot(x, x)):
        f()
print([(op.name(), op.results()[0].shape, op.results()[0].dtype) for op in main.global_block().ops])
""",
    "layers": """
nn = paddle.nn
x = paddle.to_tensor([[-2.0, 0.5, 3.0]])
for layer in (nn.ReLU(), nn.ReLU6(), nn.LeakyReLU(0.1), nn.GELU(), nn.GELU(True), nn.Silu(), nn.Swish(), nn.Sigmoid(), nn.LogSigmoid(), nn.Hardsigmoid(),
              nn.Hardswish(), nn.Hardtanh(), nn.ELU(0.5), nn.Softplus(), nn.Softplus(2, 15), nn.Softmax(), nn.LogSoftmax(0), nn.Tanh(), nn.ReLU(name='r')):
    print(layer, np.round(layer(x).numpy(), 4).tolist())
""",
    "in place": """
F = paddle.nn.functional
for f in (lambda t: F.relu_(t), lambda t: t.exp_(), lambda t: t.clip_(0., 1.), lambda t: t.add_(t), lambda t: t.scale_(2.0, 1.0), lambda t: F.softmax_(t), lambda t: t.sqrt_(),
          lambda t: paddle.increment(t[0:1], 2.0)):
    x = paddle.to_tensor([1.0, 4.0]); y = f(x)
    print(np.round(y.numpy(), 4).tolist(), y is x)
x = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
y = x * 2; z = F.relu_(y); z.sum().backward(); print(x.grad.tolist(), y.tolist())
""",
}  # fmt: skip


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    found = both(SNIPPETS[name])
    assert found.same, f"\n{found!r}"
