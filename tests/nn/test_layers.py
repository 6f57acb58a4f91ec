"""Layers give what real Paddle gives, from the same numbers; and what a Layer holds, and how it
answers, is as there.
"""

import numpy as np
import pytest

import minipaddle
from minipaddle.compare import both
from tests.nn.parity import assert_alike, both_paddles, fresh_names, gradients, numbers_of, tensors

rng = np.random.default_rng(6)


def f(*shape):
    return rng.normal(size=shape).astype("float32")


MASK = np.tril(np.ones((3, 3))).astype("bool")[None, None]

# name -> (how it is made, inputs, arguments of the call)
LAYERS = {
    "Linear": (lambda nn: nn.Linear(3, 2), [f(4, 3)]),
    "Linear without bias": (lambda nn: nn.Linear(3, 2, bias_attr=False), [f(2, 4, 3)]),
    "Embedding": (lambda nn: nn.Embedding(5, 3), [np.array([[0, 4], [2, 2]])]),
    "Embedding with padding": (
        lambda nn: nn.Embedding(5, 3, padding_idx=-1),
        [np.array([[0, 4], [2, 4]])],
    ),
    "Dropout in evaluation": (lambda nn: nn.Dropout(0.5), [f(3, 4)]),
    "Flatten": (lambda nn: nn.Flatten(), [f(2, 3, 4)]),
    "Identity": (lambda nn: nn.Identity(3, x=4), [f(2, 3)]),
    "Sequential": (
        lambda nn: nn.Sequential(("a", nn.Linear(3, 4)), ("b", nn.Tanh()), ("c", nn.Linear(4, 1))),
        [f(2, 3)],
    ),
    "MultiHeadAttention": (lambda nn: nn.MultiHeadAttention(4, 2), [f(2, 3, 4)]),
    "MultiHeadAttention of others": (
        lambda nn: nn.MultiHeadAttention(4, 2, kdim=3, vdim=5, need_weights=True),
        [f(2, 3, 4), f(2, 6, 3), f(2, 6, 5)],
    ),
    "MultiHeadAttention with a mask": (
        lambda nn: nn.MultiHeadAttention(4, 2, bias_attr=False, need_weights=True),
        [f(2, 3, 4), f(2, 3, 4), f(2, 3, 4), MASK],
    ),
    "TransformerEncoderLayer": (
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0),
        [f(2, 3, 4), MASK],
    ),
    "TransformerEncoderLayer, norms first": (
        lambda nn: nn.TransformerEncoderLayer(
            4, 2, 8, dropout=0.0, activation="gelu", normalize_before=True
        ),
        [f(2, 3, 4), f(1, 1, 3, 3)],
    ),
    "TransformerEncoder": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, bias_attr=[False, None]),
            2,
            norm=nn.LayerNorm(4),
        ),
        [f(2, 3, 4)],
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_outputs_gradients_and_names(name):
    make, inputs = LAYERS[name]
    mine, real = both_paddles()
    found, numbers = [], None
    for module in (mine, real):
        with fresh_names(module):
            layer = make(module.nn)
        layer.eval()
        state = layer.state_dict()
        if numbers is None:  # the one sets the numbers, the other takes them over
            numbers = {key: value.numpy() for key, value in state.items()}
        assert layer.set_state_dict(numbers) == ([], [])
        given = tensors(module, inputs)
        results = layer(*given)
        leaves = [*given, *layer.parameters()]
        grads = gradients(results, leaves)
        names = [(key, value.name, list(value.shape)) for key, value in state.items()]
        found.append((names, repr(layer), numbers_of(results) + grads))
    assert found[0][:2] == found[1][:2]
    assert_alike(found[0][2], found[1][2])


@pytest.mark.parametrize("name", LAYERS)
def test_the_same_ops_stand_in_a_program(name):
    make, inputs = LAYERS[name]
    found = []
    for module in both_paddles():
        module.enable_static()
        try:
            with fresh_names(module):
                main = module.static.Program()
                with module.static.program_guard(main, module.static.Program()):
                    layer = make(module.nn)
                    layer.eval()
                    given = [
                        module.static.data(f"x{n}", list(a.shape), str(a.dtype))
                        for n, a in enumerate(inputs)
                    ]
                    layer(*given)
                names = [op.name() for op in main.global_block().ops]
        finally:
            module.disable_static()
        found.append([n for n in names if n not in ("pd_op.data", "builtin.parameter")])
    assert found[0] == found[1]


SNIPPETS = {
    "what a layer holds": """
        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.fc = paddle.nn.Linear(2, 3)
                self.also = self.fc
                self.w = self.create_parameter([2])
                self.b = self.create_parameter([2], is_bias=True)
                self.none = self.create_parameter([2], attr=False)
                self.register_buffer('kept', paddle.ones([2]))
                self.register_buffer('lost', paddle.ones([2]), persistable=False)
                self.too = paddle.zeros([1])
                self.empty = None
        net = Net()
        print(net, net.full_name(), net.fc.full_name(), net.empty, net.none)
        print(list(net.state_dict()), [n for n, _ in net.named_buffers()])
        print([(n, p.name) for n, p in net.named_parameters()], len(net.parameters(include_sublayers=False)))
        print([n for n, _ in net.named_sublayers()], [n for n, _ in net.named_sublayers(prefix='x', include_self=True)])
        print([n for n, _ in net.named_children()], len(net.sublayers()), len(net.sublayers(include_self=True)))
        print([n for n, _ in net.named_parameters(prefix='net', include_sublayers=False)], len(net.buffers()))
        print([n for n, _ in net.named_parameters(remove_duplicate=False)])
        print('fc' in dir(net), 'w' in dir(net), 'kept' in dir(net))
        net.too = paddle.ones([3]); print(net.too.shape, list(net.state_dict(keep_vars=False))[:2])
        print(list(net.state_dict(include_sublayers=False)), list(net.state_dict(structured_name_prefix='p.'))[:2])
        del net.kept; del net.fc; del net.w
        print(list(net.state_dict()), hasattr(net, 'fc'))
    """,
    "rules for attributes": """
        def kind(f):
            try: f(); print('no error')
            except Exception as e: print(type(e).__name__)
        def net():
            n = paddle.nn.Layer(); n.fc = paddle.nn.Linear(1, 1); n.w = n.create_parameter([1]); n.register_buffer('b', paddle.ones([1])); n.plain = 3
            return n
        for name in ('fc', 'w', 'b', 'plain'):
            for value in (3, None, paddle.nn.ReLU(), paddle.create_parameter([1], 'float32'), paddle.ones([1])):
                n = net(); print(name, end=' '); kind(lambda: setattr(n, name, value)); print(list(n._parameters), list(n._sub_layers), list(n._buffers))
        n = net()
        for f in (lambda: n.nothing, lambda: n.add_parameter('x.y', n.w), lambda: n.add_parameter('', n.w), lambda: n.add_parameter('fc', n.w), lambda: n.add_parameter('q', 3),
                  lambda: n.add_parameter(3, n.w), lambda: n.register_buffer('w', paddle.ones([1])), lambda: n.register_buffer('c', 3), lambda: n.register_buffer('c.d', None),
                  lambda: n.register_buffer('c', None), lambda: n.register_buffer('b', paddle.zeros([2])), lambda: n.add_parameter('w', None), lambda: delattr(n, 'nothing'), lambda: n(1), lambda: n.astype('foo')):
            kind(f)
    """,
    "hooks": """
        calls = []
        net = paddle.nn.Identity()
        a = net.register_forward_pre_hook(lambda layer, x: calls.append('a') or (x[0] + 1,))
        b = net.register_forward_pre_hook(lambda layer, x: calls.append('b') or x[0] * 2, prepend=True)
        c = net.register_forward_post_hook(lambda layer, x, y: calls.append('c') or y * 10)
        d = net.register_forward_post_hook(lambda layer, x, y: calls.append(('d', x[0].item(), y.item())))
        print(net(paddle.to_tensor(3.0)).item(), calls)
        b.remove(); c.remove(); c.remove(); del calls[:]
        print(net(paddle.to_tensor(3.0)).item(), calls)
        class Add(paddle.nn.Layer):
            def forward(self, x, y=1): return x + y
        net = Add()
        net.register_forward_pre_hook(lambda layer, x, kw: (x, {'y': kw['y'] + 1}), with_kwargs=True)
        net.register_forward_post_hook(lambda layer, x, kw, out: out * kw['y'], with_kwargs=True)
        print(net(paddle.to_tensor(3.0), y=4).item())
    """,
    "modes, dtypes, apply": """
        net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Dropout(0.5))
        print(net.eval() is net, net[1].training, net.train() is net, net[1].training, net.train(False)[0].training)
        seen = []; print(net.apply(lambda layer: seen.append(type(layer).__name__)) is net, seen)
        net.register_buffer('count', paddle.ones([1], 'int64'))
        print(net.to(dtype='float64')[0].weight.dtype, net.count.dtype, net[0])
        print(net.float()[0].bias.dtype, net.count.dtype)
        net.to('cpu'); print(net[0].weight.place, net[0].weight.stop_gradient)
        lin = paddle.nn.Linear(1, 1); lin(paddle.ones([1, 1])).backward()
        lin.to(dtype='float64'); lin(paddle.ones([1, 1], 'float64')).backward(); print(lin.bias.grad.dtype, lin.bias.grad.item())
        lin.clear_gradients(); print(lin.bias.grad.item())
    """,
    "loading": """
        net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 1))
        zeros = lambda *s: np.zeros(s, 'float32')
        print(net.set_state_dict({'0.weight': zeros(2, 2), '1.weight': zeros(3, 1), 'nose': zeros(1)}))
        print(net[0].weight.tolist(), net.set_state_dict({'linear_1.b_0': zeros(1)}, use_structured_name=False))
        print(net.set_state_dict(paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 1)).state_dict()))
    """,
    "containers": """
        nn = paddle.nn
        layers = nn.LayerList([nn.ReLU(), nn.Tanh(), nn.Identity()])
        print(len(layers), layers[-1], layers[0:2], [type(x).__name__ for x in layers])
        layers.append(nn.Linear(1, 1)); layers.insert(0, nn.Flatten()); layers.extend([nn.ReLU()]); layers[1] = nn.Dropout()
        print(layers, list(layers._sub_layers))
        del layers[0]; print(type(layers.pop(0)).__name__, list(layers._sub_layers), len(layers + [nn.ReLU()]))
        layers += [nn.ReLU()]; print(len(layers))
        seq = nn.Sequential(nn.ReLU(), nn.Tanh()); seq.append(nn.Identity()); seq.insert(1, nn.Flatten()); seq.extend([nn.ReLU()])
        print(seq, seq[-2], seq[1:3], len(seq)); seq[0] = nn.Tanh(); del seq[4]; print(seq)
        d = nn.LayerDict({'a': nn.ReLU()}); d['b'] = nn.Tanh(); d.update([('c', nn.Identity())])
        print(d, list(d), 'a' in d, len(d), d.pop('a'), list(d.keys())); del d['b']; d.clear(); print(len(d))
        p = nn.ParameterList([paddle.create_parameter([2], 'float32') for _ in range(2)]); p.append(paddle.create_parameter([3], 'float32'))
        print(len(p), [x.shape for x in p], list(p.state_dict()), p[1].name)
        from collections import OrderedDict
        print(nn.Sequential(OrderedDict(first=nn.ReLU())), nn.Sequential(*[nn.ReLU()] * 2), list(nn.Sequential(nn.Linear(1, 1)).state_dict()))
        for f in (lambda: seq[9], lambda: layers[9]):
            try: f()
            except Exception as e: print(type(e).__name__)
    """,
    "parameters and attrs": """
        attr = paddle.ParamAttr(name='mine', learning_rate=0.5, trainable=False, need_clip=False)
        lin = paddle.nn.Linear(1, 2, weight_attr=attr, bias_attr=paddle.nn.initializer.Constant(3.0))
        w = lin.weight; print(w.name, w.trainable, w.stop_gradient, w.need_clip, w.optimize_attr, w.regularizer, lin.bias.tolist(), lin.bias.optimize_attr)
        w.trainable = True; print(w.stop_gradient)
        print(paddle.create_parameter([2], 'float32').name, paddle.create_parameter([2], 'float32', is_bias=True).name, paddle.create_parameter([2], 'float32', name='foo').name)
        for bad in (lambda: paddle.ParamAttr(name=''), lambda: paddle.nn.Linear(1, 1, weight_attr=3)):
            try: bad()
            except Exception as e: print(type(e).__name__)
        init = paddle.nn.initializer
        init.Constant(2.0)(lin.weight); print(lin.weight.tolist())
        init.set_global_initializer(init.Constant(7.0), init.Constant(8.0))
        print(paddle.nn.Linear(1, 1).weight.item(), paddle.nn.Linear(1, 1).bias.item(), paddle.nn.Linear(1, 1, weight_attr=init.Constant(2.0)).weight.item())
        init.set_global_initializer(None); print(paddle.nn.Linear(1, 1).bias.item())
    """,
    "initializers in a program": """
        paddle.enable_static()
        init = paddle.nn.initializer
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            names = iter('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')
            for shape in ([4, 2], [4, 2, 3, 3], [5]):
                for i in (init.Constant(1.5), init.Uniform(-2.0, 2.0), init.Normal(1.0, 2.0), init.TruncatedNormal(0.0, 2.0), init.XavierUniform(), init.XavierNormal(gain=2.0), init.XavierUniform(fan_in=3, fan_out=5),
                          init.KaimingUniform(), init.KaimingNormal(), init.KaimingNormal(mode='fan_out'), init.KaimingUniform(negative_slope=0.5, nonlinearity='leaky_relu'), init.KaimingNormal(fan_in=9)):
                    paddle.create_parameter(shape, 'float32', name=next(names), default_initializer=i)
            paddle.nn.Embedding(3, 4); paddle.nn.Linear(2, 2)
            paddle.nn.Linear(1, 1, weight_attr=paddle.ParamAttr(need_clip=False), bias_attr=paddle.ParamAttr(trainable=False))
        import re  # Paddle prints six digits
        print(re.sub('[0-9]+[.][0-9]{6,}', lambda number: f'{float(number[0]):g}', str(startup)))
        print(main)
        print([init.calculate_gain(n) for n in ('tanh', 'relu', 'leaky_relu', 'sigmoid', 'conv2d', 'selu')], init.calculate_gain('leaky_relu', 1.0))
    """,
    "caches of attention": """
        paddle.seed(0)
        layer = paddle.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
        layer.set_state_dict({k: np.linspace(-1, 1, int(np.prod(v.shape)), dtype='float32').reshape(v.shape) for k, v in layer.state_dict().items()})
        net = paddle.nn.TransformerEncoder(layer, 1)
        x = paddle.to_tensor(np.linspace(0, 1, 24, dtype='float32').reshape(2, 3, 4))
        out, cache = net(x, cache=net.gen_cache(x))
        print(np.round(out.numpy(), 3).tolist(), len(cache), cache[0].k.shape, type(cache[0]).__name__)
        out, cache = net(x, cache=cache); print(cache[0].v.shape, np.round(out.numpy(), 3).tolist()[0])
        mha = layer.self_attn; static = mha.gen_cache(x, x, type=mha.StaticCache)
        print(np.round(mha(x, cache=static)[0].numpy(), 3).tolist()[1], type(mha(x, cache=static)[1]).__name__)
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    both_paddles()
    found = both(SNIPPETS[name])
    assert found.same, "\n".join(found.differences())


def test_attention_as_a_function():
    q, k, mask = f(2, 3, 4, 2), f(2, 5, 2, 2), f(2, 1, 3, 5)
    calls = [
        ([q, q, q], {}),
        ([q, q, q], {"is_causal": True}),
        ([q, k, k], {"attn_mask": mask}),
        ([q, k, k], {"attn_mask": mask > 0.5, "scale": 0.3}),
        ([q[0], q[0], q[0]], {}),
    ]
    for inputs, arguments in calls:
        found = []
        for module in both_paddles():
            given = tensors(module, inputs)
            named = {
                key: module.to_tensor(v) if isinstance(v, np.ndarray) else v
                for key, v in arguments.items()
            }
            out = module.nn.functional.scaled_dot_product_attention(*given, **named)
            found.append([out.numpy(), *gradients(out, given)])
        np.nan_to_num(found[0][0], copy=False)  # a row in which nothing is seen
        np.nan_to_num(found[1][0], copy=False)
        if "scale" not in arguments:
            assert_alike(*found)
        else:
            assert_alike(found[0][:1], found[1][:1])
    with pytest.raises(ValueError, match="heads of the key and the value that divide"):
        x = minipaddle.to_tensor(f(2, 3, 3, 2))
        minipaddle.nn.functional.scaled_dot_product_attention(minipaddle.to_tensor(q), x, x)


def test_a_state_dict_reaches_the_scope_of_a_program():
    for guard in (False, True):
        minipaddle.enable_static()
        try:
            with minipaddle.pir_utils.OldIrGuard() if guard else minipaddle.pir_utils.IrGuard():
                main, startup = minipaddle.static.Program(), minipaddle.static.Program()
                with minipaddle.static.program_guard(main, startup):
                    layer = minipaddle.nn.Linear(2, 1)
                    out = layer(minipaddle.static.data("x", [1, 2]))
                executor = minipaddle.static.Executor()
                executor.run(startup)
                weight = np.array([[2.0], [3.0]], "float32")
                layer.set_state_dict({"weight": weight, "bias": np.ones(1, "float32")})
                feed = {"x": np.ones((1, 2), "float32")}
                assert executor.run(main, feed=feed, fetch_list=[out])[0].tolist() == [[6.0]]
        finally:
            minipaddle.disable_static()


def test_astype_casts_all():
    """Real Paddle's astype leaves the parameters as they are."""
    layer = minipaddle.nn.Linear(1, 1).astype("float64")
    assert layer.weight.dtype is minipaddle.float64 and "float64" in repr(layer)


def test_random_initializers_have_the_right_spread():
    init = minipaddle.nn.initializer
    minipaddle.seed(1)
    for initializer, std, largest in (
        (init.Normal(1.0, 0.5), 0.5, None),
        (init.TruncatedNormal(0.0, 1.0), 0.88, 2.0),
        (init.XavierNormal(), np.sqrt(2 / 96), None),
        (init.XavierUniform(), np.sqrt(2 / 96), np.sqrt(6 / 96)),
        (init.KaimingNormal(), np.sqrt(2 / 64), None),
        (init.KaimingUniform(mode="fan_out"), np.sqrt(2 / 32), np.sqrt(6 / 32)),
    ):
        numbers = minipaddle.create_parameter([64, 32], default_initializer=initializer).numpy()
        assert numbers.std() == pytest.approx(std, rel=0.1)
        assert largest is None or largest * 0.9 < np.abs(numbers).max() <= largest
