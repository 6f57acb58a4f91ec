"""The same cell runs on both: each snippet prints the same on minipaddle and on real Paddle."""

import pytest

from minipaddle.compare import both, real_paddle

SNIPPETS = {
    "tensor text": """
        print(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False))
        print(paddle.to_tensor([0.1, 1000.5, 1e-8]), paddle.to_tensor([1, -2]), paddle.to_tensor(1.5))
        print(paddle.to_tensor([True, False]), paddle.to_tensor([-1.5, 2.0]))
        print(paddle.zeros([2, 0]).shape, repr(paddle.float32), str(paddle.int64), paddle.CPUPlace())
    """,
    "long tensor text": """
        print(paddle.to_tensor(np.arange(2000)))
        print(paddle.to_tensor(np.arange(24, dtype='float32').reshape(2, 3, 4)))
    """,
    "dtypes of new tensors": """
        for v in (1, 1.5, True, [1, 2], [1.5], np.ones(2), np.float32(1)):
            t = paddle.to_tensor(v)
            print(t.dtype, t.shape, t.stop_gradient, t.place)
        print(paddle.to_tensor([1, 2], dtype='float64').dtype, paddle.full([2], 3).dtype)
    """,
    "operators": """
        x, y = paddle.to_tensor([1.0, -2.0]), paddle.to_tensor([3.0, 0.5])
        for t in (x + y, x - y, x * y, x / y, x + 1, 2 - x, x / 2, 2 / x, -x, x ** 2, x > 0, x == y):
            print(t.dtype, t.tolist())
        i = paddle.to_tensor([1, 2])
        print((i + 1.5).dtype, (i / 2).dtype, (i * 2).dtype, (i + i).tolist())
    """,
    "comparisons": """
        x, y = paddle.to_tensor([1.0, 2.0, float('nan')]), paddle.to_tensor([2.0, 2.0, 2.0])
        for t in (x < y, x <= y, x > y, x >= y, x == y, x != y, x != 2, 2 >= x, 2.0 < x):
            print(t.dtype, t.tolist(), t.stop_gradient)
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            a, b = paddle.static.data('a', [2]), paddle.static.data('b', [2])
            results = (a < b, a <= b, a >= b, a != b)
        print(main)
    """,
    "integers and bools": """
        i, b = paddle.to_tensor([-7, 7]), paddle.to_tensor([True, False])
        two = paddle.to_tensor([2, 2])
        for t in (i / two, paddle.divide(i, two), 1 / i, i / 0, b + 1, b * 2, b - 1, b * 2.5, i.astype('float32') / 0):
            print(t.dtype, t.tolist())
        print(paddle.exp(i).dtype, paddle.tanh(i).dtype)
        print(type(np.ones(2, 'float32') * paddle.ones([2])).__name__)
        paddle.enable_static()
        x = paddle.static.data('x', [2], 'int64')
        print((x / x).dtype, (2 / x).dtype, (x / 2).dtype)
    """,
    "nothing in it, or one": """
        x, y = paddle.zeros([0, 3]), paddle.ones([2])
        print(paddle.reshape(x, [-1]).shape, paddle.nn.functional.softmax(paddle.zeros([3, 0])).shape)
        copied = paddle.add_n([y])
        copied.set_value(np.zeros(2, 'float32'))
        print(y.tolist(), paddle.add_n(y).tolist())
        print(paddle.add_n([]))
    """,
    "type promotion": """
        for a, b in (('float32', 'float64'), ('float32', 'int64'), ('int32', 'int64')):
            try:
                print(a, b, (paddle.ones([2], a) + paddle.ones([2], b)).dtype)
            except Exception as e:
                print(a, b, type(e).__name__)
    """,
    "reductions": """
        x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
        for t in (x.sum(), x.mean(), x.sum(axis=0), x.mean(axis=1, keepdim=True), x.argmax(axis=1)):
            print(t.shape, t.dtype, t.tolist())
        print(paddle.ones([2], 'int32').sum().dtype)
    """,
    "shapes": """
        x = paddle.to_tensor(np.arange(6, dtype='float32'))
        print(x.reshape([2, 3]).shape, x.reshape([3, -1]).T.shape, paddle.unsqueeze(x, [0, 2]).shape)
        print(paddle.squeeze(paddle.ones([1, 3, 1]), axis=0).shape, paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape)
    """,
    "matmul": """
        a, b = np.arange(6, dtype='float32').reshape(2, 3), np.arange(12, dtype='float32').reshape(3, 4)
        for x, y, kw in ((a, b, {}), (a.T, b, {'transpose_x': True}), (a, b.T, {'transpose_y': True}), (a, b[:, 0], {}), (a[0], b, {}), (a[0], a[0], {})):
            t = paddle.matmul(paddle.to_tensor(x), paddle.to_tensor(y), **kw)
            print(t.shape, t.tolist())
    """,
    "names of grad nodes": """
        x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
        F = paddle.nn.functional
        for y in (x * 3.0, x + 1, 2 - x, 2 / x, -x, x ** 2, x * paddle.ones([2, 2]), x.mean(), x.reshape([4]), x.T,
                  x - x, x / x, F.softmax(x), F.relu(x), x.tanh(), x.astype('float64'), x.sum(axis=1), x @ x,
                  F.cross_entropy(x, paddle.to_tensor([0, 1])), F.linear(x, x, x.sum(axis=0))):
            node = y.grad_fn
            print(node.name(), [n.name() if n else None for n in node.next_functions])
    """,
    "leaf, stop_gradient, grad": """
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        w = paddle.to_tensor([3.0, 4.0])
        y = x * w
        print(x.is_leaf, w.is_leaf, y.is_leaf, y.stop_gradient, (w * w).stop_gradient, (w * w).grad_fn)
        print(x.grad, x.grad_fn.name(), x.grad_fn.next_functions)
        y.backward()
        print(x.grad, w.grad, y.grad)
        x.clear_grad(); print(x.grad)
        x.clear_gradient(False); print(x.grad)
    """,
    "gradients add up": """
        x = paddle.to_tensor([2.0], stop_gradient=False)
        for _ in range(3):
            (x * x).backward()
            print(x.grad.tolist())
    """,
    "the diamond": """
        a = paddle.to_tensor([2.0], stop_gradient=False)
        b = a * (a * 3.0)
        b.backward()
        print(a.grad.tolist())
    """,
    "hooks": """
        x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
        y = x * 2.0
        y.register_hook(lambda g: print('inner', g.tolist()) or g * 10)
        h = x.register_hook(lambda g: print('leaf', g.tolist()))
        z = y.mean(); z.backward(retain_graph=True)
        print(x.grad.tolist(), h.remove())
        z.backward(); print(x.grad.tolist())
    """,
    "retain_grads and grad_tensor": """
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = x * x; y.retain_grads()
        y.backward(paddle.to_tensor([1.0, 10.0]))
        print(x.grad.tolist(), y.grad.tolist())
    """,
    "no_grad and detach": """
        x = paddle.to_tensor([1.0], stop_gradient=False)
        with paddle.no_grad():
            y = x * 2
        print(y.stop_gradient, y.grad_fn, x.detach().stop_gradient, paddle.is_grad_enabled())
        @paddle.no_grad()
        def f(t): return t * t
        print(f(x).stop_gradient)
    """,
    "higher orders": """
        x = paddle.to_tensor(3.0, stop_gradient=False)
        g, = paddle.grad(x ** 3, x, create_graph=True)
        g2, = paddle.grad(g, x, create_graph=True)
        g3, = paddle.grad(g2, x)
        print(float(g), float(g2), float(g3))
        u = paddle.to_tensor(1.0, stop_gradient=False)
        print([t if t is None else float(t) for t in paddle.grad(x * x, [x, u], allow_unused=True)])
        print(x.grad)
    """,
    "errors of shapes and kinds": """
        F = paddle.nn.functional
        for f in (lambda: paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3])),
                  lambda: paddle.ones([2, 3]) + paddle.ones([4]),
                  lambda: paddle.ones([2, 2]).reshape([3]),
                  lambda: paddle.ones([2]).sum(axis=5),
                  lambda: F.relu([1, 2]),
                  lambda: paddle.add(paddle.ones([2]), 1.0),
                  lambda: paddle.matmul(paddle.ones([2, 2], 'float32'), paddle.ones([2, 2], 'float64')),
                  lambda: F.cross_entropy(paddle.ones([2, 2]), paddle.to_tensor([0, 5])),
                  lambda: paddle.grad(paddle.ones([1]) * 1, paddle.to_tensor(1.0, stop_gradient=False)),
                  lambda: paddle.optimizer.SGD(0.1),
                  ):
            try:
                f(); print('no error')
            except Exception as e:
                print(type(e).__name__)
    """,
    "layers": """
        attr = lambda v: paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(v))
        net = paddle.nn.Sequential(paddle.nn.Linear(2, 3, weight_attr=attr(0.5), bias_attr=attr(0.1)), paddle.nn.ReLU(), paddle.nn.Linear(3, 1, weight_attr=attr(-1.0)))
        print(net)
        print([(n, p.name, p.shape) for n, p in net.named_parameters()], list(net.state_dict()))
        y = net(paddle.to_tensor([[1.0, 2.0]])); print(y)
        y.backward()
        for p in net.parameters(): print(p.grad.tolist())
        print(net[0].weight.is_leaf, net[0].weight.persistable, net[0].bias)
    """,
    "cross entropy": """
        x = paddle.to_tensor([[1.0, 2.0, 0.5], [0.1, 0.2, 3.0]], stop_gradient=False)
        for r in ('mean', 'sum', 'none'):
            l = paddle.nn.functional.cross_entropy(x, paddle.to_tensor([1, 2]), reduction=r)
            print(l.shape, np.round(l.numpy(), 5).tolist())
        paddle.nn.functional.cross_entropy(x, paddle.to_tensor([[1], [2]])).backward()
        print(np.round(x.grad.numpy(), 5).tolist())
    """,
    "sgd": """
        w = paddle.create_parameter([2], 'float32', default_initializer=paddle.nn.initializer.Constant(1.0))
        print(w)
        sgd = paddle.optimizer.SGD(0.1, parameters=[w])
        for _ in range(3):
            (w * w).sum().backward(); sgd.step(); sgd.clear_grad()
        print(np.round(w.numpy(), 6).tolist(), sgd.get_lr())
    """,
    "classic program": """
        paddle.enable_static()
        with paddle.pir_utils.OldIrGuard():
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data('x', [None, 3], 'float32')
                w = paddle.static.create_parameter([3, 2], 'float32', name='w0', default_initializer=paddle.nn.initializer.Constant(0.5))
                loss = paddle.mean(paddle.nn.functional.relu(x @ w))
                pairs = paddle.static.append_backward(loss)
            print(x); print(pairs); print(startup); print(main)
            exe = paddle.static.Executor(paddle.CPUPlace())
            print(exe.run(startup), exe.run(main, feed={'x': np.ones((4, 3), 'float32')}, fetch_list=[loss, 'w0@GRAD']))
    """,
    "fan-out in a classic program": """
        paddle.enable_static()
        with paddle.pir_utils.OldIrGuard():
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data('x', [4, 4], 'float32'); x.stop_gradient = False
                loss = paddle.mean(paddle.nn.functional.relu((x @ x) + x))
                paddle.static.append_backward(loss)
            print([o.type for o in main.global_block().ops])
            out, = paddle.static.Executor().run(main, feed={'x': np.eye(4, dtype='float32')}, fetch_list=['x@GRAD'])
            print(out.tolist())
    """,
    "PIR program": """
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data('x', [None, 3], 'float32')
            w = paddle.static.create_parameter([3, 2], 'float32', name='w0', default_initializer=paddle.nn.initializer.Constant(0.5))
            y = paddle.nn.functional.relu(paddle.matmul(x, w))
            loss = y.mean()
            pairs = paddle.static.append_backward(loss)
        print(pairs, x.name, x.shape, x.dtype, loss.shape); print(startup); print(main)
        exe = paddle.static.Executor(paddle.CPUPlace())
        print(exe.run(startup), exe.run(main, feed={'x': np.ones((4, 3), 'float32')}, fetch_list=[loss, pairs[0][1]]))
        print([op.name() for op in main.global_block().ops])
    """,
    "operators in PIR": """
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data('x', [2, 3], 'float32')
            for v in (x + x, x - x, x * x, x / x, x * 2.0, x + 1.0, x.tanh(), x.exp(), x.T, x.reshape([3, 2]), x.sum(axis=1), x @ x.T):
                pass
            i = paddle.static.data('i', [2], 'int64'); paddle.unsqueeze(i, -1)
            paddle.nn.functional.softmax(x); paddle.add_n([x, x])
        print(main)
    """,
    "training program in PIR": """
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data('x', [None, 4], 'float32'); y = paddle.static.data('y', [None], 'int64')
            a = lambda s: paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(s))
            net = paddle.nn.Sequential(paddle.nn.Linear(4, 3, weight_attr=a(0.1)), paddle.nn.ReLU(), paddle.nn.Linear(3, 2, weight_attr=a(-0.2)))
            loss = paddle.nn.functional.cross_entropy(net(x), y)
            paddle.optimizer.SGD(0.1).minimize(loss)
        text = str(main).replace('stop_gradient:[true,false]', 'stop_gradient:[true,true]')  # a flag of a result that is NULL
        print(text); print(startup)
        exe = paddle.static.Executor(); exe.run(startup)
        feed = {'x': np.arange(8, dtype='float32').reshape(2, 4), 'y': np.array([0, 1])}
        print([round(float(exe.run(main, feed=feed, fetch_list=[loss])[0]), 5) for _ in range(3)])
    """,
    "dead code and fusion": """
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data('x', [4, 8], 'float32')
            w, b = paddle.static.create_parameter([8, 2], 'float32'), paddle.static.create_parameter([2], 'float32')
            y = paddle.nn.functional.relu(paddle.nn.functional.linear(x, w, b)); dead = paddle.exp(x)
            paddle._pir_ops.fetch(y, 'out', 0)
        for name in ('dead_code_elimination_pass', 'matmul_add_act_fuse_pass'):
            pm = paddle.pir.PassManager(); pm.add_pass(name, {}); pm.run(main)
            print(pm.passes(), [op.name() for op in main.global_block().ops])
    """,
    "drr": """
        paddle.enable_static()
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data('x', [2, 2], 'float32')
            z = paddle.tanh(paddle.nn.functional.relu(paddle.nn.functional.relu(x)))
        ctx = paddle.pir.DrrPatternContext(); pat = ctx.SourcePattern()
        r1, r2 = pat.Op('pd_op.relu'), pat.Op('pd_op.relu')
        r1([pat.Tensor('a')], [pat.Tensor('b')]); r2([pat.Tensor('b')], [pat.Tensor('c')])
        pat.AddConstraint(lambda m: print('asked about', m.Tensor('a').shape) or True)
        res = pat.ResultPattern(); res.Op('pd_op.relu')([res.Tensor('a')], [res.Tensor('c')])
        pm = paddle.pir.PassManager(); pm.register_pass('relu_relu_pass', ctx); pm.run(main)
        print(pm.passes()); print(main)
    """,
    "editing a PIR program": """
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data('x', [2, 2], 'float32')
            a = paddle.exp(x); b = paddle.tanh(a); c = a + b
        block = main.global_block(); ops = {o.name(): o for o in block.ops}
        print(sorted(o.name() for o in a.all_used_ops()), a.use_empty(), b.has_one_use(), ops['pd_op.add'].get_input_names())
        with paddle.static.program_guard(main, startup):
            paddle.pir.set_insertion_point_after(ops['pd_op.exp'])
            d = paddle.nn.functional.relu(a)
            paddle.pir.reset_insertion_point_to_end()
        ops['pd_op.tanh'].operand(0).set_source(d); print(main)
        a.replace_all_uses_with(x); print(a.use_empty()); block.remove_op(ops['pd_op.exp']); print(main)
        print(str(main.clone()) == str(main))
    """,
    "executor's errors": """
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data('x', [None, 2], 'float32'); y = paddle.nn.Linear(2, 1)(x)
        exe = paddle.static.Executor(); X = np.ones((3, 2), 'float32')
        scope = paddle.static.Scope()
        exe.run(startup)
        print(exe.run(main, feed={'x': X}, fetch_list=[y])[0].shape)
        for feed in ({}, {'x': np.ones((3, 5), 'float32')}, {'x': X.astype('float64')}):
            try:
                exe.run(main, feed=feed, fetch_list=[y]); print('no error')
            except Exception as e:
                print(next(c.__name__ for c in type(e).__mro__ if c.__module__ == 'builtins'))
    """,
    "static mode": """
        print(paddle.in_dynamic_mode()); paddle.enable_static(); print(paddle.in_dynamic_mode())
        paddle.disable_static(); print(paddle.in_dynamic_mode())
    """,
    "one rank": """
        dist = paddle.distributed
        print(dist.get_rank(), dist.get_world_size(), dist.ReduceOp.SUM, dist.ReduceOp.AVG)
    """,
    "soft labels": """
        x = paddle.to_tensor([[1.0, 2.0], [0.5, 0.1]], stop_gradient=False)
        l = paddle.nn.functional.cross_entropy(x, paddle.to_tensor([[0.3, 0.7], [1.0, 0.0]]), soft_label=True)
        l.backward(); print(round(float(l), 5), np.round(x.grad.numpy(), 5).tolist())
    """,
}  # fmt: skip

# Where real Paddle's own answer is bad: (snippet, what minipaddle raises, what real Paddle does).
BETTER = {
    "backward twice": (
        """
        x = paddle.to_tensor([1.0], stop_gradient=False)
        y = (x * x).mean(); y.backward(); y.backward()
        """,
        "RuntimeError",
        "SystemError",
    ),
    "an unknown argument": (
        "paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2]), foo=1)",
        "TypeError",
        "ValueError",
    ),
    "length of a number": (
        "len(paddle.to_tensor(1.0))",
        "TypeError",
        "AssertionError",
    ),
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    assert real_paddle() is not None, "install the extra `course`: parity needs real Paddle"
    found = both(SNIPPETS[name])
    assert found.same, f"\n{found!r}"


@pytest.mark.parametrize("name", BETTER)
def test_a_clearer_error_than_paddle(name):
    snippet, ours, theirs = BETTER[name]
    found = both(snippet)
    assert (found.minipaddle.split()[-1], found.paddle.split()[-1]) == (ours, theirs)


def test_a_difference_is_seen():
    found = both("print(paddle.__name__)")
    assert not found.same
    assert found.differences() == ["- minipaddle", "+ paddle"]
    assert "They differ" in repr(found)


def test_an_expectation_that_fails_says_so():
    with pytest.raises(AssertionError, match="expected the same output"):
        both("print(paddle.__name__)", same=True)
