"""paddle.summary counts as Paddle does; its table is Paddle's."""

import pytest

import minipaddle as paddle
from minipaddle.common import unique_name
from minipaddle.compare import both, real_paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = paddle.nn.Sequential(
            paddle.nn.Conv2D(1, 6, 3, padding=1), paddle.nn.BatchNorm2D(6), paddle.nn.ReLU()
        )
        self.head = paddle.nn.Linear(384, 10)

    def forward(self, x):
        return self.head(self.features(x).reshape([x.shape[0], -1]))


def test_table(capsys):
    with unique_name.guard():  # the table's numbers are those of the layers' names
        net = Net()
    net.train()
    mean = net.features[1]._mean.numpy()
    assert paddle.summary(net, (-1, 1, 8, 8)) == {
        "total_params": 3934,
        "trainable_params": 3922,
    }
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["Conv2D-1", "[[1,", "1,", "8,", "8]]", "[1,", "6,", "8,", "8]", "60"] in lines
    assert ["Linear-1", "[[1,", "384]]", "[1,", "10]", "3,850"] in lines
    assert (net.features[1]._mean.numpy() == mean).all() and net.features[1].training
    assert paddle.summary(net, input=paddle.ones([2, 1, 8, 8]))["total_params"] == 3934
    with pytest.raises(ValueError, match="input_size or input"):
        paddle.summary(net)


@pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed")
def test_same_figures_as_paddle():
    result = both("""
        import contextlib, io
        net = paddle.nn.Sequential(paddle.nn.Conv2D(1, 6, 3), paddle.nn.BatchNorm2D(6),
                                   paddle.nn.ReLU(), paddle.nn.Flatten(), paddle.nn.Linear(216, 10))
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            found = paddle.summary(net, (4, 1, 8, 8))
        print({key: int(value) for key, value in found.items()})
        for line in text.getvalue().splitlines():
            print(' '.join(line.strip('-=').split()))
    """)
    assert result.same and "Error" not in result.paddle, result


@pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed")
def test_same_table_as_paddle():
    """Layers with several inputs and outputs, one that is called twice, a buffer, a frozen
    parameter, a layer without layers inside, numbers wider than their column.
    """
    result = both("""
        nn = paddle.nn
        class Block(nn.Layer):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiHeadAttention(8, 2)
                self.act = nn.ReLU()
            def forward(self, x, mask):
                y = self.act(self.attention(self.act(x), attn_mask=mask))
                return y, x
        class Net(nn.Layer):
            def __init__(self):
                super().__init__()
                self.token = nn.Embedding(1234, 8)
                self.blocks = nn.LayerList([Block(), Block()])
                self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 3))
                self.register_buffer('mask', paddle.ones([4, 4]), persistable=False)
                self.scale = self.create_parameter([1])
                self.head[1].bias.stop_gradient = True
            def forward(self, ids):
                x = self.token(ids)
                for block in self.blocks: x, _ = block(x, self.mask)
                return self.head(x * self.scale)
        paddle.summary(Net(), (2, 4), dtypes='int64')
        paddle.summary(nn.Linear(3, 2), (5, 3))
        paddle.summary(nn.Sequential(nn.Flatten(), nn.Linear(6, 2)), (5, 2, 3))
    """)
    assert result.same and "Error" not in result.paddle, result
