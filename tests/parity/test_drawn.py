"""What random programs (tests/fuzz) have shown to differ, each as a snippet that prints the same on both."""

import pytest

from minipaddle.compare import both

BEGIN = """
F, t = paddle.nn.functional, paddle.to_tensor
def leaf(*v, dtype='float32'): return t(np.array(v, dtype), stop_gradient=False)
def g(x): return None if x is None else np.round(x.numpy(), 4).tolist()
def s(y): return list(y.shape), str(y.dtype), y.stop_gradient, y.is_leaf, g(y)
def kind(f):
    try: print('no error', f())
    except Exception as e: print(next(c.__name__ for c in type(e).__mro__ if c.__module__ == 'builtins'))
x, w, d = leaf(1., 2., 3.), leaf(4., 5., 6.), leaf(1., 2., 3., dtype='float64')
i, b, c = t([3, 1, 2]), t([True, True, False]), t([True, False, True])
"""
SNIPPETS = {
    "astype to the same dtype is the Tensor itself": "y = x * 1; print(y.astype(y.dtype) is y, paddle.cast(y, 'float32') is y); print(x.astype('float32').is_leaf); z = i.astype('int64'); z[0] = 7; print(g(i))",
    "in a PIR program too, in a classic one not": """
paddle.enable_static()
with paddle.static.program_guard(paddle.static.Program()):
    a = paddle.static.data('a', [2], 'float32'); print(a.astype('float32') is a, paddle.cast(a, 'float32') is a)
with paddle.pir_utils.OldIrGuard():
    p = paddle.static.Program()
    with paddle.static.program_guard(p):
        a = paddle.static.data('a', [2], 'float32'); print(a.astype('float32') is a, [o.type for o in p.global_block().ops])
""",
    "an index that takes everything is the Tensor itself": """
for f in ('y[...]', 'y[:]', 'y[()]', 'y[0:2]', 'y[:, :]', 'y[..., :]', 'y[::1]', 'y[:5]', 'y[-2:]', 'y[-9:]', 'y[None][0]', 'y[1:]'):
    y = leaf([1., 2.], [3., 4.]) * 1; z = eval(f); z.stop_gradient = True; print(f, y.stop_gradient)
    y = leaf([1., 2.], [3., 4.]); z = eval(f); print(z.is_leaf, z.grad_fn.name())
y = x * 1; z = y[:]; z.register_hook(lambda v: print('hook', g(v))); (y * w).sum().backward(); z = x[...]; kind(lambda: z.add_(w))
""",
    "add_n of unequal shapes or dtypes is refused": "for a in ([x, t([1.])], [t([[1.]]), t([1.])], [x, d], [x.reshape([3, 1]), x], [t([1., 2.]), t(np.zeros([0], 'float32'))]): kind(lambda: paddle.add_n(a))\nprint(s(paddle.add_n([x, w])))",
    "float results of integers": """
j = t([3, 1, 2], stop_gradient=False)
for f in 'erf exp sin cos tan sqrt rsqrt log log2 log10 log1p expm1 reciprocal logsumexp tanh sigmoid asin acos atan sinh cosh asinh digamma lgamma i0 abs square floor sign sum mean std var'.split():
    y = getattr(paddle, f)(j); print(f, y.dtype, y.stop_gradient, y.is_leaf)
y = paddle.tanh(j); y.stop_gradient = False; y.sum().backward(); print(g(y.grad), j.grad)
""",
    "the variance of integers": """
for v in ([1, 2, 5], [3, 1, 5], [0, 0, 7, 1]):
    for u in (True, False):
        for dtype in ('int64', 'int32'): j = t(v, dtype=dtype); print(s(paddle.var(j, unbiased=u)), s(paddle.std(j, unbiased=u)), s(j.var(0, u)))
m = t([[1, 2], [4, 8]], stop_gradient=False); print(s(m.var(1)), s(m.std(0)))
""",
    "a hook behind elu, in a second gradient": """
x = leaf(1., -2., 0., -.5)
for a in (1., .5):
    y = F.elu(x, a); y.register_hook(lambda v: print('hook', g(v)))
    gx, = paddle.grad((y * y).sum(), x, create_graph=True); print(g(gx)); gx.sum().backward(); print(g(x.grad))
""",
    "reshape to the same shape is the Tensor itself": """
for v in ("[2, 3]", "(2, 3)", "[0, 3]", "[-1, 3]", "a.shape", "[np.int64(2), 3]", "[t(2), 3]"):
    a = t(np.ones([2, 3], "float32")); y = a.reshape(eval(v)); y.stop_gradient = False; print(v, a.stop_gradient)
a = leaf(1.); print(a.reshape([]).is_leaf, x.reshape([3]).is_leaf, x.T.is_leaf, x.cpu() is x, x.unflatten(0, [3]) is x)
print(x.reshape_([3]) is x); y = x * 1; z = y.reshape([3]); z.add_(w); print(s(y)); z.register_hook(lambda v: print("hook", g(v))); (y * w).sum().backward(); print(g(x.grad))
""",
    "retain_grads before an in-place op": """
for f in (lambda y: y.scale_(7.), lambda y: y.add_(x), lambda y: y.zero_(), lambda y: F.relu_(y), lambda y: y.__setitem__(0, 7.)):
    y = x * 1; y.retain_grads(); f(y); (y * 3).sum().backward(); print(g(y.grad))
""",
    "what a hook is given, and computes": """
def h(n):
    def see(v): print(n, v.stop_gradient, v.is_leaf, (v * 2).stop_gradient, g(v)); return v * 2
    return see
x.register_hook(h('x'))
y = x * 2; y.register_hook(h('y1')); y.register_hook(h('y2')); (y * y).sum().backward(); print(x.grad.stop_gradient, g(x.grad))
y = x * 2; y.register_hook(h('y')); v, = paddle.grad((y * y).sum(), x); print(v.stop_gradient); y.backward()
""",
    "one number too few or too many": """
m = x.reshape([3, 1]) * w; e = t(1.)
for f in (lambda: paddle.meshgrid(m, m), lambda: paddle.broadcast_tensors([x, i]),
          lambda: m.__setitem__(m > 0, m), lambda: paddle.flip(e, 0), lambda: paddle.roll(e, 1, 0)):
    kind(f)
print(s(i.astype('int32').cumsum()), s(i.astype('int32').cumsum_()), s(F.kl_div(t([1.]), t([float('nan')]))))
""",
    "retain_grads where no gradient flows": "y = x * 1; y.stop_gradient = True; y.retain_grads(); (y * w).sum().backward(); print(g(y.grad), g(w.grad))",
    "dot of int32": "j = t([1, 2], dtype='int32'); print(s(paddle.dot(j, j)), s(paddle.dot(i, i)))",
    "zero_": """
y = x * 1; print(y.zero_() is y, s(y), y.grad_fn.name()); (y * w).sum().backward(); print(g(x.grad), g(w.grad)); kind(lambda: w.zero_())
y = x * 1; z = y * w; y.zero_(); kind(lambda: z.sum().backward()); print(s(i.zero_()), s(t(2.).zero_()))
""",
    "pad the last axes": """
for a in (t([1., 2.]), t([[1., 2.]]), t([[[1., 2.]]]), t([[[[1., 2.]]]]), t([[[[[1., 2.]]]]])):
    for p in ([1, 1], [1, 0, 0, 1], [1, 0, 2, 0, 0, 1]):
        if len(p) <= 2 * a.ndim: print(s(F.pad(a, p)), s(F.pad(a, p, value=2.)))
y = F.pad(x.reshape([1, 3]), [1, 2]); (y * y).sum().backward(); print(g(x.grad)); print(s(F.pad(i, [1, 1])))
""",
    "where of two dtypes": """
for a in (x, d, i):
    for n in (1, 1., True, 2.5): kind(lambda: s(paddle.where(c, a, n))); kind(lambda: s(paddle.where(c, n, a)))
for a, e in ((x, d), (d, x), (x, i), (i, i.astype('int32')), (t(1.), d), (x, t(1., dtype='float64'))): kind(lambda: s(paddle.where(c, a, e)))
paddle.where(c, x, d).sum().backward(); print(s(x.grad), s(d.grad)); kind(lambda: s(paddle.where_(c, x * 1, d))); kind(lambda: paddle.where(i, x, w))
""",
    "quotients, remainders and powers of bools": """
print(s(b / b[:1]), s(paddle.divide(b, t(True))), s((b * 1).astype('bool').divide_(b[:1])))
for f in (lambda: b // b, lambda: b % b, lambda: b ** b, lambda: b - b):
    try: print(f())
    except Exception: print('refused')
""",
    "logic of two dtypes": "for f in (paddle.logical_or, paddle.logical_and, paddle.logical_xor):\n    for a, e in ((b, i[:1][0]), (t(1.), t(1)), (i, t(True)), (x, t(1., dtype='float64'))): kind(lambda: s(f(a, e)))",
    "// of two dtypes": "for e in (t(2), t(2, dtype='int32'), t(2., dtype='float64'), t(True)):\n    for a in (i, i.astype('int32'), x, d): print(s(a // e), s(e // a), s(a % e))",
    "a gradient of integers is of their dtype": """
for f in (lambda a: a.max(), lambda a: a.min(0), lambda a: paddle.amax(a), lambda a: a / 2, lambda a: 2 / a, lambda a: paddle.maximum(a, t([2, 2, 2, 2], dtype=a.dtype)), lambda a: a / t([2, 2, 2, 2], dtype=a.dtype), lambda a: a.expand([2, 4])):
    for dtype in ('int32', 'int64'):
        for n in (1, 5):
            a = t([3, 1, 3, 2], dtype=dtype, stop_gradient=False); a.register_hook(lambda v: print('hook', s(v)))
            y = f(a); y.backward(paddle.full_like(y, n)); print(s(a.grad)); print(s(paddle.grad(f(a), a)[0]))
""",
    "an empty gradient stays": "e = leaf(); (e * 2).sum().backward(); e.clear_gradient(False); print(s(e.grad)); e.clear_gradient(); print(s(e.grad)); x.clear_gradient(False); (x * 2).sum().backward(); x.clear_gradient(False); print(x.grad)",
    "in-place functions of integers": """
for f in 'asin_ acos_ atan_ sinh_ cosh_ asinh_ acosh_ atanh_ sin_ cos_ tan_ sqrt_ rsqrt_ reciprocal_ sigmoid_ tanh_ digamma_ lgamma_ i0_ logit_'.split():
    j = t([1, 0, 1])
    try: getattr(j, f)(); print(f, 'done')
    except Exception: print(f, 'refused', s(j))
for f in ('exp_', 'log2_', 'log10_', 'log1p_', 'square_', 'abs_', 'floor_'): j = t([1, 2, 1]); print(f, s(getattr(j, f)()))
j = t([1, 2, 1]); j.divide_(t([2, 2, 2])); print(s(j)); j = t(3); print(type(j.exp_().numpy()).__name__)
""",
    "the largest beside nan": """
o = float('nan')
for v in ([1., o, 3.], [o, 1., 2.], [3., 1., o], [o, o], [1., 2., 2., o, 0.], [o, float('-inf')]):
    print([s(f(t(v))) for f in (paddle.argmax, paddle.argmin)], [s(f(t([v, v[::-1]]), axis=1, keepdim=True)) for f in (paddle.argmax, paddle.argmin)])
""",
    "the sign of 0": """
z = t([0., -0.])
for f in (lambda: -z, lambda: z * -1, lambda: 0 - z, lambda: z + 0, lambda: z.scale(-1.), lambda: paddle.neg(z), lambda: paddle.maximum(z, -z), lambda: F.elu(z), lambda: -z.sum(), lambda: z.abs()): print(g(1 / f()))
""",
    "which graph flags are taken": """
for r in (3, None, True, False, 'a', 1., 0):
    y = x * x; kind(lambda: s(paddle.grad(y, x, retain_graph=r)[0])); kind(lambda: y.backward(retain_graph=r)); kind(lambda: paddle.autograd.backward([x * x], None, r)); kind(lambda: s(paddle.grad(x * x, x, create_graph=r)[0])); kind(lambda: s(paddle.grad(x * x, x, allow_unused=r)[0]))
y = x * 2; kind(lambda: paddle.autograd.backward([y, y])); kind(lambda: paddle.autograd.backward([x, x])); kind(lambda: paddle.grad([y, y], x)); kind(lambda: paddle.grad(y, [x, x]))
""",
    "the median of nothing": """
for v in ([], [[], []]):
    for m in ('avg', 'min'):
        for k in (False, True):
            for a in (None, 0, -1):
                e = leaf(*v); y = paddle.median(e, a, k, mode=m); y = y[0] if isinstance(y, tuple) else y; y.sum().backward(); print(s(y), s(e.grad))
print([s(y) for y in paddle.median(w, 0, mode='min')])
""",
    "a number without dimensions, reshaped, is no view": """
for f in (lambda a: a.reshape([1]), lambda a: a.reshape([1, 1]), lambda a: a.flatten(), lambda a: a.unsqueeze(0), lambda a: a[None]): e = t(2.); y = f(e); e.fill_(7.); print(s(y), s(e))
e = t([2.]); y, v = e.reshape([]), e.squeeze(); e.fill_(7.); print(s(y), s(v))
""",
    "a gradient of an earlier backward stays, in place": """
for f in (lambda y: y.clip_(-1, 1), lambda y: F.relu_(y), lambda y: y.add_(w), lambda y: y.zero_(), lambda y: y.__setitem__(0, 5.), lambda y: y.reshape_([3, 1]), lambda y: y.cast_('float64'), lambda y: y.fill_(3.)):
    y = x * 1; y.retain_grads(); (y * 3).sum().backward(); f(y); print(s(y), g(y.grad))
y = t([1.]); y.add_(w[:1]); print(y.grad)
""",
    "labels without classes, axes that are not there": """
for v in ([0], [2, 0], [0, 3]): print(s(F.label_smooth(t(np.zeros(v, 'float32')))))
for f in (lambda: paddle.unstack(x, -3), lambda: paddle.unstack(x, 1), lambda: paddle.unbind(x, 2)): kind(f)
for f in (lambda: F.layer_norm(t([[1, 2]]), 2), lambda: paddle.sign(b)):
    try: print(f())
    except Exception: print('refused')
""",
    "moveaxis to where there is no axis": """
m = x.reshape([1, 3])
for a, e in ((0, 2), (-3, 0), ([0, 0], [0, 1]), ([0, 1], [0]), (0, [0, 1])):
    try: print(s(paddle.moveaxis(m, a, e)))
    except Exception: print('refused')
for a, e in ((0, 1), (-1, 0), ([0, 1], [1, 0]), ((-1,), (-2,))): print(s(paddle.moveaxis(m, a, e)))
""",
    "smooth_l1_loss of two dtypes": "for a, e in ((x, d), (d, x), (x, w), (x, i)): kind(lambda: s(F.smooth_l1_loss(a, e)))\nF.smooth_l1_loss(x, d * 2).backward(); print(s(x.grad), s(d.grad))",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    both(BEGIN + SNIPPETS[name], same=True)
