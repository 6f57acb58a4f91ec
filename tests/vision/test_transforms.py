"""Transforms of images."""

import numpy as np
import pytest

import minipaddle as paddle
from minipaddle.compare import both, real_paddle
from minipaddle.vision import transforms as T

needs_paddle = pytest.mark.skipif(real_paddle() is None, reason="real Paddle is not installed")


@needs_paddle
def test_tensors_as_paddle():
    result = both("""
        T = paddle.vision.transforms
        image = np.random.RandomState(0).rand(3, 8, 6).astype('float32')
        x = paddle.to_tensor(image)
        for size in (28, (5, 9), (3, 3), 4):
            for how in ('bilinear', 'nearest'):
                out = T.Resize(size, how)(x)
                print(size, how, out.shape, np.round(out.numpy().astype('float64').sum(), 2),
                      np.round(out.numpy()[:, 1, 2].astype('float64'), 4).tolist())
        for out in (T.hflip(x), T.vflip(x), T.crop(x, 1, 2, 3, 4), T.center_crop(x, 4),
                    T.center_crop(x, (5, 3)), T.normalize(x, [.1, .2, .3], [2., 3., 4.])):
            print(out.shape, np.round(out.numpy().astype('float64').sum(), 3))
        for padding in (1, (1, 2), (1, 2, 3, 4)):
            for mode in ('constant', 'edge', 'reflect'):
                out = T.pad(x, padding, 0, mode)
                print(padding, mode, out.shape, np.round(out.numpy().astype('float64').sum(), 3))
    """)
    assert result.same and "Error" not in result.paddle, result


@needs_paddle
def test_arrays_as_paddle():
    result = both("""
        T = paddle.vision.transforms
        rng = np.random.RandomState(0)
        for image in (rng.randint(0, 256, (8, 6, 3)).astype('uint8'),
                      rng.rand(8, 6, 1).astype('float32')):
            out = T.ToTensor()(image)
            print(out.dtype, out.shape, np.round(out.numpy().astype('float64').sum(), 3))
            out = T.Normalize([.5] * image.shape[2], [2.] * image.shape[2], 'HWC')(image)
            print(out.dtype, out.shape, np.round(out.astype('float64').sum(), 3))
            print(T.Transpose()(image).shape, T.Transpose((1, 0, 2))(image).shape)
    """)
    assert result.same and "Error" not in result.paddle, result


def test_resize_of_arrays():
    image = np.arange(64, dtype="float32").reshape(8, 8)
    big = T.Resize(28)(image)
    assert big.shape == (28, 28) and big.dtype == np.float32
    assert big[0, 0] == 0 and big[-1, -1] == 63 and (np.diff(big, axis=1) >= 0).all()
    as_tensor = T.resize(paddle.to_tensor(image[None]), 28).numpy()[0]
    np.testing.assert_allclose(big, as_tensor, rtol=1e-6)
    np.testing.assert_array_equal(T.resize(image, 8), image)
    twice = T.resize(image, (16, 16), "nearest")
    np.testing.assert_array_equal(twice, image.repeat(2, 0).repeat(2, 1))
    rows = T.resize(np.array([[0, 255]], "uint8"), (1, 4))
    assert rows.dtype == np.uint8 and rows.tolist() == [[0, 64, 191, 255]]
    assert T.resize(np.zeros((4, 8, 3)), 2).shape == (2, 4, 3)


def test_digits_in_28_by_28():
    up = T.Compose([T.Transpose((1, 2, 0)), T.Resize(28), T.ToTensor()])
    digits = paddle.vision.datasets.Digits(transform=up)
    image, _ = digits[0]
    assert image.shape == [1, 28, 28] and image.min() >= 0 and image.max() <= 1
    batch, labels = next(iter(paddle.io.DataLoader(digits, batch_size=4)))
    assert batch.shape == [4, 1, 28, 28] and labels.shape == [4]


def test_pad_crop_and_flip():
    image = np.arange(6).reshape(2, 3)
    assert T.pad(image, (1, 0), 9).tolist() == [[9, 0, 1, 2, 9], [9, 3, 4, 5, 9]]
    assert T.pad(image, (1, 0, 0, 1), padding_mode="edge").tolist() == [
        [0, 0, 1, 2], [3, 3, 4, 5], [3, 3, 4, 5],
    ]  # fmt: skip
    assert T.hflip(image).tolist() == [[2, 1, 0], [5, 4, 3]]
    assert T.vflip(image).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert T.crop(image, 1, 0, 1, 2).tolist() == [[3, 4]]


def test_what_is_random_repeats():
    image = np.arange(100).reshape(10, 10)
    every = T.Compose(
        [T.RandomCrop(8, padding=2), T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
    )

    def several():
        paddle.seed(3)
        return [every(image) for _ in range(20)]

    first, second = several(), several()
    assert all((a == b).all() and a.shape == (8, 8) for a, b in zip(first, second))
    assert len({a.tobytes() for a in first}) > 10
    assert T.RandomCrop(12, pad_if_needed=True)(image).shape == (12, 12)
    assert {T.RandomHorizontalFlip(p)(image)[0, 0] for p in (0.0, 1.0)} == {0, 9}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: T.resize(np.zeros((1, 8, 8)), 28), ValueError, r"Transpose\(\(1, 2, 0\)\)"),
        (lambda: T.resize([[1]], 2), TypeError, "but got list"),
        (lambda: T.resize(np.zeros((8, 8)), 28, "cubic"), ValueError, "but got 'cubic'"),
        (lambda: T.resize(np.zeros((8, 8)), (1, 2, 3)), ValueError, "size as a number or"),
        (lambda: T.resize(np.zeros((8, 8)), 0), ValueError, "at least 1"),
        (lambda: T.resize(paddle.ones([2, 2]), 1), ValueError, r"a Tensor \[C, H, W\]"),
        (lambda: T.ToTensor("WHC")(np.zeros((2, 2))), ValueError, "'CHW' or 'HWC'"),
        (lambda: T.normalize(np.zeros((2, 2, 3)), [0, 0, 0], [1, 1, 1]), ValueError, "2 channels"),
        (lambda: T.normalize(np.zeros((2, 2)), 0, 1, "X"), ValueError, "data_format"),
        (lambda: T.pad(np.zeros((2, 2)), (1, 2, 3)), ValueError, "1, 2 or 4 numbers"),
        (lambda: T.pad(np.zeros((2, 2)), 1, 0, "wrap"), ValueError, "padding_mode"),
        (lambda: T.RandomCrop(3)(np.zeros((2, 2))), ValueError, "pad_if_needed"),
        (lambda: T.BaseTransform()(1), NotImplementedError, "_apply_image"),
    ],
)
def test_wrong_arguments(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
