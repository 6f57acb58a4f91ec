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
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_classic_program_by_hand(name):
    both(BUILD + textwrap.indent(textwrap.dedent(SNIPPETS[name]), " " * 8), same=True)
