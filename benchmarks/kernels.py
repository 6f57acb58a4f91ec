"""Kernels of convolution, pooling and normalisation, beside real Paddle's, shape by shape.

    python -m benchmarks.kernels            prints the table
    python -m benchmarks.kernels --write    also writes it into benchmarks/README.md

Each line is one call of `paddle._C_ops.<op>` on the shapes that LeNet (batch 32) and ResNet-18
(batch 1, 224x224) have. Needs real Paddle (the extra `course`). Takes about two minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.ratio import ratio, write_table  # first: it sets the number of threads

import numpy as np  # isort: skip

Work = Callable[[Any], tuple[Callable[[], Any], list[Any]]]  # package -> (call, inputs)


def tensors(paddle: Any, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [
        paddle.to_tensor(rng.standard_normal(shape, "float32"), stop_gradient=False)
        for shape in shapes
    ]


def conv(image: tuple[int, ...], filters: int, size: int, stride: int, pad: int) -> Work:
    def make(paddle: Any) -> tuple[Callable[[], Any], list[Any]]:
        x, w = tensors(paddle, image, (filters, image[1], size, size))
        window = [stride, stride], [pad, pad], "EXPLICIT", [1, 1]
        return lambda: paddle._C_ops.conv2d(x, w, *window, 1, "NCHW"), [x, w]

    return make


def depthwise(image: tuple[int, ...], stride: int) -> Work:
    def make(paddle: Any) -> tuple[Callable[[], Any], list[Any]]:
        x, w = tensors(paddle, image, (image[1], 1, 3, 3))
        before, after = ([stride, stride], [1, 1], "EXPLICIT"), ([1, 1], "NCHW")
        return lambda: paddle._C_ops.depthwise_conv2d(x, w, *before, image[1], *after), [x, w]

    return make


def pool(image: tuple[int, ...], size: int, stride: int, pad: int, kind: str) -> Work:
    def make(paddle: Any) -> tuple[Callable[[], Any], list[Any]]:
        (x,) = tensors(paddle, image)
        window = [size, size], [stride, stride], [pad, pad]
        rest = False, True, "NCHW", kind, False, False, "EXPLICIT"
        return lambda: paddle._C_ops.pool2d(x, *window, *rest), [x]

    return make


def batch_norm(image: tuple[int, ...], training: bool) -> Work:
    def make(paddle: Any) -> tuple[Callable[[], Any], list[Any]]:
        (x,) = tensors(paddle, image)
        layer = paddle.nn.BatchNorm2D(image[1])
        if not training:
            layer.eval()
        return lambda: layer(x), [x, layer.weight, layer.bias]

    return make


def layer_norm(shape: tuple[int, ...]) -> Work:
    def make(paddle: Any) -> tuple[Callable[[], Any], list[Any]]:
        (x,) = tensors(paddle, shape)
        layer = paddle.nn.LayerNorm(shape[-1])
        return lambda: layer(x), [x, layer.weight, layer.bias]

    return make


SHAPES: dict[str, Work] = {
    "LeNet conv1: 32x1x28x28, 6 of 3x3, pad 1": conv((32, 1, 28, 28), 6, 3, 1, 1),
    "LeNet conv2: 32x6x14x14, 16 of 5x5": conv((32, 6, 14, 14), 16, 5, 1, 0),
    "1x3x224x224, 64 of 7x7, stride 2": conv((1, 3, 224, 224), 64, 7, 2, 3),
    "1x64x56x56, 64 of 3x3": conv((1, 64, 56, 56), 64, 3, 1, 1),
    "1x128x28x28, 128 of 3x3": conv((1, 128, 28, 28), 128, 3, 1, 1),
    "1x256x14x14, 256 of 3x3": conv((1, 256, 14, 14), 256, 3, 1, 1),
    "1x512x7x7, 512 of 3x3": conv((1, 512, 7, 7), 512, 3, 1, 1),
    "1x64x56x56, 128 of 3x3, stride 2": conv((1, 64, 56, 56), 128, 3, 2, 1),
    "1x64x56x56, 128 of 1x1, stride 2": conv((1, 64, 56, 56), 128, 1, 2, 0),
    "8x64x56x56, 64 of 3x3": conv((8, 64, 56, 56), 64, 3, 1, 1),
    "depthwise 1x128x56x56, 3x3": depthwise((1, 128, 56, 56), 1),
    "max pool 32x6x28x28, 2x2": pool((32, 6, 28, 28), 2, 2, 0, "max"),
    "max pool 1x64x112x112, 3x3, stride 2": pool((1, 64, 112, 112), 3, 2, 1, "max"),
    "mean pool 1x512x7x7, 7x7": pool((1, 512, 7, 7), 7, 7, 0, "avg"),
    "batch norm, evaluation, 1x64x112x112": batch_norm((1, 64, 112, 112), False),
    "batch norm, evaluation, 1x256x14x14": batch_norm((1, 256, 14, 14), False),
    "batch norm, training, 8x64x56x56": batch_norm((8, 64, 56, 56), True),
    "layer norm 32x128x768": layer_norm((32, 128, 768)),
    "layer norm 64x64": layer_norm((64, 64)),
}


def forward(paddle: Any, work: Work) -> Callable[[], object]:
    call, _ = work(paddle)

    def run() -> None:
        with paddle.no_grad():
            call()

    return run


def both_ways(paddle: Any, work: Work) -> Callable[[], object]:
    """The call, and its gradients of all inputs."""
    call, inputs = work(paddle)
    seed = paddle.to_tensor(np.ones(call().shape, "float32"))
    return lambda: paddle.grad([call()], inputs, [seed])


def table(seconds: float, only: str) -> str:
    """The table, as Markdown."""
    import paddle

    import minipaddle

    rows = ["| work (at most 1.5) | forward | forward and gradients |", "|---|---|---|"]
    for name, work in SHAPES.items():
        if only not in name:
            continue
        cells = []
        for kind in (forward, both_ways):
            found, ours, theirs = ratio(kind(minipaddle, work), kind(paddle, work), seconds)
            print(f"{name}: {found:.2f} ({ours:.0f} us, {theirs:.0f} us)", file=sys.stderr)
            cells.append(f"{found:.2f}")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write it into benchmarks/README.md")
    parser.add_argument("--seconds", type=float, default=2.0, help="per figure, about")
    parser.add_argument("--only", default="", help="only the lines that have this in their name")
    arguments = parser.parse_args()
    text = table(arguments.seconds, arguments.only)
    print(text)
    if arguments.write:
        write_table("kernels", text)


if __name__ == "__main__":
    main()
