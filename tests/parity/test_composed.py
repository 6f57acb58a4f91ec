"""Functions that Paddle composes of ops: values and gradients in dygraph, and the same ops, one for
one, in a PIR program.
"""

import pytest

from minipaddle.compare import both

PREPARED = """
F, t = paddle.nn.functional, paddle.to_tensor

def data(*shape, dtype='float32'):
    return np.sin(np.arange(np.prod(shape)) * 1.3 + len(shape)).reshape(shape).astype(dtype)

def flat(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]

def show(f, *arrays):
    xs = [t(a) for a in arrays]
    for x in xs: x.stop_gradient = x.dtype not in (paddle.float32, paddle.float64)
    try:
        results = flat(f(*xs))
        print([(r.numpy().round(4) + 0.0).tolist() for r in results], [str(r.dtype) for r in results])
        if 'float' in str(results[0].dtype):
            grads = paddle.grad((results[0] * results[0]).sum(), xs, allow_unused=True)
            print([None if g is None else (g.numpy().round(4) + 0.0).tolist() for g in grads])
    except Exception as error:
        print(next(k.__name__ for k in type(error).__mro__ if k.__module__ == 'builtins'))
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        values = [paddle.static.data(f'x{i}', a.shape, str(a.dtype)) for i, a in enumerate(arrays)]
        try:
            results = flat(f(*values))
            operations = main.global_block().ops
            print([op.name().split('.')[1] for op in operations if op.name() != 'pd_op.data'])
            print([list(r.shape) for r in results])
        except Exception as error:
            print(next(k.__name__ for k in type(error).__mro__ if k.__module__ == 'builtins'))
    paddle.disable_static()
"""

SNIPPETS = {
    "count_nonzero": """
for kwargs in ({}, {'axis': 1, 'keepdim': True}): show(lambda x: paddle.count_nonzero(x, **kwargs), np.eye(2, 3))
""",
    "index_fill": """
index = np.array([2, 0])
show(lambda x, i: paddle.index_fill(x, i, 1, -7.0), data(2, 3), index)
show(lambda x, i, v: x.index_fill(i, -1, v), data(2, 3), index, data())
for i, axis, value in ((t([0]), 2, 1.0), ([0], 0, 1.0), (t([0]), 0, t([1., 2.]))):
    show(lambda x: paddle.index_fill(x, i, axis, value), data(2, 3))
x = t(data(2, 3)); print(x.index_fill_(t(index), 1, 5.0) is x, x.numpy().round(3).tolist(), x.inplace_version > 0)
print(x.index_fill(t(np.zeros(0, 'int64')), 0, 1.0).numpy().round(3).tolist())
""",
    "masked_scatter": """
mask = data(2, 3) > 0
show(paddle.masked_scatter, data(2, 3), mask, data(6)); show(paddle.masked_scatter, data(2, 3), mask[0], data(2, 4))
show(paddle.masked_scatter, data(3), mask, data(6)); show(paddle.masked_scatter, data(2, 3), mask, data(1))
show(paddle.masked_scatter, data(2, 3), mask, data(6, dtype='float64')); show(paddle.masked_scatter, data(2), data(2), data(2))
x = t(data(2, 3)); print(x.masked_scatter_(t(mask), t(data(6))) is x, x.numpy().round(3).tolist())
""",
    "median": """
for kwargs in ({}, {'axis': 1}, {'axis': 0, 'keepdim': True}, {'mode': 'min'}, {'axis': -1, 'mode': 'min'}):
    show(lambda x: paddle.median(x, **kwargs), data(3, 4)); show(lambda x: x.median(**kwargs), np.arange(12).reshape(3, 4))
for x in (data(5, dtype='float16'), data(4, dtype='float64'), data(), np.array([True, False])): show(paddle.median, x)
for kwargs in ({'axis': 2}, {'axis': []}, {'axis': [0]}, {'mode': 'max'}): show(lambda x: paddle.median(x, **kwargs), data(2, 3))
show(lambda x: paddle.median(x, 1), data())
for nan in ([1., np.nan, 3., np.nan], [2., 2., 2., 1.], [1., 2., 2., 3.], [3., 1., 4., 2.]):
    x = t(nan, stop_gradient=False); y = x.median(); y.backward(); print(y, x.grad)
print(paddle.median(t(np.zeros(0))))
for kwargs in ({}, {'axis': 0}, {'axis': 1, 'mode': 'min'}): show(lambda x: paddle.median(x, **kwargs), data(0, 2))
for axis in (0, 1):  # with mode 'min', one place takes the whole gradient
    x = t([[1., 1., 3.], [1., 5., 3.]], stop_gradient=False); y, places = x.median(axis, mode='min')
    y.sum().backward(); print(x.grad.sum().item(), (x.grad > 0).sum().item(), places.stop_gradient)
""",
    "repeat_interleave": """
for args in ((2,), (3, 1), (1, -2), (0, 0), (2, 2)): show(lambda x: paddle.repeat_interleave(x, *args), data(2, 3))
show(lambda x, n: paddle.repeat_interleave(x, n, 0), data(2, 3), np.array([1, 2]))
show(lambda x, n: x.repeat_interleave(n), data(2, 2), np.array([0, 2, 1, 1]))
show(lambda x, n: paddle.repeat_interleave(x, n, 1, output_size=4), data(2, 2), np.array([2, 2], 'int32'))
show(lambda x, n: paddle.repeat_interleave(x, n), data(1), np.array(3))
""",
    "normalize": """
for kwargs in ({}, {'p': 1, 'axis': 0}, {'p': 3.0, 'axis': -1, 'epsilon': 0.5}, {'axis': 2}): show(lambda x: F.normalize(x, **kwargs), data(2, 3))
show(F.normalize, data(3)); show(lambda x: F.normalize(x, axis=0), np.zeros(3, 'float32')); show(F.normalize, data(2, 3, 2, dtype='float64'))
""",
    "cosine_similarity": """
show(F.cosine_similarity, data(2, 3), data(2, 3) + 1); show(lambda x, y: F.cosine_similarity(x, y, axis=0, eps=0.5), data(2, 3), data(2, 1))
show(F.cosine_similarity, data(2, 3), data(2, 1)); show(F.cosine_similarity, data(2, 3), data(2, 2)); show(F.cosine_similarity, data(3), data(3))
show(F.cosine_similarity, data(2, 0), data(2, 0)); print(paddle.nn.CosineSimilarity(axis=0), paddle.nn.CosineSimilarity(0)(t(data(2)), t(data(2))).item())
""",
    "interpolate": """
image, row, box = data(1, 2, 3, 4), data(1, 2, 4), data(1, 1, 2, 3, 2)
for mode in ('nearest', 'bilinear', 'bicubic', 'area'): show(lambda x: F.interpolate(x, [5, 3], mode=mode), image)
for kwargs in ({'scale_factor': 2}, {'scale_factor': [1.5, 0.7]}, {'scale_factor': 1.7, 'recompute_scale_factor': True}, {'size': [5, 7], 'align_corners': True}, {'size': [2, 9], 'align_mode': 1}):
    for mode in ('bilinear', 'bicubic'): show(lambda x: F.interpolate(x, mode=mode, **kwargs), image)
    show(lambda x: F.interpolate(x, mode='NEAREST', **kwargs), image)
show(lambda x: F.interpolate(x, [7], mode='linear'), row); show(lambda x: F.interpolate(x, [3], mode='area'), row)
for mode in ('bilinear', 'bicubic'): show(lambda x: F.interpolate(x, [1, 3], mode=mode), image)  # one row: the first (of 'linear' Paddle's gradient goes to other places than the result came from)
show(lambda x: F.interpolate(x, [1, 2, 1], mode='trilinear'), box)
show(lambda x: F.interpolate(x, [3, 2, 4], mode='trilinear'), box); show(lambda x: F.interpolate(x, scale_factor=(2, 1.5, 1)), box)
show(lambda x: F.upsample(x, scale_factor=2, mode='linear', data_format='NWC', align_corners=True), row)
show(lambda x: F.interpolate(x, [2, 2], data_format='NHWC', mode='bilinear'), image)
show(lambda x, size: F.interpolate(x, size), image, np.array([5, 2])); show(lambda x, n: F.interpolate(x, scale_factor=n), image, np.array([2.0, 1.5], 'float32'))
show(F.interpolate, np.arange(4).reshape(1, 1, 2, 2)); show(lambda x: F.interpolate(x, [3, 3]), np.arange(4).reshape(1, 1, 2, 2))
for wrong in ({}, {'size': [2]}, {'size': 2}, {'size': [2, 2], 'scale_factor': 2}, {'size': [0, 2]}, {'scale_factor': 0}, {'scale_factor': [2]}, {'scale_factor': 'a'}, {'size': [2, 2], 'mode': 'linear'},
              {'size': [2, 2], 'mode': 'sideways'}, {'size': [2, 2], 'align_corners': True}, {'size': [2, 2], 'align_corners': 1, 'mode': 'bilinear'}, {'size': [2, 2], 'align_mode': 2},
              {'size': [2, 2], 'data_format': 'NCW'}, {'scale_factor': 2, 'mode': 'area'}): show(lambda x: F.interpolate(x, **wrong), image)
nn = paddle.nn
for layer in (nn.Upsample([2, 3]), nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True, name='u'), nn.UpsamplingNearest2D([2, 2]), nn.UpsamplingBilinear2D(scale_factor=2, name='b'), nn.Upsample([2], mode='linear')):
    try: print(str(layer), layer(t(image)).numpy().round(3).tolist())
    except Exception as error: print(type(error).__name__)
""",
    "unfold and fold": """
for args in ((2,), ([2, 3], 2, 1), (2, 1, [1, 0], 2), (2, 1, [0, 1, 1, 2]), ([2],), ('a',), (2, 1, [1, 2, 3])):
    show(lambda x: F.unfold(x, *args), data(1, 2, 4, 3))
for args in ((3, 2), ([4, 2], [2, 1], 1, [1, 0, 0, 0]), ([3], 2), (3, 2, 1, 'a'), (4, 2)): show(lambda x: F.fold(x, *args), data(1, 8, 4))
show(lambda x: F.unfold(x, 2), data(2, 4, 3)); show(lambda x: F.fold(x, 3, 2), data(2, 4, 4, 4))
nn = paddle.nn; layers = nn.Unfold([2, 2], paddings=1), nn.Fold([4, 3], 2, name='f'); print(*layers)
print(layers[0](t(data(1, 2, 4, 3))).shape, nn.Fold([4, 3], 2, paddings=1)(layers[0](t(data(1, 2, 4, 3)))).numpy().round(3).tolist())
""",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_both_print_the_same(name):
    found = both(PREPARED + SNIPPETS[name])
    assert found.same, f"\n{found!r}"
