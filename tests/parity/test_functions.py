"""Functions that people look for: values and slopes at corners and where there are none, forms in
place, dtypes, errors, and the ops that programs show, as in real Paddle.
"""

import pytest

from minipaddle.compare import both

SHOW = """
t, inf, nan = paddle.to_tensor, float('inf'), float('nan')
def plain(array):
    return (np.round(array.astype('float64'), 4) + 0.).tolist()
def show(f, *values, dtype='float64'):
    xs = [t(np.array(v, dtype), stop_gradient=False) for v in values]
    y = f(*xs)
    grads = paddle.grad(y, xs, allow_unused=True)
    print(y.dtype, plain(y.numpy()), [g if g is None else plain(g.numpy()) for g in grads], y.grad_fn.name())
def kinds(f, *calls):
    for call in calls:
        try: y = f(*call); print(y.dtype, y.shape, plain(y.numpy()), y.stop_gradient)
        except Exception as error: print(type(error).__name__)
"""

IN_PIR = """
def program(*calls, gradients=True):
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x, y = paddle.static.data('x', [2, 3]), paddle.static.data('y', [2, 3])
        x.stop_gradient = y.stop_gradient = False
        for f in calls:
            z = f(x, y)
            if gradients: paddle.static.gradients(z, [x, y])
    print(main if gradients else [(op.name(), op.results()[0].shape) for op in main.global_block().ops])
    paddle.disable_static()
"""

SNIPPETS = {
    "sines and their inverses": SHOW
    + """
v = [-inf, -3., -1., -.5, 0., .5, 1., 2., 20., inf, nan]
for name in ('asin', 'acos', 'atan', 'sinh', 'cosh', 'asinh', 'acosh', 'atanh'):
    f = getattr(paddle, name); show(f, v); print(f(t([1, 0])).dtype, plain(getattr(t([.5]), name)().numpy()))
    y = t([.5, .25]); print(getattr(y, name + '_')() is y, getattr(paddle, name + '_')(y) is y, plain(y.numpy()))
""",
    "gamma": SHOW
    + """
v = [-3., -2.5, -1., -.5, 0., .5, 1., 2., 20.]
for f in (paddle.lgamma, paddle.gammaln, paddle.digamma, *(lambda x, n=n: paddle.polygamma(x, n) for n in (0, 1, 2, 4))): show(f, v)
y = t([.5, 3.]); print(plain(y.lgamma().digamma_().numpy()), y.polygamma_(1) is y, y.polygamma_(0) is y, plain(y.gammaln_().numpy()))
kinds(paddle.polygamma, [t([1, 2]), 0], [t([1, 2]), 3], [y, -1], [y, 1.5], [y, 'a'], [y, True])
print(paddle.lgamma(t([3, 4])).dtype, paddle.digamma(t([3, 4], 'int32')).dtype)
""",
    "bessel": SHOW
    + """
for name in ('i0', 'i0e', 'i1', 'i1e'):
    show(getattr(paddle, name), [-25., -3., -.5, 0., .5, 2., 19.9]); print(getattr(t([1, 0]), name)().dtype)
y = t([.5]); print(y.i0_() is y, plain(paddle.i0_(y).numpy()))
""",
    "parts of numbers": SHOW
    + """
for f in (paddle.trunc, paddle.frac, paddle.neg): show(f, [-2.5, -1., -.5, 0., .5, 3.7])
y = t([-2.5, 1.25]); print(y.frac_() is y, y.tolist(), y.neg_().tolist(), t([-2.5]).trunc_().tolist(), paddle.frac_(t([7])).tolist())
kinds(paddle.frac, [t([1, 2])], [t([True])], [t([1], 'uint8')]); print(paddle.trunc(input=t([-1.5, 3.2])).tolist())
for eps in (None, 0., .1, .6): show(lambda x: paddle.logit(x, eps), [-1., 0., .05, .3, .5, .95, 1., 2., nan])
y = t([.25, .5]); print(y.logit_() is y, y.logit(.3).tolist(), paddle.logit(t([0, 1]), .25).tolist())
kinds(paddle.logit, [y, 'a'], [y, 1], [y, -0.1])
""",
    "two numbers": SHOW
    + """
show(paddle.hypot, [3., 5.], [[4.], [12.]]); show(paddle.ldexp, [1., 3.], [2., -1.])
show(lambda x, y: paddle.lerp(x, y, .25), [1., 2.], [[3.], [5.]]); show(paddle.lerp, [1., 2.], [3., 4.], [.5, .25])
kinds(paddle.ldexp, [t([1, 2]), t([3, -1])], [t([1.], 'float64'), t([2])], [t([1.], 'float16'), t([2])], [1., t([1.])], [t([1.]), 2])
kinds(paddle.hypot, [t([3]), t([4])], [t([3.]), t([4.], 'float64')], [t([3.]), 4.])
kinds(paddle.lerp, [t([1.]), t([2.]), 1], [t([1.]), t([2.], 'float64'), .5], [t([1.]), t([2.]), t([1])], [t([1.]), 2., .5], [t([1., 2.]), t([1.] * 3), .5])
x, y = t([3., 5.]), t([4., 12.]); print(x.hypot_(y) is x, x.tolist(), paddle.ldexp_(x, t([1, 2])) is x, x.tolist(), x.lerp_(y, .5).tolist())
x = t([1, 2]); print(x.ldexp_(t([2, -3])) is x, x.tolist(), x.dtype)
kinds(paddle.hypot_, [t([1.]), t([1., 2.])]); kinds(paddle.ldexp_, [t([1.]), t([1, 2])])
show(paddle.outer, [1., 2.], [[3., 4.], [5., 6.]])
kinds(paddle.outer, [t(2), t([3, 4])], [paddle.zeros([0]), t([1., 2.])], [t([1.]), t([1])]); print(t([1, 2]).outer(t([3])).tolist())
""",
    "dividers": SHOW
    + """
x, y = t([12, -18, 0, 0, 7]), t([18, 12, 5, 0, -21])
for f in (paddle.gcd, paddle.lcm):
    kinds(f, [x, y], [t([[12], [7]]), t([18, 14])], [t(12), t(18)], [t([4], 'int32'), t([6], 'int32')], [t([4], 'int32'), t([6])], [t([1, 2]), t([1, 2, 3])])
x = t([1., 2.])
for f in (x.add_, x.multiply_, x.lerp_):  # not even into a shape of as many numbers
    try: f(t([[1., 2.]]), *([.5] if f == x.lerp_ else [])); print(x.shape)
    except ValueError: print('refused')
for f in (paddle.gcd_, paddle.lcm_):
    z = t([12, 5]); print(f(z, t(10)) is z, z.tolist()); kinds(f, [t([12]), t([18, 3])])
x = t([12, -18, 0, 0, 7]); print(x.gcd(y).tolist(), x.lcm(y).tolist(), t([4]).gcd_(t([6])).tolist())
""",
    "no numbers": SHOW
    + """
v = [nan, inf, -inf, 1.]
show(paddle.nan_to_num, v); show(lambda x: paddle.nan_to_num(x, 1., 2., 3.), v, dtype='float32'); show(lambda x: x.nan_to_num(posinf=5), v)
y = t(v); print(y.nan_to_num_(7., neginf=-8.) is y, y.tolist()); print(t(v).nan_to_num().tolist())
""",
    "products and norms": SHOW
    + """
for dim in (None, 0, -1): show(lambda x: paddle.cumprod(x, dim), [[2., 0., 3.], [4., 5., 6.], [0., 0., 1.]])
kinds(paddle.cumprod, [t([1, 2, 3]), 0], [t([1, 2, 3], 'int32'), 0], [t([1., 2.]), 5], [t([1., 2.]), -1], [t(2.), 0], [t(2.)], [t([1.]), .5])
print(paddle.cumprod(t([1, 2, 3]), 0, dtype='float64'), t([3, 4]).cumprod(dim=0).tolist())
x = t([[1., 2.], [3., 4.]]); print(x.cumprod_(1) is x, x.tolist(), x.cumprod_() is x, x.tolist()); x = t([3, 4]); print(x.cumprod_(0, dtype='float64'))
x = [[2., 2., -2.], [3., .3, 3.]]
for p, axis, most in ((1., -1, 2.05), (2., 0, 2.05), (3, 1, 2), (2., 0, 100.), (-1., 0, 2.)):
    show(lambda x: paddle.renorm(x, p, axis, most), x)
print(plain(paddle.renorm(t(x), 0., 0, 2.).numpy()), plain(paddle.renorm(t([1., 2.]), 2., 0, 1.).numpy()))
kinds(paddle.renorm, [t(x), 2., 2, 2.], [t(x), 2., -3, 2.], [t(1.), 2., 0, 1.])
x = t(x); print(x.renorm_(1., 0, 1.5) is x, plain(x.numpy()))
""",
    "turned": """
x = paddle.to_tensor([[1, 2], [3, 4], [5, 6]]); print(x.t_() is x, x.tolist(), paddle.t_(paddle.to_tensor([1])).tolist())
x = paddle.to_tensor([[1., 2.]], stop_gradient=False); y = x * 2; z = y.t_().neg_(); z.sum().backward(); print(x.grad.tolist(), y.tolist())
try: paddle.zeros([1, 1, 1]).t_()
except ValueError as error: print(type(error).__name__)
""",
    "to": """
t = paddle.to_tensor
x, other = t([1., 2.], stop_gradient=False), t([1])
def show(*args, **kwargs):
    try:
        y = x.to(*args, **kwargs); print(y is x, y.dtype, y.place, y.stop_gradient, y.is_leaf)
    except Exception as error: print(type(error).__name__)
for args in (['float64'], ['float32'], [paddle.float32], ['cpu'], ['cpu', 'float64'], ['cpu', 'float64', True], ['float64', True], [np.dtype('int32')],
             [other], [other, True], [None], [None, 'int64'], [paddle.CPUPlace()], ['FLOAT16'], [], [1, 2, 3, 4], [3], ['nowhere'], ['int'], [float], ['cpu', 3]):
    show(*args)
show(other=other); show(device='cpu'); show(dtype='float64', non_blocking=True); show(sideways=1); show('float64', copy=True); show('cpu', copy=True)
(x.to('float64') * t([3., 4.], 'float64')).sum().backward(); print(x.grad)
paddle.enable_static()
with paddle.static.program_guard(paddle.static.Program()):
    v = paddle.static.data('v', [2]); print(v.to('cpu', 'float64').dtype)
""",
    "other names": """
t = paddle.to_tensor
x, y = t([[1., -2.], [3., 5.]], stop_gradient=False), t([[2., -2.], [0.5, 4.]])
for name in 'clamp div eq ge gt le less lt mul ne sub take_along_dim reverse swapdims'.split():
    args = {'clamp': [0., 4.], 'reverse': [0], 'swapdims': [[1, 0]], 'take_along_dim': [t([[0], [1]]), 1]}.get(name, [y])
    z = getattr(paddle, name)(x, *args); w = getattr(x, name)(*args)
    print(name, z.tolist(), w.tolist(), z.stop_gradient, z.grad_fn and z.grad_fn.name())
print(paddle.cat([x, y], axis=1).tolist(), paddle.concatenate([x, y]).shape, paddle.ger(x[0], y[0]).tolist(), x.add_n().tolist())
z = t([7., 8.])
for name, value in (('div_', 2.), ('sub_', 1.), ('mod_', 2.), ('mul_', 3.), ('floor_mod_', 2.)): print(getattr(z, name)(t([value])) is z, z.tolist())
print(z.clamp_(0.25, 0.75).tolist(), t([1., 2.]).less_(t([2., 2.])).tolist(), paddle.div_(z, t([2.])) is z)
for name in 'byte char short int long half float double bool int8 float64'.split():
    w = getattr(x, name)(); print(name, w.dtype, w is x, w.tolist())
print(x.type_as(x) is x, x.type_as(t([1])).dtype)
""",
    "ops of one number in a program": IN_PIR
    + """
program(*(lambda x, y, f=f: f(x) for f in (paddle.asin, paddle.acosh, paddle.lgamma, paddle.digamma, paddle.i0, paddle.i1e, paddle.trunc, paddle.frac,
    lambda x: paddle.logit(x, .25), lambda x: paddle.polygamma(x, 2), lambda x: paddle.renorm(x, 2., 0, 1.), lambda x: paddle.cumprod(x, 1), paddle.neg)))
""",
    "ops of two numbers in a program": IN_PIR
    + """
program(paddle.ldexp, lambda x, y: paddle.lerp(x, y, .5))
program(paddle.hypot, paddle.outer, lambda x, y: paddle.nan_to_num(x, 1.), gradients=False)
""",
}  # fmt: skip


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    found = both(SNIPPETS[name])
    assert found.same, f"\n{found!r}"
