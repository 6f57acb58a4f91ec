"""Convolution, pooling and normalisation as layers: what they print is what real Paddle prints."""

import textwrap

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both, real_paddle

PREPARED = """
    nn, F = paddle.nn, paddle.nn.functional
    rng = np.random.default_rng(3)

    def numbers(*shape):
        return rng.uniform(-1, 1, shape).astype('float32')

    def show(*values):
        for value in values:
            value = value.numpy() if hasattr(value, 'numpy') else value
            print(value.shape, f'{np.abs(value).sum():.3g}', [f'{v:.3f}' for v in value.ravel()[:3] + 0.0002])

    def fill(layer):
        for name, parameter in layer.state_dict().items():
            given = numbers(*parameter.shape)
            parameter.set_value(np.abs(given) + 0.5 if 'variance' in name else given)

    def try_out(layer, *shape):
        fill(layer)
        x = paddle.to_tensor(numbers(*shape), stop_gradient=False)
        out = layer(x)
        (out * paddle.to_tensor(numbers(*out.shape))).sum().backward()
        show(out, x.grad, *[p.grad for p in layer.parameters() if not p.stop_gradient])
        show(*layer.state_dict().values())

    def error(function):
        try:
            function()
            print('no error')
        except Exception as e:
            print(next(k.__name__ for k in type(e).__mro__ if k.__module__ == 'builtins'))
"""

SNIPPETS = {
    "Conv2D": """
        for layer in (nn.Conv2D(4, 6, 3), nn.Conv2D(4, 6, (3, 2), stride=2, padding=1, bias_attr=False),
                      nn.Conv2D(4, 6, 3, padding='SAME', groups=2), nn.Conv2D(4, 8, 3, padding=[1, 0, 2, 1], groups=4),
                      nn.Conv2D(4, 6, 3, dilation=2, padding='VALID'), nn.Conv2D(4, 4, 1, stride=(1, 2))):
            print(layer, [p.name for p in layer.parameters()], list(layer.state_dict()))
            try_out(layer, 2, 4, 7, 6)
        try_out(nn.Conv2D(4, 6, 3, padding=1, data_format='NHWC'), 2, 5, 6, 4)
        print(nn.Conv2D(2, 3, 3)(paddle.zeros([0, 2, 4, 4])).shape)
    """,
    "conv2d": """
        x, w, b = (paddle.to_tensor(numbers(*s)) for s in ([2, 4, 5, 5], [6, 2, 3, 3], [6]))
        show(F.conv2d(x, w, b, padding=[[0, 0], [0, 0], [1, 1], [0, 2]], groups=2))
        for wrong in (dict(groups=0), dict(groups=3), dict(padding='full'), dict(padding=[1, 2, 3]), dict(padding=-1),
                      dict(data_format='NCL'), dict(stride=[1, 2, 3]), dict(groups=4)):
            error(lambda: F.conv2d(x, w, **{**dict(groups=2), **wrong}))
        error(lambda: F.conv2d(paddle.to_tensor(numbers(4, 5, 5)), w, groups=2))
        error(lambda: nn.Conv2D(3, 4, 3, groups=2))
        error(lambda: nn.Conv2D(3, 4, 3, padding_mode='x'))
    """,
    "pooling": """
        for layer in (nn.MaxPool2D(2, 2), nn.MaxPool2D(3, 2, 1), nn.MaxPool2D((2, 3), padding='SAME'),
                      nn.MaxPool2D(3, 2, ceil_mode=True), nn.AvgPool2D(2), nn.AvgPool2D(3, 2, 1),
                      nn.AvgPool2D(3, 2, 1, exclusive=False), nn.AvgPool2D(3, 2, 1, divisor_override=4),
                      nn.AdaptiveAvgPool2D(1), nn.AdaptiveAvgPool2D((3, None)), nn.AdaptiveMaxPool2D((3, 2))):
            print(layer)
            try_out(layer, 2, 3, 7, 6)
        # a window that is too long by less than its stride is there; one in the padding alone has a number, too
        for layer in (nn.MaxPool2D((2, 4), 4), nn.AvgPool2D((2, 4), 4), nn.AvgPool2D((2, 4), (1, 3), exclusive=False)):
            try_out(layer, 2, 3, 3, 2)
        try_out(nn.MaxPool2D((1, 4), 1), 2, 3, 3, 3)
        print(F.max_pool2d(paddle.ones([1, 1, 1, 2], 'float64'), (1, 1), (1, 2), ceil_mode=True).numpy())
        out, mask = F.max_pool2d(paddle.to_tensor(numbers(1, 2, 4, 4)), 2, return_mask=True)
        show(out)
        print(mask.dtype, mask.tolist())
        x = paddle.to_tensor(np.ones((1, 1, 4, 4), 'float32'), stop_gradient=False)
        F.max_pool2d(x, 3, 1).sum().backward()
        print(x.grad.tolist())
        for wrong in (lambda: F.max_pool2d(x, 2, padding='x'), lambda: F.max_pool2d(x, [1, 2, 3]),
                      lambda: F.max_pool2d(x, 2, data_format='NCL'), lambda: F.avg_pool2d(x, 2, 0),
                      lambda: F.max_pool2d(x, 2, padding='VALID', ceil_mode=True), lambda: F.max_pool2d(x, 9),
                      lambda: F.max_pool2d(x, 2, return_mask=True, data_format='NHWC')):
            error(wrong)
    """,
    "BatchNorm": """
        for layer in (nn.BatchNorm2D(3), nn.BatchNorm2D(3, momentum=0.5, epsilon=1e-3),
                      nn.BatchNorm2D(3, weight_attr=False, bias_attr=False), nn.BatchNorm2D(3, use_global_stats=True)):
            print(layer, [(p.name, p.stop_gradient) for p in layer.parameters()], list(layer.state_dict()))
            try_out(layer, 4, 3, 2, 5)
            layer.eval()
            try_out(layer, 4, 3, 2, 5)
        try_out(nn.BatchNorm2D(3, use_global_stats=False), 4, 3, 2, 5)
        try_out(nn.BatchNorm2D(3, data_format='NHWC'), 4, 2, 5, 3)
        print(nn.BatchNorm1D(3))
        try_out(nn.BatchNorm1D(3), 5, 3)
        try_out(nn.BatchNorm1D(3), 5, 3, 2)
        try_out(nn.BatchNorm1D(3, data_format='NLC'), 5, 2, 3)
        try_out(nn.BatchNorm2D(3), 1, 3, 1, 1)
        for wrong in (lambda: nn.BatchNorm2D(3)(paddle.ones([2, 3, 4])), lambda: nn.BatchNorm1D(3)(paddle.ones([2, 3, 4, 4])),
                      lambda: nn.BatchNorm2D(3)(paddle.ones([2, 4, 4, 4]))):
            error(wrong)
    """,
    "the same BatchNorm twice before backward": """
        layer, x = nn.BatchNorm2D(3), paddle.to_tensor(numbers(4, 3, 2, 2), stop_gradient=False)
        for mode in (layer.train, layer.eval):
            mode()
            x.clear_gradient()
            (layer(x) * layer(x) * x).sum().backward()
            show(x.grad)
    """,
    "LayerNorm, GroupNorm, InstanceNorm": """
        for layer in (nn.LayerNorm(6), nn.LayerNorm([5, 6], epsilon=1e-3), nn.LayerNorm(6, weight_attr=False),
                      nn.LayerNorm(6, bias_attr=False), nn.GroupNorm(2, 4),
                      nn.InstanceNorm2D(4), nn.InstanceNorm2D(4, weight_attr=False, bias_attr=False)):
            print(layer, [p.name for p in layer.parameters()], list(layer.state_dict()))
            try_out(layer, 2, 4, 5, 6)
        try_out(nn.GroupNorm(2, 4, data_format='NHWC'), 2, 5, 6, 4)
        x = paddle.ones([2, 4, 5, 6])
        for wrong in (lambda: F.layer_norm(x, 5), lambda: F.group_norm(x, 3), lambda: nn.GroupNorm(2, 4, data_format='X'),
                      lambda: F.batch_norm(x, x, x, data_format='X'), lambda: nn.LayerNorm(7)(x)):
            error(wrong)
    """,
    "second gradients": """
        for layer, shape in ((nn.Conv2D(2, 3, 2), [1, 2, 4, 4]), (nn.BatchNorm1D(3), [4, 3]), (nn.AvgPool2D(2), [1, 2, 4, 4])):
            fill(layer)
            x = paddle.to_tensor(numbers(*shape), stop_gradient=False)
            (grad,) = paddle.grad((layer(x) ** 3).sum(), x, create_graph=True)
            show(*paddle.grad((grad * grad).sum(), [x]))
    """,
    "PIR": """
        import re
        paddle.enable_static()

        def show_program(build, batch=-1):
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                x = paddle.static.data('x', [batch, 4, 6, 6])
                x.stop_gradient = False
                build(x)
            print(re.sub(',struct_name:"[^"]*"', '', str(main)))

        def with_gradients(x):
            y = nn.Conv2D(4, 4, 3, padding=1, bias_attr=False)(x)
            y = nn.BatchNorm2D(4)(nn.Conv2D(4, 4, 3, padding='SAME', groups=4, bias_attr=False)(y))
            y = F.adaptive_avg_pool2d(F.avg_pool2d(F.max_pool2d(y, 2), 2, 1, 1), (2, None))
            y = nn.GroupNorm(2, 4)(nn.InstanceNorm2D(4)(nn.LayerNorm(4)(y)))
            paddle.static.append_backward(paddle.mean(F.max_pool2d(y, 2, return_mask=True)[0]))

        show_program(with_gradients, batch=2)
        show_program(lambda x: nn.Conv2D(4, 4, 3, groups=4)(nn.Conv2D(4, 4, 3)(x)))
        show_program(lambda x: F.avg_pool2d(nn.Conv2D(4, 4, 3, stride=2)(x), 2, divisor_override=4))
    """,
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_real_paddle_prints_the_same(name):
    assert real_paddle() is not None, "install the extra `course`: parity needs real Paddle"
    found = both(textwrap.dedent(PREPARED) + textwrap.dedent(SNIPPETS[name]))
    assert found.same, f"\n{found!r}"


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_conv2d_is_the_sum_over_windows(data_format):
    """The definition, written down, for one output number."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(4, 3, 3, 2))
    window = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))[1, :, 2:5, 2:4]
    given = x if data_format == "NCHW" else x.transpose(0, 2, 3, 1)
    out = paddle.nn.functional.conv2d(
        paddle.to_tensor(given),
        paddle.to_tensor(w),
        stride=2,
        padding=(1, 0),
        data_format=data_format,
    ).numpy()
    found = out[1, 3, 1, 1] if data_format == "NCHW" else out[1, 1, 1, 3]
    np.testing.assert_allclose(found, (window * w[3]).sum())


def test_a_batch_in_parts_gives_what_it_gives_at_once(monkeypatch):
    """im2col takes a few images at a time: nothing may depend on how many."""
    rng = np.random.default_rng(0)
    x = paddle.to_tensor(rng.normal(size=(5, 2, 6, 6)), stop_gradient=False)
    w = paddle.to_tensor(rng.normal(size=(3, 2, 3, 3)), stop_gradient=False)

    def results():
        out = paddle.nn.functional.conv2d(x, w, padding=1)
        return [t.numpy() for t in (out, *paddle.grad((out * out).sum(), [x, w]))]

    at_once = results()
    monkeypatch.setattr("minipaddle.phi.kernels.im2col._NUMBERS_AT_A_TIME", {"numpy": 1500})
    for one, other in zip(results(), at_once, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [[0, 2, 4, 4], [2, 2, 4, 4]])
def test_no_images_are_no_mistake(shape):
    x = paddle.to_tensor(np.ones(shape, "float32"), stop_gradient=False)
    layer = paddle.nn.Sequential(
        paddle.nn.Conv2D(2, 3, 3), paddle.nn.GroupNorm(1, 3), paddle.nn.MaxPool2D(2)
    )
    layer(x).sum().backward()
    assert x.grad.shape == shape


def test_rms_norm_is_its_formula():
    x = paddle.to_tensor(np.arange(6.0).reshape(2, 3), stop_gradient=False)
    layer = paddle.nn.RMSNorm(3, epsilon=0.5)
    expected = x.numpy() / np.sqrt((x.numpy() ** 2).mean(1, keepdims=True) + 0.5)
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-6)


def test_a_group_norm_without_scale_has_the_gradient_that_is_right():
    """Its numbers sum up to 0 whatever x is, so the gradient of their sum is 0. Paddle's is not."""
    images = np.random.default_rng(0).normal(size=(2, 4, 3, 3)).astype("float32")
    found = []
    for module in (paddle, real_paddle()):
        x = module.to_tensor(images, stop_gradient=False)
        module.nn.functional.group_norm(x, 2).sum().backward()
        found.append(np.abs(x.grad.numpy()).max())
    assert found[0] < 1e-5
    assert found[1] > 0.1, "real Paddle is right now: take its line out of tests/phi/exceptions.py"
