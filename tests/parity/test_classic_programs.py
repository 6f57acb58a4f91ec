"""Classic Programs as scripts build them by hand: append_op, descriptions, parameters, blocks.
Each snippet prints the same on minipaddle and on real Paddle.
"""

import textwrap

import pytest

from minipaddle.compare import both

BUILD = """
core = paddle.base.core
paddle.enable_static()
def kind(wrong):
    try:
        print(wrong())
    except Exception as error:
        print(next(k.__name__ for k in type(error).__mro__ if k.__module__ == 'builtins'))
with paddle.pir_utils.OldIrGuard():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        block = main.global_block()
        def var(name, shape, dtype='float32'):
            return block.create_var(name=name, shape=shape, dtype=dtype)
        def run(fetch, **feed):
            feed = {name: np.asarray(value) for name, value in feed.items()}
            exe = paddle.static.Executor()
            exe.run(startup)
            for array in exe.run(main, feed=feed, fetch_list=fetch):
                print(array.dtype, array.shape, array.tolist())
"""

SNIPPETS = {
    "no such op, misspelt slots": """
        x, o = paddle.static.data('x', [2, 3]), var('o', [2, 3])
        kind(lambda: block.append_op())
        kind(lambda: block.append_op(type='no_such_op'))
        kind(lambda: block.append_op(type='relu', inputs={'X': x}, outputs={'O': [o]}))
        kind(lambda: block.append_op(type='relu', inputs={'X': [x, x]}, outputs={'Out': [o]}))
        print(len(block.ops))
    """,
    "default attributes": """
        a, b, o = var('a', [4, 6]), var('b', [6, 5]), var('o', [])
        ops = [
            block.append_op(type='mul', inputs={'X': a, 'Y': b}, outputs={'Out': o}),
            block.append_op(type='mul', inputs={'X': a, 'Y': [b]}, outputs={'Out': [o]}, attrs={'x_num_col_dims': 1}),
            block.append_op(type='scale', inputs={'X': a}, outputs={'Out': o}),
            block.append_op(type='softmax', inputs={'X': a}, outputs={'Out': o}),
            block.append_op(type='elementwise_add', inputs={'X': a, 'Y': a}, outputs={'Out': o}),
            block.append_op(type='matmul_v2', inputs={'X': a, 'Y': b}, outputs={'Out': o}),
            block.append_op(type='fill_any_like', inputs={'X': a}, outputs={'Out': o}),
            block.append_op(type='reduce_max', inputs={'X': a}, outputs={'Out': o}),
            block.append_op(type='reduce_sum', inputs={'X': a}, outputs={'Out': o}),
        ]
        for op in ops:
            print(op, sorted(op.attr_names), op.idx)
        print(ops[0].attr_type('x_num_col_dims'), ops[0].attr_type('op_role_var'))
        print(o.op is ops[-1], a.op, o)
    """,
    "reduce_all beside dim": """
        a, o, p = paddle.static.data('a', [2, 3]), var('o', []), var('p', [])
        block.append_op(type='reduce_sum', inputs={'X': a}, outputs={'Out': o}, attrs={'reduce_all': True})
        block.append_op(type='reduce_sum', inputs={'X': a}, outputs={'Out': p}, attrs={'dim': [1]})
        print(o, p)
        run([o, p], a=np.arange(6, dtype='float32').reshape(2, 3))
    """,
    "random_seed": """
        for seed in ('seed', 1.5, None, np.int64(3), 7, -1):
            kind(lambda: setattr(main, 'random_seed', seed))
        print(main.random_seed, main.clone().random_seed)
    """,
    "a description by hand": """
        program = core.ProgramDesc()  # Paddle's blocks don't keep it alive
        block = program.block(0)
        x, y, out = block.var(b'x'), block.var(b'y'), block.var(b'out')
        print(x.name(), x.shape(), x.dtype(), x.type(), x.persistable(), x.stop_gradient())
        for v, shape in ((x, [10, 20]), (y, [20, 30])):
            v.set_type(core.VarDesc.VarType.DENSE_TENSOR)
            v.set_shape(shape)
            v.set_dtype(core.VarDesc.VarType.FP32)
        op = block.append_op()
        print(repr(op.type()))
        op.set_type('mul')
        op.set_input('X', ['x'])
        op.set_input('Y', ['y'])
        op.set_output('Out', ['out'])
        op._set_attr('x_num_col_dims', 1)
        op.check_attrs()
        op.infer_var_type(block)
        op.infer_shape(block)
        print(out.shape(), out.dtype() == paddle.float32, out.element_size())
        print(op.attr('y_num_col_dims'), op.input_names(), op.input_arg_names(), op.output('Out'))
        print(op.inputs(), op.outputs(), op.block() == block)
    """,
    "attributes of a description": """
        program = core.ProgramDesc()
        op = program.block(0).append_op()
        values = {'i': 1, 'l': 2**40, 'f': 1.5, 's': 'text', 'is': [1, 2], 'fs': [0.5, 2.0], 'ss': ['a', 'b'], 'e': []}
        for name, value in values.items():
            op._set_attr(name, value)
        for name in values:
            print(name, op.attr(name), op.has_attr(name))
        print(*(op.attr_type(name) for name in 'i l f s is fs ss e'.split()), op.has_attr('none'))
        op.remove_attr('i')
        op.set_block_attr('inner', program.append_block(program.block(0)))
        print(op.has_attr('i'), op._block_attr_id('inner'), op.attr_type('inner'))
        op.set_type('relu')
        kind(lambda: [op.set_input('X', ['a']), op.set_input('X', ['b']), op.input('X')][2])
        op._rename_input('b', 'c')
        op.set_output('Out', ['c'])
        op._rename_output('c', 'd')
        print(op.inputs(), op.outputs())
        op.remove_input('X')
        op.remove_output('Out')
        print(op.input_names(), op.output_arg_names())
        other = program.block(0).append_op()
        other.copy_from(op)
        print(other.type(), other.attr('f'), other == op, program.block(0).op(1) == other)
    """,
    "blocks of a description": """
        program = core.ProgramDesc()
        root = program.block(0)
        one = program.append_block(root)
        two = program.append_block(one)
        print(root.id, root.parent, one.id, one.parent, two.id, two.parent, program.num_blocks())
        print(program.block(1) == one, one == two, one.get_forward_block_idx())
        two._set_forward_block_idx(1)
        print(two.get_forward_block_idx())
        a, b = root.var(b'a'), root.var(b'b')
        print(root.find_var(b'b') == b, root.var(b'a') == a, root.find_var(b'c'), root.has_var(b'a'))
        print(one.has_var(b'a'), one.has_var_recursive(b'a'), one.find_var_recursive(b'a') == a)
        print(set(root.all_vars()) == {a, b})
        root._rename_var(b'a', b'c')
        print(sorted(v.name() for v in root.all_vars()))
        root._remove_var(b'c')
        print([v.name() for v in root.all_vars()])
        ops = [root.append_op(), root.append_op()]
        ops.insert(0, root._prepend_op())
        ops.insert(1, root._insert_op(1))
        print([root.op(i) for i in range(root.op_size())] == ops)
        root._remove_op(1, 3)
        print([root.op(i) for i in range(root.op_size())] == [ops[0], ops[3]])
        kind(lambda: root.op(7))
        kind(lambda: root.var('text'))
    """,
    "variables of a description": """
        program = core.ProgramDesc()
        v = program.block(0).var(b'v')
        v.set_type(core.VarDesc.VarType.SELECTED_ROWS)
        v.set_shape([3, 2])
        print(v.shape(), v.type() == core.VarDesc.VarType.SELECTED_ROWS)
        v.set_type(core.VarDesc.VarType.LOD_TENSOR)
        v.set_dtype(paddle.int32)
        print(v.dtype() == paddle.int32, v.type() == core.VarDesc.VarType.DENSE_TENSOR)
        v.set_persistable(True), v.set_stop_gradient(True), v.set_is_parameter(True), v.set_need_check_feed(True)
        print(v.persistable(), v.stop_gradient(), v.is_parameter(), v.need_check_feed())
        for name in 'BOOL INT16 INT32 INT64 FP16 FP32 FP64 UINT8 INT8'.split():
            print(getattr(core.VarDesc.VarType, name))
    """,
    "what a Program's desc changes is in the Program": """
        x = paddle.static.data('x', [2, 3])
        y = paddle.nn.functional.relu(x)
        desc = main.desc
        print(desc.block(0) == block.desc, desc.block(0).op(0) == block.ops[0].desc, desc.block(0).var(b'x') == x.desc)
        op, made = block.desc.append_op(), block.desc.var(b'made')
        op.set_type('scale')
        op.set_input('X', [y.name])
        op.set_output('Out', ['made'])
        op._set_attr('scale', 3.0)
        op.check_attrs()
        op.infer_var_type(block.desc)
        op.infer_shape(block.desc)
        main._sync_with_cpp()
        x.desc.set_stop_gradient(False)
        x.desc.set_shape([-1, 3])
        print(block.var('made'), x, block.ops[1].attr('bias'))
        run(['made'], x=np.array([[1, -2, 3]], 'float32'))
        block._remove_op(1)
        block.ops[0]._rename_output(y.name, 'made')
        run(['made'], x=np.array([[1, -2, 3]], 'float32'))
    """,
    "has a description changed?": """
        paddle.static.data('x', [2, 3])
        print(main.desc.need_update())
        main.desc.flush()
        print(main.desc.need_update())
        first = main.desc.serialize_to_string()
        block.var('x').desc.set_stop_gradient(False)
        print(main.desc.need_update(), main.desc.serialize_to_string() == first)
        print(main.desc.cached_hash_str() == main.desc.cached_hash_str(), main.desc.need_update())
        print(core.ProgramDesc(first).block(0).var(b'x').shape(), core.ProgramDesc(main.desc).num_blocks())
        print(type(main).parse_from_string(first).global_block().var('x').desc.stop_gradient())
    """,
    "Block.create_parameter": """
        half = paddle.nn.initializer.Constant(0.5)
        p = block.create_parameter(name='fc.w', shape=[3, 2], dtype='float32', initializer=half)
        print(p, p.trainable, p.optimize_attr, p.regularizer, p.need_clip)
        print(block.create_parameter(name='x', shape=[], dtype='float32'), main)
        print(block.create_parameter(shape=[2], dtype='float64', trainable=False).trainable)
        other = dict(optimize_attr={'learning_rate': 0.5}, need_clip=False)
        q = block.create_parameter(name='q', shape=[3, 2], dtype='float32', **other)
        print(q.optimize_attr, q.need_clip, startup)
        for shape, dtype in ((None, 'float32'), ([1], None), ([-1], 'float32'), (2, 'float32')):
            kind(lambda: block.create_parameter(name='test', shape=shape, dtype=dtype))
        inner = main._create_block()
        p = inner.create_parameter(name='in', shape=[2], dtype='float32', initializer=half)
        main._rollback()
        print(p.block.idx, [op.type for op in inner.ops], sorted(inner.vars))
        run(['fc.w'])
    """,
    "static.nn.batch_norm": """
        x = paddle.static.data('x', [2, 3, 4])
        x.stop_gradient = False
        y = paddle.static.nn.batch_norm(x)
        z = paddle.static.nn.batch_norm(y, act='relu', momentum=0.8, epsilon=1e-3, data_layout='NHWC', use_global_stats=True, moving_mean_name='mm', moving_variance_name='mv', param_attr='scale', bias_attr='bias')
        print(y, z, *main.all_parameters(), sep='\\n')
        print(startup)
        for op in block.ops:
            print(op)
        loss = paddle.mean(z * z * x)
        print(paddle.static.append_backward(loss))
        exe = paddle.static.Executor()
        exe.run(startup)
        feed = {'x': np.arange(24, dtype='float32').reshape(2, 3, 4) ** 2 / 100}
        for array in exe.run(main, feed=feed, fetch_list=[loss, 'x@GRAD', 'batch_norm_0.w_0@GRAD', 'batch_norm_0.w_1']):
            print((array + 1e-6).round(3).tolist())  # a -0 is a 0
        for wrong in (dict(data_layout='X'), dict(momentum='x')):
            kind(lambda: paddle.static.nn.batch_norm(x, **wrong))
        kind(lambda: paddle.static.nn.batch_norm(np.ones(3)))
        kind(lambda: paddle.static.nn.batch_norm(paddle.static.data('i', [2, 3], 'int64')))
    """,
    "static.nn.embedding": """
        x = paddle.static.data('x', [None, 4], 'int64')
        half = paddle.ParamAttr(name='emb', initializer=paddle.nn.initializer.Constant(0.5))
        y = paddle.static.nn.embedding(x, [10, 3])
        z = paddle.static.nn.embedding(x, size=(10, 3), padding_idx=-1, param_attr=half)
        print(y, z, paddle.static.nn.embedding(x, [10, 3], padding_idx=2, dtype='float64'))
        print(startup, [op.attr('padding_idx') for op in block.ops])
        run([z], x=[[1, 2, 9, 0]])
        for wrong in (dict(size=[10]), dict(size=10), dict(size=[2, 2], dtype='int64')):
            kind(lambda: paddle.static.nn.embedding(x, **wrong))
        kind(lambda: paddle.static.nn.embedding([1], [10, 3]))
    """,
    "static.Print": """
        x = paddle.static.data('x', [2, 3])
        x.stop_gradient = False
        y = paddle.static.Print(x, message='m', first_n=2, summarize=3, print_phase='backward')
        loss = paddle.mean(y * y)
        print(paddle.static.append_backward(loss), main)
        for wrong in (dict(first_n='a'), dict(message=3)):
            kind(lambda: paddle.static.Print(x, **wrong))
        kind(lambda: paddle.static.Print('x'))
    """,
    "branches of other dtypes and ranks": """
        if paddle.__name__ == 'paddle':  # its cond needs one that takes classic Variables
            def logical_not(x):
                helper = paddle.base.layer_helper.LayerHelper('logical_not')
                out = helper.create_variable_for_type_inference('bool')
                helper.append_op(type='logical_not', inputs={'X': x}, outputs={'Out': out})
                return out
            known, paddle.logical_not = paddle.logical_not, logical_not
        a = paddle.static.data('a', [1])
        kinds = [([2, 3], 'float32'), ([2], 'float32'), ([2, 4], 'int64'), ([], 'float64')]
        results = []
        for true, false in [(t, f) for t in kinds for f in kinds]:
            result = paddle.static.nn.cond(a > 0, lambda: paddle.ones(*true), lambda: paddle.zeros(*false))
            print(true, false, result.shape, result.dtype)
            results.append(result)
        if paddle.__name__ == 'paddle':
            paddle.logical_not = known
        run(results, a=np.ones(1, 'float32'))
        run(results, a=-np.ones(1, 'float32'))
    """,
    "a loop that changes shape and dtype": """
        def small(i, *_):
            return i < 3
        def body(i, x, y, z):
            return i + 1, paddle.concat([x, x], axis=0), paddle.unsqueeze(y, 0), z.astype('float64')
        given = [paddle.zeros([1], 'int64'), paddle.ones([1, 2]), paddle.ones([2]), paddle.ones([2])]
        results = paddle.static.nn.while_loop(small, body, given)
        for result in results:
            print(result.ndim, result.dtype)
        run([*results, results[1] * 2])
    """,
    "the gradient of a loop that changes shape": """
        x = paddle.static.data('x', [1, 2])
        x.stop_gradient = False
        def body(i, h):
            return i + 1, paddle.concat([h * h, h], axis=0)
        given = [paddle.zeros([1], 'int64'), x * 1.0]
        grown = paddle.static.nn.while_loop(lambda i, h: i < 3, body, given)[1]
        paddle.static.gradients(paddle.mean(grown * 2.0), [x])
        run([grown, 'x@GRAD'], x=np.array([[1, 2]], 'float32'))
    """,
    "append_backward in a block": """
        x = paddle.static.data('x', [2, 3])
        h = x @ paddle.static.create_parameter([3, 2], 'float32', name='w')
        inner = main._create_block()
        loss = paddle.mean(h * h)
        print(paddle.static.append_backward(loss))
        print(main.current_block().idx, inner.backward_block_idx)
        main._rollback()
        print(main)
    """,
    "what a Variable tells": """
        for dtype in 'bool float16 float32 float64 int8 int16 int32 int64 uint8'.split():
            x = paddle.static.data(dtype, [2, 3], dtype)
            print(x.element_size(), x.shape, x.dim(), x.type, x.grad_name)
        print(block.create_var(name='s', type=core.VarDesc.VarType.STEP_SCOPES).type)
        print(x.to_string(True)[:15], main.to_string(True)[:8], str(x) == repr(x))
        w = paddle.static.create_parameter([2], 'float32', name='w_told')
        w.trainable = False
        print(w.trainable)
    """,
    "ops at other places": """
        x, o = paddle.static.data('x', [3]), var('o', [3])
        y = paddle.nn.functional.relu(x)
        block._prepend_op(type='scale', inputs={'X': x}, outputs={'Out': o}, attrs={'scale': 2.0})
        block._insert_op(1, type='tanh', inputs={'X': o}, outputs={'Out': o})
        print([(op.type, op.idx) for op in block.ops])
        block._remove_op(1)
        print([op.type for op in block.ops])
        run([o, y], x=np.array([1, -2, 3], 'float32'))
        kind(lambda: main.block(7))
    """,
    "get_value and set_value": """
        w = paddle.static.create_parameter([2], 'float32', name='w_valued')
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        kind(lambda: w.get_value(scope))
        kind(lambda: w.set_value(np.ones(2, 'float32'), scope))
        exe.run(startup, scope=scope)
        w.set_value(np.array([3, 4], 'float32'), scope)
        print(np.array(w.get_value(scope)))
        for wrong in (np.ones(3, 'float32'), [1.0, 2.0], 3.0):
            kind(lambda: w.set_value(wrong, scope))
        kind(lambda: w.get_value(3))
        kind(lambda: w.set_value(np.ones(2, 'float32'), 3))
        print(np.array(w.get_value(scope)))
    """,
    "random_seed is the seed of initializers and dropout": """
        main.random_seed, startup.random_seed = 9, 7
        init = paddle.nn.initializer
        for initializer in (init.Uniform(), init.Normal(), init.TruncatedNormal(), init.XavierUniform()):
            paddle.static.create_parameter([2, 2], 'float32', default_initializer=initializer)
        dropped = paddle.nn.functional.dropout(paddle.ones([50]), 0.5)
        paddle.rand([2])
        print([op.attr('seed') for op in startup.global_block().ops], [op.attr('seed') for op in block.ops if op.has_attr('seed')])
        exe = paddle.static.Executor()
        first, second = [exe.run(main, fetch_list=[dropped])[0] for _ in range(2)]
        print(bool((first == second).all()), 0 < first.sum() < 100)
    """,
    "assign takes another shape": """
        v = var('v', [2, 2])
        print(paddle.assign(paddle.zeros([3]), v) is v, v)
        paddle.assign(paddle.ones([2, 3], 'float64'), output=v)
        run([v])
        for value in (2.5, True, 3, [1.0, 2.0], [], np.ones(2, 'float32'), np.array(2.5)):
            result = paddle.assign(value)
            print(result.shape, result.dtype)
    """,
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_classic_program_by_hand(name):
    both(BUILD + textwrap.indent(textwrap.dedent(SNIPPETS[name]), " " * 8), same=True)


def test_disable_static_with_a_place():
    both(
        """
        for place in (paddle.CPUPlace(), None, 'cpu'):
            paddle.enable_static()
            paddle.disable_static(place)
            print(paddle.in_dynamic_mode(), paddle.ones([1]).place)
        """,
        same=True,
    )


PRINTED = """
feeds = {
    'f64': np.array([1.5, -2.25e10, np.nan, np.inf, 1e-9]), 'i64': np.array([[1, -2], [3, 4]]),
    'b': np.array([True, False]), 'f32': np.array(3.25, 'float32'), 'e': np.zeros([0, 3], 'float32'),
    'i32': np.arange(30, dtype='int32'), 'f16': np.array([1.5], 'float16'),
}
for name, array in feeds.items():
    x = paddle.static.data(name, array.shape, str(array.dtype))
    paddle.static.Print(x)
x = paddle.static.data('x', [2, 2])
x.stop_gradient = False
for settings in (
    dict(summarize=0, message='m'), dict(summarize=-1), dict(summarize=1, first_n=0), dict(first_n=1),
    dict(print_tensor_lod=False, print_tensor_layout=False, print_tensor_type=False),
    dict(print_tensor_name=False, print_tensor_shape=False, print_phase='forward'),
    dict(print_phase='backward', message='gradient'),
):
    x = paddle.static.Print(x, **settings)
loss = paddle.mean(x * x)
paddle.static.gradients(loss, [x])
exe = paddle.static.Executor()
feeds['x'] = np.array([[1, -2], [3, 4]], 'float32')
for _ in range(2):
    exe.run(main, feed=feeds, fetch_list=[loss])
"""


def test_what_static_print_shows(capfd):
    """Paddle's C++ writes past Python's sys.stdout."""
    capfd.readouterr()
    answer = both(BUILD + textwrap.indent(PRINTED, " " * 8))
    shown = capfd.readouterr().out
    assert shown.count("\n") > 100 and sorted(answer.minipaddle.splitlines()) == sorted(
        shown.splitlines()
    )


def test_assign_in_dygraph_takes_shape_and_history():
    both(
        """
        for value in (paddle.zeros([3]), np.zeros(3), [1., 2.], 2.5, 3, True, paddle.ones([4], 'int64'), np.float32(2.5)):
            v = paddle.ones([2, 2])
            print(paddle.assign(value, v) is v, v.shape, v.dtype, v.stop_gradient, v.tolist())
            print(paddle.assign(value).shape, paddle.assign(value).dtype)
        x = paddle.to_tensor([1., 2., 3.], stop_gradient=False)
        for v in (paddle.ones([2, 2]), paddle.ones([3])):
            print(paddle.assign(x * 2, v) is v, v.shape, v.stop_gradient, v.is_leaf)
            (v * v).sum().backward()
            print(x.grad.tolist())
        v = paddle.ones([2, 2])
        v.stop_gradient = False
        paddle.assign(paddle.zeros([3]), v)
        print(v.stop_gradient, v.is_leaf, v.shape)
        """,
        same=True,
    )
